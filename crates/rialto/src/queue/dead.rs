//! Dead letters.

use super::shown::Form;
use super::told;
use crate::Error;
use crate::terminal::note;
use rialto_queue::{DEAD_SUFFIX, GroupOptions, Publish, Queue, Read, Start, dead_header};
use std::io::{self, BufWriter, Write};

/// The group as which letters are sent back.
const REDRIVE: &str = "redrive";

/// Prints the dead letters of a topic, or sends them back, or drops them.
#[derive(Debug, clap::Args)]
pub(super) struct DeadLetters {
    /// The topic that the messages were published on.
    topic: String,
    /// Publish each on the topic that it came from, without the headers that say how it died. It is
    /// there again and no longer dead, or neither.
    #[arg(long, conflicts_with = "purge")]
    redrive: bool,
    /// Drop all.
    #[arg(long)]
    purge: bool,
    #[command(flatten)]
    form: Form,
}

impl DeadLetters {
    pub(super) fn run(&self, queue: &Queue) -> Result<(), Error> {
        let dead = format!("{}{DEAD_SUFFIX}", self.topic);
        queue.stats(&self.topic).map_err(told)?;
        if queue.stats(&dead).is_err() {
            note(format_args!("{} has no dead letters", self.topic));
            return Ok(());
        }
        if self.purge {
            let dropped = queue.purge(&dead).map_err(told)?;
            note(format_args!("{dropped} dropped"));
            return Ok(());
        }
        if self.redrive { self.send_back(queue, &dead) } else { self.show(queue, &dead) }
    }

    fn show(&self, queue: &Queue, dead: &str) -> Result<(), Error> {
        let mut reader = queue.reader(dead, Start::Oldest).map_err(told)?;
        let mut out = BufWriter::new(io::stdout().lock());
        while let Some(read) = reader.try_next().map_err(told)? {
            if let Read::Message(letter) = read
                && self.form.print(&mut out, &letter, 0).is_err()
            {
                return Ok(());
            }
        }
        let _ = out.flush();
        Ok(())
    }

    fn send_back(&self, queue: &Queue, dead: &str) -> Result<(), Error> {
        queue.create_group(dead, REDRIVE, GroupOptions::default()).map_err(told)?;
        let consumer = queue.consumer(dead, REDRIVE).map_err(told)?;
        let mut sent = 0;
        loop {
            let letters = consumer.try_fetch(100).map_err(told)?.messages;
            if letters.is_empty() {
                break;
            }
            for letter in &letters {
                let mut message = Publish::new(letter.payload())
                    .key(letter.key())
                    .content_type(letter.content_type())
                    .schema_version(letter.schema_version());
                for (name, value) in letter.headers() {
                    if !dead_header::ALL.contains(&name) {
                        message = message.header(name, value);
                    }
                }
                let mut transaction = queue.begin();
                transaction.ack(&consumer, letter).map_err(told)?;
                transaction.publish(&self.topic, &message).map_err(told)?;
                transaction.commit().map_err(told)?;
                sent += 1;
            }
        }
        note(format_args!("{sent} sent back"));
        Ok(())
    }
}
