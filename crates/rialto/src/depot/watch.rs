//! Watched folders.

use super::any_pool::AnyPool;
use super::shown::{printable, text, time};
use crate::Error;
use crate::duration;
use crate::terminal::say;
use rialto_depot::{AfterImport, Directory, TenantName, WatchSpec, WatchTenants};
use std::path::PathBuf;
use std::time::Duration;

/// Watches folders: their files are imported into the pool while it is open, and their sources go when
/// the files are durable.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Watch {
    /// Watch a folder. With --url it is a folder of the venue's machine.
    Add(Add),
    /// List the watched folders with what they imported.
    Ls(Ls),
    /// Watch a folder again.
    Enable(Named),
    /// Leave a folder alone.
    Disable(Named),
    /// Import the files of a folder now.
    Scan(Scan),
    /// End a watch; the files that it has not imported stay.
    Rm(Named),
}

impl Watch {
    /// Whether the command adds a watch, and makes a pool where there is none.
    pub(super) fn adds(&self) -> bool {
        matches!(self, Watch::Add(_))
    }

    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        match self {
            Watch::Add(add) => add.run(pool),
            Watch::Ls(list) => list.run(pool),
            Watch::Enable(named) => pool.enable_watch(&named.name, true),
            Watch::Disable(named) => pool.enable_watch(&named.name, false),
            Watch::Scan(scan) => scan.run(pool),
            Watch::Rm(named) => pool.remove_watch(&named.name),
        }
    }
}

/// One watch.
#[derive(Debug, clap::Args)]
pub(super) struct Named {
    /// The watch.
    name: String,
}

#[derive(Debug, clap::Args)]
pub(super) struct Add {
    /// A name: 1 to 63 of a to z, 0 to 9, `_` and `-`.
    name: String,
    /// The folder, which need not exist yet. That of a venue exists, and is below one of
    /// depot.watch_roots.
    folder: PathBuf,
    /// The tenant of all files. Without it, each folder in the folder has the name of a tenant.
    #[arg(long, value_parser = TenantName::new)]
    tenant: Option<TenantName>,
    /// Create the tenants that folders in the folder are named after.
    #[arg(long, conflicts_with = "tenant")]
    create_tenants: bool,
    /// The directory of the pool that files go to; by default the root.
    #[arg(long, value_parser = Directory::new, default_value = "", hide_default_value = true)]
    directory: Directory,
    /// Import files of folders in the folder too.
    #[arg(long)]
    recursive: bool,
    /// Import only files that a pattern of * and ? selects; may be given several times.
    #[arg(long, value_name = "PATTERN")]
    include: Vec<String>,
    /// Leave files alone that a pattern selects; may be given several times.
    #[arg(long, value_name = "PATTERN", default_values_t = [".*".to_owned()])]
    exclude: Vec<String>,
    /// Leave smaller files alone.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    bytes_min: u64,
    /// Leave larger files alone; 0 is no limit.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    bytes_max: u64,
    /// Import files only this long after their last change.
    #[arg(long, value_parser = duration::parse, default_value = "0s")]
    age_min: Duration,
    /// Move the sources of imported files to this folder, which is on the same file system, instead of
    /// deleting them.
    #[arg(long, value_name = "FOLDER", conflicts_with = "keep")]
    move_to: Option<PathBuf>,
    /// Keep the sources.
    #[arg(long)]
    keep: bool,
}

impl Add {
    fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        pool.add_watch(WatchSpec {
            name: self.name.clone(),
            folder: self.folder.clone(),
            tenants: match &self.tenant {
                Some(tenant) => WatchTenants::One(tenant.clone()),
                None => WatchTenants::FirstLevel { create: self.create_tenants },
            },
            directory: self.directory.clone(),
            recursive: self.recursive,
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            bytes_min: self.bytes_min,
            bytes_max: self.bytes_max,
            age_min: self.age_min,
            after: match &self.move_to {
                Some(to) => AfterImport::Move(to.clone()),
                None if self.keep => AfterImport::Keep,
                None => AfterImport::Delete,
            },
        })
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct Ls {
    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

impl Ls {
    fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        let watches = pool.watches()?;
        if !self.json {
            say(format_args!(
                "{:<16}  {:<8}  {:<16}  {:>10}  {:>10}  {:>8}  {:<20}  FOLDER: LAST ERROR",
                "WATCH", "STATE", "TENANT", "IMPORTED", "PENDING", "FAILED", "LAST SCAN"
            ));
        }
        for watch in &watches {
            if self.json {
                say(format_args!("{watch}"));
                continue;
            }
            let [name, state, tenant, imported, failed, folder, error] =
                ["name", "state", "tenant", "imported", "failed", "folder", "last_error"]
                    .map(|field| text(&watch[field]));
            let (pending, scan) =
                (text(&watch["last_scan"]["pending"]), time(&watch["last_scan_at"]));
            say(format_args!(
                "{name:<16}  {state:<8}  {tenant:<16}  {imported:>10}  {pending:>10}  {failed:>8}  \
                 {scan:<20}  {folder}: {error}"
            ));
        }
        Ok(())
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct Scan {
    /// The watch.
    name: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Scan {
    fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        let scan = pool.scan_watch(&self.name)?;
        if self.json {
            say(format_args!("{scan}"));
            return Ok(());
        }
        let [imported, pending, failed, skipped] =
            ["imported", "pending", "failed", "skipped"].map(|field| text(&scan[field]));
        say(format_args!(
            "{imported} imported, {pending} wait, {failed} failed, {skipped} are left alone"
        ));
        if let Some(reason) = scan["paused"].as_str() {
            say(format_args!("files wait: {}", printable(reason)));
        }
        Ok(())
    }
}
