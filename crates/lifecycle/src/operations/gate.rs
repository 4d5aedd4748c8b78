//! The one word that says how many operations of a kind are under way, and whether more may begin.

use std::sync::atomic::{AtomicU64, Ordering};

/// An atomic word. The real one is [`AtomicU64`]; the model test puts in one whose every
/// interleaving is tried out.
pub(super) trait Word {
    fn load(&self) -> u64;
    fn fetch_add(&self, value: u64) -> u64;
    fn fetch_sub(&self, value: u64) -> u64;
    fn fetch_or(&self, value: u64) -> u64;
}

impl Word for AtomicU64 {
    #[inline]
    fn load(&self) -> u64 {
        self.load(Ordering::Acquire)
    }

    #[inline]
    fn fetch_add(&self, value: u64) -> u64 {
        self.fetch_add(value, Ordering::Acquire)
    }

    #[inline]
    fn fetch_sub(&self, value: u64) -> u64 {
        // Whoever sees that nothing is under way sees what was done by what was.
        self.fetch_sub(value, Ordering::Release)
    }

    #[inline]
    fn fetch_or(&self, value: u64) -> u64 {
        self.fetch_or(value, Ordering::AcqRel)
    }
}

/// Set for good when nothing more may begin; the bits below count.
const CLOSED: u64 = 1 << 63;

/// Counts what goes in and out, and lets nothing in once it is closed.
///
/// Both are one word, so that closing and going in have an order: whoever came first is counted
/// and waited for, whoever came later is turned away. A caller who is turned away is counted for a
/// moment; that can delay the report that all is empty, and never brings it about too early.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Gate<W = AtomicU64>(W);

impl Gate {
    pub(super) fn new(is_closed: bool) -> Gate {
        Gate(AtomicU64::new(if is_closed { CLOSED } else { 0 }))
    }
}

/// What leaving through a gate has brought about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Left {
    /// Nothing that anybody waits for.
    Quietly,
    /// The gate is closed, and nobody is inside any more.
    Empty,
}

impl<W: Word> Gate<W> {
    /// Goes in, unless the gate is closed.
    #[inline]
    pub(super) fn enter(&self) -> Result<(), Left> {
        if self.0.fetch_add(1) & CLOSED == 0 { Ok(()) } else { Err(self.leave()) }
    }

    /// Goes out.
    #[inline]
    pub(super) fn leave(&self) -> Left {
        if self.0.fetch_sub(1) == CLOSED | 1 { Left::Empty } else { Left::Quietly }
    }

    /// Lets nobody in from now on.
    pub(super) fn close(&self) {
        self.0.fetch_or(CLOSED);
    }

    /// How many are inside.
    pub(super) fn inside(&self) -> u64 {
        self.0.load() & !CLOSED
    }

    /// Whether it is closed and nobody is inside, which then stays so.
    pub(super) fn is_empty_for_good(&self) -> bool {
        self.0.load() == CLOSED
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicU64 as LoomWord;

    impl Word for LoomWord {
        fn load(&self) -> u64 {
            self.load(Ordering::Acquire)
        }

        fn fetch_add(&self, value: u64) -> u64 {
            self.fetch_add(value, Ordering::Acquire)
        }

        fn fetch_sub(&self, value: u64) -> u64 {
            self.fetch_sub(value, Ordering::Release)
        }

        fn fetch_or(&self, value: u64) -> u64 {
            self.fetch_or(value, Ordering::AcqRel)
        }
    }

    /// What operations use and shutdown takes away. The checker fails if an operation looks at it
    /// while, or without order after, it is taken away.
    struct Venue {
        gate: Gate<LoomWord>,
        is_gone: UnsafeCell<bool>,
        is_written: [UnsafeCell<bool>; 2],
    }

    #[test]
    fn nothing_is_inside_or_goes_in_after_the_gate_was_said_to_be_empty() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let venue = Arc::new(Venue {
                gate: Gate(LoomWord::new(0)),
                is_gone: UnsafeCell::new(false),
                is_written: [UnsafeCell::new(false), UnsafeCell::new(false)],
            });
            let operations: Vec<_> = (0..2)
                .map(|thread| {
                    let venue = Arc::clone(&venue);
                    loom::thread::spawn(move || match venue.gate.enter() {
                        Ok(()) => {
                            assert!(!venue.is_gone.with(|gone| unsafe { *gone }));
                            venue.is_written[thread].with_mut(|done| unsafe { *done = true });
                            (true, venue.gate.leave())
                        }
                        Err(left) => (false, left),
                    })
                })
                .collect();
            venue.gate.close();
            let was_empty = venue.gate.is_empty_for_good();
            if was_empty {
                // The checker also sees to it that this comes after all that was done inside.
                venue.is_gone.with_mut(|gone| unsafe { *gone = true });
                for done in &venue.is_written {
                    done.with(|done| unsafe { *done });
                }
            }
            let left: Vec<_> =
                operations.into_iter().map(|thread| thread.join().unwrap()).collect();
            assert!(venue.gate.is_empty_for_good());
            // Somebody who would wait now was woken by whoever left last.
            assert!(was_empty || left.iter().any(|&(_, left)| left == Left::Empty));
        });
    }
}
