//! How a thread waits for work.
//!
//! Steps never block. The thread that drives one calls it until it reports no progress, spins a
//! little, announces that it is going to sleep, *calls the step once more* and only then parks. A
//! thread that brings work publishes it first and then checks the announcement. A full fence
//! between the two on either side guarantees that one of them sees the other, so that no wake-up is
//! lost and no lock is taken while both are busy.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::thread::{self, Thread};
use std::time::Duration;

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It worked; there may be more.
    Worked,
    /// There is no work until another thread brings some, or until this time has passed.
    Idle(Option<Duration>),
    /// Its work is complete.
    Finished,
}

/// How threads wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitStrategy {
    /// The number of immediate retries of a step. More retries reduce latency for processor time;
    /// on a machine with fewer free cores than engine threads they increase both.
    pub spins: u32,
    /// The number of further retries, with a yield before each, until the thread parks. A wake-up
    /// takes about 50 µs if the processor sleeps; a yield costs little if other threads have work.
    pub yields: u32,
}

impl Default for WaitStrategy {
    fn default() -> Self {
        WaitStrategy { spins: 20, yields: 40 }
    }
}

/// The wake-up signal of one thread.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    asleep: AtomicBool,
    sleeper: Mutex<Option<Thread>>,
}

impl Signal {
    /// Wakes the thread, if it sleeps. Its work must have been published before.
    #[inline]
    pub(crate) fn notify(&self) {
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        if self.asleep.swap(false, Ordering::SeqCst)
            && let Ok(sleeper) = self.sleeper.lock()
            && let Some(thread) = sleeper.as_ref()
        {
            thread.unpark();
        }
    }

    /// Calls `ready` until it returns a value, at most once after each sleep; `None` after a sleep
    /// without a value. `ready` returns how long the caller may sleep.
    pub(crate) fn wait<T>(
        &self,
        wait: WaitStrategy,
        mut ready: impl FnMut() -> Result<T, Option<Duration>>,
    ) -> Option<T> {
        for _ in 0..=wait.spins {
            if let Ok(value) = ready() {
                return Some(value);
            }
            std::hint::spin_loop();
        }
        for _ in 0..wait.yields {
            thread::yield_now();
            if let Ok(value) = ready() {
                return Some(value);
            }
        }
        self.remember_sleeper();
        self.asleep.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let value = match ready() {
            Ok(value) => Some(value),
            Err(nap) => {
                match nap {
                    Some(nap) => thread::park_timeout(nap),
                    None => thread::park(),
                }
                None
            }
        };
        self.asleep.store(false, Ordering::SeqCst);
        value.or_else(|| ready().ok())
    }

    fn remember_sleeper(&self) {
        if let Ok(mut sleeper) = self.sleeper.lock() {
            let current = thread::current();
            if sleeper.as_ref().is_none_or(|thread| thread.id() != current.id()) {
                *sleeper = Some(current);
            }
        }
    }
}

/// Drives a step until its work is complete.
pub(crate) fn drive(signal: &Signal, wait: WaitStrategy, mut step: impl FnMut() -> Progress) {
    let mut next = || match step() {
        Progress::Idle(nap) => Err(nap),
        progress => Ok(progress),
    };
    while signal.wait(wait, &mut next) != Some(Progress::Finished) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn no_wake_up_is_lost() {
        let rounds = 20_000;
        let pair = Arc::new((Signal::default(), Signal::default(), AtomicU64::new(0)));
        let other = Arc::clone(&pair);
        let echo = thread::spawn(move || {
            let (there, back, ball) = &*other;
            let mut last = 0;
            while last < rounds * 2 - 1 {
                there.wait(WaitStrategy { spins: 0, yields: 0 }, || {
                    match ball.load(Ordering::Acquire) {
                        now if now % 2 == 1 && now > last => {
                            last = now;
                            Ok(())
                        }
                        _ => Err(None),
                    }
                });
                if ball.load(Ordering::Acquire) == last && last % 2 == 1 {
                    ball.store(last + 1, Ordering::Release);
                    back.notify();
                }
            }
        });
        let (there, back, ball) = &*pair;
        for round in 0..rounds {
            ball.store(round * 2 + 1, Ordering::Release);
            there.notify();
            while back
                .wait(WaitStrategy { spins: 0, yields: 0 }, || {
                    if ball.load(Ordering::Acquire) == round * 2 + 2 { Ok(()) } else { Err(None) }
                })
                .is_none()
            {}
        }
        echo.join().expect("the echo ends after its last round");
        assert_eq!(ball.load(Ordering::Acquire), rounds * 2);
    }
}
