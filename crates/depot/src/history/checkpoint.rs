//! How the history is read, and repeated in a checkpoint.

use super::record::{Ended, Record, Retained, Submitted, TenantNumber};
use super::state::State;
use crate::FileId;
use crate::volume::VolumeNumber;
use rialto_statelog::{InvalidRecord, PendingRecords, StateLogError};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The most submit keys of one record: they take at most 200 bytes each.
const KEYS_PER_RECORD: usize = 1_000;
/// The most marks of imports of one record: they take at most 19 bytes each.
const MARKS_PER_RECORD: usize = 4_096;

/// The bytes of changes that the index holds in memory while the history is read.
pub(super) const SPILL_BYTES: usize = 16 << 20;
/// The most files that are taken from the index at a time.
const FILES_PER_STEP: usize = 256;

/// What a checkpoint has still to repeat.
pub(crate) struct Cursor {
    volumes: Vec<VolumeNumber>,
    ended: Vec<FileId>,
    tenants: Vec<TenantNumber>,
    /// The tenant whose files are repeated, and the last path.
    files_of: Option<(TenantNumber, Option<String>)>,
    /// The tenant whose completed files are repeated, and the last id.
    completed_of: Option<(TenantNumber, Option<FileId>)>,
    watches: Vec<String>,
    /// The watch whose imports are repeated, and the last mark.
    marks_of: Option<(String, Option<u128>)>,
    has_counters: bool,
    /// Whether kept and completed files are left out.
    without_files: bool,
}

impl rialto_statelog::LoggedState for State {
    type Cursor = Cursor;

    fn read(&mut self, seq: u64, record: &[u8]) -> Result<(), InvalidRecord> {
        *self.unsaved.bytes.get_mut() += record.len() as u64;
        let record: Record =
            postcard::from_bytes(record).map_err(|error| InvalidRecord::new(seq, error))?;
        self.apply(record);
        if self.index.bytes() >= SPILL_BYTES {
            self.index.spill();
        }
        match self.index.failure() {
            Some(reason) => Err(InvalidRecord::new(seq, reason)),
            None => Ok(()),
        }
    }

    fn finish_reading(&mut self) -> Result<(), InvalidRecord> {
        State::finish_reading(self);
        // The saved state is damaged, although no record was read.
        self.index.failure().map_or(Ok(()), |reason| Err(InvalidRecord::new(0, reason)))
    }

    fn weight(&self) -> usize {
        State::weight(self)
    }

    fn begin_checkpoint(&self) -> Cursor {
        Cursor {
            volumes: self.volumes.keys().copied().collect(),
            ended: self.ended.keys().copied().collect(),
            tenants: self.tenants.keys().copied().collect(),
            files_of: None,
            completed_of: None,
            watches: self.watches.names(),
            marks_of: None,
            has_counters: false,
            without_files: false,
        }
    }

    fn write_images(
        &self,
        cursor: &mut Cursor,
        records: &mut PendingRecords,
        bytes: usize,
    ) -> Result<bool, StateLogError> {
        let (mut written, mut is_last) = (0, false);
        while written < bytes && !is_last {
            match self.next_images(cursor) {
                None => is_last = true,
                Some(images) => {
                    for image in images {
                        let image = encode(&image)?;
                        written += image.len();
                        self.unsaved.bytes.fetch_add(image.len() as u64, Relaxed);
                        records.append_bytes(&image)?;
                    }
                }
            }
        }
        // Files that could not be read were left out, and are in the log that would be deleted.
        match self.index.failure() {
            Some(reason) => Err(StateLogError::Failed {
                dir: "the index of kept files".into(),
                reason: reason.to_owned(),
            }),
            None => Ok(is_last),
        }
    }
}

