//! Watching tenants.

use super::any_pool::AnyPool;
use super::shown::{text, time};
use crate::Error;
use crate::duration;
use crate::terminal::say;
use std::io::{self, IsTerminal};
use std::thread;
use std::time::Duration;

/// Moves to the upper left corner of a terminal, and clears it.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Prints the files and the work of all tenants, again and again.
#[derive(Debug, clap::Args)]
pub(super) struct Top {
    /// The interval between two tables.
    #[arg(long, value_parser = duration::parse, default_value = "1s")]
    every: Duration,
    /// Print one table, and end.
    #[arg(long)]
    once: bool,
    /// Print one JSON object a tenant.
    #[arg(long)]
    json: bool,
}

impl Top {
    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        let clears = !self.once && !self.json && io::stdout().is_terminal();
        loop {
            // Read before the old table is cleared.
            let tenants = pool.tenants()?;
            if clears {
                say(format_args!("{CLEAR}"));
            }
            if !self.json {
                say(format_args!(
                    "{:<32}  {:<13}  {:>10}  {:>16}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:<20}",
                    "TENANT",
                    "STAGE",
                    "FILES",
                    "BYTES",
                    "WAITING",
                    "CLAIMED",
                    "DEAD",
                    "COMPLETED",
                    "FAILED",
                    "OLDEST WAITING"
                ));
            }
            for tenant in &tenants {
                if self.json {
                    say(format_args!("{tenant}"));
                    continue;
                }
                let [name, stage, files, bytes] =
                    ["name", "stage", "files", "bytes"].map(|field| text(&tenant[field]));
                let work = &tenant["work"];
                let [waiting, claimed, dead, completed, failed] =
                    ["waiting", "claimed", "dead", "completed", "failed"]
                        .map(|field| text(&work[field]));
                let oldest = time(&work["oldest_waiting_at"]);
                say(format_args!(
                    "{name:<32}  {stage:<13}  {files:>10}  {bytes:>16}  {waiting:>9}  {claimed:>9}  \
                     {dead:>9}  {completed:>9}  {failed:>9}  {oldest:<20}"
                ));
            }
            if self.once {
                return Ok(());
            }
            thread::sleep(self.every);
        }
    }
}
