//! What wakes the thread of a watch.

use super::WatcherOptions;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[derive(Debug, Default)]
struct State {
    is_stopped: bool,
    is_woken: bool,
    wants_scan: bool,
    hints: BTreeSet<PathBuf>,
}

/// What the thread of a watch is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Stop,
    /// Scan the folder.
    Scan,
    /// Look at these paths in the folder.
    Look(Vec<PathBuf>),
    /// The time is over.
    Time,
}

/// Wakes the thread of a watch.
#[derive(Debug)]
pub(super) struct Signal {
    state: Mutex<State>,
    changed: Condvar,
    #[cfg_attr(not(feature = "events"), allow(dead_code, reason = "nothing names paths then"))]
    hints_max: usize,
}

impl Signal {
    pub(super) fn new(options: &WatcherOptions) -> Self {
        let hints_max = options.hints_max;
        Self { state: Mutex::default(), changed: Condvar::new(), hints_max }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn stop(&self) {
        self.state().is_stopped = true;
        self.changed.notify_all();
    }

    /// Asks for a scan.
    pub(super) fn scan(&self) {
        let mut state = self.state();
        state.wants_scan = true;
        state.hints.clear();
        self.changed.notify_all();
    }

    /// Asks to look at a path in the folder. Too many of them are a scan.
    #[cfg_attr(not(feature = "events"), allow(dead_code, reason = "nothing names paths then"))]
    pub(super) fn look(&self, path: &Path) {
        let mut state = self.state();
        if state.wants_scan || state.hints.contains(path) {
            return;
        }
        if state.hints.len() >= self.hints_max {
            state.wants_scan = true;
            state.hints.clear();
        } else {
            state.hints.insert(path.to_owned());
        }
        self.changed.notify_all();
    }

    /// Lets the thread see what the time is for.
    pub(super) fn wake(&self) {
        self.state().is_woken = true;
        self.changed.notify_all();
    }

    /// Waits to be woken, at most for a time.
    pub(super) fn wait(&self, time: Duration) -> Call {
        let is_idle = |state: &mut State| {
            let is_called = state.is_stopped || state.is_woken || state.wants_scan;
            !is_called && state.hints.is_empty()
        };
        let waited = self.changed.wait_timeout_while(self.state(), time, is_idle);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.is_woken = false;
        if state.is_stopped {
            Call::Stop
        } else if std::mem::take(&mut state.wants_scan) {
            Call::Scan
        } else if state.hints.is_empty() {
            Call::Time
        } else {
            Call::Look(std::mem::take(&mut state.hints).into_iter().collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_paths_than_are_held_become_a_scan() {
        let signal = Signal::new(&WatcherOptions { hints_max: 2, ..WatcherOptions::default() });
        ["a", "b", "a"].iter().for_each(|path| signal.look(Path::new(path)));
        assert_eq!(signal.wait(Duration::ZERO), Call::Look(vec!["a".into(), "b".into()]));
        assert_eq!(signal.wait(Duration::ZERO), Call::Time);
        ["a", "b", "c", "d"].iter().for_each(|path| signal.look(Path::new(path)));
        assert_eq!(signal.wait(Duration::ZERO), Call::Scan);
        assert_eq!(signal.wait(Duration::ZERO), Call::Time);
        signal.stop();
        assert_eq!(signal.wait(Duration::from_secs(60)), Call::Stop);
    }
}
