//! Opening a log: finding its end, refusing damage, and starting a new segment.

use crate::cursor::Cursor;
use crate::error::{OpenError, ReadError};
use crate::format::{BLOCK, Codec, Flaw, Ground, HEAD_FILE, SegmentHeader, SegmentName};
use crate::head::{self, Head, LeastEnd, LoadedHead};
use crate::leftovers::{self, Listing};
use crate::position::Position;
use crate::prepare::{Directory, SegmentPreparer, Space};
use crate::reserve::Reserve;
use crate::rewrite::write_again;
use crate::sealed;
use crate::sealing::{KeyRing, Sealing};
use crate::segments::{Mark, Segment, Segments};
use crate::spares::SpareFiles;
use crate::tail;
use crate::verify::verify;
use crate::writer::Writer;
use rialto_disk::{Access, DirLock, Disk};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The greatest segment: 1 TiB.
const SEGMENT_BYTES_MAX: u64 = 1 << 40;

/// The part of a log that is read when it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verify {
    /// The newest segment whole, and of all others the header and, where they are shorter than
    /// they were made, the header of the last group.
    Newest,
    /// Every byte of every segment.
    Whole,
}

/// The options of opening a log.
#[derive(Debug, Clone)]
pub struct Options {
    /// The size of new segments in bytes, a multiple of 4096.
    pub segment_bytes: u64,
    /// The size of the first segment of each opening, a multiple of 4096, if segments grow: each is
    /// twice as long as the one before, up to [`Options::segment_bytes`]. A log then takes little
    /// more space than its records. For one of many logs, most of which stay short. Every group
    /// must fit into it.
    pub first_segment_bytes: Option<u64>,
    /// How the space of new segments is allocated.
    pub space: Space,
    /// The dropped files that are recycled for new segments under [`Space::Zeroed`]. None by
    /// default.
    pub spares: SpareFiles,
    /// The number of reserve files for new segments, in case the disk fills up. None by default.
    pub reserve_segments: usize,
    /// Sixteen random bytes, fresh for every opening: they distinguish this epoch's groups from all
    /// others in the same blocks.
    pub salt: [u8; 16],
    /// Stored in the header of every new segment; the log does not interpret it.
    pub rules_version: u32,
    /// A position that another program knows to have been acknowledged. A log that does not hold it
    /// is not opened.
    pub acknowledged: Option<Position>,
    /// Whether the directory is locked by the caller, so that no lock is taken: for one of many
    /// logs under one locked directory.
    pub is_guarded: bool,
    /// The part of the log that is read.
    pub verify: Verify,
    /// The sealing of new groups. Existing groups may have been sealed otherwise.
    pub sealing: Sealing,
    /// The keys for encryption and decryption.
    pub keys: KeyRing,
    /// Cuts the tail without checking whether it was acknowledged.
    #[cfg(any(test, feature = "sabotage"))]
    pub trusting: bool,
}

impl Options {
    /// The usual options: segments of 256 MiB, of which the newest is verified.
    pub fn new(salt: [u8; 16]) -> Self {
        Self {
            segment_bytes: 256 << 20,
            first_segment_bytes: None,
            space: Space::default(),
            spares: SpareFiles::none(),
            reserve_segments: 0,
            salt,
            rules_version: 0,
            acknowledged: None,
            is_guarded: false,
            verify: Verify::Newest,
            sealing: Sealing::NONE,
            keys: KeyRing::empty(),
            #[cfg(any(test, feature = "sabotage"))]
            trusting: false,
        }
    }

    fn trusting(&self) -> bool {
        #[cfg(any(test, feature = "sabotage"))]
        return self.trusting;
        #[cfg(not(any(test, feature = "sabotage")))]
        false
    }

    fn check(&self) -> Result<(), OpenError> {
        if !self.sealing.compression.is_possible() {
            return Err(OpenError::CompressionLevel(self.sealing.compression));
        }
        if let (Some(cipher), None) = (self.sealing.encryption, self.keys.current()) {
            return Err(OpenError::NoKey(cipher));
        }
        let is_size = |bytes: &u64| {
            bytes.is_multiple_of(BLOCK) && (2 * BLOCK..=SEGMENT_BYTES_MAX).contains(bytes)
        };
        let mut sizes = std::iter::once(self.segment_bytes).chain(self.first_segment_bytes);
        match sizes.find(|bytes| !is_size(bytes)) {
            None => Ok(()),
            Some(bytes) => Err(OpenError::SegmentBytes(bytes)),
        }
    }
}

