//! Listing files.

use super::any_pool::AnyPool;
use super::show::id_of;
use super::shown::{text, time};
use crate::Error;
use crate::terminal::say;
use rialto_depot::{FileId, PAGE_FILES_MAX, TenantName};
use serde_json::Value;

/// Lists files: work files in the order of their arrival, then kept files in the order of their
/// paths.
#[derive(Debug, clap::Args)]
pub(super) struct Ls {
    /// The tenant.
    #[arg(long, value_parser = TenantName::new)]
    tenant: TenantName,
    /// Only work files.
    #[arg(long, conflicts_with = "shelf")]
    work: bool,
    /// Only kept files.
    #[arg(long)]
    shelf: bool,
    /// Only files whose paths begin with this.
    #[arg(long, default_value = "", hide_default_value = true)]
    prefix: String,
    /// Only files behind this one: the id of a work file with --work, the path of a kept file with
    /// --shelf.
    #[arg(long, value_name = "FILE")]
    after: Option<String>,
    /// The most files.
    #[arg(long, value_name = "FILES")]
    limit: Option<u64>,
    /// Print times, attempts, content type and SHA-256 too.
    #[arg(long, conflicts_with = "json")]
    long: bool,
    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

impl Ls {
    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        if self.after.is_some() && !self.work && !self.shelf {
            let reason = "--after needs --work or --shelf, which are in different orders";
            return Err(Error::Usage(reason.to_owned()));
        }
        // An unknown tenant is an error before anything is printed.
        pool.tenant(&self.tenant)?;
        let mut left = self.limit.unwrap_or(u64::MAX);
        self.heading();
        if !self.shelf {
            self.work_files(pool, &mut left)?;
        }
        if !self.work {
            self.kept_files(pool, &mut left)?;
        }
        Ok(())
    }

    fn work_files(&self, pool: &dyn AnyPool, left: &mut u64) -> Result<(), Error> {
        let parsed = self.after.as_deref().map(str::parse::<FileId>).transpose();
        let mut after = parsed.map_err(|error| Error::Usage(error.to_string()))?;
        while *left > 0 {
            let limit = page(*left);
            let files = pool.work_files(&self.tenant, &self.prefix, after, limit)?;
            self.print(&files);
            *left -= files.len() as u64;
            after = match files.last() {
                Some(last) if files.len() == limit => Some(id_of(last)?),
                _ => return Ok(()),
            };
        }
        Ok(())
    }

    fn kept_files(&self, pool: &dyn AnyPool, left: &mut u64) -> Result<(), Error> {
        let mut after = self.after.clone();
        while *left > 0 {
            let limit = page(*left);
            let files = pool.kept_files(&self.tenant, &self.prefix, after.as_deref(), limit)?;
            self.print(&files);
            *left -= files.len() as u64;
            after = match files.last() {
                Some(last) if files.len() == limit => last["path"].as_str().map(str::to_owned),
                _ => return Ok(()),
            };
        }
        Ok(())
    }

    fn heading(&self) {
        if self.json {
            return;
        }
        let more = if self.long {
            format!(
                "  {:<20}  {:<20}  {:>8}  {:<24}  {:<64}",
                "CREATED", "EXPIRES", "ATTEMPTS", "CONTENT TYPE", "SHA-256"
            )
        } else {
            String::new()
        };
        say(format_args!("{:<32}  {:<7}  {:>14}{more}  PATH", "ID", "STATE", "BYTES"));
    }

    fn print(&self, files: &[Value]) {
        for file in files {
            if self.json {
                say(format_args!("{file}"));
                continue;
            }
            let [id, state, bytes, path] =
                ["id", "state", "bytes", "path"].map(|field| text(&file[field]));
            let more = if self.long {
                let [created, expires] =
                    ["created_at", "expires_at"].map(|field| time(&file[field]));
                let [attempts, content_type, sha256] =
                    ["attempts", "content_type", "sha256"].map(|field| text(&file[field]));
                format!(
                    "  {created:<20}  {expires:<20}  {attempts:>8}  {content_type:<24}  \
                    {sha256:<64}"
                )
            } else {
                String::new()
            };
            say(format_args!("{id:<32}  {state:<7}  {bytes:>14}{more}  {path}"));
        }
    }
}

fn page(left: u64) -> usize {
    usize::try_from(left).unwrap_or(PAGE_FILES_MAX).min(PAGE_FILES_MAX)
}
