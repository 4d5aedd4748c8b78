//! Changes of files and directories that are not durable yet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A change of a file that is not durable yet.
pub(super) struct Pending {
    /// The operation that made it; gives the order across files.
    pub(super) at: u64,
    /// Whether a sync that should have covered it failed, so that no later one will.
    pub(super) orphaned: bool,
    pub(super) change: Change,
}

pub(super) enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    SetLen(usize),
}

impl Change {
    pub(super) fn apply(&self, target: &mut Vec<u8>) {
        match self {
            Change::Write { offset, bytes } => store(target, *offset, bytes),
            Change::SetLen(bytes) => target.resize(*bytes, 0),
        }
    }

    pub(super) fn overlaps(&self, later: &Change) -> bool {
        match (self, later) {
            (Change::Write { offset, bytes }, Change::Write { offset: start, bytes: over }) => {
                *offset < start + over.len() && *start < offset + bytes.len()
            }
            _ => true,
        }
    }
}

#[derive(Clone)]
pub(super) enum EntryChange {
    Add { path: PathBuf, inode: u64 },
    Move { from: PathBuf, to: PathBuf, inode: u64 },
    Drop { path: PathBuf },
}

impl EntryChange {
    /// The directory whose sync makes it durable.
    pub(super) fn dir(&self) -> Option<&Path> {
        match self {
            EntryChange::Add { path, .. } | EntryChange::Drop { path } => path.parent(),
            EntryChange::Move { to, .. } => to.parent(),
        }
    }

    pub(super) fn apply(&self, entries: &mut BTreeMap<PathBuf, u64>) {
        match self {
            EntryChange::Add { path, inode } => {
                entries.insert(path.clone(), *inode);
            }
            EntryChange::Move { from, to, inode } => {
                entries.remove(from);
                entries.insert(to.clone(), *inode);
            }
            EntryChange::Drop { path } => {
                entries.remove(path);
            }
        }
    }
}

pub(super) struct PendingEntry {
    pub(super) at: u64,
    pub(super) change: EntryChange,
}

/// A directory that was created or removed, which is not durable yet.
pub(super) struct PendingDir {
    pub(super) at: u64,
    pub(super) dir: PathBuf,
}

pub(super) fn store(target: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if target.len() < end {
        target.resize(end, 0);
    }
    target[offset..end].copy_from_slice(bytes);
}