/// The bytes after the tail that were cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The segment.
    pub file: PathBuf,
    /// The offset of the log's end in it.
    pub offset: u64,
    /// The bytes from there to the last one that is not zero.
    pub bytes: u64,
    /// The flaw at which the log ends.
    pub flaw: Flaw,
    /// The number of whole groups in the cut, which were written but not synced.
    pub unsynced_groups: u64,
}

/// The report of an opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenReport {
    /// The oldest sequence that the log holds, or would hold.
    pub first_seq: u64,
    /// The last sequence of the log; `first_seq - 1` when it is empty.
    pub last_seq: u64,
    /// The epoch of the newest segment that was found; 0 for a new log. The writer's is one more.
    pub epoch: u64,
    /// The number of live segments found.
    pub segments: usize,
    /// The cut of the tail, if any.
    pub cut: Option<Cut>,
    /// Files that an interrupted step had left behind.
    pub leftovers: Vec<PathBuf>,
    /// The flaw of one of HEAD's slots. After a crash that is a torn write; otherwise it is damage,
    /// which the other slot repaired.
    pub lost_head_slot: Option<Flaw>,
    /// The last sequence before the log was cut back by [`Recovered::truncate_after`].
    pub truncated_from: Option<u64>,
}

/// The position where the next segment continues.
struct Ending {
    last_seq: u64,
    /// The offset of the end in the last segment.
    offset: u64,
    /// The first group of that segment that nothing proves to have been synced, if there is one.
    unproven_from: Option<Mark>,
    /// The number of the last group of the last segment.
    last_group: u64,
    /// The last segment that holds a record, and the checksum of the group that holds the last one.
    last: Option<SegmentName>,
    checksum: u32,
    /// The length to which the last segment's file may be cut.
    trim: Option<(PathBuf, u64)>,
}

/// A log that has been recovered but not yet opened for writing. Its records can be read; nothing is
/// written before [`Recovered::start`].
pub struct Recovered {
    directory: Arc<Directory>,
    options: Options,
    lock: Option<Box<dyn DirLock>>,
    head: Option<LoadedHead>,
    segments: Segments,
    ending: Ending,
    newest_salt: Option<[u8; 16]>,
    /// Live segments that the new one will replace.
    replaced: Vec<PathBuf>,
    report: OpenReport,
}

/// Opens a log for writing, creating it when there is none.
pub fn open(
    disk: Arc<dyn Disk>,
    dir: &Path,
    options: Options,
) -> Result<(Writer, OpenReport), OpenError> {
    recover(disk, dir, options)?.start()
}

/// Recovers a log: takes its directory, finds and checks its end, and makes what it found durable.
pub fn recover(disk: Arc<dyn Disk>, dir: &Path, options: Options) -> Result<Recovered, OpenError> {
    options.check()?;
    disk.create_dir_all(dir)?;
    let lock = if options.is_guarded { None } else { Some(disk.lock(dir)?) };
    let mut recovered = examine(disk, dir, options)?;
    recovered.lock = lock;
    recovered.make_durable()?;
    Ok(recovered)
}

/// Reads a log without locking its directory, changing or syncing anything. The log must not be
/// open for writing. `keys` are those to decrypt it with, if it is encrypted.
pub fn inspect(
    disk: Arc<dyn Disk>,
    dir: &Path,
    verify: Verify,
    keys: &KeyRing,
) -> Result<(Segments, OpenReport), OpenError> {
    let options = Options { verify, keys: keys.clone(), ..Options::new([0; 16]) };
    let recovered = examine(disk, dir, options)?;
    Ok((recovered.segments, recovered.report))
}

