//! Lines out.

use super::shown::Form;
use super::{duration, told};
use crate::Error;
use crate::terminal::note;
use rialto_queue::{GroupOptions, Queue, QueueError, Read, Start};
use std::io::{self, BufWriter, Write};
use std::time::Duration;

/// How many messages are taken at a time.
const FETCH: usize = 1_000;

/// Reads where to begin; for use as a parser of arguments.
pub(super) fn start(text: &str) -> Result<Start, String> {
    match text {
        "oldest" => Ok(Start::Oldest),
        "next" => Ok(Start::Next),
        number => number
            .parse()
            .map(Start::Seq)
            .map_err(|_| format!("{text:?} is no beginning; write oldest, next or a number")),
    }
}

/// Takes messages as a member of a group, prints them, and is done with them once they are printed.
#[derive(Debug, clap::Args)]
pub(super) struct Consume {
    /// The topic.
    topic: String,
    /// The group; it is created with its usual options if there is none.
    #[arg(long, default_value = "default")]
    group: String,
    /// Take at most so many messages.
    #[arg(long)]
    count: Option<u64>,
    /// End when no message has come for so long; 0s takes what there is.
    #[arg(long, value_parser = duration::parse, default_value = "0s")]
    wait: Duration,
    #[command(flatten)]
    form: Form,
}

impl Consume {
    pub(super) fn run(&self, queue: &Queue) -> Result<(), Error> {
        let consumer = match queue.consumer(&self.topic, &self.group) {
            Err(QueueError::UnknownGroup { .. }) => queue
                .create_group(&self.topic, &self.group, GroupOptions::default())
                .and_then(|()| queue.consumer(&self.topic, &self.group)),
            consumer => consumer,
        }
        .map_err(told)?;
        let mut left = self.count.unwrap_or(u64::MAX);
        let mut out = BufWriter::new(io::stdout().lock());
        while left > 0 {
            let most = FETCH.min(usize::try_from(left).unwrap_or(FETCH));
            let fetched = consumer.fetch(most, self.wait).map_err(told)?;
            if fetched.missed > 0 {
                note(format_args!(
                    "{} messages were dropped before they were read",
                    fetched.missed
                ));
            } else if fetched.messages.is_empty() {
                break;
            }
            for message in &fetched.messages {
                // What could not be printed is handed out again.
                if self.form.print(&mut out, message, message.attempt()).is_err() {
                    return Ok(());
                }
            }
            if out.flush().is_err() {
                return Ok(());
            }
            consumer.ack_all(&fetched.messages);
            left -= fetched.messages.len() as u64;
        }
        consumer.confirm().map_err(told)
    }
}

/// Prints messages without being a member of a group; nobody notices.
#[derive(Debug, clap::Args)]
pub(super) struct Tail {
    /// The topic.
    topic: String,
    /// Where to begin: oldest, next, or a message's number.
    #[arg(long, default_value = "oldest", value_parser = start)]
    from: Start,
    /// Print at most so many messages.
    #[arg(long)]
    count: Option<u64>,
    #[command(flatten)]
    form: Form,
}

impl Tail {
    pub(super) fn run(&self, queue: &Queue) -> Result<(), Error> {
        let mut reader = queue.reader(&self.topic, self.from).map_err(told)?;
        let mut out = BufWriter::new(io::stdout().lock());
        let mut left = self.count.unwrap_or(u64::MAX);
        while left > 0 {
            match reader.try_next().map_err(told)? {
                Some(Read::Message(message)) => {
                    if self.form.print(&mut out, &message, 0).is_err() {
                        return Ok(());
                    }
                    left -= 1;
                }
                Some(Read::Missed { lane, messages }) => {
                    note(format_args!("{messages} messages of lane {lane} were dropped"));
                }
                None => break,
            }
        }
        // Whoever read along may have seen enough.
        let _ = out.flush();
        Ok(())
    }
}
