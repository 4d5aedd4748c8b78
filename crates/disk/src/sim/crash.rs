//! What a power failure leaves behind.

use super::change::{Change, store};
use super::grouped::WriteBackErrors;
use super::random::Random;
use super::state::{Inode, SECTOR_BYTES, State};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How one crash treats what was not durable. Each has been seen on real machines.
#[derive(Clone, Copy)]
enum Fate {
    /// The cache never reached the medium.
    AllLost,
    /// Everything had already been written back.
    AllKept,
    /// Changes reached the medium in order until the power went; the last one is torn.
    Prefix { last: u64 },
    /// Whole changes were written back in any order.
    AnyChange,
    /// Single sectors were written back in any order.
    AnySector,
}

impl Fate {
    fn draw(random: &mut Random, operations: &BTreeSet<u64>) -> Self {
        match random.below(8) {
            0 => Fate::AllLost,
            1 => Fate::AllKept,
            2..=3 => {
                let nth = random.below(operations.len() as u64) as usize;
                Fate::Prefix { last: operations.iter().nth(nth).copied().unwrap_or(0) }
            }
            4..=5 => Fate::AnyChange,
            _ => Fate::AnySector,
        }
    }

    /// Whether a change that cannot be torn, such as a rename, survives.
    fn keeps(self, random: &mut Random, at: u64) -> bool {
        match self {
            Fate::AllLost => false,
            Fate::AllKept => true,
            Fate::Prefix { last } => at <= last,
            Fate::AnyChange | Fate::AnySector => random.below(2) == 0,
        }
    }
}

impl State {
    pub(super) fn end_process(&mut self) {
        self.generation += 1;
        self.crash_at = None;
        self.locks.clear();
    }

    pub(super) fn crash(&mut self) {
        self.end_process();
        let mut operations: BTreeSet<u64> = self.entries.iter().map(|entry| entry.at).collect();
        for inode in self.inodes.values() {
            operations.extend(inode.pending.iter().map(|pending| pending.at));
        }
        let dirs = self.created_dirs.iter().chain(&self.removed_dirs);
        operations.extend(dirs.map(|changed| changed.at));
        let fate = Fate::draw(&mut self.random, &operations);

        for entry in std::mem::take(&mut self.entries) {
            if fate.keeps(&mut self.random, entry.at) {
                entry.change.apply(&mut self.durable);
            }
        }
        self.settle_created_dirs(fate);
        self.current = self.durable.clone();
        self.settle_removed_dirs(fate);
        self.errors = WriteBackErrors::default();
        let named: BTreeSet<u64> = self.current.values().copied().collect();
        self.inodes.retain(|inode, _| named.contains(inode));

        let State { random, inodes, faults, stale, .. } = self;
        for inode in inodes.values_mut() {
            let stale = match stale.len() {
                count if count > 0 && faults.stale_bytes => {
                    stale.get(random.below(count as u64) as usize)
                }
                _ => None,
            };
            settle(inode, fate, random, stale.map(Vec::as_slice));
        }
    }

    /// Takes created directories whose names were not durable, and everything in them.
    fn settle_created_dirs(&mut self, fate: Fate) {
        for created in std::mem::take(&mut self.created_dirs) {
            if !fate.keeps(&mut self.random, created.at) {
                self.durable.retain(|path, _| !path.starts_with(&created.dir));
                self.dirs.retain(|path, _| !path.starts_with(&created.dir));
            }
        }
    }

    /// Brings back removed directories whose removal was not durable, and those of files that came
    /// back.
    fn settle_removed_dirs(&mut self, fate: Fate) {
        let mut back: BTreeSet<PathBuf> = BTreeSet::new();
        for removed in std::mem::take(&mut self.removed_dirs) {
            if !fate.keeps(&mut self.random, removed.at) {
                back.insert(removed.dir);
            }
        }
        back.extend(self.current.keys().filter_map(|path| path.parent()).map(Path::to_owned));
        for dir in back {
            self.create_dirs(&dir);
        }
    }
}

/// Decides about every pending change of one file.
fn settle(inode: &mut Inode, fate: Fate, random: &mut Random, stale: Option<&[u8]>) {
    let fresh_from = inode.durable.len();
    let mut written = Vec::new();
    for pending in std::mem::take(&mut inode.pending) {
        let torn_here = matches!(fate, Fate::Prefix { last } if pending.at == last);
        match pending.change {
            Change::Write { offset, bytes } if torn_here || matches!(fate, Fate::AnySector) => {
                let whole = bytes.len().div_ceil(SECTOR_BYTES) as u64;
                let reached = random.below(whole + 1) as usize;
                for (nth, sector) in bytes.chunks(SECTOR_BYTES).enumerate() {
                    let kept = if torn_here { nth < reached } else { random.below(2) == 0 };
                    if kept {
                        let start = offset + nth * SECTOR_BYTES;
                        store(&mut inode.durable, start, sector);
                        written.push(start..start + sector.len());
                    }
                }
            }
            change if fate.keeps(random, pending.at) => {
                change.apply(&mut inode.durable);
                if let Change::Write { offset, bytes } = &change {
                    written.push(*offset..offset + bytes.len());
                }
            }
            _ => {}
        }
    }
    if let Some(stale) = stale {
        show_stale(&mut inode.durable, fresh_from, &written, stale);
    }
    inode.current = inode.durable.clone();
    inode.errors = WriteBackErrors::default();
}

/// Fills what the file gained in this crash, but was never stored, with another file's old bytes.
fn show_stale(
    durable: &mut [u8],
    fresh_from: usize,
    written: &[std::ops::Range<usize>],
    stale: &[u8],
) {
    let first = fresh_from.next_multiple_of(SECTOR_BYTES);
    for start in (first..durable.len()).step_by(SECTOR_BYTES) {
        let end = (start + SECTOR_BYTES).min(durable.len());
        let stored = written.iter().any(|range| range.start < end && start < range.end);
        if let (false, Some(old)) = (stored, stale.get(start..end)) {
            durable[start..end].copy_from_slice(old);
        }
    }
}
