//! Spare buffers.

use rialto_log::{GROUP_BYTES_MAX, Group};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of buffers that are kept for reuse, unless the options ask for more.
const KEPT: usize = 32;

/// The number of buffers that are prepared ahead when a queue is opened and when it is busy.
const AHEAD: usize = 4;

/// The sizes of buffers for copies, in bytes. Smaller copies are left to the allocator, which would
/// return larger ones to the system each time.
const COPY_SIZES: [usize; 9] =
    [16 << 10, 24 << 10, 32 << 10, 48 << 10, 64 << 10, 96 << 10, 128 << 10, 192 << 10, 256 << 10];

/// The bytes of such buffers that are kept for reuse: as many as the recent messages of a topic on
/// disk.
const COPIES_BYTES_MAX: usize = 32 << 20;

#[derive(Default)]
struct Copies {
    /// By size.
    idle: [Vec<Vec<u8>>; COPY_SIZES.len()],
    bytes: usize,
}

/// Buffers of a megabyte for reuse, and some prepared ahead. A new buffer is expensive because the
/// system allocates and clears each page on the first write, which often takes longer than filling
/// it.
pub(crate) struct Spares {
    groups: Mutex<Vec<Group>>,
    copies: Mutex<Copies>,
    kept: usize,
    is_asked: AtomicBool,
}

impl Spares {
    /// Spare buffers, of which as many as fit into `bytes` are kept until the end.
    pub(crate) fn new(bytes: usize) -> Arc<Self> {
        let ready = bytes / GROUP_BYTES_MAX;
        let made = std::iter::repeat_with(|| Group::touched(GROUP_BYTES_MAX)).flatten();
        Arc::new(Self {
            groups: Mutex::new(made.take(ready).collect()),
            copies: Mutex::default(),
            kept: ready.max(KEPT),
            is_asked: AtomicBool::new(false),
        })
    }

    fn groups(&self) -> MutexGuard<'_, Vec<Group>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A spare buffer, or a new one. Under load a new one is as large as the system's largest page,
    /// all of which will be used.
    pub(crate) fn take(&self, is_filling: bool) -> Group {
        let spare = self.groups().pop();
        spare.unwrap_or_else(|| {
            let mut made = if is_filling { Group::touched(GROUP_BYTES_MAX) } else { Vec::new() };
            let taken = made.pop().unwrap_or_else(|| Group::new(GROUP_BYTES_MAX));
            made.into_iter().for_each(|other| self.give_back(other));
            taken
        })
    }

    pub(crate) fn give_back(&self, group: Group) {
        let mut groups = self.groups();
        if groups.len() < self.kept {
            groups.push(group);
        }
    }

    fn copies(&self) -> MutexGuard<'_, Copies> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy of some bytes, to be returned with [`Spares::drop_copy`].
    pub(crate) fn copy(&self, bytes: &[u8]) -> Vec<u8> {
        let nth = COPY_SIZES.partition_point(|size| *size < bytes.len());
        let Some(size) = COPY_SIZES.get(nth).filter(|_| bytes.len() > COPY_SIZES[0] / 2) else {
            return bytes.to_vec();
        };
        let mut copies = self.copies();
        let idle = copies.idle[nth].pop();
        copies.bytes -= idle.as_ref().map_or(0, Vec::capacity);
        drop(copies);
        let mut copy = idle.unwrap_or_else(|| Vec::with_capacity(*size));
        copy.extend_from_slice(bytes);
        copy
    }

    pub(crate) fn drop_copy(&self, mut copy: Vec<u8>) {
        let Ok(nth) = COPY_SIZES.binary_search(&copy.capacity()) else { return };
        let mut copies = self.copies();
        if copies.bytes + copy.capacity() <= COPIES_BYTES_MAX {
            copy.clear();
            copies.bytes += copy.capacity();
            copies.idle[nth].push(copy);
        }
    }

    /// Whether more buffers should be prepared. After it returned true, it returns false until
    /// [`Spares::make_ahead`] was called.
    pub(crate) fn wants_more(&self) -> bool {
        self.groups().len() < AHEAD && !self.is_asked.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn make_ahead(&self) {
        while self.groups().len() < AHEAD {
            Group::touched(GROUP_BYTES_MAX).into_iter().for_each(|group| self.give_back(group));
        }
        self.is_asked.store(false, Ordering::Relaxed);
    }
}
