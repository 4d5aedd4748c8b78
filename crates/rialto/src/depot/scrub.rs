//! Damage, and bytes without a record.

use super::any_pool::AnyPool;
use super::shown::text;
use crate::Error;
use crate::terminal::say;
use indicatif::{ProgressBar, ProgressDrawTarget};

/// Compares the stored files with their checksums, and lists the damaged ones. A pool in a directory is
/// read whole, at full speed; of a venue it shows what its scrub has found so far. The exit code is 1
/// if a file is damaged.
#[derive(Debug, clap::Args)]
pub(super) struct Scrub {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Scrub {
    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let found = pool.scrub(&mut |files| bar.set_position(files));
        bar.finish_and_clear();
        let found = found?;
        let damage = found["damage"].as_array().map_or(&[][..], Vec::as_slice);
        if self.json {
            say(format_args!("{found}"));
        } else {
            for file in damage {
                let [tenant, id, path, volume, problem] =
                    ["tenant", "id", "path", "volume", "problem"].map(|field| text(&file[field]));
                say(format_args!("{tenant} {id} {path} on {volume}: DAMAGED: {problem}"));
            }
            let [files, bytes, unreadable, orphans, quarantined] =
                ["files", "bytes", "unreadable", "orphans", "quarantined"]
                    .map(|field| text(&found[field]));
            say(format_args!(
                "{files} files and {bytes} bytes read, {} files damaged, {unreadable} unreadable",
                damage.len()
            ));
            say(format_args!("{orphans} files without a record found, {quarantined} quarantined"));
        }
        match damage.len() {
            0 => Ok(()),
            damaged => Err(Error::Failed(format!("{damaged} files are damaged"))),
        }
    }
}

/// Makes files of bytes again whose records are lost: after the loss of the history, or of a part of it.
///
/// Stored bytes name the tenant and the path of their file. Each is read whole first. A file for workers
/// waits again, and a kept one is kept under its path. The exit code is 0 also if some are not adopted.
#[derive(Debug, clap::Args)]
pub(super) struct Rebuild {
    /// Adopt the bytes. On a directory they are searched for first; of a venue those are adopted that
    /// its search has quarantined.
    #[arg(long)]
    adopt: bool,
    /// Do everything but adopt them, and show what would be.
    #[arg(long, requires = "adopt")]
    dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Rebuild {
    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        if !self.adopt {
            let reason = "say what is rebuilt: `rialto depot rebuild --adopt` makes files of bytes \
                          without a record; look at it with --dry-run first";
            return Err(Error::Usage(reason.to_owned()));
        }
        let done = pool.adopt(self.dry_run)?;
        if self.json {
            say(format_args!("{done}"));
            return Ok(());
        }
        for file in done["files"].as_array().into_iter().flatten() {
            let [tenant, id, path, volume, bytes] =
                ["tenant", "id", "path", "volume", "bytes"].map(|field| text(&file[field]));
            let outcome = match (&file["not_adopted"], self.dry_run) {
                (serde_json::Value::Null, false) => "adopted".to_owned(),
                (serde_json::Value::Null, true) => "would be adopted".to_owned(),
                (reason, _) => format!("{}: {}", text(reason), text(&file["detail"])),
            };
            say(format_args!("{tenant} {id} {path} on {volume}, {bytes} bytes: {outcome}"));
        }
        let [adopted, bytes] = ["adopted", "bytes"].map(|field| text(&done[field]));
        let others = done["not_adopted"].as_object().into_iter().flatten();
        let others: u64 = others.map(|(_, count)| super::shown::number(count)).sum();
        let would = if self.dry_run { "would be adopted" } else { "adopted" };
        say(format_args!("{adopted} files with {bytes} bytes {would}, {others} not"));
        Ok(())
    }
}
