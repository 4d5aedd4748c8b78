//! Watching tenants.

use super::any_pool::AnyPool;
use super::shown::{number, text};
use crate::Error;
use crate::duration;
use crate::terminal::say;
use serde_json::Value;
use std::collections::HashMap;
use std::io::{self, IsTerminal};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Moves to the upper left corner of a terminal, and clears it.
const CLEAR: &str = "\x1b[H\x1b[2J";
/// The counters whose rates are shown.
const COUNTERS: [&str; 3] = ["accepted", "claims", "completed"];

/// Prints the files and the work of all tenants, again and again: how many wait, the age of the oldest,
/// how many a second are accepted, claimed and completed, and how often files were claimed and failed.
#[derive(Debug, clap::Args)]
pub(super) struct Top {
    /// The interval between two tables.
    #[arg(long, value_parser = duration::parse, default_value = "1s")]
    every: Duration,
    /// Print one table, and end. It has no rates.
    #[arg(long)]
    once: bool,
    /// End after this many tables.
    #[arg(long, value_name = "TABLES", conflicts_with = "once")]
    count: Option<u64>,
    /// Print one JSON object a tenant.
    #[arg(long)]
    json: bool,
}

/// The counters of tenants at a time.
struct Look {
    at: Instant,
    counters: HashMap<String, [u64; 3]>,
}

impl Look {
    fn of(tenants: &[Value]) -> Look {
        let counters = tenants.iter().map(|tenant| {
            (text(&tenant["name"]), COUNTERS.map(|counter| number(&tenant[counter])))
        });
        Look { at: Instant::now(), counters: counters.collect() }
    }

    /// The rates of a tenant since another look.
    fn rates(&self, name: &str, before: Option<&Look>) -> [String; 3] {
        let none = || ["-"; 3].map(str::to_owned);
        let Some(before) = before else { return none() };
        let (Some(now), Some(then)) = (self.counters.get(name), before.counters.get(name)) else {
            return none();
        };
        let seconds = self.at.duration_since(before.at).as_secs_f64().max(0.001);
        // A count is less than before if the venue was started again.
        let rate = |nth: usize| now[nth].saturating_sub(then[nth]) as f64 / seconds;
        [0, 1, 2].map(|nth| format!("{:.1}", rate(nth)))
    }
}

impl Top {
    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        let count = if self.once { Some(1) } else { self.count };
        let clears = count.is_none() && !self.json && io::stdout().is_terminal();
        let (mut before, mut tables) = (None, 0);
        loop {
            // Read before the old table is cleared.
            let tenants = pool.tenants()?;
            let look = Look::of(&tenants);
            if clears {
                say(format_args!("{CLEAR}"));
            }
            if self.json {
                tenants.iter().for_each(|tenant| say(format_args!("{tenant}")));
            } else {
                print(&tenants, &look, before.as_ref());
            }
            before = Some(look);
            tables += 1;
            if count.is_some_and(|count| tables >= count) {
                return Ok(());
            }
            thread::sleep(self.every);
        }
    }
}

fn print(tenants: &[Value], look: &Look, before: Option<&Look>) {
    say(format_args!(
        "{:<32}  {:<9}  {:>10}  {:>15}  {:>9}  {:>8}  {:>8}  {:>6}  {:>9}  {:>9}  {:>9}  {:>9}  {:>8}",
        "TENANT",
        "STATE",
        "FILES",
        "BYTES",
        "WAITING",
        "OLDEST",
        "CLAIMED",
        "DEAD",
        "IN/S",
        "CLAIMS/S",
        "DONE/S",
        "CLAIMS",
        "FAILED"
    ));
    for tenant in tenants {
        let [name, state, files, bytes, waiting, claimed, dead, claims, failed] =
            ["name", "state", "files", "bytes", "waiting", "claimed", "dead", "claims", "failed"]
                .map(|field| text(&tenant[field]));
        let [coming, claimed_per_s, going] = look.rates(&name, before);
        let oldest = age(&tenant["oldest_waiting_at"]);
        say(format_args!(
            "{name:<32}  {state:<9}  {files:>10}  {bytes:>15}  {waiting:>9}  {oldest:>8}  \
             {claimed:>8}  {dead:>6}  {coming:>9}  {claimed_per_s:>9}  {going:>9}  {claims:>9}  \
             {failed:>8}"
        ));
    }
}

/// The time since a time in nanoseconds since 1970, in whole seconds.
fn age(then: &Value) -> String {
    if then.is_null() {
        return "-".to_owned();
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}s", now.saturating_sub(Duration::from_nanos(number(then))).as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rates_are_differences_of_counters_over_time() {
        let tenant = |accepted: u64| {
            [
                json!({"name": "a", "accepted": accepted.to_string(), "claims": "7", "completed": "0"}),
            ]
        };
        let first = Look::of(&tenant(10));
        let mut second = Look::of(&tenant(30));
        second.at = first.at + Duration::from_secs(4);
        assert_eq!(first.rates("a", None), ["-", "-", "-"]);
        assert_eq!(second.rates("a", Some(&first)), ["5.0", "0.0", "0.0"]);
        assert_eq!(second.rates("other", Some(&first)), ["-", "-", "-"]);
        let mut restarted = Look::of(&tenant(1));
        restarted.at = second.at + Duration::from_secs(1);
        assert_eq!(restarted.rates("a", Some(&second))[0], "0.0");
    }
}
