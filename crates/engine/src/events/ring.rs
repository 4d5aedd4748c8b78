//! The newest groups of events, in memory.

use super::Block;
use rialto_model::Seq;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The newest released groups, in order and without gaps. Readers share the blocks; a block without
/// readers is reused.
pub(crate) struct EventRing {
    blocks: Mutex<VecDeque<Arc<Block>>>,
    capacity: usize,
    published: Condvar,
    waiting: AtomicUsize,
}

/// The result of a lookup in the ring.
pub(crate) enum RingLookup {
    Here(Arc<Block>),
    /// It is older than the ring.
    Behind,
    /// It is not published yet.
    Ahead,
}

impl EventRing {
    /// A ring of `capacity` groups, at least two, because one may not be in the event log yet.
    pub(crate) fn new(capacity: usize) -> Self {
        let capacity = capacity.max(2);
        Self {
            blocks: Mutex::new(VecDeque::with_capacity(capacity + 1)),
            capacity,
            published: Condvar::new(),
            waiting: AtomicUsize::new(0),
        }
    }

    /// The list is consistent after a panic: it changes by single pushes and pops.
    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Block>>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes a group.
    pub(crate) fn publish(&self, first: Seq, records: u64, body: &[u8]) {
        let oldest = {
            let mut blocks = self.lock();
            if blocks.len() >= self.capacity { blocks.pop_front() } else { None }
        };
        // The copy is made outside the lock, so that readers never wait for it.
        let mut block = oldest.and_then(|block| Arc::try_unwrap(block).ok()).unwrap_or_default();
        block.fill(first, records, body);
        self.lock().push_back(Arc::new(block));
        self.wake();
    }

    /// Wakes waiting readers.
    pub(crate) fn wake(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            // The lock orders this after the reader's last check, so that it cannot miss it.
            drop(self.lock());
            self.published.notify_all();
        }
    }

    pub(crate) fn find(&self, seq: Seq) -> RingLookup {
        Self::find_in(&self.lock(), seq)
    }

    fn find_in(blocks: &VecDeque<Arc<Block>>, seq: Seq) -> RingLookup {
        let after = blocks.partition_point(|block| block.first() <= seq);
        match after.checked_sub(1).and_then(|index| blocks.get(index)) {
            Some(block) if block.last() >= seq => RingLookup::Here(Arc::clone(block)),
            Some(_) => RingLookup::Ahead,
            None if blocks.is_empty() => RingLookup::Ahead,
            None => RingLookup::Behind,
        }
    }

    /// Waits until a sequence is published, for at most `timeout`, and not if `give_up` returns
    /// true. May return early.
    pub(crate) fn wait(&self, seq: Seq, timeout: Duration, give_up: impl Fn() -> bool) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let blocks = self.lock();
        if matches!(Self::find_in(&blocks, seq), RingLookup::Ahead) && !give_up() {
            let _ = self.published.wait_timeout(blocks, timeout);
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}
