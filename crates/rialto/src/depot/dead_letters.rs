//! Dead letters.

use super::any_pool::AnyPool;
use super::shown::text;
use crate::Error;
use crate::terminal::{note, say};
use rialto_depot::TenantName;

/// Lists the files that were given up, the oldest first, with the reasons.
#[derive(Debug, clap::Args)]
pub(super) struct DeadLetters {
    /// The tenant.
    #[arg(long, value_parser = TenantName::new)]
    tenant: TenantName,
    /// The most files.
    #[arg(long, value_name = "FILES", default_value_t = 1_000)]
    limit: usize,
    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

impl DeadLetters {
    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        let dead = pool.dead_letters(&self.tenant, self.limit)?;
        if !self.json {
            say(format_args!("{:<32}  {:>8}  {:<10}  PATH: DETAIL", "ID", "ATTEMPTS", "REASON"));
        }
        for dead in &dead {
            if self.json {
                say(format_args!("{dead}"));
                continue;
            }
            let [id, attempts, path] =
                ["id", "attempts", "path"].map(|field| text(&dead["file"][field]));
            let [reason, detail] = ["reason", "detail"].map(|field| text(&dead[field]));
            say(format_args!("{id:<32}  {attempts:>8}  {reason:<10}  {path}: {detail}"));
        }
        Ok(())
    }
}

/// Hands dead letters out again, the oldest first, with fresh attempts.
#[derive(Debug, clap::Args)]
pub(super) struct Redrive {
    /// The tenant.
    #[arg(long, value_parser = TenantName::new)]
    tenant: TenantName,
    /// The most files; by default all.
    #[arg(long, value_name = "FILES")]
    limit: Option<u64>,
}

impl Redrive {
    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        let redriven = pool.redrive(&self.tenant, self.limit.unwrap_or(u64::MAX))?;
        note(format_args!("{redriven} redriven"));
        Ok(())
    }
}
