//! The runs that are ready to be polled.

use crate::run::Run;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The queue of woken runs, and the wake-up of workers.
#[derive(Default)]
pub(crate) struct Ready {
    queue: Mutex<Queue>,
    bell: Condvar,
}

#[derive(Default)]
struct Queue {
    runs: VecDeque<Arc<Run>>,
    /// Whether other work than a run waits for a worker.
    rung: bool,
    sleeping: usize,
}

impl Ready {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a run. Its flag ensures that it is queued only once, so that the queue is bounded by
    /// the live runs.
    pub(crate) fn push(&self, run: Arc<Run>) {
        let mut queue = self.lock();
        queue.runs.push_back(run);
        let wake = queue.sleeping > 0;
        drop(queue);
        if wake {
            self.bell.notify_one();
        }
    }

    /// Wakes all workers.
    pub(crate) fn ring(&self) {
        let mut queue = self.lock();
        if queue.sleeping > 0 {
            queue.rung = true;
            drop(queue);
            self.bell.notify_all();
        }
    }

    pub(crate) fn take(&self, runs: &mut Vec<Arc<Run>>, max: usize) {
        let mut queue = self.lock();
        let count = queue.runs.len().min(max);
        runs.extend(queue.runs.drain(..count));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().runs.is_empty()
    }

    /// Sleeps until there is something to do, but not longer than `timeout`.
    pub(crate) fn wait(&self, timeout: Duration) {
        let mut queue = self.lock();
        queue.sleeping += 1;
        let slept = self
            .bell
            .wait_timeout_while(queue, timeout, |queue| queue.runs.is_empty() && !queue.rung);
        let (mut queue, _) = slept.unwrap_or_else(PoisonError::into_inner);
        queue.sleeping -= 1;
        if queue.sleeping == 0 {
            queue.rung = false;
        }
    }
}
