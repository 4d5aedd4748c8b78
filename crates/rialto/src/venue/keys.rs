//! The keys of a new venue, and the check for missing keys of an existing one.

use super::auth_dir;
use crate::{Error, tell_all};
use rialto_disk::Disk;
use rialto_engine::BACKUP_FILE;
use rialto_gateway::{AdminKey, KeyStore, MasterKey};
use std::path::{Path, PathBuf};

/// A data directory that has a journal and no keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeysMissing {
    /// It is a backup, which holds none.
    #[error(
        "{} is a backup, which holds no keys: `rialto admin-key --new {}` makes an admin key for it; \
         API keys are made anew", .0.display(), .0.display()
    )]
    Backup(PathBuf),
    /// They were lost.
    #[error(
        "{} has a journal and no keys: restore its directory auth from a copy. If there is none, \
         `rialto admin-key --new {}` makes an admin key; all API keys are gone",
        .0.display(), .0.display()
    )]
    Lost(PathBuf),
}

/// Whether keys are missing from a data directory.
#[must_use]
pub fn keys_missing(disk: &dyn Disk, data_dir: &Path) -> Option<KeysMissing> {
    if KeyStore::exists(&auth_dir(data_dir)) || !rialto_engine::has_journal(disk, data_dir) {
        return None;
    }
    let dir = data_dir.to_owned();
    Some(match data_dir.join(BACKUP_FILE).exists() {
        true => KeysMissing::Backup(dir),
        false => KeysMissing::Lost(dir),
    })
}

/// Makes the keys of a venue that begins, before there is a journal: so a journal without keys is one
/// that has lost them.
pub(super) fn made_first(
    disk: &dyn Disk,
    data_dir: &Path,
) -> Result<(Option<KeyStore>, Option<AdminKey>), Error> {
    if let Some(missing) = keys_missing(disk, data_dir) {
        return Err(Error::Assemble(missing.to_string()));
    }
    if rialto_engine::has_journal(disk, data_dir) {
        return Ok((None, None));
    }
    let opened = KeyStore::open(&auth_dir(data_dir), &MasterKey::Find);
    let opened = opened.map_err(|error| Error::Assemble(tell_all(&error)))?;
    Ok((Some(opened.keys), opened.new_admin_key))
}
