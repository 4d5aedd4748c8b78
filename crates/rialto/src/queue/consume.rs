//! Lines out.

use super::any_queue::{AnyQueue, Seen};
use super::output::{Output, Stop};
use super::printing::Printing;
use super::saving::Saving;
use super::shown::{Form, Shown};
use crate::Error;
use crate::duration;
use crate::terminal::note;
use rialto_queue::Start;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// The messages of one fetch.
const FETCH: u64 = 1_000;
/// The interval at which `--follow` looks for more messages.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Parses a start position of the command line.
pub(super) fn start(text: &str) -> Result<Start, String> {
    match text {
        "oldest" => Ok(Start::Oldest),
        "next" => Ok(Start::Next),
        number => number
            .parse()
            .map(Start::Seq)
            .map_err(|_| format!("{text:?} is no start position; write oldest, next or a number")),
    }
}

/// Consumes messages as a member of a group: prints, then acknowledges them.
#[derive(Debug, clap::Args)]
pub(super) struct Consume {
    /// The topic.
    topic: String,
    /// The group; it is created with default options if it does not exist.
    #[arg(long, default_value = "default")]
    group: String,
    /// The most messages to consume.
    #[arg(long)]
    count: Option<u64>,
    /// End after this time without a message; 0s consumes only the available ones.
    #[arg(long, value_parser = duration::parse, default_value = "0s")]
    wait: Duration,
    /// How long the consumer has for each batch before its messages are delivered again, instead of
    /// the group's time: 1ms to 7d.
    #[arg(long, value_parser = duration::parse)]
    ack_wait: Option<Duration>,
    /// Write the payload of each message to a file named LANE-NUMBER in this directory, which must
    /// exist and be used for this topic and group alone. A message is acknowledged once its file is
    /// durable. An existing file with other contents is an error; .LANE-NUMBER.….part is an
    /// unfinished file.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "raw"])]
    into: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
}

impl Consume {
    pub(super) fn run(&self, queue: &dyn AnyQueue) -> Result<(), Error> {
        let mut output = match &self.into {
            Some(dir) => Output::Files(Saving::open(dir)?),
            None => Output::Lines(Printing::open(self.form)?),
        };
        let mut member = queue.join(&self.topic, &self.group, self.ack_wait)?;
        let mut left = self.count.unwrap_or(u64::MAX);
        while left > 0 {
            let most = output.batch().min(left) as usize;
            output.begin();
            let mut stopped = None;
            let put = &mut |message: &Shown<'_>| {
                output.put(message).map_err(|stop| {
                    stopped = Some(stop);
                    io::ErrorKind::Other.into()
                })
            };
            let seen = member.fetch(most, self.wait, put)?;
            tell_missed(&seen);
            if seen.messages == 0 && seen.missed == 0 {
                break;
            }
            if let Some(stop) = stopped.or_else(|| output.finish().err()) {
                // Unwritten messages are delivered again; for unread ones this was no attempt.
                let gone = member.return_unseen(output.looked_at())?;
                if gone > 0 {
                    note(format_args!(
                        "{gone} messages could not be given back: the group delivers at most once, \
                         or they took too long"
                    ));
                }
                member.leave()?;
                return match stop {
                    Stop::Enough => Ok(()),
                    Stop::Failed(error) => Err(error),
                };
            }
            let late = member.done()?;
            if late > 0 {
                note(format_args!("{late} leases ended before printing did: redelivery follows"));
            }
            left -= seen.messages;
        }
        member.leave()
    }
}

fn tell_missed(seen: &Seen) {
    if seen.missed > 0 {
        note(format_args!("{} messages were dropped before they were read", seen.missed));
    }
    if seen.conflated > 0 {
        let left_out = seen.conflated;
        note(format_args!("{left_out} messages were skipped: their keys have later ones"));
    }
}

/// Prints messages without joining a group; no group's position changes.
#[derive(Debug, clap::Args)]
pub(super) struct Tail {
    /// The topic.
    topic: String,
    /// The start: oldest, next, or a message's number.
    #[arg(long, default_value = "oldest", value_parser = start)]
    from: Start,
    /// The most messages to print.
    #[arg(long)]
    count: Option<u64>,
    /// Wait for more messages until interrupted.
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    form: Form,
}

impl Tail {
    /// Whether to wait for new messages.
    pub(super) fn follows(&self) -> bool {
        self.follow
    }

    pub(super) fn run(&self, queue: &dyn AnyQueue) -> Result<(), Error> {
        let mut pages = queue.read(&self.topic, self.from)?;
        let mut out = BufWriter::new(io::stdout().lock());
        let mut left = self.count.unwrap_or(u64::MAX);
        while left > 0 {
            let form = self.form;
            let print = &mut |message: &Shown<'_>| form.print(&mut out, message);
            let seen = pages.next(FETCH.min(left) as usize, print)?;
            tell_missed(&seen);
            // Whoever read along may have seen enough.
            if seen.is_enough || out.flush().is_err() {
                return Ok(());
            }
            if seen.messages == 0 && seen.missed == 0 {
                if !self.follow {
                    return Ok(());
                }
                thread::sleep(LOOK_EVERY);
            }
            left -= seen.messages;
        }
        Ok(())
    }
}
