//! The newest groups of events, in memory.

use super::Block;
use rialto_model::Seq;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The newest released groups, in order and without gaps. Readers share the blocks; a block that
/// nobody reads any more is filled again.
pub(crate) struct EventRing {
    blocks: Mutex<VecDeque<Arc<Block>>>,
    capacity: usize,
    published: Condvar,
    waiting: AtomicUsize,
}

/// What the ring has to say about a sequence.
pub(crate) enum RingLookup {
    Here(Arc<Block>),
    /// It has left the ring, or was never in it.
    Behind,
    /// It is not published yet.
    Ahead,
}

impl EventRing {
    /// A ring of `capacity` groups, at least two: one may not be in the event log yet.
    pub(crate) fn new(capacity: usize) -> Self {
        let capacity = capacity.max(2);
        Self {
            blocks: Mutex::new(VecDeque::with_capacity(capacity + 1)),
            capacity,
            published: Condvar::new(),
            waiting: AtomicUsize::new(0),
        }
    }

    /// A panic elsewhere leaves the list whole: it changes by single pushes and pops.
    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Block>>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a group visible.
    pub(crate) fn publish(&self, first: Seq, records: u64, body: &[u8]) {
        let oldest = {
            let mut blocks = self.lock();
            if blocks.len() >= self.capacity { blocks.pop_front() } else { None }
        };
        // The copying happens outside the lock, so that readers never wait for it.
        let mut block = oldest.and_then(|block| Arc::try_unwrap(block).ok()).unwrap_or_default();
        block.fill(first, records, body);
        self.lock().push_back(Arc::new(block));
        self.wake();
    }

    /// Has waiting readers look again.
    pub(crate) fn wake(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            // The lock orders this behind the reader's last look, so that it cannot sleep past it.
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

    /// Waits until a sequence is published, but no longer than `timeout`, nor when `give_up` says
    /// so. May return early.
    pub(crate) fn wait(&self, seq: Seq, timeout: Duration, give_up: impl Fn() -> bool) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let blocks = self.lock();
        if matches!(Self::find_in(&blocks, seq), RingLookup::Ahead) && !give_up() {
            let _ = self.published.wait_timeout(blocks, timeout);
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}
