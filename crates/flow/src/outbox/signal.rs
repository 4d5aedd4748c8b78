//! The signal that idle workers wait for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::Wake;
use std::time::Duration;

/// Wakes all workers that wait.
#[derive(Default)]
pub(super) struct WorkerSignal {
    rung: Mutex<u64>,
    wait: Condvar,
}

impl WorkerSignal {
    pub(super) fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.wait.notify_all();
    }

    /// The number of wake-ups so far. To be read before looking for work.
    pub(super) fn heard(&self) -> u64 {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the number exceeds `heard`, at most until `timeout`.
    pub(super) fn wait(&self, heard: u64, timeout: Duration) {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.wait.wait_timeout_while(rung, timeout, |rung| *rung == heard));
    }
}

/// Marks an attempt as ready to be polled.
pub(super) struct Signal {
    pub(super) is_up: AtomicBool,
    pub(super) bell: Arc<WorkerSignal>,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_up.store(true, Ordering::Release);
        self.bell.ring();
    }
}
