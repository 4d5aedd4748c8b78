//! Tenants and directories whose quota had no room: their files wait for the next scan by period.

use crate::name::{Directory, TenantName};
use std::collections::HashMap;

/// The most directories that are known to have no room; files of others are tried.
const PAUSES_MAX: usize = 4_096;

/// The directories of tenants without room.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    /// From which size on files do not fit, and why.
    by_directory: HashMap<(TenantName, Directory), (u64, String)>,
}

impl Pauses {
    /// A file of this size did not fit. Smaller ones may, if bytes are what is missing.
    pub(super) fn note(
        &mut self,
        tenant: &TenantName,
        directory: &Directory,
        bytes: u64,
        reason: &str,
    ) {
        let key = (tenant.clone(), directory.clone());
        if let Some(known) = self.by_directory.get_mut(&key) {
            known.0 = known.0.min(bytes);
        } else if self.by_directory.len() < PAUSES_MAX {
            self.by_directory.insert(key, (bytes, reason.to_owned()));
        }
    }

    /// Why a file of this size waits.
    pub(super) fn reason(
        &self,
        tenant: &TenantName,
        directory: &Directory,
        bytes: u64,
    ) -> Option<&str> {
        if self.by_directory.is_empty() {
            return None;
        }
        let (from, reason) = self.by_directory.get(&(tenant.clone(), directory.clone()))?;
        (bytes >= *from).then_some(reason)
    }

    pub(super) fn clear(&mut self) {
        self.by_directory.clear();
    }
}
