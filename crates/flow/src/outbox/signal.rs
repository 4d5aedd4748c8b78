//! What idle workers wait on.

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

    /// How often it has been rung so far. To be asked before looking for work.
    pub(super) fn heard(&self) -> u64 {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is rung once more than was heard, but not longer than `timeout`.
    pub(super) fn wait(&self, heard: u64, timeout: Duration) {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.wait.wait_timeout_while(rung, timeout, |rung| *rung == heard));
    }
}

/// Says that an attempt wants to be polled.
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
