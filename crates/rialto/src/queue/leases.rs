//! The leased messages of a group.

use super::any_queue::AnyQueue;
use crate::Error;
use crate::duration;
use crate::terminal::note;
use rialto_client::api::LeaseInfo;
use rialto_queue::{Clock, SystemClock, Timestamp};
use serde_json::json;
use std::io::{self, BufWriter, Write};
use std::time::Duration;

/// Lists the messages that consumers of a group hold, by priority and number. A lease ends with the
/// process that holds it: in a directory that no process has open, no message is leased.
#[derive(Debug, clap::Args)]
pub(super) struct Leases {
    /// The topic.
    topic: String,
    /// The group.
    group: String,
    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

impl Leases {
    pub(super) fn run(&self, queue: &dyn AnyQueue) -> Result<(), Error> {
        let mut out = BufWriter::new(io::stdout().lock());
        let mut after: Option<String> = None;
        loop {
            let page = queue.leases(&self.topic, &self.group, after.as_deref())?;
            let Some(last) = page.last() else { break };
            if after.is_none() && !self.json {
                let _ = writeln!(
                    out,
                    "{:<14} {:>7} {:>12} {:>12} consumer",
                    "message", "attempt", "ends in", "age"
                );
            }
            after = Some(last.id.clone());
            let now = SystemClock.now();
            if page.iter().try_for_each(|lease| self.print(&mut out, lease, now)).is_err() {
                // The reader of the output has closed it.
                return Ok(());
            }
        }
        let _ = out.flush();
        if after.is_none() {
            note(format_args!("no message of {} is leased to {}", self.topic, self.group));
        }
        Ok(())
    }

    fn print(&self, out: &mut impl Write, lease: &LeaseInfo, now: Timestamp) -> io::Result<()> {
        if self.json {
            return writeln!(out, "{}", json!(lease));
        }
        // Whole seconds are enough to read.
        let shown = |time: Duration| duration::show(Duration::from_secs(time.as_secs()));
        let age = lease.published_at.map(|at| shown(now.since(at)));
        writeln!(
            out,
            "{:<14} {:>7} {:>12} {:>12} {}",
            lease.id,
            lease.attempt,
            shown(lease.deadline.since(now)),
            age.as_deref().unwrap_or("-"),
            lease.consumer.as_deref().unwrap_or("-")
        )
    }
}
