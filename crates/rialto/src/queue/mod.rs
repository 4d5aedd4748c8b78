//! `rialto queue`: topics in a directory, or those of a running venue, from the command line.

mod any_queue;
mod consume;
mod dead_letters;
mod leases;
mod local;
mod output;
mod printing;
mod produce;
mod remote;
mod saving;
mod shown;
mod top;
mod topics;
mod verify;

use crate::Error;
use crate::keys::KeyArgs;
use crate::remote::VenueArgs;
use any_queue::AnyQueue;
use local::LocalQueue;
use remote::RemoteQueue;
use rialto_queue::QueueOptions;
use std::path::PathBuf;

/// Works with the topics of a queue: of the venue at `--url`, or of a directory that no other
/// process has open.
#[derive(Debug, clap::Args)]
pub struct QueueArgs {
    /// The directory of the queue.
    #[arg(long, value_name = "DIR", env = "RIALTO_QUEUE", default_value = "queue", global = true)]
    dir: PathBuf,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    venue: VenueArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Create a topic.
    Create(topics::Create),
    /// Create a group of a topic.
    Group(topics::CreateGroup),
    /// Delete a topic with its messages and groups, or one group.
    Delete(topics::Delete),
    /// List the topics.
    Ls(topics::Ls),
    /// Show a topic and its groups.
    Describe(topics::Describe),
    /// Publish lines of standard input, or files.
    Produce(produce::Produce),
    /// Consume messages as a member of a group: print and acknowledge them.
    Consume(consume::Consume),
    /// Print messages without joining a group.
    Tail(consume::Tail),
    /// Watch all topics and groups.
    Top(top::Top),
    /// Print dead letters, publish them again, or drop them.
    DeadLetters(dead_letters::DeadLetters),
    /// List the leased messages of a group.
    Leases(leases::Leases),
    /// Check every byte of a queue that no process has open.
    Verify(verify::VerifyArgs),
}

/// Runs the command.
///
/// # Errors
/// The directory is in use, damaged or encrypted with missing keys, or the command failed.
pub fn run(args: &QueueArgs) -> Result<(), Error> {
    if let Some(venue) = args.venue.remote()? {
        return args.command.run(&RemoteQueue::new(venue));
    }
    match &args.command {
        Command::Verify(verify) => return verify.run(&args.dir, &args.keys.ring()?),
        Command::Tail(tail) if tail.follows() => {
            let reason = "no other process can publish while this one has the directory open; follow \
                          a venue's topic, with --url";
            return Err(Error::Usage(reason.to_owned()));
        }
        _ => {}
    }
    let creates = matches!(args.command, Command::Create(_));
    if !creates && !args.dir.join("control").is_dir() {
        let dir = args.dir.display();
        let reason =
            format!("{dir} has no queue; create one with `rialto queue create TOPIC --dir {dir}`");
        return Err(Error::Usage(reason));
    }
    let options = QueueOptions { keys: args.keys.ring()?, ..QueueOptions::at(&args.dir) };
    let queue = LocalQueue::open(&args.dir, options)?;
    let done = args.command.run(&queue);
    // Published messages are as durable as their topic's level; a failed close is reported still.
    done.and(queue.close())
}

impl Command {
    fn run(&self, queue: &dyn AnyQueue) -> Result<(), Error> {
        match self {
            Command::Create(create) => create.run(queue),
            Command::Group(group) => group.run(queue),
            Command::Delete(delete) => delete.run(queue),
            Command::Ls(ls) => ls.run(queue),
            Command::Describe(describe) => describe.run(queue),
            Command::Produce(produce) => produce.run(queue),
            Command::Consume(consume) => consume.run(queue),
            Command::Tail(tail) => tail.run(queue),
            Command::Top(top) => top.run(queue),
            Command::DeadLetters(dead) => dead.run(queue),
            Command::Leases(leases) => leases.run(queue),
            Command::Verify(_) => {
                let reason = "verify reads files: stop the venue, and name the directory queue of \
                              its data directory with --dir";
                Err(Error::Usage(reason.to_owned()))
            }
        }
    }
}