fn examine(disk: Arc<dyn Disk>, dir: &Path, options: Options) -> Result<Recovered, OpenError> {
    let listing = leftovers::list(&*disk, dir)?;
    let head = head::load(&*disk, dir)?;
    let live = match &head {
        Some(head) => live_segments(&*disk, dir, head)?,
        None => Vec::new(),
    };
    if head.is_none() {
        check_never_used(&*disk, dir, &listing)?;
    }
    let mut leftovers = leftovers::superfluous(&*disk, dir, &listing, &live)?;
    leftovers.extend(listing.unfinished);
    sealed::check(&*disk, &live)?;

    let (ending, cut) = find_ending(&*disk, dir, &options, head.as_ref(), &live)?;
    let segments = Segments::new(disk.clone(), options.keys.clone(), live, ending.last_seq);
    if let Some(acknowledged) = options.acknowledged.filter(|it| !segments.holds(*it)) {
        let newest = segments.oldest_and_newest().map(|(_, newest)| newest.path.clone());
        return Err(OpenError::Acknowledged {
            file: newest.unwrap_or_else(|| dir.to_owned()),
            offset: ending.offset,
            last_seq: ending.last_seq,
            acknowledged,
        });
    }
    if options.verify == Verify::Whole {
        verify(&segments)?;
    }
    let newest = segments.oldest_and_newest().map(|(_, newest)| newest);
    let report = OpenReport {
        first_seq: segments.first_seq(),
        last_seq: ending.last_seq,
        epoch: newest.as_ref().map_or(0, |newest| newest.name().epoch),
        segments: segments.count(),
        cut,
        leftovers,
        lost_head_slot: head.as_ref().and_then(|head| head.lost_slot.clone()),
        truncated_from: None,
    };
    Ok(Recovered {
        directory: Arc::new(Directory::new(
            disk,
            dir.to_owned(),
            (options.segment_bytes, options.first_segment_bytes),
            options.space,
            options.spares.clone(),
            Reserve::of(options.reserve_segments),
        )),
        options,
        lock: None,
        head,
        segments,
        ending,
        newest_salt: newest.map(|newest| newest.header.salt),
        replaced: Vec::new(),
        report,
    })
}

/// Follows the headers from the newest segment back to the oldest. Oldest first.
fn live_segments(
    disk: &dyn Disk,
    dir: &Path,
    head: &LoadedHead,
) -> Result<Vec<Arc<Segment>>, OpenError> {
    let head_path = dir.join(HEAD_FILE);
    let slot = &head.slot;
    let count =
        |got| OpenError::SegmentCount { head: head_path.clone(), expected: slot.segments, got };
    let mut live = vec![Arc::new(Segment::load(disk, dir, slot.newest, &head_path, head.offset)?)];
    while let Some(segment) = live.last().filter(|segment| segment.name() != slot.oldest) {
        let previous = segment.header.previous.filter(|it| it.first_seq < segment.name().first_seq);
        let Some(previous) = previous.filter(|_| (live.len() as u64) < slot.segments) else {
            return Err(count(live.len() as u64));
        };
        live.push(Arc::new(Segment::load(disk, dir, previous, &segment.path, 0)?));
    }
    if live.len() as u64 != slot.segments {
        return Err(count(live.len() as u64));
    }
    live.reverse();
    Ok(live)
}

/// Without a HEAD there must be no log: at most the first segment of one that was interrupted in the
/// making, or its proof that more has been there.
fn check_never_used(disk: &dyn Disk, dir: &Path, listing: &Listing) -> Result<(), OpenError> {
    let missing = |name: &SegmentName| OpenError::HeadMissing {
        file: dir.join(HEAD_FILE),
        segment: dir.join(name.to_string()),
    };
    match listing.segments.as_slice() {
        [] => Ok(()),
        [only] if only.epoch == 1 && only.first_seq == 1 => {
            let path = dir.join(only.to_string());
            let segment = Segment::load(disk, dir, *only, &path, 0)?;
            if crate::segments::holds_a_group(disk, &segment)? {
                Err(missing(only))
            } else {
                Ok(())
            }
        }
        [first, ..] => Err(missing(first)),
    }
}

fn find_ending(
    disk: &dyn Disk,
    dir: &Path,
    options: &Options,
    head: Option<&LoadedHead>,
    live: &[Arc<Segment>],
) -> Result<(Ending, Option<Cut>), OpenError> {
    let (Some(head), Some(newest)) = (head, live.last()) else {
        let ending = Ending {
            last_seq: 0,
            offset: 0,
            unproven_from: None,
            last_group: 0,
            last: None,
            checksum: 0,
            trim: None,
        };
        return Ok((ending, None));
    };
    let tail = tail::find(disk, newest, &head.slot, &options.keys, options.trusting())?;
    let header = &newest.header;
    let ending = Ending {
        last_seq: tail.last_seq,
        offset: tail.offset,
        unproven_from: tail.unproven_from,
        last_group: tail.last_group,
        // A segment without records is replaced, and its own predecessor is continued.
        last: if tail.record_checksum.is_some() { Some(newest.name()) } else { header.previous },
        checksum: tail.record_checksum.unwrap_or(header.previous_checksum),
        trim: tail.record_checksum.map(|_| (newest.path.clone(), tail.offset)),
    };
    let cut = tail.cut.map(|cut| Cut {
        file: dir.join(newest.name().to_string()),
        offset: tail.offset,
        bytes: cut.bytes,
        flaw: cut.flaw,
        unsynced_groups: cut.unsynced_groups,
    });
    Ok((ending, cut))
}

