//! A gate counts the running operations of a kind, and can be closed.

use super::fence;
use super::shard::SHARDS;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The words and fences that a gate is made of. The real ones are of the [`Machine`]; the model
/// test puts in some whose every interleaving is tried out.
pub(super) trait Memory {
    type Count: Count;
    type Flag: Flag;

    /// Orders what comes before and after it, but only against a heavy fence.
    fn light_fence();
    fn full_fence();
    /// Orders everything against every other fence.
    fn heavy_fence();
}

/// A number that is only ever added to.
pub(super) trait Count: Default {
    fn load(&self) -> u64;
    /// For a number that no other thread adds to meanwhile.
    fn add_alone(&self);
    fn add_shared(&self);
}

/// Something that becomes true once.
pub(super) trait Flag {
    fn new(is_set: bool) -> Self;
    fn is_set(&self) -> bool;
    fn set(&self);
}

/// The real machine.
#[derive(Debug)]
pub(super) struct Machine;

impl Memory for Machine {
    type Count = AtomicU64;
    type Flag = AtomicBool;

    #[inline]
    fn light_fence() {
        fence::light();
    }

    fn full_fence() {
        std::sync::atomic::fence(Ordering::SeqCst);
    }

    fn heavy_fence() {
        fence::heavy();
    }
}

impl Count for AtomicU64 {
    fn load(&self) -> u64 {
        self.load(Ordering::Acquire)
    }

    #[inline]
    fn add_alone(&self) {
        // Released, so that a thread that sees no operation in progress sees the effects of all of
        // them.
        self.store(self.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    fn add_shared(&self) {
        self.fetch_add(1, Ordering::AcqRel);
    }
}

impl Flag for AtomicBool {
    fn new(is_set: bool) -> AtomicBool {
        AtomicBool::new(is_set)
    }

    #[inline]
    fn is_set(&self) -> bool {
        self.load(Ordering::Relaxed)
    }

    fn set(&self) {
        self.store(true, Ordering::Relaxed);
    }
}

/// Entries and exits by one shard. An operation may enter by one and leave by another.
#[derive(Debug, Default)]
// Two lines each, because the processor fetches the neighbour of a line with it.
#[repr(align(128))]
struct Shard<C> {
    entered: C,
    left: C,
}

/// Counts entries and exits, and refuses entries once it is closed.
///
/// Each thread counts in a shard of its own, without a locked instruction. An entry counts and then
/// checks the mark; closing sets the mark, passes a fence and then reads the counts. With the
/// fences of both sides, either the entry sees the mark, or the closing side sees the count. A
/// refused entry is counted for a moment; that can delay the report that the gate is empty, but
/// never makes it early.
#[derive(Debug)]
pub(super) struct Gate<M: Memory = Machine, const N: usize = SHARDS> {
    is_closed: M::Flag,
    shards: [Shard<M::Count>; N],
    /// For the threads that have no shard of their own.
    shared: Shard<M::Count>,
}

/// The result of an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum LeaveResult {
    /// No waiter is affected.
    Quietly,
    /// The gate is closed, and was empty for a moment.
    Empty,
}

impl Gate {
    pub(super) fn new(is_closed: bool) -> Gate {
        fence::prepare();
        Gate::of_shards(is_closed)
    }
}

impl<M: Memory, const N: usize> Gate<M, N> {
    fn of_shards(is_closed: bool) -> Gate<M, N> {
        Gate {
            is_closed: M::Flag::new(is_closed),
            shards: std::array::from_fn(|_| Shard::default()),
            shared: Shard::default(),
        }
    }

    /// Goes in by a shard that is this thread's own, or that does not exist, unless the gate is closed.
    #[inline]
    pub(super) fn enter(&self, shard: usize) -> Result<(), LeaveResult> {
        match self.shards.get(shard) {
            Some(own) => own.entered.add_alone(),
            None => self.shared.entered.add_shared(),
        }
        M::light_fence();
        if self.is_closed.is_set() { Err(self.leave(shard)) } else { Ok(()) }
    }

    /// Goes out by a shard as [`Gate::enter`] takes it.
    #[inline]
    pub(super) fn leave(&self, shard: usize) -> LeaveResult {
        match self.shards.get(shard) {
            Some(own) => own.left.add_alone(),
            None => self.shared.left.add_shared(),
        }
        M::light_fence();
        if self.is_closed.is_set() { self.look_behind() } else { LeaveResult::Quietly }
    }

    #[cold]
    fn look_behind(&self) -> LeaveResult {
        // Of two last exits, the full fence makes one see the other's count. The closing side reads
        // the counts after the heavy fence, and so sees an exit that did not see the mark.
        M::full_fence();
        if self.inside() == 0 { LeaveResult::Empty } else { LeaveResult::Quietly }
    }

