//! The threads that drive the steps in production.

use crate::health::Fault;
use crate::parts::Parts;
use crate::signal::{Progress, Signal, drive};
use crate::venue::Venue;
use rialto_core::Core;
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
    venue: Arc<Venue>,
}

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.venue.fail(Fault::Panicked(self.name));
        }
    }
}

impl Threads {
    pub(crate) fn spawn(parts: Parts, venue: &Arc<Venue>) -> io::Result<Self> {
        let Parts {
            mut sequencer,
            mut journal,
            mut events,
            mut follower,
            mut preparer,
            mut watcher,
        } = parts;
        let others = vec![
            thread("journal", venue, |venue| &venue.journal, move || journal.step())?,
            thread("events", venue, |venue| &venue.recorder, move || events.step())?,
            thread("follower", venue, |venue| &venue.follower, move || follower.step())?,
            thread("preparer", venue, |venue| &venue.preparer, move || preparer.step())?,
            thread("watcher", venue, |venue| &venue.watcher, move || watcher.step())?,
        ];
        let venue = Arc::clone(venue);
        let sequencer = Builder::new().name("sequencer".to_owned()).spawn(move || {
            let _guard = PanicGuard { name: "sequencer", venue: Arc::clone(&venue) };
            drive(&venue.sequencer, venue.wait, || sequencer.step());
            sequencer.take_core()
        })?;
        Ok(Self { sequencer, others })
    }

    /// Waits until all steps have finished, and returns the core, unless the sequencer panicked.
    pub(crate) fn join(self) -> Option<Core> {
        let core = self.sequencer.join().ok().flatten();
        for other in self.others {
            // A panic has been told by the guard.
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
    venue: &Arc<Venue>,
    signal: fn(&Venue) -> &Signal,
    mut step: impl FnMut() -> Progress + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let venue = Arc::clone(venue);
    Builder::new().name(name.to_owned()).spawn(move || {
        let _guard = PanicGuard { name, venue: Arc::clone(&venue) };
        drive(signal(&venue), venue.wait, &mut step);
    })
}
