//! Importing a file.

use super::candidates::Candidate;
use super::folder::{self, Entry, Stamp};
use super::pauses::Pauses;
use super::scan::MoveTarget;
use super::source::{self, Removal};
use super::spec::{WatchSpec, WatchTenants};
use crate::new_file::NewFile;
use crate::pool::Pool;
use crate::quota::Quota;
use crate::tenant::Tenant;
use crate::upload::Upload;
use crate::{DepotError, StoredFile};
use rialto_log::Level;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// How many bytes of a source are read at a time.
const COPY_BYTES: usize = 256 << 10;

/// What became of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The file is in the pool, durably.
    Imported { bytes: u64, is_repeat: bool, source: Removal },
    /// It was imported earlier, and this became of its source.
    Cleared(Removal),
    /// The source is gone.
    Gone,
    /// The source changed, to this state.
    Changed(Stamp),
    /// It waits, for this reason.
    Waits(String),
    /// This file fails.
    Failed(String),
    /// The pool fails, for every file.
    PoolFailed(String),
}

/// Imports files of a watch, on one thread.
pub(super) struct Importer<'i> {
    pub(super) pool: &'i Arc<Pool>,
    pub(super) spec: &'i WatchSpec,
    pub(super) root: &'i OwnedFd,
    pub(super) move_to: Option<&'i MoveTarget>,
    pub(super) pauses: &'i Mutex<&'i mut Pauses>,
    pub(super) buffer: Vec<u8>,
}

impl Importer<'_> {
    pub(super) fn import(&mut self, candidate: &Candidate) -> Outcome {
        let path = candidate.place.path_of(candidate.name.as_str());
        match self.read(candidate) {
            Ok(outcome) => outcome,
            Err(Refused::Source(error)) if error.kind() == io::ErrorKind::NotFound => Outcome::Gone,
            Err(Refused::Source(error)) => {
                Outcome::Failed(format!("{path:?} cannot be read: {error}"))
            }
            Err(Refused::Pool(error)) => self.refused(candidate, &path, &error),
        }
    }

    fn refused(&self, candidate: &Candidate, path: &str, error: &DepotError) -> Outcome {
        let why = error.to_string();
        match error {
            DepotError::Quota { .. } => {
                let bytes = match error {
                    DepotError::Quota { what: "bytes", .. } => candidate.stamp.bytes,
                    _ => 0,
                };
                let mut pauses = self.pauses.lock().unwrap_or_else(PoisonError::into_inner);
                pauses.note(&candidate.tenant, &candidate.place.directory, bytes, &why);
                Outcome::Waits(why)
            }
            DepotError::TenantStage { .. }
            | DepotError::UnknownTenant(_)
            | DepotError::SubmitInProgress(_) => Outcome::Waits(why),
            DepotError::Name(_)
            | DepotError::Invalid { .. }
            | DepotError::TooMany { .. }
            | DepotError::TooLarge { .. }
            | DepotError::Mismatch { .. }
            | DepotError::FileExists { .. }
            | DepotError::SubmitConflict { .. } => {
                Outcome::Failed(format!("{path:?} is not imported: {why}"))
            }
            _ => Outcome::PoolFailed(why),
        }
    }

    fn read(&mut self, candidate: &Candidate) -> Result<Outcome, Refused> {
        let dir = source::open_below(self.root, &candidate.place, false)?;
        let name = CString::new(candidate.name.as_str()).map_err(io::Error::from)?;
        if candidate.is_imported {
            let removal = source::remove(&self.spec.after, &dir, candidate, self.move_to);
            return Ok(Outcome::Cleared(removal));
        }
        let mut file = folder::open_file(&dir, &name)?;
        if let Some(changed) = changed(&file, &candidate.stamp)? {
            return Ok(changed);
        }
        let bytes = candidate.stamp.bytes;
        {
            let pauses = self.pauses.lock().unwrap_or_else(PoisonError::into_inner);
            let why = pauses.reason(&candidate.tenant, &candidate.place.directory, bytes);
            if let Some(why) = why {
                return Ok(Outcome::Waits(why.to_owned()));
            }
        }
        let stored = match self.store(candidate, &mut file)? {
            Ok(stored) => stored,
            Err(changed) => return Ok(changed),
        };
        let source = source::remove(&self.spec.after, &dir, candidate, self.move_to);
        Ok(Outcome::Imported { bytes, is_repeat: stored.is_repeat, source })
    }

    /// Stores the content. The inner error says that the source changed meanwhile.
    fn store(
        &mut self,
        candidate: &Candidate,
        file: &mut File,
    ) -> Result<Result<StoredFile, Outcome>, Refused> {
        let new = NewFile {
            bytes: Some(candidate.stamp.bytes),
            submit_key: Some(candidate.mark.submit_key()),
            // The source is removed behind it.
            level: Some(Level::Synced),
            ..NewFile::new(candidate.place.directory.clone(), candidate.name.clone())
        };
        let mut upload = Upload::begin(self.pool.clone(), self.tenant(candidate)?, new, false)?;
        self.buffer.resize(COPY_BYTES, 0);
        let mut left = candidate.stamp.bytes;
        loop {
            // A large file does not keep the pool from being closed. It is imported after the next
            // start.
            if self.pool.watches.is_stopping.load(Ordering::Acquire) {
                return Ok(Err(Outcome::Waits("the pool is being closed".to_owned())));
            }
            // One byte more than is left shows that the file has grown.
            let wanted = usize::try_from(left.saturating_add(1)).unwrap_or(COPY_BYTES);
            let read = match file.read(&mut self.buffer[..wanted.min(COPY_BYTES)]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read == 0 || read as u64 > left {
                break;
            }
            upload.write(&self.buffer[..read])?;
            left -= read as u64;
        }
        if let Some(changed) = changed(file, &candidate.stamp)? {
            return Ok(Err(changed));
        }
        if left > 0 {
            // Shorter than its length, which has not changed: the file system is not to be trusted.
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(Ok(upload.finish()?))
    }

    fn tenant(&self, candidate: &Candidate) -> Result<Arc<Tenant>, DepotError> {
        let name = &candidate.tenant;
        match self.spec.tenants {
            WatchTenants::One(_) => self.pool.tenant_of_file(name),
            WatchTenants::FirstLevel { create } => match self.pool.tenant(name) {
                Err(DepotError::UnknownTenant(_)) if create => {
                    match self.pool.create_tenant(name, Quota::default()) {
                        // Another thread was faster.
                        Err(DepotError::TenantExists(_)) => self.pool.tenant(name),
                        created => created,
                    }
                }
                tenant => tenant,
            },
        }
    }
}

/// What a file changed to, if it is not in this state any more.
fn changed(file: &File, stamp: &Stamp) -> Result<Option<Outcome>, Refused> {
    Ok(match folder::entry_of_fd(file)? {
        Entry::File(found) if found == *stamp => None,
        Entry::File(found) => Some(Outcome::Changed(found)),
        Entry::Directory(_) | Entry::Other => Some(Outcome::Gone),
    })
}

/// Why a file was not read.
enum Refused {
    Source(io::Error),
    Pool(DepotError),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::Source(error)
    }
}

impl From<DepotError> for Refused {
    fn from(error: DepotError) -> Self {
        Self::Pool(error)
    }
}
