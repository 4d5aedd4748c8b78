//! Stores the records of a recorder in the background.

use super::{RecordingError, RecordingWriter};
use crate::Recorder;
use rialto_clock::Clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Takes the finished records of a recorder at intervals and stores them, on a thread of its own.
///
/// Recording never waits for it. A record that is replaced between two rounds is not stored;
/// [`RecorderStatistics::untaken`](crate::RecorderStatistics::untaken) counts them. Dropping it
/// stores the remaining records and ends.
#[derive(Debug)]
pub struct Keeper {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    lost: Arc<AtomicU64>,
}

impl Keeper {
    /// Starts a thread that stores with `writer` what is finished, `every` so often. The first
    /// failure of each row of failures is told to `tell`; the records of a round that fails are lost.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start<C: Clock + 'static>(
        recorder: Arc<Recorder<C>>,
        writer: RecordingWriter,
        every: Duration,
        tell: impl FnMut(&RecordingError) + Send + 'static,
    ) -> std::io::Result<Keeper> {
        Self::start_while(recorder, writer, every, || true, tell)
    }

    /// As [`Keeper::start`], but stores only while `may_store` says so. Otherwise records stay where
    /// they are, in memory, until others take their place.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start_while<C: Clock + 'static>(
        recorder: Arc<Recorder<C>>,
        writer: RecordingWriter,
        every: Duration,
        may_store: impl Fn() -> bool + Send + 'static,
        tell: impl FnMut(&RecordingError) + Send + 'static,
    ) -> std::io::Result<Keeper> {
        let (stop, stopped) = channel::<()>();
        let lost = Arc::new(AtomicU64::new(0));
        let mut rounds =
            KeeperLoop { recorder, writer, tell, is_failing: false, lost: Arc::clone(&lost) };
        let thread = std::thread::Builder::new().name("recordings".into()).spawn(move || {
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                if may_store() {
                    rounds.round();
                }
            }
            if may_store() {
                rounds.round();
            }
            let synced = rounds.writer.sync();
            rounds.judge(synced, 0);
        })?;
        Ok(Keeper { stop: Some(stop), thread: Some(thread), lost })
    }

    /// The most records that were lost because they could not be stored.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

struct KeeperLoop<C, F> {
    recorder: Arc<Recorder<C>>,
    writer: RecordingWriter,
    tell: F,
    is_failing: bool,
    lost: Arc<AtomicU64>,
}

impl<C: Clock, F: FnMut(&RecordingError)> KeeperLoop<C, F> {
    fn round(&mut self) {
        let records = self.recorder.take_finished();
        if !records.is_empty() {
            let stored = self.writer.append(&records);
            self.judge(stored, records.len() as u64);
        }
    }

    fn judge(&mut self, result: Result<(), RecordingError>, records: u64) {
        let was_failing = std::mem::replace(&mut self.is_failing, result.is_err());
        if let Err(error) = result {
            self.lost.fetch_add(records, Ordering::Relaxed);
            if !was_failing {
                (self.tell)(&error);
            }
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic was reported where it happened.
            let _ = thread.join();
        }
    }
}
