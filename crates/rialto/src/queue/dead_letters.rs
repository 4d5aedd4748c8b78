//! Dead letters.

use super::any_queue::AnyQueue;
use super::shown::Form;
use crate::Error;
use crate::terminal::note;
use rialto_queue::{DEAD_SUFFIX, Name, dead_topic_of};
use std::io::{self, BufWriter, Write};

/// Prints, redrives or drops the dead letters of a topic.
#[derive(Debug, clap::Args)]
pub(super) struct DeadLetters {
    /// The topic of the original messages, or their dead-letter topic, whose name ends in `.dead`.
    topic: String,
    /// The topic of the dead letters, if a group names one; by default TOPIC.dead.
    #[arg(long = "in", value_name = "TOPIC")]
    dead: Option<String>,
    /// Publish each dead letter again on the topic that it came from, exactly once and without the
    /// headers that say why it failed.
    #[arg(long, conflicts_with = "purge")]
    redrive: bool,
    /// Drop all dead letters.
    #[arg(long)]
    purge: bool,
    #[command(flatten)]
    form: Form,
}

impl DeadLetters {
    pub(super) fn run(&self, queue: &dyn AnyQueue) -> Result<(), Error> {
        let dead = match &self.dead {
            Some(dead) => dead.clone(),
            None if self.topic.ends_with(DEAD_SUFFIX) => self.topic.clone(),
            None => {
                queue.topic(&self.topic)?;
                let topic =
                    Name::new(&self.topic).map_err(|error| Error::Usage(error.to_string()))?;
                dead_topic_of(&topic).as_str().to_owned()
            }
        };
        let is_default = self.dead.is_none() && dead != self.topic;
        if is_default && !queue.topics()?.contains(&dead) {
            note(format_args!("{} has no dead letters", self.topic));
            return Ok(());
        }
        if self.purge {
            note(format_args!("{} dropped", queue.purge(&dead)?));
            return Ok(());
        }
        if self.redrive {
            let redriven = queue.redrive(&dead)?;
            match (redriven.sent, redriven.kept) {
                (sent, 0) => note(format_args!("{sent} redriven")),
                (sent, kept) => {
                    note(format_args!("{sent} redriven; {kept} could not be redriven and stay"));
                }
            }
            return Ok(());
        }
        let mut out = BufWriter::new(io::stdout().lock());
        queue.dead_letters(&dead, &mut |letter| self.form.print(&mut out, letter))?;
        // The reader of a pipe may have closed it.
        let _ = out.flush();
        Ok(())
    }
}