    /// Refuses entries from now on. Others must not ask whether it is empty before
    /// [`Gate::after_closing`], which serves for any number of gates.
    pub(super) fn close(&self) {
        self.is_closed.set();
    }

    /// Makes certain that a thread that counts after this sees the entries before it.
    pub(super) fn after_closing() {
        M::heavy_fence();
    }

    pub(super) fn inside(&self) -> u64 {
        // Exits are read first: the entry of a counted exit is then counted too, so that the result
        // may be too high during an entry, and is never too low.
        let shards = || self.shards.iter().chain([&self.shared]);
        let left = shards().fold(0, |sum: u64, shard| sum.wrapping_add(shard.left.load()));
        let entered = shards().fold(0, |sum: u64, shard| sum.wrapping_add(shard.entered.load()));
        entered.wrapping_sub(left)
    }

    /// Whether it is closed and empty, which then stays so.
    pub(super) fn is_empty_for_good(&self) -> bool {
        self.is_closed.is_set() && self.inside() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicBool as LoomFlag, AtomicU64 as LoomCount};

    struct Model;

    impl Memory for Model {
        type Count = LoomCount;
        type Flag = LoomFlag;

        // What the pair of them promises is what two full ones do.
        fn light_fence() {
            loom::sync::atomic::fence(Ordering::SeqCst);
        }

        fn full_fence() {
            loom::sync::atomic::fence(Ordering::SeqCst);
        }

        fn heavy_fence() {
            loom::sync::atomic::fence(Ordering::SeqCst);
        }
    }

    impl Count for LoomCount {
        fn load(&self) -> u64 {
            self.load(Ordering::Acquire)
        }

        fn add_alone(&self) {
            self.store(self.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
        }

        fn add_shared(&self) {
            self.fetch_add(1, Ordering::AcqRel);
        }
    }

    impl Flag for LoomFlag {
        fn new(is_set: bool) -> LoomFlag {
            LoomFlag::new(is_set)
        }

        fn is_set(&self) -> bool {
            self.load(Ordering::Relaxed)
        }

        fn set(&self) {
            self.store(true, Ordering::Relaxed);
        }
    }

    /// What operations use and shutdown takes away. The checker fails if an operation looks at it
    /// while, or without order after, it is taken away.
    struct Venue {
        gate: Gate<Model, 2>,
        used: UnsafeCell<()>,
        is_gone: LoomFlag,
        written: [UnsafeCell<()>; 2],
    }

    /// Two operations that go in and out by these shards, while the gate is closed.
    fn nothing_is_inside_after_the_gate_was_said_to_be_empty(ways: [(usize, usize); 2]) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(move || {
            let venue = Arc::new(Venue {
                gate: Gate::of_shards(false),
                used: UnsafeCell::default(),
                is_gone: LoomFlag::new(false),
                written: [UnsafeCell::default(), UnsafeCell::default()],
            });
            let operations: Vec<_> = (0..2)
                .map(|thread| {
                    let venue = Arc::clone(&venue);
                    let (way_in, way_out) = ways[thread];
                    loom::thread::spawn(move || match venue.gate.enter(way_in) {
                        Ok(()) => {
                            venue.used.with(|_| ());
                            assert!(!venue.is_gone.is_set());
                            venue.written[thread].with_mut(|_| ());
                            (true, venue.gate.leave(way_out))
                        }
                        Err(left) => (false, left),
                    })
                })
                .collect();
            venue.gate.close();
            Gate::<Model, 2>::after_closing();
            let was_empty = venue.gate.is_empty_for_good();
            if was_empty {
                // The checker also sees to it that this comes after all that was done inside.
                venue.used.with_mut(|_| ());
                venue.is_gone.set();
                venue.written.iter().for_each(|written| written.with(|_| ()));
            }
            let left: Vec<_> =
                operations.into_iter().map(|thread| thread.join().unwrap()).collect();
            assert!(venue.gate.is_empty_for_good());
            // A thread that would wait now was woken by the last one that left.
            assert!(was_empty || left.iter().any(|&(_, left)| left == LeaveResult::Empty));
        });
    }

    #[test]
    fn with_a_shard_for_each_nothing_is_inside_after_it_was_reported_empty() {
        nothing_is_inside_after_the_gate_was_said_to_be_empty([(0, 0), (1, 1)]);
    }

    #[test]
    fn with_a_shared_shard_nothing_is_inside_after_it_was_reported_empty() {
        nothing_is_inside_after_the_gate_was_said_to_be_empty([(2, 2), (2, 2)]);
    }

    #[test]
    fn with_one_shard_in_and_another_out_nothing_is_inside_after_it_was_reported_empty() {
        nothing_is_inside_after_the_gate_was_said_to_be_empty([(0, 2), (2, 2)]);
    }
}