impl Recovered {
    /// The report of the opening.
    pub fn report(&self) -> &OpenReport {
        &self.report
    }

    /// The live segments, to read from.
    pub fn segments(&self) -> Segments {
        self.segments.clone()
    }

    /// Recovered bytes may be in a cache only, so they are made durable before they are used. A
    /// sync alone is not enough: after a failed one, the kernel may treat pages as clean that never
    /// reached the device. Bytes that are not proven to be synced are therefore written again.
    fn make_durable(&self) -> Result<(), OpenError> {
        let Directory { disk, path: dir, .. } = &*self.directory;
        let Some((_, newest)) = self.segments.oldest_and_newest() else { return Ok(()) };
        let write = disk.open(&newest.path, Access::Direct)?;
        if let Some(mark) = &self.ending.unproven_from {
            write_again(&self.segments, &newest, mark, self.ending.offset, &*write)?;
        }
        write.sync_data()?;
        if let Some(head) = &self.head {
            head.write_again(&**disk, dir)?;
        }
        disk.sync_dir(dir)?;
        Ok(())
    }

    /// Drops every record after `seq`. No stored byte is overwritten: the segment that
    /// [`Recovered::start`] begins at `seq + 1` supersedes what is there, and until HEAD names it
    /// the log is as before.
    ///
    /// Readers of the part given up get [`ReadError::Superseded`].
    pub fn truncate_after(&mut self, seq: u64) -> Result<(), OpenError> {
        let (first_seq, last_seq) = (self.segments.first_seq(), self.ending.last_seq);
        if seq > last_seq || seq + 1 < first_seq {
            return Err(OpenError::TruncateOutside { seq, first_seq, last_seq });
        }
        if seq == last_seq {
            return Ok(());
        }
        let kept = self.segments.find(seq);
        let ending = match &kept {
            Some(segment) => self.ending_at(segment, seq)?,
            None => {
                // Nothing is kept, and the new segment continues what the oldest continued.
                let oldest = self.segments.oldest_and_newest().map(|(oldest, _)| oldest);
                let header = oldest.as_ref().map(|oldest| &oldest.header);
                Ending {
                    last_seq: seq,
                    offset: BLOCK,
                    unproven_from: None,
                    last_group: 0,
                    last: header.and_then(|header| header.previous),
                    checksum: header.map_or(0, |header| header.previous_checksum),
                    trim: None,
                }
            }
        };
        self.ending = ending;
        let replaced = self.segments.drop_from(seq + 1);
        self.replaced.extend(replaced.iter().map(|segment| segment.path.clone()));
        self.segments.set_written(seq);
        self.segments.set_durable(seq);
        self.report.truncated_from.get_or_insert(last_seq);
        self.report.last_seq = seq;
        Ok(())
    }

    fn ending_at(&self, segment: &Arc<Segment>, seq: u64) -> Result<Ending, OpenError> {
        let mut cursor = Cursor::at_start(self.segments.disk(), segment, self.segments.keys())?;
        let corrupt = |offset, flaw| ReadError::at(&segment.path, offset, flaw);
        if let Err(flaw) = cursor.seek(segment, seq)? {
            return Err(corrupt(cursor.offset, flaw).into());
        }
        let group = cursor.group_read_twice()?;
        let (group, checksum) = group.map_err(|flaw| corrupt(cursor.offset, flaw))?;
        // A segment that another followed before this opening may still be mapped, so that its file
        // stays as it is. Bytes after its end are not read.
        let trimmable = self.ending.trim.as_ref().filter(|(path, _)| *path == segment.path);
        let offset = cursor.offset + group.stored_bytes();
        Ok(Ending {
            last_seq: seq,
            offset,
            unproven_from: None,
            last_group: group.number,
            last: Some(segment.name()),
            checksum,
            trim: trimmable.map(|(path, _)| (path.clone(), offset)),
        })
    }

