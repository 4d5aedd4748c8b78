//! The threads of the watches. Each watch has its own, so that a folder that hangs keeps none of the
//! others.

#[cfg(feature = "events")]
use super::events::Events;
#[cfg(not(feature = "events"))]
use super::no_events::Events;
use super::running::Watch;
use super::scan::{self, Extent};
use super::signal::Call;
use crate::DepotError;
use crate::pool::Pool;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The longest wait that does not look at the clock of the pool.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// The threads of the watches.
pub(crate) struct Watching {
    pool: Weak<Pool>,
    events: Arc<Events>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Watching {
    pub(crate) fn start(pool: &Arc<Pool>) -> Result<Self, DepotError> {
        let (events, threads) = (Arc::new(Events::new()), Mutex::default());
        let watching = Self { pool: Arc::downgrade(pool), events, threads };
        for watch in pool.watches.all() {
            watching.start_one(&watch)?;
        }
        Ok(watching)
    }

    pub(super) fn start_one(&self, watch: &Arc<Watch>) -> Result<(), DepotError> {
        let (pool, events, watch) = (self.pool.clone(), self.events.clone(), watch.clone());
        let thread = std::thread::Builder::new()
            .name("depot-watch".to_owned())
            .spawn(move || run(&pool, &events, &watch))
            .map_err(|error| DepotError::Internal(format!("no thread can be started: {error}")))?;
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| !thread.is_finished());
        threads.push(thread);
        Ok(())
    }

    /// The thread of a removed watch ends by itself, with the file that it imports.
    pub(super) fn forget(&self, watch: &Watch) {
        self.events.forget(&watch.spec.folder);
    }

    pub(crate) fn stop(&self) {
        self.events.stop();
        if let Some(pool) = self.pool.upgrade() {
            pool.watches.stop();
        }
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("the thread of a watched folder panicked");
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.stop();
    }
}

fn run(pool: &Weak<Pool>, events: &Events, watch: &Arc<Watch>) {
    // When the folder is scanned by period; at the start it is.
    let mut next_scan: Option<Instant> = None;
    // When it is scanned because there were more candidates than fit.
    let mut rest_at: Option<Instant> = None;
    let mut call = Call::Scan;
    loop {
        let Some(pool) = pool.upgrade() else { return };
        if call == Call::Stop {
            return;
        }
        let clock = &pool.options.clock;
        let now = clock.monotonic();
        if watch.is_active() {
            let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
            let by_period = next_scan.is_none() || is_due(next_scan);
            let extent = match call {
                _ if by_period => Extent::All { retries: true },
                _ if is_due(rest_at) => Extent::All { retries: false },
                Call::Scan => Extent::All { retries: false },
                Call::Look(paths) => Extent::Paths(paths),
                Call::Time | Call::Stop => Extent::Candidates,
            };
            let is_all = matches!(extent, Extent::All { .. });
            let result = scan::run(&pool, watch, &extent);
            follow(events, watch, result.is_ok());
            if by_period || result.is_err() {
                next_scan = Some(clock.monotonic() + pool.options.watcher.period);
            }
            if is_all || result.is_err() {
                rest_at = None;
            }
            if result.is_ok_and(|report| !report.is_complete) {
                let scanning = watch.scanning();
                let due = scanning.candidates.next_due().unwrap_or(now);
                rest_at = scanning.may_rest().then_some(due);
            }
        } else {
            (next_scan, rest_at) = (None, None);
        }
        let due = watch.scanning().candidates.next_due();
        let wake = [next_scan, rest_at, due].into_iter().flatten().min();
        let now = clock.monotonic();
        let wait = wake.map_or(WAIT_MAX, |at| at.saturating_duration_since(now).min(WAIT_MAX));
        // The pool may go while the thread waits.
        drop(pool);
        call = watch.signal.wait(wait);
    }
}

/// Asks for the changes of a folder that can be read, and again if it is another one than before.
fn follow(events: &Events, watch: &Watch, is_read: bool) {
    let (folder, has_events) = {
        let shown = watch.shown();
        (shown.folder, shown.followed.is_some_and(|it| shown.folder == Some(it)))
    };
    if !is_read {
        let mut shown = watch.shown();
        (shown.has_events, shown.followed) = (false, None);
    } else if !has_events && !watch.is_removed.load(Ordering::Acquire) {
        let spec = &watch.spec;
        let follows = events.follow(&spec.folder, spec.goes_below(), &watch.signal);
        let mut shown = watch.shown();
        (shown.has_events, shown.followed) = (follows, folder);
        drop(shown);
        // What arrived between the scan and now was not reported.
        watch.signal.scan();
    }
}
