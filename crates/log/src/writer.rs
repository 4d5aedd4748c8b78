//! The writer, which stores groups.

use crate::chain::Chain;
use crate::error::WriteError;
use crate::format::{
    BLOCK, Form, GROUP_HEADER_BYTES, Ground, GroupHeader, SegmentHeader, SegmentName,
};
use crate::group::Group;
use crate::head::{Head, LeastEnd};
use crate::position::{Commit, Position};
use crate::prepare::{
    ActiveSegment, Directory, PreparedSegment, SegmentFiles, SegmentPreparer, Space,
};
use crate::sealing::{Epoch, Sealer, Sealing};
use crate::segments::{Segment, Segments};
use crate::spares;
use rialto_disk::{Access, BLOCK_BYTES, DirLock, DiskError, IoMode};
use std::path::PathBuf;
use std::sync::Arc;

/// The result of retention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retained {
    /// The oldest sequence that the log still holds.
    pub first_seq: u64,
    /// The segments that were deleted.
    pub removed: Vec<PathBuf>,
    /// The oldest segment that should have been deleted, but that a reader is reading.
    pub pinned: Option<PathBuf>,
}

/// The bytes of groups, in whole blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Volume {
    /// Their bytes without compression and encryption.
    pub plain_bytes: u64,
    /// Their bytes as stored.
    pub stored_bytes: u64,
}

/// The writer of a log. There is only one.
///
/// After any call that the disk failed, every later one fails with [`WriteError::Poisoned`]: what
/// is on disk is then unknown until the log is opened again.
pub struct Writer {
    directory: Arc<Directory>,
    _lock: Option<Box<dyn DirLock>>,
    head: Head,
    segments: Segments,
    active: ActiveSegment,
    prepared: Option<PreparedSegment>,
    /// The offset of the next group in the active segment.
    offset: u64,
    /// The chain that the next group continues.
    chain: Chain,
    /// The checksum of the group that holds the last record, to which the next segment is tied.
    record_checksum: u32,
    durable_group: u64,
    durable_seq: u64,
    /// Whether the last group holds records that no later group and no HEAD confirms.
    unconfirmed: bool,
    confirmation: Group,
    /// `None` without sealing.
    sealer: Option<Sealer>,
    /// The rules version of the next group's segment.
    rules_version: u32,
    volume: Volume,
    /// Whether HEAD says that nothing stands behind the last group, and the file may end with it.
    is_at_rest: bool,
    poison: Option<String>,
}

impl Writer {
    pub(crate) fn new(
        directory: Arc<Directory>,
        lock: Option<Box<dyn DirLock>>,
        head: Head,
        segments: Segments,
        active: ActiveSegment,
        record_checksum: u32,
        sealing: Sealing,
    ) -> Self {
        let header = &active.segment.header;
        let epoch = Epoch { salt: header.salt, number: header.name.epoch };
        let sealer = Sealer::new(sealing, segments.keys(), epoch);
        Self {
            directory,
            _lock: lock,
            head,
            segments,
            prepared: None,
            offset: BLOCK,
            chain: Chain::at_start(header, active.segment.checksum),
            record_checksum,
            durable_group: header.first_group - 1,
            durable_seq: header.name.first_seq - 1,
            unconfirmed: false,
            confirmation: Group::new(BLOCK_BYTES),
            sealer,
            rules_version: header.rules_version,
            volume: Volume::default(),
            is_at_rest: false,
            poison: None,
            active,
        }
    }

    /// The sequence that the next group must begin with.
    pub fn next_seq(&self) -> u64 {
        self.chain.next_seq
    }

    /// The epoch of everything that this writer writes.
    pub fn epoch(&self) -> u64 {
        self.active.segment.name().epoch
    }

    /// The position of the last record written.
    pub fn position(&self) -> Position {
        Position { epoch: self.epoch(), seq: self.chain.next_seq - 1 }
    }

    /// The last sequence that survives the loss of power.
    pub fn durable_seq(&self) -> u64 {
        self.durable_seq
    }

    /// The live segments, to read from while this writer continues.
    pub fn segments(&self) -> Segments {
        self.segments.clone()
    }

