//! What is known of a file.

use super::any_pool::AnyPool;
use super::shown::{printable, text, time};
use crate::Error;
use crate::terminal::say;
use rialto_depot::{FileId, TenantName};
use serde_json::Value;

/// One file of a tenant.
#[derive(Debug, clap::Args)]
pub(super) struct FileArgs {
    /// The id of the file.
    #[arg(required_unless_present = "path", conflicts_with = "path",
        value_parser = clap::value_parser!(FileId))]
    id: Option<FileId>,
    /// The path of a kept file, instead of its id.
    #[arg(long)]
    path: Option<String>,
    /// The tenant.
    #[arg(long, value_parser = TenantName::new)]
    tenant: TenantName,
}

impl FileArgs {
    pub(super) fn tenant(&self) -> &TenantName {
        &self.tenant
    }

    pub(super) fn file(&self, pool: &dyn AnyPool) -> Result<Value, Error> {
        match (self.id, &self.path) {
            (Some(id), _) => pool.file(&self.tenant, id),
            (None, Some(path)) => pool.file_at(&self.tenant, path),
            (None, None) => Err(Error::Usage("give the id of a file, or --path".to_owned())),
        }
    }
}

/// The id of a file that the pool answered with.
pub(super) fn id_of(file: &Value) -> Result<FileId, Error> {
    let id = file["id"].as_str().and_then(|id| id.parse().ok());
    id.ok_or_else(|| Error::Unreachable(format!("the pool answered without a file id: {file}")))
}

/// Shows a file.
#[derive(Debug, clap::Args)]
pub(super) struct Show {
    #[command(flatten)]
    file: FileArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        let file = self.file.file(pool)?;
        if self.json {
            say(format_args!("{file}"));
            return Ok(());
        }
        let fields = [
            "id",
            "tenant",
            "path",
            "bytes",
            "state",
            "attempts",
            "content_type",
            "sha256",
            "crc32c",
        ];
        for field in fields {
            say(format_args!("{field:<13} {}", text(&file[field])));
        }
        for field in ["created_at", "expires_at", "claimed_until"] {
            say(format_args!("{field:<13} {}", time(&file[field])));
        }
        for (name, value) in file["metadata"].as_object().into_iter().flatten() {
            say(format_args!("meta          {}={}", printable(name), text(value)));
        }
        Ok(())
    }
}
