//! Signals that stop the process: SIGTERM and SIGINT ask for an orderly end; another, more than a
//! second later, for a quick one.

use crate::Error;
use crate::terminal::note;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The exit code after a second signal: 128 and the number of SIGINT.
const SECOND_SIGNAL: i32 = 130;
/// A supervisor may signal a process and its whole group at once: that is one request to stop.
const ONE_REQUEST: Duration = Duration::from_secs(1);

/// Whether a signal asked the process to stop.
#[derive(Clone, Default)]
pub(crate) struct Stop {
    told: Arc<(Mutex<bool>, Condvar)>,
}

impl Stop {
    /// Listens for signals on a thread of its own.
    pub(crate) fn on_signals() -> Result<Stop, Error> {
        let failed =
            |error: std::io::Error| Error::Assemble(format!("signals cannot be awaited: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        let runtime = runtime.map_err(failed)?;
        let (terminate, interrupt) = {
            let _inside = runtime.enter();
            let terminate = signal(SignalKind::terminate()).map_err(failed)?;
            (terminate, signal(SignalKind::interrupt()).map_err(failed)?)
        };
        let stop = Stop::default();
        let told = stop.clone();
        let thread = std::thread::Builder::new().name("signals".to_string());
        thread
            .spawn(move || runtime.block_on(listen(terminate, interrupt, told)))
            .map_err(failed)?;
        Ok(stop)
    }

    fn tell(&self) {
        let (told, changed) = &*self.told;
        *told.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }

    /// The same, waiting up to `timeout` for a signal.
    pub(crate) fn wait(&self, timeout: Duration) -> bool {
        let (told, changed) = &*self.told;
        let guard = told.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(guard, timeout, |told| !*told);
        let (guard, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *guard
    }
}

async fn listen(mut terminate: Signal, mut interrupt: Signal, stop: Stop) {
    let mut first: Option<Instant> = None;
    loop {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        if first.get_or_insert_with(Instant::now).elapsed() > ONE_REQUEST {
            note(format_args!(
                "a second signal to stop: the process exits at once. Nothing acknowledged is lost; the next \
                 start replays the journal"
            ));
            std::process::exit(SECOND_SIGNAL);
        }
        stop.tell();
    }
}
