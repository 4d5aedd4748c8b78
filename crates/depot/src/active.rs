//! The index of a tenant's work files, which wait, are claimed, or are dead letters.

use crate::FileId;
use crate::claim::ClaimSecret;
use crate::record::FileRecord;
use rialto_clock::Timestamp;
use rialto_queue::MessageId;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The state of a work file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Its record is being published.
    Arriving,
    /// It waits for a worker, or for the end of a delay.
    Waiting,
    /// A worker has it.
    Claimed { lease: u64, until: Timestamp, secret: ClaimSecret },
    /// It became a dead letter.
    Dead,
}

#[derive(Clone, Debug)]
pub(crate) struct ActiveFile {
    pub(crate) record: Arc<FileRecord>,
    pub(crate) standing: Standing,
    /// Its message, of the work queue or, if it is dead, of the dead letters.
    pub(crate) message: Option<MessageId>,
    pub(crate) attempts: u16,
    /// Whether its bytes were missing when it was claimed.
    pub(crate) is_missing: bool,
}

impl ActiveFile {
    pub(crate) fn new(record: Arc<FileRecord>, standing: Standing) -> Self {
        Self { record, standing, message: None, attempts: 0, is_missing: false }
    }
}

/// What a submit key stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubmitStanding {
    InProgress,
    /// The record of the file was written, and nobody knows whether it is durable.
    InDoubt {
        id: FileId,
    },
    Accepted {
        id: FileId,
        fingerprint: u64,
    },
}

#[derive(Debug, Default)]
pub(crate) struct ActiveFiles {
    by_id: BTreeMap<FileId, ActiveFile>,
    /// Files that ended, until their acknowledgement is known to be durable. A message of one is
    /// acknowledged again and handed to nobody.
    ended: HashSet<FileId>,
    /// Those whose message was acknowledged since the last confirmation.
    acknowledged: Vec<FileId>,
    /// Files with a time of expiry, in its order.
    expiries: BTreeMap<(Timestamp, FileId), ()>,
    submits: HashMap<String, SubmitStanding>,
    /// Files that exist, or are about to, and do not count in the quotas yet.
    uncounted: HashSet<FileId>,
}

impl ActiveFiles {
    pub(crate) fn insert(&mut self, file: ActiveFile) {
        let record = file.record.clone();
        if let Some(at) = record.expires_at {
            self.expiries.insert((at, record.id), ());
        }
        // Under a key in progress the file is accepted when its record is durable.
        if let Some(key) = &record.submit_key
            && self.submitted(key) != Some(SubmitStanding::InProgress)
        {
            self.accept_submit(key, &record);
        }
        self.by_id.insert(record.id, file);
    }

    fn accept_submit(&mut self, key: &str, record: &FileRecord) {
        let accepted =
            SubmitStanding::Accepted { id: record.id, fingerprint: record.fingerprint() };
        self.submits.insert(key.to_owned(), accepted);
    }

    /// The record of a file under a key in progress is durable, or in doubt.
    pub(crate) fn end_publishing(&mut self, record: &FileRecord, is_durable: bool) {
        let Some(key) = &record.submit_key else { return };
        // A file that has ended since has left its key in the history.
        if !self.by_id.contains_key(&record.id) {
            return;
        }
        if is_durable {
            self.accept_submit(key, record);
        } else {
            self.submits.insert(key.clone(), SubmitStanding::InDoubt { id: record.id });
        }
    }

    /// A file is about to exist, and will be counted.
    pub(crate) fn begin_counting(&mut self, id: FileId) {
        self.uncounted.insert(id);
    }

    /// The file is counted, or does not come to exist.
    pub(crate) fn end_counting(&mut self, id: FileId) {
        self.uncounted.remove(&id);
    }

    pub(crate) fn is_counted(&self, id: FileId) -> bool {
        !self.uncounted.contains(&id)
    }

    pub(crate) fn remove(&mut self, id: FileId) -> Option<ActiveFile> {
        let file = self.by_id.remove(&id)?;
        if let Some(at) = file.record.expires_at {
            self.expiries.remove(&(at, id));
        }
        if let Some(key) = &file.record.submit_key
            && let Some(
                SubmitStanding::Accepted { id: known, .. } | SubmitStanding::InDoubt { id: known },
            ) = self.submitted(key)
            && known == id
        {
            self.submits.remove(key);
        }
        Some(file)
    }

    pub(crate) fn get(&self, id: FileId) -> Option<&ActiveFile> {
        self.by_id.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: FileId) -> Option<&mut ActiveFile> {
        self.by_id.get_mut(&id)
    }

