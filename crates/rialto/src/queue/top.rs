//! Watching topics.

use super::duration;
use super::kept::Kept;
use super::topics::shown;
use crate::Error;
use crate::terminal::say;
use serde_json::Value;
use std::collections::HashMap;
use std::thread;
use std::time::{Duration, Instant};

/// Counts by what they are of, and when they were taken.
type Counts = HashMap<String, (u64, Instant)>;

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
    pub(super) fn run(&self, queue: &dyn Kept) -> Result<(), Error> {
        let mut looks = 0;
        let mut before = HashMap::new();
        loop {
            self.look(queue, &mut before)?;
            looks += 1;
            if self.count.is_some_and(|count| looks >= count) {
                return Ok(());
            }
            thread::sleep(self.every);
        }
    }

    /// `before` has what each topic and group had come to at the last look, and when that was.
    fn look(&self, queue: &dyn Kept, before: &mut Counts) -> Result<(), Error> {
        if !self.json {
            say(format_args!(
                "{:<40} {:>12} {:>14} {:>12} {:>12} {:>10}",
                "topic / group", "messages", "bytes", "lag", "outstanding", "per second"
            ));
        }
        for name in queue.topics()? {
            let topic = queue.topic(&name)?;
            if self.json {
                say(format_args!("{topic}"));
                continue;
            }
            let [messages, bytes] = ["messages", "bytes"].map(|field| shown(&topic[field]));
            let rate = per_second(before, &name, &topic["published_messages"]);
            say(format_args!(
                "{name:<40} {messages:>12} {bytes:>14} {:>12} {:>12} {rate:>10}",
                "", ""
            ));
            for group in topic["groups"].as_array().into_iter().flatten() {
                let place = format!("{name}/{}", shown(&group["name"]));
                let rate = per_second(before, &place, &group["delivered"]);
                let [name, lag, outstanding] =
                    ["name", "lag", "outstanding"].map(|field| shown(&group[field]));
                say(format_args!(
                    "  {name:<38} {:>12} {:>14} {lag:>12} {outstanding:>12} {rate:>10}",
                    "", ""
                ));
            }
        }
        Ok(())
    }
}

/// How many a second since the last look: messages published, or handed out.
fn per_second(before: &mut Counts, place: &str, count: &Value) -> String {
    let count: u64 = count.as_str().and_then(|text| text.parse().ok()).unwrap_or_default();
    let now = Instant::now();
    match before.insert(place.to_owned(), (count, now)) {
        // It counts from when the queue was opened, which may have happened again.
        Some((last, at)) => {
            let seconds = now.duration_since(at).as_secs_f64().max(0.001);
            format!("{:.0}", count.saturating_sub(last) as f64 / seconds)
        }
        None => "-".to_owned(),
    }
}
