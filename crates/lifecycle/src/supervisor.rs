//! The thread that supervises components.

use crate::lifecycle::Lifecycle;
use crate::status::StatusChange;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Supervises a [`Lifecycle`] until it is dropped or the lifecycle is stopping.
#[derive(Debug)]
pub struct Supervisor {
    is_stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Lifecycle {
    /// Checks every component once in `every`, on a thread of its own, restarts failed ones, and
    /// calls `on_change` for every change: log it there, and end the process if a component is
    /// given up and it cannot do without.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn supervise(
        self: &Arc<Lifecycle>,
        every: Duration,
        mut on_change: impl FnMut(&StatusChange) + Send + 'static,
    ) -> io::Result<Supervisor> {
        let lifecycle = Arc::clone(self);
        let is_stopped = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_stopped);
        let thread = thread::Builder::new().name("supervisor".to_string()).spawn(move || {
            while !told.load(Ordering::Relaxed) && !lifecycle.operations().is_stopping() {
                lifecycle.tend(Instant::now()).iter().for_each(&mut on_change);
                thread::park_timeout(every);
            }
        })?;
        Ok(Supervisor { is_stopped, thread: Some(thread) })
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // If what it was to tell of changes panicked, that was reported when it happened.
            let _ = thread.join();
        }
    }
}
