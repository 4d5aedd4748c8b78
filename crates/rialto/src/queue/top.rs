//! Watching topics.

use super::topics::topic_object;
use super::{duration, told};
use crate::Error;
use crate::terminal::say;
use rialto_queue::Queue;
use std::thread;
use std::time::Duration;

/// Prints how all topics and groups are doing, again and again.
#[derive(Debug, clap::Args)]
pub(super) struct Top {
    /// How long between two looks.
    #[arg(long, value_parser = duration::parse, default_value = "2s")]
    every: Duration,
    /// How many looks; without it, until it is interrupted.
    #[arg(long)]
    count: Option<u64>,
    /// Print one JSON object a topic.
    #[arg(long)]
    json: bool,
}

impl Top {
    pub(super) fn run(&self, queue: &Queue) -> Result<(), Error> {
        let mut looks = 0;
        loop {
            self.look(queue)?;
            looks += 1;
            if self.count.is_some_and(|count| looks >= count) {
                return Ok(());
            }
            thread::sleep(self.every);
        }
    }

    fn look(&self, queue: &Queue) -> Result<(), Error> {
        if !self.json {
            say(format_args!(
                "{:<40} {:>12} {:>14} {:>12} {:>12}",
                "topic / group", "messages", "bytes", "lag", "outstanding"
            ));
        }
        for name in queue.topics() {
            let stats = queue.stats(name.as_str()).map_err(told)?;
            if self.json {
                let options = queue.options(name.as_str()).map_err(told)?;
                say(format_args!("{}", topic_object(&stats, &options)));
                continue;
            }
            say(format_args!("{:<40} {:>12} {:>14}", stats.name, stats.messages, stats.bytes));
            for group in &stats.groups {
                say(format_args!(
                    "  {:<38} {:>12} {:>14} {:>12} {:>12}",
                    group.name, "", "", group.lag, group.outstanding
                ));
            }
        }
        Ok(())
    }
}
