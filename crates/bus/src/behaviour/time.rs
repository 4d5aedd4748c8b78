//! Clocks that a behaviour can wait on.

use rialto_clock::{Clock, Timestamp};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// A clock that tasks can wait on.
pub trait Timer: Clock {
    /// Waits until the monotonic clock shows `at`.
    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + Send;
}

/// The clock of tokio, which has to be running where it is waited on.
#[cfg(feature = "tokio")]
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

#[cfg(feature = "tokio")]
impl Clock for TokioTimer {
    fn now(&self) -> Timestamp {
        rialto_clock::SystemClock.now()
    }

    fn monotonic(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }
}

#[cfg(feature = "tokio")]
impl Timer for TokioTimer {
    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + Send {
        tokio::time::sleep_until(at.into())
    }
}

impl<T: Timer> Timer for Arc<T> {
    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + Send {
        (**self).sleep_until(at)
    }
}

/// A timer that stands still until a test moves it.
#[derive(Debug)]
pub struct ManualTimer {
    begin: Instant,
    skips: bool,
    state: Mutex<Manual>,
}

#[derive(Debug, Default)]
struct Manual {
    elapsed: Duration,
    sleepers: Vec<Waker>,
}

impl ManualTimer {
    /// A timer that stands still: a task sleeps until [`ManualTimer::advance`].
    #[must_use]
    pub fn new() -> ManualTimer {
        ManualTimer { begin: Instant::now(), skips: false, state: Mutex::default() }
    }

    /// A timer on which no task sleeps: it advances at once to the awaited time.
    #[must_use]
    pub fn skipping() -> ManualTimer {
        ManualTimer { skips: true, ..ManualTimer::new() }
    }

    fn state(&self) -> MutexGuard<'_, Manual> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time since its start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.state().elapsed
    }

    /// Advances it and wakes the tasks that are due.
    pub fn advance(&self, by: Duration) {
        let mut state = self.state();
        state.elapsed += by;
        let sleepers = std::mem::take(&mut state.sleepers);
        drop(state);
        sleepers.into_iter().for_each(Waker::wake);
    }
}

impl Default for ManualTimer {
    fn default() -> ManualTimer {
        ManualTimer::new()
    }
}

impl Clock for ManualTimer {
    fn now(&self) -> Timestamp {
        Timestamp::ZERO.after(self.elapsed())
    }

    fn monotonic(&self) -> Instant {
        self.begin + self.elapsed()
    }
}

impl Timer for ManualTimer {
    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + Send {
        std::future::poll_fn(move |cx| {
            let mut state = self.state();
            let until = at.saturating_duration_since(self.begin);
            if self.skips {
                state.elapsed = state.elapsed.max(until);
            }
            if state.elapsed >= until {
                return Poll::Ready(());
            }
            state.sleepers.push(cx.waker().clone());
            Poll::Pending
        })
    }
}