    /// Continues the list of segments that readers share, from an earlier opening of the log in
    /// this process whose writer is gone. What readers hold stays valid.
    #[must_use]
    pub fn resume(mut self, before: &Segments) -> Self {
        before.resume(&self.segments);
        self.segments = before.clone();
        self
    }

    /// Removes what an interrupted step had left behind and gives back the room that the newest segment
    /// does not need, and begins no new one: for a log that may not be written for long. It can be
    /// recovered again to be [started](Recovered::start).
    pub fn rest(self) -> Result<(Segments, OpenReport), OpenError> {
        let Directory { disk, path: dir, .. } = &*self.directory;
        for path in &self.report.leftovers {
            disk.remove(path)?;
        }
        if let (Some(loaded), Some((_, newest))) = (&self.head, self.segments.oldest_and_newest()) {
            let file = disk.open(&newest.path, Access::Buffered)?;
            let Ending { last_seq, offset, last_group, .. } = self.ending;
            if !loaded.slot.at_rest || file.len()? > offset {
                // Everything up to the end was made durable, so that HEAD may vouch for it.
                let end = LeastEnd { seq: last_seq, group: last_group, offset };
                Head::open(&**disk, dir, loaded)?.write(&self.segments, end, true)?;
                file.set_len(offset)?;
            }
        }
        self.segments.finish_all_but_newest();
        if let (Some(_), Some((_, newest))) = (&self.ending.trim, self.segments.oldest_and_newest())
        {
            // It is proven whole and has its last length, and a writer begins another.
            newest.finish();
        }
        Ok((self.segments, self.report))
    }

    /// Sets the rules version of the new segment, in place of [`Options::rules_version`]: the
    /// caller may know it only after reading the log.
    pub fn set_rules_version(&mut self, version: u32) {
        self.options.rules_version = version;
    }

    /// Begins a new segment in a new epoch and hands out the writer.
    pub fn start(mut self) -> Result<(Writer, OpenReport), OpenError> {
        if self.newest_salt == Some(self.options.salt) {
            return Err(OpenError::SaltReused);
        }
        let Directory { disk, path: dir, .. } = &*self.directory;
        for path in &self.report.leftovers {
            disk.remove(path)?;
        }
        self.directory.adopt_reserve()?;
        let sealing = self.options.sealing;
        let key = match sealing.encryption {
            Some(cipher) => self.options.keys.current().ok_or(OpenError::NoKey(cipher))?,
            None => 0,
        };
        let first_seq = self.ending.last_seq + 1;
        let before = self.report.truncated_from.unwrap_or(self.ending.last_seq);
        let header = SegmentHeader {
            name: SegmentName { first_seq, epoch: self.report.epoch + 1 },
            salt: self.options.salt,
            rules_version: self.options.rules_version,
            segment_bytes: self.directory.first_bytes(),
            previous: self.ending.last,
            previous_checksum: self.ending.checksum,
            first_group: 1,
            superseded_through: before,
            codec: Codec { method: sealing.compression.method(), cipher: sealing.encryption },
            key,
            ground: Ground::default(),
        };
        let directory = self.directory.clone();
        let preparer = SegmentPreparer { segment_bytes: directory.first_bytes(), directory };
        let active = preparer.install(None, header)?;

        // An empty newest segment begins at the same sequence and is replaced, too.
        let empty = self.segments.drop_from(first_seq);
        self.replaced.extend(empty.iter().map(|segment| segment.path.clone()));
        self.segments.push(active.segment.clone());
        let end = LeastEnd { seq: self.ending.last_seq, group: 0, offset: BLOCK };
        let head = match &self.head {
            Some(loaded) => {
                let mut head = Head::open(&**disk, dir, loaded)?;
                head.write(&self.segments, end, false)?;
                head
            }
            None => Head::create(&**disk, dir, &self.segments, end)?,
        };
        for path in &self.replaced {
            disk.remove(path)?;
        }
        if let Some((path, bytes)) = &self.ending.trim {
            // Only zeros and cut bytes follow, which are not read because a new segment has begun.
            let file = disk.open(path, Access::Buffered)?;
            if file.len()? != *bytes {
                file.set_len(*bytes)?;
            }
        }
        self.segments.finish_all_but_newest();
        let writer = Writer::new(
            self.directory.clone(),
            self.lock.take(),
            head,
            self.segments.clone(),
            active,
            self.ending.checksum,
            sealing,
        );
        Ok((writer, self.report))
    }
}
