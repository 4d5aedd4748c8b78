//! The HEAD file: the live segments, and the least end of the log.

use crate::error::OpenError;
use crate::format::{BLOCK, Flaw, HEAD_FILE, HeadSlot, SLOTS};
use crate::segments::Segments;
use rialto_disk::{Access, AlignedBuf, BLOCK_BYTES, Disk, DiskError, File, IoMode};
use std::path::{Path, PathBuf};

/// The temporary name of the file, so that it is never seen partly written.
const HEAD_TMP: &str = "HEAD.tmp";

/// The open HEAD file. Both slots are written, one after the other: a crash tears at most one of
/// them, and damage to one leaves a copy.
pub(crate) struct Head {
    /// `None` while the log is at rest.
    file: Option<Box<dyn File>>,
    path: PathBuf,
    block: AlignedBuf,
    generation: u64,
}

/// The contents of HEAD when the log was opened.
pub(crate) struct LoadedHead {
    pub(crate) slot: HeadSlot,
    /// The offset of that slot in the file.
    pub(crate) offset: u64,
    /// The flaw of the other slot, if any.
    pub(crate) lost_slot: Option<Flaw>,
}

/// Reads the slots of HEAD; `None` if the file does not exist.
pub(crate) fn load(disk: &dyn Disk, dir: &Path) -> Result<Option<LoadedHead>, OpenError> {
    let path = dir.join(HEAD_FILE);
    let file = match disk.open(&path, Access::Read) {
        Err(error) if error.is_not_found() => return Ok(None),
        file => file?,
    };
    let read_slot = |nth: u64| -> Result<Result<HeadSlot, Flaw>, DiskError> {
        let mut block = [0; BLOCK_BYTES];
        let read = file.read_full_at(nth * BLOCK, &mut block)?;
        if read < BLOCK_BYTES {
            return Ok(Err(Flaw::EndOfFile));
        }
        Ok(HeadSlot::decode(&block))
    };
    let loaded = match (read_slot(0)?, read_slot(1)?) {
        (Err(flaw @ Flaw::Version(_)), _) => {
            return Err(OpenError::Unsupported { file: path, offset: 0, flaw });
        }
        (_, Err(flaw @ Flaw::Version(_))) => {
            return Err(OpenError::Unsupported { file: path, offset: BLOCK, flaw });
        }
        (Err(first), Err(second)) => {
            return Err(OpenError::HeadDamaged { file: path, first, second });
        }
        (Ok(first), Ok(second)) if first.generation > second.generation => {
            LoadedHead { slot: first, offset: 0, lost_slot: None }
        }
        (Ok(_), Ok(second)) => LoadedHead { slot: second, offset: BLOCK, lost_slot: None },
        (Ok(slot), Err(flaw)) => LoadedHead { slot, offset: 0, lost_slot: Some(flaw) },
        (Err(flaw), Ok(slot)) => LoadedHead { slot, offset: BLOCK, lost_slot: Some(flaw) },
    };
    Ok(Some(loaded))
}

impl LoadedHead {
    /// Writes the slot once more as it was read. After a sync that failed it may be in nothing but a
    /// cache, and it must not be when the other slot is written, which a crash may tear.
    pub(crate) fn write_again(&self, disk: &dyn Disk, dir: &Path) -> Result<(), DiskError> {
        let file = disk.open(&dir.join(HEAD_FILE), Access::DirectSync)?;
        let mut buf = AlignedBuf::zeroed(BLOCK_BYTES);
        self.slot.encode(buf.first_chunk_mut().expect("the buffer was made one block long"));
        file.write_all_at(self.offset, &buf)?;
        file.sync_data()
    }
}

/// The least end of the log that a new slot vouches for.
#[derive(Clone, Copy)]
pub(crate) struct LeastEnd {
    pub(crate) seq: u64,
    pub(crate) group: u64,
    pub(crate) offset: u64,
}

impl Head {
    /// Creates the file; the caller knows that there is none.
    pub(crate) fn create(
        disk: &dyn Disk,
        dir: &Path,
        segments: &Segments,
        end: LeastEnd,
    ) -> Result<Self, DiskError> {
        let tmp = dir.join(HEAD_TMP);
        let file = disk.create(&tmp, Access::DirectSync)?;
        let path = dir.join(HEAD_FILE);
        let block = AlignedBuf::zeroed(BLOCK_BYTES);
        let mut head = Self { file: None, path, block, generation: 0 };
        head.write_to(&*file, segments, end, false)?;
        file.sync_data()?;
        disk.rename(&tmp, &head.path)?;
        head.file = Some(file);
        disk.sync_dir(dir)?;
        Ok(head)
    }

    /// Opens the file for writing after `loaded` was read from it.
    pub(crate) fn open(
        disk: &dyn Disk,
        dir: &Path,
        loaded: &LoadedHead,
    ) -> Result<Self, DiskError> {
        let path = dir.join(HEAD_FILE);
        Ok(Self {
            file: Some(disk.open(&path, Access::DirectSync)?),
            path,
            block: AlignedBuf::zeroed(BLOCK_BYTES),
            generation: loaded.slot.generation,
        })
    }

    /// Records durably that the log consists of these segments and ends no earlier than `end`, and,
    /// if it is at rest, that nothing follows.
    pub(crate) fn write(
        &mut self,
        segments: &Segments,
        end: LeastEnd,
        at_rest: bool,
    ) -> Result<(), DiskError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => segments.disk().open(&self.path, Access::DirectSync)?,
        };
        let written = self.write_to(&*file, segments, end, at_rest);
        self.file = Some(file);
        written
    }

    /// Closes the file until it is written again.
    pub(crate) fn release(&mut self) {
        self.file = None;
    }

    fn write_to(
        &mut self,
        file: &dyn File,
        segments: &Segments,
        end: LeastEnd,
        at_rest: bool,
    ) -> Result<(), DiskError> {
        let (oldest, newest) = segments
            .oldest_and_newest()
            .expect("HEAD is written only once a segment has been installed");
        let mut slot = HeadSlot {
            generation: self.generation,
            oldest: oldest.name(),
            newest: newest.name(),
            segments: segments.count() as u64,
            end_seq: end.seq,
            end_group: end.group,
            end_offset: end.offset,
            at_rest,
        };
        for _ in 0..SLOTS {
            self.generation += 1;
            slot.generation = self.generation;
            let block = self
                .block
                .first_chunk_mut::<BLOCK_BYTES>()
                .expect("the buffer was made one block long");
            slot.encode(block);
            let at = self.generation % SLOTS as u64 * BLOCK;
            file.write_all_at(at, &self.block)?;
            if file.mode() != IoMode::DirectSync {
                file.sync_data()?;
            }
        }
        Ok(())
    }
}
