//! The admin key of a venue that does not run.

use crate::Error;
use crate::terminal::say;
use crate::venue::{auth_dir, keys_missing};
use rialto_disk::{Disk, RealDisk};
use rialto_engine::BACKUP_FILE;
use rialto_gateway::{KeyStore, MasterKey};
use std::path::{Path, PathBuf};

/// Makes the admin key of a venue that is not running.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(in crate::cli) struct AdminKey {
    /// Replaces the key of the venue in this data directory. The old one stops working.
    #[arg(long, value_name = "DIR")]
    reset: Option<PathBuf>,
    /// Makes a key for a data directory without keys, such as a backup.
    #[arg(long, value_name = "DIR")]
    new: Option<PathBuf>,
}

impl AdminKey {
    pub(in crate::cli) fn run(&self) -> Result<(), Error> {
        match (&self.reset, &self.new) {
            (Some(data), _) => reset(data),
            (None, Some(data)) => begin(data),
            (None, None) => unreachable!("the group asks for one of them"),
        }
    }
}

fn reset(data: &Path) -> Result<(), Error> {
    if let Some(missing) = keys_missing(&RealDisk::new(), data) {
        return Err(Error::Usage(missing.to_string()));
    }
    let dir = auth_dir(data);
    if !dir.is_dir() {
        let message = format!("{} is not the data directory of a venue", data.display());
        return Err(Error::Usage(message));
    }
    let key = KeyStore::reset_admin_key(&dir, &MasterKey::Find)
        .map_err(|error| Error::Failed(crate::tell_all(&error)))?;
    say(format_args!("admin key: {} (shown only once; the old one no longer works)", key.reveal()));
    Ok(())
}

fn begin(data: &Path) -> Result<(), Error> {
    let disk = RealDisk::new();
    if keys_missing(&disk, data).is_none() {
        let message = format!(
            "{} either has no journal or already has keys; use --reset to replace the admin key",
            data.display()
        );
        return Err(Error::Usage(message));
    }
    let failed = |error: &dyn std::error::Error| Error::Failed(crate::tell_all(error));
    let opened = KeyStore::open(&auth_dir(data), &MasterKey::Find).map_err(|it| failed(&it))?;
    match disk.remove(&data.join(BACKUP_FILE)) {
        Err(error) if !error.is_not_found() => return Err(failed(&error)),
        _ => disk.sync_dir(data).map_err(|error| failed(&error))?,
    }
    if let Some(key) = opened.new_admin_key {
        say(format_args!("admin key: {} (shown only once; there are no API keys)", key.reveal()));
    }
    Ok(())
}
