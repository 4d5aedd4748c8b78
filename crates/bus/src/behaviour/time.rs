//! Time and chance as behaviours see them: given, so that tests need not wait nor hope.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// Tells the time.
pub trait Clock: Send + Sync {
    /// What time it is. It never goes back.
    fn now(&self) -> Instant;
}

/// A clock that one can wait on.
pub trait Timer: Clock {
    /// Waits until it is this late.
    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + Send;
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[inline]
    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// The clock of tokio, which has to be running where it is waited on.
#[cfg(feature = "tokio")]
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

#[cfg(feature = "tokio")]
impl Clock for TokioTimer {
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }
}

#[cfg(feature = "tokio")]
impl Timer for TokioTimer {
    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + Send {
        tokio::time::sleep_until(at.into())
    }
}

impl<C: Clock> Clock for Arc<C> {
    fn now(&self) -> Instant {
        (**self).now()
    }
}

impl<T: Timer> Timer for Arc<T> {
    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + Send {
        (**self).sleep_until(at)
    }
}

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct ManualClock {
    begin: Instant,
    skips: bool,
    state: Mutex<Manual>,
}

#[derive(Debug, Default)]
struct Manual {
    elapsed: Duration,
    sleepers: Vec<Waker>,
}

impl ManualClock {
    /// A clock that stands still. Whoever sleeps, sleeps until [`ManualClock::advance`].
    #[must_use]
    pub fn new() -> ManualClock {
        ManualClock { begin: Instant::now(), skips: false, state: Mutex::default() }
    }

    /// A clock on which nobody sleeps: it goes on at once to the time that is waited for.
    #[must_use]
    pub fn skipping() -> ManualClock {
        ManualClock { skips: true, ..ManualClock::new() }
    }

    fn state(&self) -> MutexGuard<'_, Manual> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long it has gone.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.state().elapsed
    }

    /// Moves it on and wakes whoever sleeps.
    pub fn advance(&self, by: Duration) {
        let mut state = self.state();
        state.elapsed += by;
        let sleepers = std::mem::take(&mut state.sleepers);
        drop(state);
        sleepers.into_iter().for_each(Waker::wake);
    }
}

impl Default for ManualClock {
    fn default() -> ManualClock {
        ManualClock::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        self.begin + self.elapsed()
    }
}

impl Timer for ManualClock {
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
