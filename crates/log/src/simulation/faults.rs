//! Faults in a history besides crashes, and what they excuse.

use super::evidence;
use super::history::{DIR, History, SEGMENT_BYTES};
use super::model::Excuse;
use crate::Cut;
use rialto_disk::{Disk, Faults};
use std::path::{Path, PathBuf};

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// One stored bit turns between two lives.
    BitFlip,
    /// One stored bit turns while the log is open.
    FlipWhileRunning,
    /// The disk fills up.
    NoSpace,
    /// A write or a sync fails.
    Failure,
    /// A sync reports success without being one.
    LyingSync,
    /// A write goes to another place of its file and reports success.
    Misdirected,
    /// A read returns what was there before the last write.
    StaleRead,
}

impl Fault {
    pub(super) const ALL: [Self; 7] = [
        Self::BitFlip,
        Self::FlipWhileRunning,
        Self::NoSpace,
        Self::Failure,
        Self::LyingSync,
        Self::Misdirected,
        Self::StaleRead,
    ];
}

/// Stored bytes that differ from what was written.
#[derive(Debug)]
pub(super) enum Damage {
    Flipped(Flip),
    Misdirected,
}

#[derive(Debug)]
pub(super) struct Flip {
    pub(super) path: PathBuf,
    pub(super) offset: u64,
    pub(super) bit: u8,
    /// Whether nothing has been written since, so that the bit can be turned back.
    pub(super) is_mendable: bool,
}

/// The faults that the disk has carried out.
#[derive(Debug, Default)]
pub(super) struct InjectedFaults {
    /// What was damaged and has not been found harmless yet.
    pub(super) damages: Vec<Damage>,
    /// What was reported as cut since the log was last opened.
    pub(super) cuts: Vec<Cut>,
    misdirected: u64,
    /// Whether a write that went elsewhere has not been synced yet.
    is_astray_unsynced: bool,
    /// Whether such a write was torn by a loss of power, so that it proves nothing where it is.
    is_torn: bool,
}

impl History {
    pub(super) fn has(&self, fault: Fault) -> bool {
        self.planned.contains(&fault)
    }

    /// Plans what the disk does to the next opening and the life after it.
    pub(super) fn afflict(&mut self) {
        if self.has(Fault::BitFlip)
            && self.openings > 0
            && let Some(flip) = self.flip_a_bit(true)
        {
            self.suffered.damages.push(Damage::Flipped(flip));
        }
        if self.has(Fault::Misdirected) {
            self.disk.misdirect_write(1 + self.random.below(40));
        }
        if self.has(Fault::StaleRead) {
            self.disk.stale_read(1 + self.random.below(40));
        }
    }

    /// Plans what the disk does to a life of a log that has been opened.
    pub(super) fn afflict_life(&mut self) {
        if self.has(Fault::NoSpace) {
            let files = self.disk.list(Path::new(DIR)).unwrap_or_default();
            let used: usize = files
                .iter()
                .filter_map(|file| self.disk.bytes_of(&Path::new(DIR).join(file)))
                .map(|bytes| bytes.len())
                .sum();
            let room = self.random.below(2 * SEGMENT_BYTES);
            self.limit(Some(used as u64 + room));
        }
        if self.has(Fault::Failure) {
            if self.random.one_in(2) {
                self.disk.fail_write(1 + self.random.below(30));
            } else {
                self.disk.fail_sync(1 + self.random.below(20));
            }
        }
        if self.has(Fault::LyingSync) {
            self.disk.lie_at_sync(1 + self.random.below(20));
        }
    }

    pub(super) fn limit(&mut self, capacity_bytes: Option<u64>) {
        self.disk.set_faults(Faults { capacity_bytes, ..self.faults.clone() });
    }

    /// Now and then turns a bit under an open log, one in a life.
    pub(super) fn flip_while_running(&mut self) {
        let of_now = |it: &Damage| matches!(it, Damage::Flipped(flip) if !flip.is_mendable);
        if self.has(Fault::FlipWhileRunning)
            && !self.suffered.damages.iter().any(of_now)
            && self.random.one_in(15)
            && let Some(flip) = self.flip_a_bit(false)
        {
            self.outcome.flips_while_running += 1;
            self.suffered.damages.push(Damage::Flipped(flip));
        }
    }

    fn flip_a_bit(&mut self, is_mendable: bool) -> Option<Flip> {
        let files: Vec<String> = self.disk.list(Path::new(DIR)).ok()?;
        let files: Vec<String> =
            files.into_iter().filter(|it| it.ends_with(".log") || it == "HEAD").collect();
        let file = files.get(self.random.below(files.len() as u64) as usize)?;
        let path = Path::new(DIR).join(file);
        let bytes = self.disk.bytes_of(&path)?;
        // Most of a segment is zeros, where nothing can be damaged.
        let used = bytes.iter().rposition(|byte| *byte != 0)? as u64 + 1;
        let (offset, bit) = (self.random.below(used), self.random.below(8) as u8);
        let flip = Flip { path, offset, bit, is_mendable };
        self.disk.flip_bit(&flip.path, flip.offset, flip.bit).then_some(flip)
    }

    /// Notes a misdirected write since the last call.
    pub(super) fn notice_damage(&mut self) {
        let misdirected = self.disk.misdirected();
        if misdirected > self.suffered.misdirected {
            self.suffered.misdirected = misdirected;
            self.suffered.is_astray_unsynced = true;
            self.suffered.damages.push(Damage::Misdirected);
            self.outcome.misdirected += 1;
        }
    }

    /// Everything that was written has been synced, wherever it is.
    pub(super) fn notice_sync(&mut self) {
        self.suffered.is_astray_unsynced = false;
    }

    pub(super) fn notice_power_loss(&mut self) {
        self.suffered.is_torn |= self.suffered.is_astray_unsynced;
        self.suffered.is_astray_unsynced = false;
    }

    /// The damage of before an opening that read everything has been found harmless.
    pub(super) fn forget_damage(&mut self, of_before: usize) {
        self.suffered.damages.drain(..of_before);
        self.suffered.cuts.clear();
        self.suffered.is_torn = false;
    }

    /// The records that may be missing from a log that opens.
    pub(super) fn excuse(&self) -> Excuse {
        match self.suffered.damages.as_slice() {
            [] => Excuse::Nothing,
            [Damage::Misdirected] if self.suffered.is_torn => {
                Excuse::After(evidence::proven_on_disk(&self.disk))
            }
            [_] => Excuse::Unproven,
            _ => Excuse::After(evidence::proven_on_disk(&self.disk)),
        }
    }
}
