//! Which shard of the counters a thread writes to.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

/// Threads that have a shard of their own at a time. All others share one more.
pub(super) const SHARDS: usize = 64;
/// The shard of threads that have none of their own.
pub(super) const SHARED: usize = SHARDS;
/// A thread that has not asked yet.
const UNKNOWN: usize = usize::MAX;

/// The shards that a living thread has, one bit each. Under a lock, so that the next owner of a
/// shard sees the writes of the one before.
static TAKEN: Mutex<u64> = Mutex::new(0);

thread_local! {
    /// Apart from the lease, because reading what needs no destructor costs one instruction.
    static SHARD: Cell<usize> = const { Cell::new(UNKNOWN) };
    static LEASE: Cell<Option<Lease>> = const { Cell::new(None) };
}

/// Returns a shard when its thread ends.
struct Lease(usize);

impl Drop for Lease {
    fn drop(&mut self) {
        // What the thread does after this, in destructors that come later, it counts elsewhere.
        SHARD.set(SHARED);
        *taken() &= !(1 << self.0);
    }
}

/// The shard of this thread: below [`SHARDS`] and its own while it lives, or [`SHARED`].
#[inline]
pub(super) fn of_this_thread() -> usize {
    match SHARD.get() {
        UNKNOWN => take(),
        shard => shard,
    }
}

#[cold]
fn take() -> usize {
    let free = {
        let mut taken = taken();
        let free = taken.trailing_ones() as usize;
        if free < SHARDS {
            *taken |= 1 << free;
        }
        free
    };
    // 64 ones at the end are no free shard, and the number of the shared one.
    if free < SHARDS {
        let lease = Lease(free);
        // A thread that is past its destructors cannot keep a lease, and drops it here.
        if LEASE.try_with(|kept| kept.set(Some(lease))).is_err() {
            return SHARED;
        }
    }
    SHARD.set(free);
    free
}

fn taken() -> std::sync::MutexGuard<'static, u64> {
    // One assignment cannot be left half way.
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::Barrier;
    use std::thread;

    #[test]
    fn threads_that_live_at_once_share_only_the_shared_shard_and_give_their_own_back() {
        // Far more threads than there are shards, one after the other. If they kept theirs, there
        // would be none left.
        for _ in 0..4 * SHARDS {
            thread::spawn(of_this_thread).join().unwrap();
        }
        let threads = SHARDS + 8;
        let all_live = Barrier::new(threads);
        let shards: Vec<usize> = thread::scope(|scope| {
            let live = || {
                let shard = of_this_thread();
                all_live.wait();
                assert_eq!(shard, of_this_thread(), "a thread keeps its shard");
                shard
            };
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(live)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let own: Vec<_> = shards.iter().filter(|&&shard| shard < SHARDS).collect();
        assert_eq!(own.iter().collect::<HashSet<_>>().len(), own.len());
        // Threads of other tests have a few.
        assert!(own.len() > SHARDS / 2, "only {} had a shard", own.len());
        assert!(shards.contains(&SHARED));
    }
}
