//! Which lane of the counters a thread writes to.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

/// Threads that have a lane of their own at a time. All others share one more.
pub(super) const LANES: usize = 64;
/// The lane of those who have none of their own.
pub(super) const SHARED: usize = LANES;
/// A thread that has not asked yet.
const UNKNOWN: usize = usize::MAX;

/// The lanes that a living thread has, one bit each. Under a lock, so that whoever gets a lane
/// again sees what the thread before it wrote there.
static TAKEN: Mutex<u64> = Mutex::new(0);

thread_local! {
    /// Apart from the lease, because reading what needs no destructor costs one instruction.
    static LANE: Cell<usize> = const { Cell::new(UNKNOWN) };
    static LEASE: Cell<Option<Lease>> = const { Cell::new(None) };
}

/// Gives a lane back when its thread ends.
struct Lease(usize);

impl Drop for Lease {
    fn drop(&mut self) {
        // What the thread does after this, in destructors that come later, it counts elsewhere.
        LANE.set(SHARED);
        *taken() &= !(1 << self.0);
    }
}

/// The lane of this thread: below [`LANES`], and nobody else's while it lives, or [`SHARED`].
#[inline]
pub(super) fn of_this_thread() -> usize {
    match LANE.get() {
        UNKNOWN => take(),
        lane => lane,
    }
}

#[cold]
fn take() -> usize {
    let free = {
        let mut taken = taken();
        let free = taken.trailing_ones() as usize;
        if free < LANES {
            *taken |= 1 << free;
        }
        free
    };
    // 64 ones at the end are no free lane, and the number of the shared one.
    if free < LANES {
        let lease = Lease(free);
        // A thread that is past its destructors cannot keep a lease, and drops it here.
        if LEASE.try_with(|kept| kept.set(Some(lease))).is_err() {
            return SHARED;
        }
    }
    LANE.set(free);
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
    fn threads_that_live_at_once_share_only_the_shared_lane_and_give_their_own_back() {
        // Far more threads than there are lanes, one after the other. If they kept theirs, there
        // would be none left.
        for _ in 0..4 * LANES {
            thread::spawn(of_this_thread).join().unwrap();
        }
        let threads = LANES + 8;
        let all_live = Barrier::new(threads);
        let lanes: Vec<usize> = thread::scope(|scope| {
            let live = || {
                let lane = of_this_thread();
                all_live.wait();
                assert_eq!(lane, of_this_thread(), "a thread keeps its lane");
                lane
            };
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(live)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let own: Vec<_> = lanes.iter().filter(|&&lane| lane < LANES).collect();
        assert_eq!(own.iter().collect::<HashSet<_>>().len(), own.len());
        // Threads of other tests have a few.
        assert!(own.len() > LANES / 2, "only {} had a lane", own.len());
        assert!(lanes.contains(&SHARED));
    }
}