impl State {
    /// The images of everything that is not in the index.
    pub(super) fn images_without_files(&self) -> impl Iterator<Item = Record> + '_ {
        let cursor = rialto_statelog::LoggedState::begin_checkpoint(self);
        let mut cursor = Cursor { without_files: true, ..cursor };
        std::iter::from_fn(move || self.next_images(&mut cursor)).flatten()
    }

    /// The next images, a bounded number of them; `None` behind the last one.
    fn next_images(&self, cursor: &mut Cursor) -> Option<Vec<Record>> {
        if !cursor.has_counters {
            cursor.has_counters = true;
            let (tenant, volume) = (self.next_tenant(), self.next_volume());
            let level = self.level.map(Record::Level);
            return Some(level.into_iter().chain([Record::Counters { tenant, volume }]).collect());
        }
        if let Some(number) = cursor.volumes.pop() {
            let settings = self.volumes.get(&number);
            let image = settings.map(|it| it.record(number));
            return Some(image.into_iter().collect());
        }
        if let Some((watch, after)) = &mut cursor.marks_of {
            let marks = self.watches.marks_after(watch, *after, MARKS_PER_RECORD);
            if let Some(last) = marks.last() {
                *after = Some(*last);
                return Some(vec![Record::Imported { watch: watch.clone(), marks }]);
            }
            cursor.marks_of = None;
        }
        if let Some(name) = cursor.watches.pop() {
            let image = self
                .watches
                .get(&name)
                .map(|(spec, is_enabled)| Record::Watch { spec: spec.clone(), is_enabled });
            cursor.marks_of = Some((name, None));
            return Some(image.into_iter().collect());
        }
        if let Some((tenant, after)) = &mut cursor.files_of {
            let mut images = Vec::new();
            self.each_kept(*tenant, "", after.as_deref(), |file| {
                images.push(Record::Kept { tenant: *tenant, file });
                images.len() < FILES_PER_STEP
            });
            if let Some(Record::Kept { file, .. }) = images.last() {
                *after = Some(file.path());
                return Some(images);
            }
            cursor.completed_of = Some((*tenant, None));
            cursor.files_of = None;
        }
        if let Some((tenant, after)) = &mut cursor.completed_of {
            let completed = self.completed_after(*tenant, *after, FILES_PER_STEP);
            if let Some(last) = completed.last() {
                *after = Some(last.file.id);
                let image = |it: &Arc<Retained>| Record::Completed {
                    tenant: *tenant,
                    retained: (**it).clone(),
                };
                return Some(completed.iter().map(image).collect());
            }
            cursor.completed_of = None;
        }
        if let Some(number) = cursor.tenants.pop() {
            cursor.files_of = (!cursor.without_files).then_some((number, None));
            return Some(self.images_of_tenant(number));
        }
        // Behind the tenants: the submit keys of ended files have been repeated with them.
        let id = cursor.ended.pop()?;
        // What it left is repeated with the tenants, and may be gone since.
        let image = |ended: &Arc<Ended>| {
            Record::Ended(Ended { kept: Vec::new(), retained: None, ..(**ended).clone() })
        };
        Some(self.ended.get(&id).map(image).into_iter().collect())
    }

    fn images_of_tenant(&self, number: TenantNumber) -> Vec<Record> {
        let Some(tenant) = self.tenants.get(&number) else { return Vec::new() };
        let Some(name) = tenant.name.clone() else { return Vec::new() };
        let (created_at, settings) = (tenant.created_at, tenant.settings.clone());
        let mut images = vec![Record::Tenant { number, name, created_at, settings }];
        for (directory, settings) in &tenant.directories {
            let (directory, settings) = (directory.clone(), *settings);
            images.push(Record::Directory { tenant: number, directory, settings });
        }
        let keys: Vec<Submitted> = tenant.submits.all().cloned().collect();
        for keys in keys.chunks(KEYS_PER_RECORD) {
            images.push(Record::SubmitKeys { tenant: number, keys: keys.to_vec() });
        }
        images
    }
}