    /// How synchronous writes reach the device; [`IoMode::Buffered`] where direct I/O is refused.
    pub fn io_mode(&self) -> IoMode {
        self.active.mode
    }

    /// The size of the current segment.
    pub fn segment_bytes(&self) -> u64 {
        self.active.segment.header.segment_bytes
    }

    /// The bytes of the current segment that are written, including its header.
    pub fn segment_filled_bytes(&self) -> u64 {
        self.offset
    }

    /// All groups that this writer has written, confirmations included.
    pub fn volume(&self) -> Volume {
        self.volume
    }

    /// Sets the rules version of all segments from the next group on; see
    /// [`Options::rules_version`](crate::Options::rules_version). If the current segment has
    /// another version and holds records, the next group begins a new one.
    pub fn set_rules_version(&mut self, version: u32) {
        self.rules_version = version;
    }

    /// Stores a group, which must begin with [`Writer::next_seq`], and returns the position of its
    /// last record. An empty group is not stored, but under [`Commit::Synced`] everything written
    /// before is synced.
    pub fn write(&mut self, group: &mut Group, commit: Commit) -> Result<Position, WriteError> {
        self.check_sound()?;
        if group.is_empty() {
            if commit == Commit::Synced {
                self.sync()?;
            }
            return Ok(self.position());
        }
        if group.first_seq() != self.chain.next_seq {
            return Err(WriteError::OutOfOrder {
                expected: self.chain.next_seq,
                got: group.first_seq(),
            });
        }
        let bytes = self.prepare(group)?;
        // Segments are never shorter than the first, and one that holds no record is not left: the next
        // would have the same name.
        let segment_bytes = self.directory.first_bytes();
        if bytes > segment_bytes - BLOCK {
            return Err(WriteError::GroupTooLarge { bytes, segment_bytes });
        }
        let rolls = self.offset + bytes > self.segment_bytes() || self.is_of_other_rules();
        let stored = match (rolls, self.is_at_rest) {
            (true, _) => self.roll(),
            (false, true) => self.take_room(),
            (false, false) => Ok(()),
        };
        let stored = stored.map_err(WriteError::from).and_then(|()| self.store(group, commit));
        self.or_poison(stored)?;
        self.unconfirmed = true;
        Ok(self.position())
    }

    /// Returns when everything written before is durable.
    pub fn sync(&mut self) -> Result<(), WriteError> {
        self.check_sound()?;
        let synced = self.sync_written();
        self.or_poison(synced)
    }

    /// Makes everything durable and confirms it by an empty group after the last, and its end in
    /// HEAD. To be called when the log falls idle; without it a later loss of the last group could
    /// not be distinguished from an unfinished write.
    pub fn confirm(&mut self) -> Result<(), WriteError> {
        self.check_sound()?;
        let confirmed = self.leave_proof();
        self.or_poison(confirmed)
    }

    /// Syncs what was written and closes all files; the next write opens them again. For one of many
    /// logs, so that logs without writes take no descriptors.
    pub fn release(&mut self) -> Result<(), WriteError> {
        self.sync()?;
        self.active.release();
        self.head.release();
        self.prepared.iter_mut().for_each(PreparedSegment::release);
        Ok(())
    }

    /// Confirms the last group, gives back the room that the newest segment does not need, and closes
    /// all files. The next write takes the room again. For a log that falls idle.
    pub fn rest(&mut self) -> Result<(), WriteError> {
        self.confirm()?;
        if !self.is_at_rest {
            let rested = self.give_back_room();
            self.or_poison(rested)?;
        }
        self.release()
    }

    /// Confirms the last group and closes the log.
    pub fn close(mut self) -> Result<Position, WriteError> {
        self.confirm()?;
        if let Some(prepared) = self.prepared.take() {
            prepared.discard()?;
        }
        Ok(self.position())
    }

    /// A preparer of the next segment, which may run on another thread.
    pub fn preparer(&self) -> SegmentPreparer {
        let directory = self.directory.clone();
        SegmentPreparer { segment_bytes: directory.bytes_after(self.segment_bytes()), directory }
    }

