//! The signal that ends the threads of the exchange, and pauses that end with it.

use crate::error::WorkError;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Set once.
#[derive(Default)]
pub(crate) struct StopSignal {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl StopSignal {
    pub(crate) fn set(&self) {
        *self.is_set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    pub(crate) fn is_set(&self) -> bool {
        *self.is_set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps, unless the signal is set before the end.
    pub(crate) fn sleep(&self, duration: Duration) -> Result<(), WorkError> {
        let is_set = self.is_set.lock().unwrap_or_else(PoisonError::into_inner);
        let (is_set, _) = self
            .changed
            .wait_timeout_while(is_set, duration, |is_set| !*is_set)
            .unwrap_or_else(PoisonError::into_inner);
        if *is_set { Err(WorkError::Stopping) } else { Ok(()) }
    }
}

/// The rate at which all files together send orders.
pub(crate) struct OrderPace {
    nanoseconds_per_order: u64,
    /// When the next orders may be sent.
    next: Mutex<Instant>,
}

impl OrderPace {
    pub(crate) fn new(orders_per_second: u32) -> OrderPace {
        let nanoseconds_per_order = 1_000_000_000 / u64::from(orders_per_second.max(1));
        OrderPace { nanoseconds_per_order, next: Mutex::new(Instant::now()) }
    }

    /// Waits for the turn of these orders.
    pub(crate) fn wait(&self, orders: usize, stop: &StopSignal) -> Result<(), WorkError> {
        let now = Instant::now();
        let turn = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let turn = (*next).max(now);
            *next = turn + Duration::from_nanos(self.nanoseconds_per_order * orders as u64);
            turn
        };
        stop.sleep(turn.saturating_duration_since(now))
    }
}
