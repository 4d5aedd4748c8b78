//! Buffers that are at hand.

use rialto_log::{GROUP_BYTES_MAX, Group};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many buffers are kept for another use, unless it was said that there shall be more.
const KEPT: usize = 32;

/// How many buffers a queue has ahead when it is opened and when it is busy.
const AHEAD: usize = 4;

/// The sizes of buffers for copies, in bytes. A smaller copy is left to the allocator, which gives a
/// larger one back to the system again and again.
const COPY_SIZES: [usize; 9] =
    [16 << 10, 24 << 10, 32 << 10, 48 << 10, 64 << 10, 96 << 10, 128 << 10, 192 << 10, 256 << 10];

/// How many bytes of such buffers are kept for another use: as many as a topic on disk keeps recent
/// messages in.
const COPIES_BYTES_MAX: usize = 32 << 20;

#[derive(Default)]
struct Copies {
    /// By size.
    idle: [Vec<Vec<u8>>; COPY_SIZES.len()],
    bytes: usize,
}

/// Buffers of a megabyte for another use, and some ahead of their first. What costs in a buffer that
/// is new is not to allocate it: it is the system that allocates and clears each page when it is
/// first written to, which often takes longer than filling it.
pub(crate) struct Spares {
    groups: Mutex<Vec<Group>>,
    copies: Mutex<Copies>,
    kept: usize,
    is_asked: AtomicBool,
}

impl Spares {
    /// With as many buffers as fit into `bytes`, which are kept for good.
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

    /// A buffer, which is new if there is no other. For one who fills buffers one after the other it
    /// is as large a piece of memory as the system hands out at once, all of which will be needed.
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

    /// A copy of some bytes, to be given back with [`Spares::drop_copy`].
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

    /// Whether more should be made before they are needed. After it has said so, it does not until
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