    /// Whether no next segment is prepared. Prepare one now; otherwise [`Writer::write`] creates it
    /// when needed, which takes long.
    pub fn wants_segment(&self) -> bool {
        self.prepared.is_none()
    }

    /// Takes a prepared segment to roll to. One that is not needed, or that was made for another
    /// log, is given back.
    pub fn accept(&mut self, prepared: PreparedSegment) -> Result<(), PreparedSegment> {
        if self.prepared.is_some() || !prepared.is_of(&self.directory) {
            return Err(prepared);
        }
        self.prepared = Some(prepared);
        Ok(())
    }

    /// Deletes whole segments that lie below `seq`, oldest first, up to the first that a reader is
    /// reading. The caller decides whether the records may be deleted.
    pub fn retain_from(&mut self, seq: u64) -> Result<Retained, WriteError> {
        self.check_sound()?;
        let (dropped, pinned) = self.segments.drop_below(seq);
        let mut removed = Vec::new();
        if !dropped.is_empty() {
            let deleted = self.delete(dropped, &mut removed);
            self.or_poison(deleted)?;
        }
        Ok(Retained { first_seq: self.segments.first_seq(), removed, pinned })
    }

    /// HEAD first: were a file deleted before HEAD forgets it, a crash between the two would look
    /// like a lost segment.
    fn delete(
        &mut self,
        dropped: Vec<Arc<Segment>>,
        removed: &mut Vec<PathBuf>,
    ) -> Result<(), DiskError> {
        self.write_head()?;
        let Directory { disk, path: dir, spares, .. } = &*self.directory;
        let mut kept = Vec::new();
        for segment in dropped {
            let path = segment.path.clone();
            if self.is_worth_keeping(&segment)? && spares::is_let_go(segment) {
                let spare = self.directory.tmp_path("spare");
                disk.rename(&path, &spare)?;
                kept.push(spare);
            } else {
                disk.remove(&path)?;
            }
            removed.push(path);
        }
        // Until its old name is gone for good, nothing new is written to a file.
        disk.sync_dir(dir)?;
        kept.into_iter().for_each(|spare| spares.keep(&self.directory, spare));
        Ok(())
    }

    /// Whether the next segment may be made of the file of a segment: if all of it was written before,
    /// it has the right length, and nothing is left in it to read that shall be encrypted now.
    fn is_worth_keeping(&self, segment: &Segment) -> Result<bool, DiskError> {
        let Directory { disk, segment_bytes, space, spares, .. } = &*self.directory;
        let header = &segment.header;
        let is_written = *space == Space::Zeroed && header.ground != Ground::Reserved;
        let is_secret = self.sealer.as_ref().is_some_and(Sealer::encrypts);
        if !is_written
            || header.segment_bytes != *segment_bytes
            || !spares.takes(*segment_bytes)
            || (is_secret && header.codec.cipher.is_none())
        {
            return Ok(false);
        }
        // An opening shortens what had been the newest.
        Ok(disk.open(&segment.path, Access::Read)?.len()? == *segment_bytes)
    }

    fn check_sound(&self) -> Result<(), WriteError> {
        match &self.poison {
            None => Ok(()),
            Some(reason) => Err(WriteError::Poisoned { reason: reason.clone() }),
        }
    }

    fn or_poison<E: Into<WriteError>>(&mut self, result: Result<(), E>) -> Result<(), WriteError> {
        result.map_err(|error| {
            let error = error.into();
            // The key is looked up first, so that a missing key changes nothing.
            if !matches!(error, WriteError::NoKey) {
                self.poison = Some(error.to_string());
            }
            error
        })
    }

    /// Makes ready what can be before the group has its place; returns the bytes it will take.
    fn prepare(&mut self, group: &Group) -> Result<u64, WriteError> {
        match &mut self.sealer {
            Some(sealer) => sealer.prepare(group),
            None => Ok(group.stored_bytes() as u64),
        }
    }

    fn has_unsynced(&self) -> bool {
        self.durable_group + 1 < self.chain.next_group
    }

