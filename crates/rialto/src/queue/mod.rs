//! `rialto queue`: topics in a directory, from the command line.

mod consume;
mod dead;
mod duration;
mod produce;
mod shown;
mod top;
mod topics;
mod verify;

use crate::Error;
use crate::keys::KeyArgs;
use rialto_queue::{OpenReport, Queue, QueueError, QueueOptions};
use std::path::{Path, PathBuf};

/// Works with the topics of a queue: a directory that one process has open at a time.
#[derive(Debug, clap::Args)]
pub struct QueueArgs {
    /// The directory of the queue.
    #[arg(long, value_name = "DIR", env = "RIALTO_QUEUE", default_value = "queue", global = true)]
    dir: PathBuf,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Create a topic.
    Create(topics::Create),
    /// Create a group of a topic.
    Group(topics::CreateGroup),
    /// Delete a topic with everything in it, or a group.
    Delete(topics::Delete),
    /// List the topics.
    Ls(topics::Ls),
    /// Show a topic, its groups and how they are doing.
    Describe(topics::Describe),
    /// Publish lines of the standard input, or files.
    Produce(produce::Produce),
    /// Take messages as a member of a group, print them, and be done with them.
    Consume(consume::Consume),
    /// Print messages, and perhaps those to come, without being a member of a group.
    Tail(consume::Tail),
    /// Watch all topics and groups.
    Top(top::Top),
    /// Look at dead letters, send them back, or drop them.
    DeadLetters(dead::DeadLetters),
    /// Read everything and check it.
    Verify(verify::VerifyArgs),
}

/// Runs the command.
///
/// # Errors
/// The directory is in use, damaged or encrypted with keys that were not given, or the command
/// cannot be done.
pub fn run(args: &QueueArgs) -> Result<(), Error> {
    if let Command::Verify(verify) = &args.command {
        return verify.run(&args.dir, &args.keys.ring()?);
    }
    let creates = matches!(args.command, Command::Create(_));
    if !creates && !args.dir.join("control").is_dir() {
        let dir = args.dir.display();
        let reason =
            format!("{dir} holds no queue; make one with `rialto queue create TOPIC --dir {dir}`");
        return Err(Error::Usage(reason));
    }
    let options = QueueOptions { keys: args.keys.ring()?, ..QueueOptions::at(&args.dir) };
    let queue = Queue::open(options).map_err(|error| failed(&args.dir, &error))?;
    tell_opening(queue.report());
    let done = match &args.command {
        Command::Create(create) => create.run(&queue),
        Command::Group(group) => group.run(&queue),
        Command::Delete(delete) => delete.run(&queue),
        Command::Ls(ls) => ls.run(&queue),
        Command::Describe(describe) => describe.run(&queue),
        Command::Produce(produce) => produce.run(&queue),
        Command::Consume(consume) => consume.run(&queue),
        Command::Tail(tail) => tail.run(&queue),
        Command::Top(top) => top.run(&queue),
        Command::DeadLetters(dead) => dead.run(&queue),
        Command::Verify(_) => Ok(()),
    };
    // What was published is safe as its topic promises; a failure to close is told all the same.
    let closed = queue.close().map_err(|error| failed(&args.dir, &error));
    done.and(closed)
}

fn tell_opening(report: &OpenReport) {
    for group in &report.rewound {
        crate::terminal::note(format_args!(
            "group {} of {} goes back to message {}:{}: what it had come to was lost before it was \
             synced",
            group.group, group.topic, group.lane, group.next
        ));
    }
}

/// A failure of the queue in a directory.
fn failed(dir: &Path, error: &QueueError) -> Error {
    Error::Failed(format!("{}: {}", dir.display(), crate::tell_all(error)))
}

/// For `map_err`: what a call on the queue came to.
fn told(error: QueueError) -> Error {
    match error {
        QueueError::Name(_)
        | QueueError::Options(_)
        | QueueError::Message(_)
        | QueueError::UnknownTopic(_)
        | QueueError::UnknownGroup { .. }
        | QueueError::TopicExists(_)
        | QueueError::GroupExists { .. }
        | QueueError::NoKey(_)
        | QueueError::TooMany { .. } => Error::Usage(error.to_string()),
        other => Error::Failed(crate::tell_all(&other)),
    }
}
