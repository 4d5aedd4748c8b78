//! Watching topics.

use super::any_queue::AnyQueue;
use super::topics::shown;
use crate::Error;
use crate::duration;
use crate::terminal::say;
use serde_json::Value;
use std::thread;
use std::time::Duration;

/// Prints statistics of all topics and groups, repeatedly.
#[derive(Debug, clap::Args)]
pub(super) struct Top {
    /// The interval between two lines.
    #[arg(long, value_parser = duration::parse, default_value = "2s")]
    every: Duration,
    /// Stop after this many lines; by default, run until interrupted.
    #[arg(long)]
    count: Option<u64>,
    /// Print one JSON object per topic.
    #[arg(long)]
    json: bool,
}

impl Top {
    pub(super) fn run(&self, queue: &dyn AnyQueue) -> Result<(), Error> {
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

    fn look(&self, queue: &dyn AnyQueue) -> Result<(), Error> {
        if !self.json {
            say(format_args!(
                "{:<40} {:>12} {:>14} {:>12} {:>12} {:>10} {:>10}",
                "topic / group", "messages", "bytes", "lag", "outstanding", "in/s", "out/s"
            ));
        }
        for name in queue.topics()? {
            let topic = queue.topic(&name)?;
            if self.json {
                say(format_args!("{topic}"));
                continue;
            }
            let [messages, bytes] = ["messages", "bytes"].map(|field| shown(&topic[field]));
            let [coming, going] = ["published_per_s", "delivered_per_s"].map(|of| rate(&topic, of));
            say(format_args!(
                "{name:<40} {messages:>12} {bytes:>14} {:>12} {:>12} {coming:>10} {going:>10}",
                "", ""
            ));
            for group in topic["groups"].as_array().into_iter().flatten() {
                let [name, lag, outstanding] =
                    ["name", "lag", "outstanding"].map(|field| shown(&group[field]));
                let going = rate(group, "delivered_per_s");
                say(format_args!(
                    "  {name:<38} {:>12} {:>14} {lag:>12} {outstanding:>12} {:>10} {going:>10}",
                    "", "", ""
                ));
            }
        }
        Ok(())
    }
}

/// Messages a second, over about ten seconds.
fn rate(of: &Value, which: &str) -> String {
    of["rates"][which].as_f64().map_or_else(|| "-".to_owned(), |rate| format!("{rate:.0}"))
}