/// A record as it is appended.
pub(crate) fn encode(record: &Record) -> Result<Vec<u8>, StateLogError> {
    // Nothing in a record is of a kind that cannot be encoded.
    let bytes =
        postcard::to_allocvec(record).map_err(|_| StateLogError::Encoding { len_max: 0 })?;
    if bytes.len() > rialto_statelog::RECORD_BYTES_MAX {
        return Err(StateLogError::TooLarge { bytes: bytes.len() });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::record::{Ended, Ending, TenantSettings};
    use super::*;
    use crate::name::{Directory, FileName, TenantName};
    use crate::record::{FileRecord, Place};
    use crate::watcher::WatchSpec;
    use rialto_clock::Timestamp;
    use rialto_statelog::LoggedState as _;

    const TENANT: TenantNumber = TenantNumber(0);

    fn file(id: u128) -> FileRecord {
        FileRecord {
            id: FileId(id),
            directory: Directory::root(),
            name: FileName::new("a").unwrap(),
            bytes: 5,
            content_type: String::new(),
            metadata: Vec::new(),
            created_at: Timestamp(1),
            expires_at: None,
            crc32c: 1,
            sha256: None,
            submit_key: None,
            place: Place::Inline,
        }
    }

    /// The state after its images are read.
    fn repeated(state: &State) -> State {
        let mut cursor = state.begin_checkpoint();
        let mut read = State::reading();
        while let Some(images) = state.next_images(&mut cursor) {
            images.into_iter().for_each(|image| drop(read.apply(image)));
        }
        read.finish_reading();
        read
    }

    #[test]
    fn a_result_that_was_replaced_does_not_come_back_with_the_end_of_its_file() {
        let mut state = State::default();
        let (name, created_at) = (TenantName::new("acme").unwrap(), Timestamp(1));
        let settings = TenantSettings::default();
        state.apply(Record::Tenant { number: TENANT, name, created_at, settings });
        let (at, ending) = (Timestamp(2), Ending::Completed);
        let (kept, published) = (vec![file(2)], vec![file(3)]);
        let (id, tenant) = (FileId(1), TENANT);
        let ended = Ended {
            tenant,
            id,
            at,
            ending,
            volume: None,
            submitted: None,
            kept,
            published,
            retained: None,
        };
        state.apply(Record::Ended(ended));
        state.apply(Record::Kept { tenant, file: file(4) });
        let read = repeated(&state);
        assert_eq!(read.kept(TENANT, "a").unwrap().id, FileId(4));
        // Results that are work may have to be published.
        assert_eq!(read.ended[&FileId(1)].published.len(), 1);
    }

    #[test]
    fn the_images_of_watches_repeat_settings_and_imports() {
        let tenant = TenantName::new("acme").unwrap();
        let spec = |name: &str| WatchSpec::new(name, "/in", tenant.clone());
        let marks: Vec<u128> = (0..2 * MARKS_PER_RECORD as u128 + 1).map(|it| it << 64).collect();
        let mut state = State::reading();
        state.apply(Record::Watch { spec: spec("a"), is_enabled: true });
        state.apply(Record::Watch { spec: spec("a"), is_enabled: false });
        state.apply(Record::Watch { spec: spec("b"), is_enabled: true });
        state.apply(Record::Watch { spec: spec("c"), is_enabled: true });
        let watch = || "a".to_owned();
        state.apply(Record::Imported { watch: watch(), marks: marks.clone() });
        state.apply(Record::ImportsForgotten { watch: watch(), marks: marks[..7].to_vec() });
        state.apply(Record::WatchRemoved { name: "c".to_owned() });

        let mut read = State::reading();
        // Between two images: its own image is still to come.
        read.apply(Record::Imported { watch: "b".to_owned(), marks: vec![5] });
        read.apply(Record::Imported { watch: "c".to_owned(), marks: vec![5] });
        let mut cursor = state.begin_checkpoint();
        while let Some(images) = state.next_images(&mut cursor) {
            for image in images {
                let bytes = encode(&image).unwrap();
                read.apply(postcard::from_bytes(&bytes).unwrap());
            }
        }
        read.finish_reading();
        assert_eq!(read.watches.get("a"), Some((&spec("a"), false)));
        assert_eq!(read.watches.get("b"), Some((&spec("b"), true)));
        assert_eq!(read.watches.len(), 2, "the images of a removed watch are not repeated");
        assert_eq!(read.watches.marks_of("a"), (marks.len() - 7, marks.len() - 6));
        assert!(read.watches.has_mark("a", marks[7]) && !read.watches.has_mark("a", marks[6]));
    }
}
