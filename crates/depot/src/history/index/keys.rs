//! The keys of the rows. format: docs/formats/depot.md

use crate::FileId;
use crate::history::record::TenantNumber;
use rialto_clock::Timestamp;
use std::ops::Bound;

/// The key of a row, or what several begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::history) struct Key(Vec<u8>);

impl Key {
    fn new(kind: u8) -> Self {
        Self(vec![kind])
    }

    fn with(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn tenant(self, tenant: TenantNumber) -> Self {
        self.with(&tenant.0.to_be_bytes())
    }

    fn id(self, id: FileId) -> Self {
        self.with(&id.0.to_be_bytes())
    }

    pub(in crate::history) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The first key behind all keys that begin with this one.
    pub(in crate::history) fn end(&self) -> Bound<Vec<u8>> {
        let mut end = self.0.clone();
        while let Some(last) = end.pop() {
            if last < u8::MAX {
                end.push(last + 1);
                return Bound::Excluded(end);
            }
        }
        Bound::Unbounded
    }

    pub(in crate::history) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// A kept file by its path, or those whose paths begin so.
    pub(in crate::history) fn kept(tenant: TenantNumber, path: &str) -> Self {
        Self::new(b'k').tenant(tenant).with(path.as_bytes())
    }

    /// The path of a kept file.
    pub(in crate::history) fn path(id: FileId, tenant: TenantNumber) -> Self {
        Self::paths(id).tenant(tenant)
    }

    pub(in crate::history) fn paths(id: FileId) -> Self {
        Self::new(b'p').id(id)
    }

    /// The tenant of a completed file.
    pub(in crate::history) fn owner(id: FileId, tenant: TenantNumber) -> Self {
        Self::owners(id).tenant(tenant)
    }

    pub(in crate::history) fn owners(id: FileId) -> Self {
        Self::new(b'o').id(id)
    }

    /// A completed file.
    pub(in crate::history) fn completed(tenant: TenantNumber, id: FileId) -> Self {
        Self::all_completed(tenant).id(id)
    }

    pub(in crate::history) fn all_completed(tenant: TenantNumber) -> Self {
        Self::new(b'c').tenant(tenant)
    }

    /// The submit key of a kept file.
    pub(in crate::history) fn submit(tenant: TenantNumber, key: &str) -> Self {
        Self::new(b's').tenant(tenant).with(key.as_bytes())
    }

    /// The files and bytes directly in a directory.
    pub(in crate::history) fn directory(tenant: TenantNumber, directory: &str) -> Self {
        Self::new(b'd').tenant(tenant).with(directory.as_bytes())
    }

    /// The times of expiry of kept files.
    pub(in crate::history) fn expiries() -> Self {
        Self::new(b'e')
    }

    /// The times at which completed files are removed.
    pub(in crate::history) fn ends() -> Self {
        Self::new(b'x')
    }

    pub(in crate::history) fn at(self, at: Timestamp, tenant: TenantNumber, id: FileId) -> Self {
        self.with(&at.0.to_be_bytes()).tenant(tenant).id(id)
    }

    /// What is saved besides the rows of files.
    pub(in crate::history) fn head() -> Self {
        Self::new(b'h')
    }

    pub(in crate::history) fn images() -> Self {
        Self::new(b'i')
    }

    pub(in crate::history) fn image(number: u32) -> Self {
        Self::images().with(&number.to_be_bytes())
    }
}