    fn store(&mut self, group: &mut Group, commit: Commit) -> Result<(), WriteError> {
        let unsynced = self.has_unsynced();
        let (first_seq, records, caller) = (group.first_seq(), group.records(), group.caller());
        let place = |form: Form, body_checksum| GroupHeader {
            body_checksum,
            previous_checksum: self.chain.previous_checksum,
            salt: self.active.segment.header.salt,
            epoch: self.active.segment.name().epoch,
            number: self.chain.next_group,
            first_seq,
            records,
            form,
            durable_group: self.durable_group,
            caller,
        };
        let ((header, checksum), stored) = match &mut self.sealer {
            Some(sealer) => (sealer.seal(group, place)?, sealer.stored()),
            None => (group.seal(place), group.stored()),
        };
        let SegmentFiles { direct, synced } = self.active.files(&*self.directory.disk)?;
        let durable = match commit {
            Commit::Written => {
                direct.write_all_at(self.offset, stored)?;
                false
            }
            // A synchronous write vouches for itself alone; what was written before without being
            // synced needs a sync of the file in any case.
            Commit::Synced if unsynced || synced.mode() != IoMode::DirectSync => {
                direct.write_all_at(self.offset, stored)?;
                direct.sync_data()?;
                true
            }
            Commit::Synced => {
                synced.write_all_at(self.offset, stored)?;
                true
            }
        };
        self.offset += stored.len() as u64;
        self.volume.stored_bytes += stored.len() as u64;
        self.volume.plain_bytes += group.stored_bytes() as u64;
        if records > 0 {
            self.record_checksum = checksum;
        }
        self.chain.advance(&header, checksum);
        self.active.segment.note(self.offset, &self.chain);
        self.segments.set_written(self.chain.next_seq - 1);
        if durable {
            self.mark_durable();
        }
        Ok(())
    }

    fn mark_durable(&mut self) {
        self.durable_group = self.chain.next_group - 1;
        self.durable_seq = self.chain.next_seq - 1;
        self.segments.set_durable(self.durable_seq);
    }

    fn sync_written(&mut self) -> Result<(), DiskError> {
        if self.has_unsynced() {
            self.active.files(&*self.directory.disk)?.direct.sync_data()?;
            self.mark_durable();
        }
        Ok(())
    }

    fn leave_proof(&mut self) -> Result<(), WriteError> {
        self.sync_written()?;
        if !self.unconfirmed {
            return Ok(());
        }
        // A segment that is full to the last block is vouched for by HEAD alone.
        if self.offset + BLOCK <= self.segment_bytes() {
            let mut confirmation = std::mem::replace(&mut self.confirmation, Group::new(0));
            confirmation.begin(self.chain.next_seq);
            let stored = self.prepare(&confirmation);
            let stored = stored.and_then(|_| self.store(&mut confirmation, Commit::Synced));
            self.confirmation = confirmation;
            stored?;
        }
        self.write_head()?;
        self.unconfirmed = false;
        Ok(())
    }

    fn write_head(&mut self) -> Result<(), DiskError> {
        let end =
            LeastEnd { seq: self.durable_seq, group: self.durable_group, offset: self.offset };
        self.head.write(&self.segments, end, self.is_at_rest)
    }

    /// HEAD first: a file that is too short is damaged unless HEAD says that it may be.
    fn give_back_room(&mut self) -> Result<(), DiskError> {
        if let Some(prepared) = self.prepared.take() {
            prepared.discard()?;
        }
        self.is_at_rest = true;
        self.write_head()?;
        let files = self.active.files(&*self.directory.disk)?;
        files.direct.set_len(self.offset)
    }

    /// Makes sure of the room that the newest segment had before it was given back. What was reserved
    /// reads as zeros, as what was never written does. HEAD comes last, and before any group: until
    /// then the log is at rest, however long the file is.
    fn take_room(&mut self) -> Result<(), DiskError> {
        let segment_bytes = self.segment_bytes();
        let Directory { disk, spares, .. } = &*self.directory;
        let files = self.active.files(&**disk)?;
        if !spares.or_else(|| files.direct.reserve(segment_bytes))? {
            files.direct.set_len(segment_bytes)?;
        }
        files.direct.sync_data()?;
        self.is_at_rest = false;
        self.write_head().inspect_err(|_| self.is_at_rest = true)
    }

