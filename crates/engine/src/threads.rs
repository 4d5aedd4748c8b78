//! The threads that drive the steps in production.

use crate::health::Fault;
use crate::parts::Parts;
use crate::signal::{Progress, Signal, drive};
use crate::state::EngineState;
use rialto_core::Core;
use rialto_threads::wake_promptly;
use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// One thread for each step.
pub(crate) struct Threads {
    sequencer: JoinHandle<Option<Core>>,
    others: Vec<JoinHandle<()>>,
}

/// Ends the engine when the thread that holds it unwinds.
struct PanicGuard {
    name: &'static str,
    state: Arc<EngineState>,
}

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.state.fail(Fault::Panicked(self.name));
        }
    }
}

impl Threads {
    pub(crate) fn spawn(parts: Parts, state: &Arc<EngineState>) -> io::Result<Self> {
        let Parts {
            mut sequencer,
            mut journal,
            mut events,
            mut follower,
            mut preparer,
            mut watcher,
        } = parts;
        let others = vec![
            thread("journal", state, |state| &state.journal, move || journal.step())?,
            thread("events", state, |state| &state.event_writer, move || events.step())?,
            thread("follower", state, |state| &state.follower, move || follower.step())?,
            thread("preparer", state, |state| &state.preparer, move || preparer.step())?,
            thread("watcher", state, |state| &state.watcher, move || watcher.step())?,
        ];
        let state = Arc::clone(state);
        let sequencer = Builder::new().name("sequencer".to_owned()).spawn(move || {
            let _guard = PanicGuard { name: "sequencer", state: Arc::clone(&state) };
            wake_promptly();
            drive(&state.sequencer, state.wait, || sequencer.step());
            sequencer.take_core()
        })?;
        Ok(Self { sequencer, others })
    }

    /// Waits until all steps have finished, and returns the core, unless the sequencer panicked.
    pub(crate) fn join(self) -> Option<Core> {
        let core = self.sequencer.join().ok().flatten();
        for other in self.others {
            // The guard has reported a panic.
            let _ = other.join();
        }
        core
    }

    /// Whether all steps have finished.
    pub(crate) fn are_finished(&self) -> bool {
        self.sequencer.is_finished() && self.others.iter().all(JoinHandle::is_finished)
    }
}

fn thread(
    name: &'static str,
    state: &Arc<EngineState>,
    signal: fn(&EngineState) -> &Signal,
    mut step: impl FnMut() -> Progress + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let state = Arc::clone(state);
    Builder::new().name(name.to_owned()).spawn(move || {
        let _guard = PanicGuard { name, state: Arc::clone(&state) };
        wake_promptly();
        drive(signal(&state), state.wait, &mut step);
    })
}
