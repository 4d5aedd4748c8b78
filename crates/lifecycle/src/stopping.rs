//! Shutting down.

use crate::component::{Failure, guarded};
use crate::lifecycle::{Lifecycle, Part, after_stop};
use crate::report::{StopReport, Stopped};
use crate::status::ComponentState;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

impl Lifecycle {
    /// Begins nothing new, waits for operations that have begun to end, but no longer than
    /// `drain_at_most`, and stops the components, each before its dependencies. A component that
    /// does not stop in its time is left on a thread of its own, and reported.
    ///
    /// A second call finds nothing left to stop.
    pub fn shutdown(&self, drain_at_most: Duration) -> StopReport {
        let began = Instant::now();
        self.operations().stop();
        let is_drained = self.operations().wait_drained(drain_at_most);
        let drained_in = began.elapsed();
        let still_running = match is_drained {
            true => Vec::new(),
            false => self.operations().still_running(),
        };
        // Taken out only now, so that a restart that is in progress ends first.
        let parts = std::mem::take(&mut *self.parts());
        let started = parts.into_iter().rev().filter(|part| match self.state(part.place) {
            ComponentState::Up
            | ComponentState::NotReady(_)
            | ComponentState::Restarting { .. } => true,
            ComponentState::New => {
                self.set(part.place, ComponentState::Stopped);
                false
            }
            _ => false,
        });
        let stopped = started.map(|part| self.stop_part(part)).collect();
        StopReport { drained_in, still_running, stopped }
    }

    fn stop_part(&self, mut part: Box<Part>) -> Stopped {
        let (stop_within, place) = (part.stop_within(), part.place);
        let name = self.name(place);
        self.set(place, ComponentState::Stopping);
        let began = Instant::now();
        let (tell, told) = mpsc::sync_channel(1);
        let stopping = thread::Builder::new().name(format!("stop {name}")).spawn(move || {
            let stopped = guarded(|| part.component.stop());
            drop(part);
            // The receiver is gone if it took too long.
            let _ = tell.send(stopped);
        });
        let stopped = match stopping {
            Ok(_) => told.recv_timeout(stop_within).unwrap_or_else(|_| {
                Err(Failure::from(format!("it has not stopped in {stop_within:?}")))
            }),
            Err(failure) => Err(Failure::from(failure)),
        };
        self.set(place, after_stop(&stopped));
        Stopped { name, took: began.elapsed(), failure: stopped.err() }
    }
}