    /// Files with greater ids than `after`, in the order of their ids, which is that of arrival.
    pub(crate) fn after(&self, after: Option<FileId>) -> impl Iterator<Item = &ActiveFile> {
        let from = after.map_or(std::ops::Bound::Unbounded, std::ops::Bound::Excluded);
        self.by_id.range((from, std::ops::Bound::Unbounded)).map(|(_, file)| file)
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there is nothing for housekeeping to visit.
    pub(crate) fn is_idle(&self) -> bool {
        self.by_id.is_empty() && self.acknowledged.is_empty()
    }

    /// Marks a file as ended.
    pub(crate) fn note_ended(&mut self, id: FileId) {
        self.ended.insert(id);
    }

    pub(crate) fn has_ended(&self, id: FileId) -> bool {
        self.ended.contains(&id)
    }

    pub(crate) fn forget_ended(&mut self, id: FileId) {
        self.ended.remove(&id);
    }

    /// The message of a file that ended was acknowledged.
    pub(crate) fn note_acknowledged(&mut self, ids: impl IntoIterator<Item = FileId>) {
        self.acknowledged.extend(ids);
    }

    pub(crate) fn take_acknowledged(&mut self) -> Vec<FileId> {
        std::mem::take(&mut self.acknowledged)
    }

    /// The files that had expired by `now`, at most `max`.
    pub(crate) fn expired(&self, now: Timestamp, max: usize) -> Vec<FileId> {
        let expired = self.expiries.keys().take_while(|(at, _)| *at <= now);
        expired.take(max).map(|(_, id)| *id).collect()
    }

    pub(crate) fn submitted(&self, key: &str) -> Option<SubmitStanding> {
        self.submits.get(key).copied()
    }

    pub(crate) fn begin_submit(&mut self, key: &str) {
        self.submits.insert(key.to_owned(), SubmitStanding::InProgress);
    }

    pub(crate) fn end_submit(&mut self, key: &str) {
        if self.submits.get(key) == Some(&SubmitStanding::InProgress) {
            self.submits.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;
    use crate::name::{Directory, FileName};

    fn record(id: u128, expires_at: Option<u64>, key: Option<&str>) -> Arc<FileRecord> {
        Arc::new(FileRecord {
            id: FileId(id),
            directory: Directory::root(),
            name: FileName::new("a").unwrap(),
            bytes: 5,
            content_type: String::new(),
            metadata: Vec::new(),
            created_at: Timestamp(1),
            expires_at: expires_at.map(Timestamp),
            crc32c: 1,
            sha256: None,
            submit_key: key.map(str::to_owned),
            place: Place::Inline,
        })
    }

    #[test]
    fn a_file_that_is_removed_leaves_nothing_in_the_index() {
        let mut files = ActiveFiles::default();
        files.insert(ActiveFile::new(record(1, Some(10), Some("k")), Standing::Waiting));
        assert_eq!(files.expired(Timestamp(10), 8), [FileId(1)]);
        assert!(files.submitted("k").is_some());
        files.remove(FileId(1)).unwrap();
        assert!(files.expired(Timestamp(10), 8).is_empty());
        assert_eq!((files.submitted("k"), files.len()), (None, 0));
    }

    #[test]
    fn a_submit_that_is_refused_frees_its_key() {
        let mut files = ActiveFiles::default();
        files.begin_submit("k");
        files.end_submit("k");
        assert_eq!(files.submitted("k"), None);
        files.begin_submit("k");
        let file = record(1, None, Some("k"));
        files.insert(ActiveFile::new(file.clone(), Standing::Waiting));
        files.end_publishing(&file, true);
        files.end_submit("k");
        assert!(matches!(files.submitted("k"), Some(SubmitStanding::Accepted { .. })));
    }

    #[test]
    fn a_submit_key_is_in_progress_until_the_record_of_its_file_is_durable() {
        let mut files = ActiveFiles::default();
        files.begin_submit("k");
        let file = record(1, None, Some("k"));
        files.insert(ActiveFile::new(file.clone(), Standing::Arriving));
        assert_eq!(files.submitted("k"), Some(SubmitStanding::InProgress));
        files.end_publishing(&file, false);
        files.end_submit("k");
        assert_eq!(files.submitted("k"), Some(SubmitStanding::InDoubt { id: FileId(1) }));
        files.remove(FileId(1)).unwrap();
        assert_eq!(files.submitted("k"), None);
    }
}