    /// Whether the current segment holds records, and says that other rules decided them than those of
    /// the next group.
    fn is_of_other_rules(&self) -> bool {
        let header = &self.active.segment.header;
        header.rules_version != self.rules_version && header.name.first_seq < self.chain.next_seq
    }

    /// Continues in a new segment. The old one is synced first: its end is proven by the new one's
    /// beginning, so it must not be lost.
    fn roll(&mut self) -> Result<(), DiskError> {
        self.sync_written()?;
        let old = &self.active.segment;
        let header = SegmentHeader {
            name: SegmentName { first_seq: self.chain.next_seq, epoch: old.name().epoch },
            previous: Some(old.name()),
            previous_checksum: self.record_checksum,
            first_group: self.chain.next_group,
            superseded_through: self.chain.next_seq - 1,
            key: self.sealer.as_ref().map_or(0, Sealer::key),
            rules_version: self.rules_version,
            ..old.header.clone()
        };
        let active = self.preparer().install(self.prepared.take(), header)?;
        let finished = std::mem::replace(&mut self.active, active);
        finished.segment.finish();
        self.offset = BLOCK;
        self.is_at_rest = false;
        self.chain = Chain::at_start(&self.active.segment.header, self.active.segment.checksum);
        self.segments.push(self.active.segment.clone());
        tracing::debug!(
            segment = %self.active.segment.path.display(),
            first_seq = self.chain.next_seq,
            "the log goes on in a new segment"
        );
        self.write_head()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.directory.spares.let_go_of(&self.directory);
    }
}

// The confirmation is an empty group in one block.
const _: () = assert!(GROUP_HEADER_BYTES <= BLOCK_BYTES);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sealing::{Aead, Cipher, CipherFailed, KeyRing, TAG_BYTES};
    use crate::{Options, open};
    use rialto_disk::{Disk, SimDisk};
    use std::path::Path;

    /// Fails after half of its work, as bad memory might.
    struct Broken;

    impl Aead for Broken {
        fn seal_in_place(
            &self,
            _: u64,
            _: &[u8],
            _: &mut [u8],
        ) -> Result<[u8; TAG_BYTES], CipherFailed> {
            Err(CipherFailed)
        }

        fn seal_into(
            &self,
            _: u64,
            _: &[u8],
            plain: &[u8],
            target: &mut [u8],
        ) -> Result<[u8; TAG_BYTES], CipherFailed> {
            target.copy_from_slice(plain);
            Err(CipherFailed)
        }

        fn open_into(&self, _: u64, _: &[u8], _: &[u8], _: &mut [u8]) -> Result<(), CipherFailed> {
            Err(CipherFailed)
        }
    }

    #[test]
    fn a_cipher_that_fails_fails_the_append_and_nothing_reaches_the_disk() {
        let disk = SimDisk::new(1);
        let keys = KeyRing::parse(&format!("1: {}", "a".repeat(64)), "test").unwrap();
        let encryption = Some(Cipher::Aes256Gcm);
        let options = Options {
            segment_bytes: 64 << 10,
            sealing: Sealing { encryption, ..Sealing::NONE },
            keys,
            ..Options::new([1; 16])
        };
        let dir = Path::new("/log");
        let (mut writer, _) = open(Arc::new(disk.clone()), dir, options).unwrap();
        let mut group = Group::new(BLOCK_BYTES);
        group.begin(1);
        group.append(b"an order").unwrap();
        writer.write(&mut group, Commit::Synced).unwrap();
        let stored = || -> Vec<_> {
            let names = disk.list(dir).unwrap();
            names.iter().map(|name| disk.bytes_of(&dir.join(name)).unwrap()).collect()
        };
        let before = stored();
        writer.sealer.as_mut().unwrap().break_cipher(Box::new(Broken));
        group.begin(2);
        group.append(b"an order").unwrap();
        let failed = writer.write(&mut group, Commit::Synced);
        assert!(matches!(failed, Err(WriteError::Encryption)), "{failed:?}");
        assert!(stored() == before);
        // The number of the group may have been used, so that it is not given out again.
        let again = writer.write(&mut group, Commit::Synced);
        assert!(matches!(again, Err(WriteError::Poisoned { .. })), "{again:?}");
    }
}
