//! What the commands need of a pool, local or remote.

use crate::Error;
use rialto_depot::{
    Directory, DirectoryKind, FileId, FileName, NewFile, Quota, TenantName, VolumeSpec, WatchSpec,
};
use serde_json::Value;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

/// A pool: a local directory's, or a venue's. Files, tenants and volumes are JSON objects, as the API
/// shows them.
pub(super) trait AnyPool: Sync {
    /// Stores a file.
    fn put(&self, tenant: &TenantName, file: NewFile, source: Source<'_>) -> Result<Put, Error>;

    fn file(&self, tenant: &TenantName, id: FileId) -> Result<Value, Error>;

    /// The file that is kept under a path.
    fn file_at(&self, tenant: &TenantName, path: &str) -> Result<Value, Error>;

    /// Gives the content of a file to `sink`, piece by piece. Every byte is checked before.
    fn read(
        &self,
        tenant: &TenantName,
        id: FileId,
        range: Range,
        sink: Sink<'_>,
    ) -> Result<(), ReadError>;

    /// One page of work files, in the order of their arrival, behind `after`.
    fn work_files(
        &self,
        tenant: &TenantName,
        prefix: &str,
        after: Option<FileId>,
        limit: usize,
    ) -> Result<Vec<Value>, Error>;

    /// One page of kept files, in the order of their paths, behind `after`.
    fn kept_files(
        &self,
        tenant: &TenantName,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Value>, Error>;

    fn delete(&self, tenant: &TenantName, id: FileId) -> Result<(), Error>;

    /// Claims files, and waits for the first one.
    fn claim(&self, request: &ClaimRequest<'_>) -> Result<Vec<Claimed>, Error>;

    /// Makes a claim last for this time from now. Returns its new deadline in nanoseconds since 1970.
    fn renew(&self, token: &str, duration: Duration) -> Result<u64, Error>;

    /// Completes claimed files. The result of each stands at the place of its token.
    fn complete(&self, tokens: &[&str]) -> Result<Vec<Result<(), Error>>, Error>;

    /// Completes a claimed file together with its results: all of it, or nothing. `keep` is called
    /// between pieces of the results, and renews the claim; its error breaks off.
    fn complete_with(
        &self,
        token: &str,
        results: &[ResultFile],
        keep: &mut dyn FnMut() -> Result<(), Error>,
    ) -> Result<(), Error>;

    fn fail(&self, token: &str, reason: &str, delay: Option<Duration>) -> Result<(), Error>;

    fn refuse(&self, token: &str, reason: &str) -> Result<(), Error>;

    fn give_back(&self, token: &str) -> Result<(), Error>;

    /// The dead letters of a tenant, oldest first, at most `limit`.
    fn dead_letters(&self, tenant: &TenantName, limit: usize) -> Result<Vec<Value>, Error>;

    /// Hands at most `limit` dead letters out again, and returns their number.
    fn redrive(&self, tenant: &TenantName, limit: u64) -> Result<u64, Error>;

    /// All tenants, in the order of their names.
    fn tenants(&self) -> Result<Vec<Value>, Error>;

    fn tenant(&self, name: &TenantName) -> Result<Value, Error>;

    fn create_tenant(&self, name: &TenantName, quota: Quota) -> Result<(), Error>;

    fn set_quota(&self, name: &TenantName, quota: Quota) -> Result<(), Error>;

    fn set_directory(
        &self,
        name: &TenantName,
        directory: &Directory,
        kind: Option<DirectoryKind>,
        quota: Quota,
    ) -> Result<(), Error>;

    fn change_tenant(&self, name: &TenantName, change: TenantChange) -> Result<(), Error>;

    fn volumes(&self) -> Result<Vec<Value>, Error>;

    fn mount(&self, volume: VolumeSpec) -> Result<(), Error>;

    /// Begins or ends the draining of a volume.
    fn drain_volume(&self, name: &str, draining: bool) -> Result<(), Error>;

    fn unmount(&self, name: &str) -> Result<(), Error>;

    /// All watched folders, by name.
    fn watches(&self) -> Result<Vec<Value>, Error>;

    fn add_watch(&self, watch: WatchSpec) -> Result<(), Error>;

    fn enable_watch(&self, name: &str, enabled: bool) -> Result<(), Error>;

    /// Scans the folder of a watch, and returns what the scan did.
    fn scan_watch(&self, name: &str) -> Result<Value, Error>;

    fn remove_watch(&self, name: &str) -> Result<(), Error>;

    /// What is known of damage. A directory is read whole for it, and `progress` gets the number of
    /// files that were read; a venue answers what its scrub has found so far.
    fn scrub(&self, progress: &mut dyn FnMut(u64)) -> Result<Value, Error>;

    /// Makes files of quarantined bytes again; a dry run does everything else.
    fn adopt(&self, dry_run: bool) -> Result<Value, Error>;
}

/// The content of a file to store.
pub(super) struct Source<'a> {
    pub(super) content: &'a mut dyn Read,
    /// The file or `-`, for errors.
    pub(super) path: PathBuf,
}

/// A stored file.
pub(super) struct Put {
    pub(super) file: Value,
    /// Whether it was accepted earlier under the same submit key.
    pub(super) is_repeat: bool,
}

/// A part of a content, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) offset: u64,
    /// To the end if it is `None`.
    pub(super) length: Option<u64>,
}

impl Range {
    pub(super) const ALL: Range = Range { offset: 0, length: None };
}

/// Takes pieces of content.
pub(super) type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), Error>;

/// The reason that a content was not read to its end.
#[derive(Debug)]
pub(super) enum ReadError {
    /// The pool cannot read it.
    Content(Error),
    /// It could not be written where it was to go.
    Sink(Error),
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Error {
        match error {
            ReadError::Content(error) | ReadError::Sink(error) => error,
        }
    }
}

/// What a worker asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClaimRequest<'a> {
    /// The tenant; any if it is `None`.
    pub(super) tenant: Option<&'a TenantName>,
    /// The most files.
    pub(super) files_max: usize,
    /// How long to wait for the first one.
    pub(super) wait: Duration,
    /// How long the claims last.
    pub(super) duration: Duration,
}

/// A claimed file.
#[derive(Clone, Debug)]
pub(super) struct Claimed {
    pub(super) token: String,
    pub(super) tenant: TenantName,
    pub(super) id: FileId,
    pub(super) name: FileName,
    /// The file as the API shows it.
    pub(super) file: Value,
    /// The deadline of the claim in nanoseconds since 1970.
    pub(super) deadline: u64,
    /// The reason that the content cannot be read, if it is missing.
    pub(super) problem: Option<String>,
}

/// A file that becomes a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResultFile {
    pub(super) directory: Directory,
    pub(super) name: FileName,
    pub(super) path: PathBuf,
}

/// A step in the life of a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TenantChange {
    Enable,
    Disable,
    Drain,
    /// Returns when all files are gone.
    Delete,
}
