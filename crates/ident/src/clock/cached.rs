//! A clock that is read often and set rarely.

use super::{BlockingTimer, wait};
use rialto_clock::{Clock, SystemClock, Timestamp};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A clock that costs one load from memory, because a thread of its own refreshes it.
///
/// How stale it is: the thread reads the system's clock, sleeps for the period, and reads it again.
/// So the clock is behind by at most the period and as long as the operating system takes to wake
/// the thread: some tens of microseconds on an idle machine, a time slice or more on one whose
/// cores are all busy. It is never ahead. An id's time part is behind by as much, and the ids of a
/// millisecond have to last until the clock moves on. A waiting caller refreshes the clock itself,
/// so that a descheduled thread does not block it.
///
/// The thread ends when the clock is dropped. Share it between generators in an `Arc`.
#[derive(Debug)]
pub struct CachedClock {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Alone on its cache line: every id reads it, and a neighbour's write would slow all of them.
#[derive(Debug)]
#[repr(align(128))]
struct Shared {
    now_ms: AtomicU64,
    is_stopped: AtomicBool,
    /// Locked while the clock is read and stored, so that a slow reader cannot set it back.
    refresh: Mutex<()>,
}

impl Shared {
    fn refresh(&self) {
        // Another thread that refreshes it stores the same time.
        if let Ok(_held) = self.refresh.try_lock() {
            let now = SystemClock.now_ms();
            // A store would take the line from all readers; most refreshes change nothing.
            if self.now_ms.load(Ordering::Relaxed) != now {
                self.now_ms.store(now, Ordering::Relaxed);
            }
        }
    }
}

impl CachedClock {
    /// A clock that is refreshed every half millisecond.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start() -> io::Result<CachedClock> {
        CachedClock::with_period(Duration::from_micros(500))
    }

    /// A clock that is refreshed once in `period`.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn with_period(period: Duration) -> io::Result<CachedClock> {
        let shared = Arc::new(Shared {
            now_ms: AtomicU64::new(SystemClock.now_ms()),
            is_stopped: AtomicBool::new(false),
            refresh: Mutex::new(()),
        });
        let refreshed = Arc::clone(&shared);
        let thread =
            std::thread::Builder::new().name("ident-clock".to_string()).spawn(move || {
                while !refreshed.is_stopped.load(Ordering::Relaxed) {
                    refreshed.refresh();
                    std::thread::park_timeout(period);
                }
            })?;
        Ok(CachedClock { shared, thread: Some(thread) })
    }
}

/// Its wall clock counts whole milliseconds; its monotonic clock is the machine's.
impl Clock for CachedClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.now_ms().saturating_mul(1_000_000))
    }

    fn monotonic(&self) -> Instant {
        SystemClock.monotonic()
    }

    #[inline]
    fn now_ms(&self) -> u64 {
        self.shared.now_ms.load(Ordering::Relaxed)
    }
}

impl BlockingTimer for CachedClock {
    fn wait_until(&self, ms: u64, at_most: Duration) -> bool {
        let refreshed = || {
            self.shared.refresh();
            self.now_ms()
        };
        wait(refreshed, ms, at_most)
    }
}

impl Drop for CachedClock {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It cannot have panicked; if it did, there is nothing left to stop.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_the_system_and_is_never_ahead_of_it() {
        let clock = CachedClock::start().unwrap();
        let start = clock.now_ms();
        while clock.now_ms() < start + 20 {
            let cached = clock.now_ms();
            assert!(cached <= SystemClock.now_ms());
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_waiting_caller_refreshes_a_clock_with_a_sleeping_thread() {
        let clock = CachedClock::with_period(Duration::from_secs(3_600)).unwrap();
        let target = clock.now_ms() + 3;
        assert!(clock.wait_until(target, Duration::from_secs(60)));
        assert!(clock.now_ms() >= target);
    }

    #[test]
    fn its_thread_ends_with_it_although_it_sleeps() {
        let clock = CachedClock::with_period(Duration::from_secs(3_600)).unwrap();
        let shared = Arc::downgrade(&clock.shared);
        drop(clock);
        assert!(shared.upgrade().is_none(), "the thread still holds the clock");
    }
}
