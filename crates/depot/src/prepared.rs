//! Results of a claimed file, before it is completed.

use crate::DirectoryKind;
use crate::record::FileRecord;
use crate::tenant::Tenant;
use crate::upload::Upload;
use crate::volume::Finished;
use std::sync::Arc;

/// A result whose bytes are written, and which does not exist yet. Dropping it removes them.
pub struct Prepared {
    upload: Upload,
    record: FileRecord,
    finished: Option<Finished>,
}

impl Prepared {
    pub(crate) fn new(upload: Upload, record: FileRecord, finished: Option<Finished>) -> Self {
        Self { upload, record, finished }
    }

    pub(crate) fn tenant(&self) -> &Arc<Tenant> {
        &self.upload.tenant
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.upload.kind == DirectoryKind::Shelf
    }

    pub(crate) fn record(&self) -> &FileRecord {
        &self.record
    }

    /// The file exists: its bytes stay.
    pub(crate) fn accept(mut self) {
        self.finished = None;
        self.upload.count();
    }

    /// The file may exist after the next start: its bytes stay.
    pub(crate) fn keep_bytes(mut self) {
        self.finished = None;
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        self.finished.take().into_iter().for_each(Finished::discard);
        self.upload.tenant.files().end_counting(self.upload.id);
    }
}
