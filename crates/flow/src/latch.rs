//! A lock that nobody else wants.
//!
//! Every step of a run takes the lock of the run, and every step and capture that is recorded the
//! lock of its record; nearly always nobody else wants them. A mutex then costs two atomic exchanges,
//! which were the greater part of recording a step. This lock costs one, because it is given back by
//! a plain store. The price is that nobody can be woken: who does not get it tries again, after
//! others had their turn, and at last after a nap.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often it is looked at before other threads are let go first, and how often before a nap.
const LOOKS_MAX: u32 = 64;
const TURNS_MAX: u32 = 128;
/// Whoever has it for so long is storing what it keeps.
const NAP: Duration = Duration::from_micros(50);

/// Something that one at a time has.
#[derive(Debug, Default)]
pub(crate) struct Latch<T> {
    is_held: AtomicBool,
    inside: UnsafeCell<T>,
}

// SAFETY: what is inside is reached through a `Held` only, of which there is one at a time, and what
// one holder did is seen by the next: taking the latch acquires what giving it back released.
unsafe impl<T: Send> Sync for Latch<T> {}

/// The right to what is inside, until it is dropped.
pub(crate) struct Held<'a, T>(&'a Latch<T>);

// SAFETY: sharing a `Held` shares no more than the reference to what is inside that it leads to.
unsafe impl<T: Send + Sync> Sync for Held<'_, T> {}

impl<T> Latch<T> {
    pub(crate) fn new(inside: T) -> Latch<T> {
        Latch { is_held: AtomicBool::new(false), inside: UnsafeCell::new(inside) }
    }

    /// Waits until nobody has it, and takes it. Who has it already waits for ever.
    #[inline]
    pub(crate) fn hold(&self) -> Held<'_, T> {
        if self.is_held.swap(true, Ordering::Acquire) {
            self.wait();
        }
        Held(self)
    }

    #[cold]
    fn wait(&self) {
        let mut looks = 0_u32;
        // Looked at before it is tried, so that those who wait do not take its line from each other.
        while self.is_held.load(Ordering::Relaxed) || self.is_held.swap(true, Ordering::Acquire) {
            looks = looks.saturating_add(1);
            match looks {
                ..LOOKS_MAX => std::hint::spin_loop(),
                LOOKS_MAX..TURNS_MAX => std::thread::yield_now(),
                TURNS_MAX.. => std::thread::sleep(NAP),
            }
        }
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this is the only `Held` of the latch.
        unsafe { &*self.0.inside.get() }
    }
}

impl<T> DerefMut for Held<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this is the only `Held` of the latch, and it is borrowed mutably.
        unsafe { &mut *self.0.inside.get() }
    }
}

impl<T> Drop for Held<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.is_held.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn one_thread_at_a_time_is_inside() {
        const THREADS: u64 = 4;
        const TURNS: u64 = 5_000;
        #[derive(Default)]
        struct Visits {
            entered: u64,
            left: u64,
        }
        let latch = Latch::new(Visits::default());
        let together = Barrier::new(THREADS as usize);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    together.wait();
                    for turn in 0..TURNS {
                        let mut held = latch.hold();
                        assert_eq!(held.entered, held.left);
                        held.entered += 1;
                        if turn % 64 == 0 {
                            // Whoever has it may be put aside at any moment.
                            std::thread::yield_now();
                        }
                        held.left += 1;
                    }
                });
            }
        });
        let visits = latch.hold();
        assert_eq!((visits.entered, visits.left), (THREADS * TURNS, THREADS * TURNS));
    }

    #[test]
    fn a_panic_inside_gives_it_back() {
        let latch = Latch::new(String::new());
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut held = latch.hold();
            held.push('1');
            panic!("while it is held");
        }));
        assert!(panicked.is_err());
        assert_eq!(latch.hold().as_str(), "1");
    }
}
