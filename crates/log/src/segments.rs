//! The live segments of a log, shared by its writer and its readers.

use crate::chain::Chain;
use crate::error::{OpenError, Proof};
use crate::format::{BLOCK, Flaw, GroupHeader, SegmentHeader, SegmentName};
use crate::maps::Slot;
use crate::position::Position;
use crate::sealing::KeyRing;
use rialto_disk::{Access, BLOCK_BYTES, Disk, DiskError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The least distance between two entries of a segment's index, in bytes. A seek reads at most this
/// much of headers behind the entry it starts from.
const INDEX_SPACING_BYTES: u64 = 1 << 20;

/// One live segment. A [`Pin`] keeps it from being deleted.
pub(crate) struct Segment {
    pub(crate) path: PathBuf,
    pub(crate) header: SegmentHeader,
    pub(crate) checksum: u32,
    /// Sparse, and built as the segment is written or read, so that every entry is the beginning of
    /// a group. Searching blocks instead could mistake a record for a group.
    index: Mutex<Vec<Mark>>,
    /// Whether a later segment follows and this one is never written or cut again.
    finished: AtomicBool,
    /// Its mapping, if a reader has one.
    pub(crate) slot: Arc<Slot>,
    pins: AtomicUsize,
}

/// Keeps a segment from being deleted while it lasts. Pins are made under the lock of the list.
pub(crate) struct Pin(Arc<Segment>);

impl Pin {
    fn new(segment: &Arc<Segment>) -> Self {
        segment.pins.fetch_add(1, Ordering::AcqRel);
        Self(segment.clone())
    }

    pub(crate) fn segment(&self) -> &Arc<Segment> {
        &self.0
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        self.0.pins.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The offset of a group in a segment, and the chain that the group must continue.
#[derive(Clone)]
pub(crate) struct Mark {
    pub(crate) offset: u64,
    pub(crate) chain: Chain,
}

impl Segment {
    pub(crate) fn new(path: PathBuf, header: SegmentHeader, checksum: u32) -> Self {
        let start = Mark { offset: BLOCK, chain: Chain::at_start(&header, checksum) };
        let index = Mutex::new(vec![start]);
        Self {
            path,
            header,
            checksum,
            index,
            finished: AtomicBool::new(false),
            slot: Arc::default(),
            pins: AtomicUsize::new(0),
        }
    }

    /// Reads and checks the header of a segment that another file names.
    pub(crate) fn load(
        disk: &dyn Disk,
        dir: &Path,
        name: SegmentName,
        named_by: &Path,
        named_at: u64,
    ) -> Result<Self, OpenError> {
        let path = dir.join(name.to_string());
        let file = match disk.open(&path, Access::Read) {
            Err(error) if error.is_not_found() => {
                return Err(OpenError::MissingSegment {
                    file: path,
                    named_by: named_by.to_owned(),
                    offset: named_at,
                });
            }
            file => file?,
        };
        let mut block = [0; BLOCK_BYTES];
        let read = file.read_full_at(0, &mut block)?;
        let decoded =
            if read < BLOCK_BYTES { Err(Flaw::EndOfFile) } else { SegmentHeader::decode(&block) };
        let wrong_name = |header: &SegmentHeader| Flaw::Sequence {
            expected: name.first_seq,
            got: header.name.first_seq,
        };
        match decoded {
            Ok((header, _)) if header.name != name => Err(wrong_name(&header)),
            other => other,
        }
        .map(|(header, checksum)| Self::new(path.clone(), header, checksum))
        .map_err(|flaw| match flaw {
            Flaw::Version(_) | Flaw::Codec { .. } => {
                OpenError::Unsupported { file: path, offset: 0, flaw }
            }
            _ => OpenError::Corrupt { file: path, offset: 0, flaw, proof: Proof::Segment },
        })
    }

    pub(crate) fn name(&self) -> SegmentName {
        self.header.name
    }

    /// Marks the segment as finished: its file is never written or cut again.
    pub(crate) fn finish(&self) {
        self.finished.store(true, Ordering::Release);
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Acquire)
    }

    /// Remembers that a group stands at `offset` and continues `chain`.
    pub(crate) fn note(&self, offset: u64, chain: &Chain) {
        let mut index = lock(&self.index);
        if index.last().is_none_or(|last| offset >= last.offset + INDEX_SPACING_BYTES) {
            index.push(Mark { offset, chain: chain.clone() });
        }
    }

    /// The last remembered group that does not begin after `seq`.
    pub(crate) fn mark_before(&self, seq: u64) -> Mark {
        let index = lock(&self.index);
        let after = index.partition_point(|mark| mark.chain.next_seq <= seq);
        match index.get(after.saturating_sub(1)) {
            Some(mark) => mark.clone(),
            None => Mark { offset: BLOCK, chain: Chain::at_start(&self.header, self.checksum) },
        }
    }
}

/// The successor of a segment in the log.
pub(crate) enum Following {
    /// Nothing yet: it is the newest.
    Nothing,
    /// Another segment, which ends this one at its first sequence.
    Segment(Pin),
    /// The segment is no longer part of the log.
    Superseded,
}

struct Shared {
    disk: Arc<dyn Disk>,
    keys: KeyRing,
    live: Mutex<Vec<Arc<Segment>>>,
    written_seq: AtomicU64,
    durable_seq: AtomicU64,
}

/// The live segments of a log, from which readers read. Clones share one list.
#[derive(Clone)]
pub struct Segments {
    shared: Arc<Shared>,
}

/// The lists behind these locks are replaced as a whole, so that a panic elsewhere leaves them
/// consistent.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Segments {
    /// `live` is ordered by first sequence; the log ends, durably, at `last_seq`.
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        keys: KeyRing,
        live: Vec<Arc<Segment>>,
        last_seq: u64,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                disk,
                keys,
                live: Mutex::new(live),
                written_seq: AtomicU64::new(last_seq),
                durable_seq: AtomicU64::new(last_seq),
            }),
        }
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.shared.disk
    }

    pub(crate) fn keys(&self) -> &KeyRing {
        &self.shared.keys
    }

    /// The oldest sequence in the log, or the next one if it is empty.
    pub fn first_seq(&self) -> u64 {
        lock(&self.shared.live).first().map_or(1, |segment| segment.name().first_seq)
    }

    /// The last sequence whose write has returned.
    pub fn written_seq(&self) -> u64 {
        self.shared.written_seq.load(Ordering::Acquire)
    }

    /// The last sequence that survives the loss of power.
    pub fn durable_seq(&self) -> u64 {
        self.shared.durable_seq.load(Ordering::Acquire)
    }

    /// The number of live segments.
    pub fn count(&self) -> usize {
        lock(&self.shared.live).len()
    }

    /// The first sequences of the live segments and their paths, oldest first.
    pub fn beginnings(&self) -> Vec<(u64, PathBuf)> {
        let live = lock(&self.shared.live);
        live.iter().map(|segment| (segment.name().first_seq, segment.path.clone())).collect()
    }

    /// The paths of the live segments, oldest first.
    pub fn paths(&self) -> Vec<PathBuf> {
        lock(&self.shared.live).iter().map(|segment| segment.path.clone()).collect()
    }

    /// The position of a record, or `None` if the log does not hold it.
    pub fn position_of(&self, seq: u64) -> Option<Position> {
        if seq > self.written_seq() {
            return None;
        }
        self.find(seq).map(|segment| Position { epoch: segment.name().epoch, seq })
    }

    /// Whether the log still holds the very record that a stored position names: false when it was
    /// lost with an unsynced tail or cut off, even if another record has its sequence by now.
    /// Positions of deleted records, and of nothing (sequence 0), hold.
    pub fn holds(&self, position: Position) -> bool {
        position.seq < self.first_seq() || self.position_of(position.seq) == Some(position)
    }

    /// The epochs of the live segments with their salts, oldest first. A log that was put back from a
    /// copy may count an epoch again, but not with the same salt.
    pub fn epochs(&self) -> Vec<(u64, [u8; 16])> {
        let live = lock(&self.shared.live);
        let of = |segment: &Arc<Segment>| (segment.name().epoch, segment.header.salt);
        let mut epochs: Vec<_> = live.iter().map(of).collect();
        epochs.dedup();
        epochs
    }

    /// The last sequence that may hold a record of this epoch or an earlier one: records beyond it
    /// of that time have been lost since. `None` while no later epoch has begun.
    pub fn end_of_epoch(&self, epoch: u64) -> Option<u64> {
        let live = lock(&self.shared.live);
        let later = live.iter().find(|segment| segment.name().epoch > epoch);
        later.map(|segment| segment.name().first_seq - 1)
    }

    /// The bytes of all live segments, including reserved space.
    pub fn file_bytes(&self) -> Result<u64, DiskError> {
        let length = |path: PathBuf| self.disk().open(&path, Access::Read)?.len();
        self.paths().into_iter().map(length).sum()
    }

    /// The `rules_version` of the segment that holds a record.
    pub fn rules_version_of(&self, seq: u64) -> Option<u32> {
        self.find(seq).map(|segment| segment.header.rules_version)
    }

    pub(crate) fn set_written(&self, seq: u64) {
        self.shared.written_seq.store(seq, Ordering::Release);
    }

    pub(crate) fn set_durable(&self, seq: u64) {
        self.shared.durable_seq.store(seq, Ordering::Release);
    }

    /// The segment that holds `seq`, or that will.
    pub(crate) fn find(&self, seq: u64) -> Option<Arc<Segment>> {
        let live = lock(&self.shared.live);
        let after = live.partition_point(|segment| segment.name().first_seq <= seq);
        after.checked_sub(1).and_then(|nth| live.get(nth)).cloned()
    }

    /// As [`Segments::find`], to read from it.
    pub(crate) fn pin(&self, seq: u64) -> Option<Pin> {
        let live = lock(&self.shared.live);
        let after = live.partition_point(|segment| segment.name().first_seq <= seq);
        after.checked_sub(1).and_then(|nth| live.get(nth)).map(Pin::new)
    }

    pub(crate) fn following(&self, segment: &Segment) -> Following {
        let live = lock(&self.shared.live);
        match live.binary_search_by_key(&segment.name(), |live| live.name()) {
            Err(_) => Following::Superseded,
            Ok(nth) => match live.get(nth + 1) {
                Some(next) => Following::Segment(Pin::new(next)),
                None => Following::Nothing,
            },
        }
    }

    pub(crate) fn oldest_and_newest(&self) -> Option<(Arc<Segment>, Arc<Segment>)> {
        let live = lock(&self.shared.live);
        Some((live.first()?.clone(), live.last()?.clone()))
    }

    /// Replaces the list by that of a later opening of the same log. Segments in both stay the same
    /// objects, so that their readers and mappings are tracked.
    pub(crate) fn resume(&self, found: &Segments) {
        let found_live = lock(&found.shared.live).clone();
        let mut live = lock(&self.shared.live);
        let known = |segment: Arc<Segment>| {
            let same =
                |it: &&Arc<Segment>| it.name() == segment.name() && it.checksum == segment.checksum;
            live.iter().find(same).cloned().unwrap_or(segment)
        };
        let next = found_live.into_iter().map(known).collect();
        *live = next;
        self.set_written(found.written_seq());
        self.set_durable(found.durable_seq());
    }

    pub(crate) fn push(&self, segment: Arc<Segment>) {
        lock(&self.shared.live).push(segment);
    }

    /// Drops all kept mappings, for a log that is deleted: mapped files take space on the disk even
    /// after they are removed.
    pub fn unmap(&self) {
        for segment in &*lock(&self.shared.live) {
            segment.slot.let_go();
        }
    }

    /// Marks all segments but the newest as finished.
    pub(crate) fn finish_all_but_newest(&self) {
        let live = lock(&self.shared.live);
        for segment in live.iter().rev().skip(1) {
            segment.finish();
        }
    }

    /// Takes every segment away whose first sequence is `first_seq` or more.
    pub(crate) fn drop_from(&self, first_seq: u64) -> Vec<Arc<Segment>> {
        let mut live = lock(&self.shared.live);
        let keep = live.partition_point(|segment| segment.name().first_seq < first_seq);
        live.split_off(keep)
    }

    /// Takes the oldest segments away that are below `seq` and not pinned. Returns them and, when
    /// one had to stay because a reader pins it, that one's path.
    pub(crate) fn drop_below(&self, seq: u64) -> (Vec<Arc<Segment>>, Option<PathBuf>) {
        let mut live = lock(&self.shared.live);
        let ends_below = live.windows(2).take_while(|pair| pair[1].name().first_seq <= seq).count();
        // New pins are only made under this lock, so that none is final.
        let is_free = |it: &&Arc<Segment>| it.pins.load(Ordering::Acquire) == 0;
        let unpinned = live.iter().take(ends_below).take_while(is_free).count();
        let pinned = (unpinned < ends_below).then(|| live[unpinned].path.clone());
        (live.drain(..unpinned).collect(), pinned)
    }
}

/// Whether any group was stored in a segment. A segment that HEAD does not name may be removed only
/// if it was never used. Earlier contents of a recycled file do not count.
pub(crate) fn holds_a_group(disk: &dyn Disk, segment: &Segment) -> Result<bool, DiskError> {
    let file = disk.open(&segment.path, Access::Read)?;
    let header = &segment.header;
    let mut found = false;
    crate::tail::for_each_block(&*file, BLOCK, |_, block| {
        let group = GroupHeader::decode(block);
        found |= group.is_ok_and(|(group, _)| {
            let is_older = group.epoch == header.name.epoch && group.number < header.first_group;
            group.salt == header.salt && !is_older
        });
    })?;
    Ok(found)
}
