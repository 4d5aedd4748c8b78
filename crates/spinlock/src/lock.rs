//! The lock and its guard: the only `unsafe` of the crate.

use super::sync::{AtomicBool, Ordering, sleep, spin_loop, yield_now};
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

/// Attempts before a waiting thread yields, and before it sleeps.
const SPINS_MAX: u32 = 64;
const YIELDS_MAX: u32 = 128;
/// A holder that takes longer than spins and yields is storing something.
const SLEEP: Duration = Duration::from_micros(50);

/// A value to which one thread at a time has access.
#[derive(Debug, Default)]
pub struct SpinLock<T> {
    is_held: AtomicBool,
    inside: UnsafeCell<T>,
}

// SAFETY: the value is reached through a `Guard` only, of which there is one at a time, and what one
// holder did is seen by the next: locking acquires what unlocking released.
unsafe impl<T: Send> Sync for SpinLock<T> {}

/// Access to the value, until it is dropped.
pub struct Guard<'a, T>(&'a SpinLock<T>);

// SAFETY: sharing a `Guard` shares no more than a reference to the value.
unsafe impl<T: Send + Sync> Sync for Guard<'_, T> {}

impl<T> SpinLock<T> {
    /// An open lock around a value.
    pub fn new(inside: T) -> SpinLock<T> {
        SpinLock { is_held: AtomicBool::new(false), inside: UnsafeCell::new(inside) }
    }

    /// Locks. A thread that has locked it already waits for ever.
    #[inline]
    pub fn lock(&self) -> Guard<'_, T> {
        if self.is_held.swap(true, Ordering::Acquire) {
            self.wait();
        }
        Guard(self)
    }

    #[cold]
    fn wait(&self) {
        let mut attempts = 0_u32;
        // Loaded before the exchange, so that waiting threads do not take the cache line from each other.
        while self.is_held.load(Ordering::Relaxed) || self.is_held.swap(true, Ordering::Acquire) {
            attempts = attempts.saturating_add(1);
            match attempts {
                ..SPINS_MAX => spin_loop(),
                SPINS_MAX..YIELDS_MAX => yield_now(),
                YIELDS_MAX.. => sleep(SLEEP),
            }
        }
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this is the only `Guard` of the lock.
        unsafe { &*self.0.inside.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this is the only `Guard` of the lock, and it is borrowed mutably.
        unsafe { &mut *self.0.inside.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.is_held.store(false, Ordering::Release);
    }
}
