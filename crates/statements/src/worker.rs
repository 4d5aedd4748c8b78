//! The thread that makes statements.

use rialto_threads::lower_priority;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// One thread of a low priority. Steps of flows give it work, so that the thread of the flows stays
/// free.
pub(crate) struct Worker {
    jobs: Mutex<Option<SyncSender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Worker {
    pub(crate) fn start(nice: u8) -> std::io::Result<Worker> {
        // One run at a time has one step at a time. A step that is tried again may find the last
        // attempt before it.
        let (sender, jobs) = sync_channel::<Job>(2);
        let thread =
            std::thread::Builder::new().name("statements".to_owned()).spawn(move || {
                lower_priority(nice);
                for job in jobs {
                    job();
                }
            })?;
        Ok(Worker { jobs: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)) })
    }

    /// Runs a job on the thread. `None` if the thread ends before it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (done, result) = oneshot::channel();
        let job: Job = Box::new(move || {
            // Without a receiver the run was stopped, and is resumed at the next start.
            let _ = done.send(job());
        });
        let sent = match &*self.jobs.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(jobs) => jobs.try_send(job).is_ok(),
            None => false,
        };
        match sent {
            true => result.await.ok(),
            false => None,
        }
    }

    /// Whether the thread ended by itself.
    pub(crate) fn has_died(&self) -> bool {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Waits for the end of the present job, and ends the thread.
    pub(crate) fn stop(&self) {
        *self.jobs.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A panic was already reported by the thread.
            drop(thread.join());
        }
    }
}
