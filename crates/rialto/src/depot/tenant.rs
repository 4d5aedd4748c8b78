//! Tenants.

use super::any_pool::{AnyPool, TenantChange};
use super::shown::{limit, number, text, time};
use crate::Error;
use crate::terminal::say;
use rialto_depot::{Directory, DirectoryKind, Quota, TenantName};
use serde_json::Value;

/// Creates, lists, changes and deletes tenants.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Tenant {
    /// Create a tenant. The first file of a tenant creates it too.
    Create(Create),
    /// List the tenants.
    Ls(Ls),
    /// Show a tenant with its directories and its work.
    Show(Show),
    /// Set the quota of a tenant. Files beyond it stay.
    Quota(SetQuota),
    /// Set whether the files of a directory and those below it are work or kept, and its quota.
    Directory(SetDirectory),
    /// Accept and hand out files again.
    Enable(Named),
    /// Accept no files, and hand out none.
    Disable(Named),
    /// Accept no files, and hand out the files that are there.
    Drain(Named),
    /// Delete a tenant with all its files, and wait until they are gone.
    Rm(Named),
}

impl Tenant {
    /// Whether the command creates a tenant, and a pool where there is none.
    pub(super) fn creates(&self) -> bool {
        matches!(self, Tenant::Create(_))
    }

    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        match self {
            Tenant::Create(create) => create.run(pool),
            Tenant::Ls(list) => list.run(pool),
            Tenant::Show(show) => show.run(pool),
            Tenant::Quota(quota) => quota.run(pool),
            Tenant::Directory(directory) => directory.run(pool),
            Tenant::Enable(named) => pool.change_tenant(&named.tenant, TenantChange::Enable),
            Tenant::Disable(named) => pool.change_tenant(&named.tenant, TenantChange::Disable),
            Tenant::Drain(named) => pool.change_tenant(&named.tenant, TenantChange::Drain),
            Tenant::Rm(named) => pool.change_tenant(&named.tenant, TenantChange::Delete),
        }
    }
}

/// One tenant.
#[derive(Debug, clap::Args)]
pub(super) struct Named {
    /// The tenant.
    #[arg(value_parser = TenantName::new)]
    tenant: TenantName,
}

/// Limits, some of which may be left out.
#[derive(Debug, clap::Args)]
struct Limits {
    /// The most files; 0 is no limit.
    #[arg(long, value_name = "FILES")]
    files_max: Option<u64>,
    /// The most bytes; 0 is no limit.
    #[arg(long, value_name = "BYTES")]
    bytes_max: Option<u64>,
}

impl Limits {
    /// The quota with what is left out taken from `now`.
    fn over(&self, now: &Value) -> Quota {
        Quota {
            files_max: self.files_max.unwrap_or_else(|| number(&now["files_max"])),
            bytes_max: self.bytes_max.unwrap_or_else(|| number(&now["bytes_max"])),
        }
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct Create {
    /// Its name.
    #[arg(value_parser = TenantName::new)]
    tenant: TenantName,
    #[command(flatten)]
    limits: Limits,
}

impl Create {
    fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        pool.create_tenant(&self.tenant, self.limits.over(&Value::Null))
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
        let tenants = pool.tenants()?;
        if !self.json {
            say(format_args!(
                "{:<32}  {:<13}  {:>10}  {:>16}  {:>10}  {:>16}",
                "TENANT", "STATE", "FILES", "BYTES", "FILES MAX", "BYTES MAX"
            ));
        }
        for tenant in &tenants {
            if self.json {
                say(format_args!("{tenant}"));
                continue;
            }
            let [name, state, files, bytes] =
                ["name", "state", "files", "bytes"].map(|field| text(&tenant[field]));
            let [files_max, bytes_max] =
                ["files_max", "bytes_max"].map(|field| limit(&tenant[field]));
            say(format_args!(
                "{name:<32}  {state:<13}  {files:>10}  {bytes:>16}  {files_max:>10}  {bytes_max:>16}"
            ));
        }
        Ok(())
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct Show {
    /// The tenant.
    #[arg(value_parser = TenantName::new)]
    tenant: TenantName,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Show {
    fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        let tenant = pool.tenant(&self.tenant)?;
        if self.json {
            say(format_args!("{tenant}"));
            return Ok(());
        }
        for field in ["name", "state", "files", "bytes"] {
            say(format_args!("{field:<14} {}", text(&tenant[field])));
        }
        for field in ["files_max", "bytes_max"] {
            say(format_args!("{field:<14} {}", limit(&tenant[field])));
        }
        say(format_args!("{:<14} {}", "created_at", time(&tenant["created_at"])));
        for field in ["waiting", "claimed", "dead"] {
            say(format_args!("{field:<14} {}", text(&tenant[field])));
        }
        say(format_args!("{:<14} {}", "oldest_waiting", time(&tenant["oldest_waiting_at"])));
        for directory in tenant["directories"].as_array().into_iter().flatten() {
            let [path, files, bytes] =
                ["directory", "files", "bytes"].map(|field| text(&directory[field]));
            let kind = directory["kind"].as_str().unwrap_or("inherited");
            let [files_max, bytes_max] =
                ["files_max", "bytes_max"].map(|field| limit(&directory[field]));
            say(format_args!(
                "directory      {path}: {kind}, {files} files of {files_max}, {bytes} bytes of \
                 {bytes_max}"
            ));
        }
        Ok(())
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct SetQuota {
    /// The tenant.
    #[arg(value_parser = TenantName::new)]
    tenant: TenantName,
    #[command(flatten)]
    limits: Limits,
}

impl SetQuota {
    fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        if self.limits.files_max.is_none() && self.limits.bytes_max.is_none() {
            return Err(Error::Usage("give --files-max, --bytes-max or both".to_owned()));
        }
        let now = pool.tenant(&self.tenant)?;
        pool.set_quota(&self.tenant, self.limits.over(&now))
    }
}

/// What becomes of the files of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// They are claimed, and end when they are completed.
    Work,
    /// They are kept under their paths.
    Shelf,
    /// The same as of the files of the directory above.
    Inherited,
}

#[derive(Debug, clap::Args)]
pub(super) struct SetDirectory {
    /// The tenant.
    #[arg(value_parser = TenantName::new)]
    tenant: TenantName,
    /// The directory, such as out/statements. An empty text is the root.
    #[arg(value_parser = Directory::new)]
    directory: Directory,
    /// What becomes of the files; by default it stays as it is.
    #[arg(long)]
    kind: Option<Kind>,
    #[command(flatten)]
    limits: Limits,
}

impl SetDirectory {
    fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        let tenant = pool.tenant(&self.tenant)?;
        let directories = tenant["directories"].as_array().into_iter().flatten();
        let mut known = directories.filter(|it| it["directory"] == self.directory.as_str());
        let now = known.next().cloned().unwrap_or_default();
        let kind = match (self.kind, now["kind"].as_str()) {
            (Some(Kind::Work), _) | (None, Some("work")) => Some(DirectoryKind::Work),
            (Some(Kind::Shelf), _) | (None, Some("shelf")) => Some(DirectoryKind::Shelf),
            _ => None,
        };
        pool.set_directory(&self.tenant, &self.directory, kind, self.limits.over(&now))
    }
}
