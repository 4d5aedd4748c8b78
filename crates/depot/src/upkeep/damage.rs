//! The files whose stored bytes were found damaged.

use crate::FileId;
use crate::name::TenantName;
use crate::record::FileRecord;
use crate::volume::VolumeNumber;
use rialto_clock::Timestamp;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most damaged files that are remembered. More are logged and counted.
pub const DAMAGED_FILES_MAX: usize = 1_000;

/// A file whose stored bytes are damaged or missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedFile {
    /// Its tenant.
    pub tenant: TenantName,
    /// Its id.
    pub id: FileId,
    /// Its path.
    pub path: String,
    /// The volume with its bytes.
    pub volume: VolumeNumber,
    /// When the damage was found.
    pub found_at: Timestamp,
    /// What is wrong.
    pub problem: String,
}

/// The damaged files that are known.
#[derive(Debug, Default)]
pub(crate) struct Damage {
    files: Mutex<BTreeMap<FileId, DamagedFile>>,
    /// Their number, so that claims need not lock.
    len: AtomicUsize,
}

impl Damage {
    fn files(&self) -> MutexGuard<'_, BTreeMap<FileId, DamagedFile>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note(&self, file: DamagedFile) {
        let mut files = self.files();
        if files.len() < DAMAGED_FILES_MAX || files.contains_key(&file.id) {
            files.insert(file.id, file);
        }
        self.len.store(files.len(), Ordering::Release);
    }

    /// What is wrong with a file, if it is known to be damaged where its bytes are now.
    pub(crate) fn problem_of(&self, record: &FileRecord) -> Option<String> {
        if self.len.load(Ordering::Acquire) == 0 {
            return None;
        }
        let volume = record.place.stored()?.volume;
        let files = self.files();
        files.get(&record.id).filter(|it| it.volume == volume).map(|it| it.problem.clone())
    }

    /// The bytes of a file are whole, or it is gone.
    pub(crate) fn forget(&self, id: FileId) {
        if self.len.load(Ordering::Acquire) > 0 {
            let mut files = self.files();
            files.remove(&id);
            self.len.store(files.len(), Ordering::Release);
        }
    }

    pub(super) fn all(&self) -> Vec<DamagedFile> {
        self.files().values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_bounded_and_files_leave_it() {
        let damage = Damage::default();
        let file = |id: u128| DamagedFile {
            tenant: TenantName::new("acme").unwrap(),
            id: FileId(id),
            path: "a".to_owned(),
            volume: VolumeNumber(1),
            found_at: Timestamp(1),
            problem: "block 0 is damaged".to_owned(),
        };
        (0..2 * DAMAGED_FILES_MAX as u128).for_each(|id| damage.note(file(id)));
        assert_eq!(damage.all().len(), DAMAGED_FILES_MAX);
        damage.forget(FileId(7));
        damage.note(file(5_000));
        assert_eq!(damage.all().last().map(|it| it.id), Some(FileId(5_000)));
    }
}
