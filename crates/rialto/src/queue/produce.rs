//! Lines or files in.

use super::any_queue::{AnyQueue, Published};
use crate::Error;
use crate::duration;
use crate::terminal::note;
use rialto_queue::Publish;
use std::io::{self, BufRead, Read};
use std::path::PathBuf;
use std::time::Duration;

/// Publishes each line of standard input, or each file, as a message. Ends when all are as durable
/// as the topic's level.
#[derive(Debug, clap::Args)]
pub(super) struct Produce {
    /// The topic.
    topic: String,
    /// Publish each of these files as one message; `-` is standard input.
    files: Vec<PathBuf>,
    /// The key of all messages.
    #[arg(long, default_value = "")]
    key: String,
    /// A character that separates the key of a line from its payload.
    #[arg(long, conflicts_with_all = ["key", "files"])]
    key_separator: Option<char>,
    /// A header of all messages, as NAME=VALUE; may be given several times.
    #[arg(long = "header", value_parser = header)]
    headers: Vec<(String, String)>,
    /// The media type of the payloads.
    #[arg(long, default_value = "")]
    content_type: String,
    /// The version of the payloads' schema.
    #[arg(long, default_value_t = 0)]
    schema_version: u32,
    /// The priority; higher ones are delivered first.
    #[arg(long, default_value_t = 0)]
    priority: u8,
    /// Deliver after this time.
    #[arg(long, value_parser = duration::parse)]
    delay: Option<Duration>,
    /// Expire after this time: do not deliver then.
    #[arg(long, value_parser = duration::parse)]
    expires_after: Option<Duration>,
    /// The producer's id, which numbers the messages so that repeated ones are published once.
    #[arg(long, requires = "first")]
    producer: Option<u64>,
    /// The number of the first message.
    #[arg(long, requires = "producer")]
    first: Option<u64>,
    /// The most lines to publish together.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    batch: u32,
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a header is written as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl Produce {
    pub(super) fn run(&self, queue: &dyn AnyQueue) -> Result<(), Error> {
        // A missing topic is an error before any input is read.
        queue.topic(&self.topic)?;
        let mut count = Published::default();
        let done = if self.files.is_empty() {
            self.lines(queue, &mut count)
        } else {
            self.whole_files(queue, &mut count)
        };
        let Published { messages, duplicates } = count;
        match duplicates {
            0 => note(format_args!("{messages} published")),
            _ => note(format_args!("{messages} published, {duplicates} of them were duplicates")),
        }
        done
    }

    fn lines(&self, queue: &dyn AnyQueue, count: &mut Published) -> Result<(), Error> {
        let mut input = io::stdin().lock();
        let mut lines: Vec<Vec<u8>> = Vec::new();
        loop {
            let mut line = Vec::new();
            let read = input.read_until(b'\n', &mut line).map_err(Error::file("read", "-"))?;
            if line.last() == Some(&b'\n') {
                line.pop();
            }
            if read > 0 {
                lines.push(line);
            }
            if lines.len() >= self.batch as usize || read == 0 {
                self.publish(queue, &lines, count)?;
                lines.clear();
            }
            if read == 0 {
                return Ok(());
            }
        }
    }

    fn whole_files(&self, queue: &dyn AnyQueue, count: &mut Published) -> Result<(), Error> {
        for file in &self.files {
            let mut bytes = Vec::new();
            let read = if file.as_os_str() == "-" {
                io::stdin().lock().read_to_end(&mut bytes).map(drop)
            } else {
                std::fs::read(file).map(|read| bytes = read)
            };
            read.map_err(Error::file("read", file))?;
            self.publish(queue, &[bytes], count)?;
        }
        Ok(())
    }

    fn publish(
        &self,
        queue: &dyn AnyQueue,
        lines: &[Vec<u8>],
        count: &mut Published,
    ) -> Result<(), Error> {
        if lines.is_empty() {
            return Ok(());
        }
        let messages: Vec<_> = lines.iter().map(|line| self.message(line)).collect();
        let first = self.first.unwrap_or(0) + count.messages + count.duplicates;
        let numbers = (self.producer.unwrap_or(0), first);
        let published = queue.publish(&self.topic, &messages, numbers)?;
        count.messages += published.messages;
        count.duplicates += published.duplicates;
        Ok(())
    }

    fn message<'m>(&'m self, line: &'m [u8]) -> Publish<'m> {
        let mut separator = [0; 4];
        let separator = self.key_separator.map(|c| &*c.encode_utf8(&mut separator));
        let (key, payload) = separator
            .and_then(|separator| {
                let at = line.windows(separator.len()).position(|it| it == separator.as_bytes())?;
                Some((&line[..at], &line[at + separator.len()..]))
            })
            .unwrap_or((self.key.as_bytes(), line));
        let mut message = Publish::new(payload)
            .key(key)
            .content_type(&self.content_type)
            .schema_version(self.schema_version)
            .priority(self.priority);
        for (name, value) in &self.headers {
            message = message.header(name, value.as_bytes());
        }
        if let Some(delay) = self.delay {
            message = message.delay(delay);
        }
        if let Some(time_to_live) = self.expires_after {
            message = message.expires_after(time_to_live);
        }
        message
    }
}
