//! Events and cancels from outside of a run.

use super::{Inner, lock};
use crate::FlowId;
use crate::error::FlowsError;
use crate::history::Entry;
use crate::run::{Run, put};
use crate::store::{Ticket, Write};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Wake;

impl Inner {
    pub(super) fn running(&self, id: &FlowId) -> Result<Arc<Run>, FlowsError> {
        if let Some(failure) = self.failure() {
            return Err(failure.into());
        }
        let number = self.store.number_of(id)?;
        let run = number.and_then(|number| lock(&self.live).get(number).cloned());
        run.ok_or(FlowsError::NotRunning(*id))
    }

    /// Stores an entry that comes from outside of a run.
    pub(super) fn append(
        &self,
        run: &Run,
        entry: &Entry<'_>,
    ) -> Result<(Ticket, usize), FlowsError> {
        let mut entries = Vec::with_capacity(64);
        put(entry, &mut entries).map_err(|error| FlowsError::Codec(error.to_string()))?;
        let bytes = entries.len();
        let (messages, marks) = (Vec::new(), Vec::new());
        let write = Write { run: run.number, ended: None, entries, messages, marks };
        let appended = self.store.append(self.fence, std::slice::from_ref(&write))?;
        if !appended.fenced.is_empty() {
            return Err(FlowsError::NotRunning(run.id));
        }
        self.took(appended.ticket);
        Ok((appended.ticket, bytes))
    }

    pub(super) fn deliver<T: Serialize>(
        &self,
        id: &FlowId,
        event: &str,
        payload: &T,
    ) -> Result<Ticket, FlowsError> {
        let payload = self.encode(payload)?;
        let run = self.running(id)?;
        let at = self.options.clock.now();
        // Under the lock, so that events are numbered here in the order in which they are stored.
        let mut state = run.state();
        if state.ending.is_some() {
            return Err(FlowsError::NotRunning(*id));
        }
        let limit = self.options.events_max;
        if state.events.iter().filter(|event| !event.taken).count() >= limit {
            return Err(FlowsError::EventsFull { id: *id, limit });
        }
        let bytes = state.history_bytes + payload.len() + event.len();
        let limit = self.services.history_bytes_end();
        if bytes > limit {
            return Err(FlowsError::TooLarge { bytes, limit });
        }
        let (ticket, bytes) =
            self.append(&run, &Entry::Event { name: event, at, payload: &payload })?;
        state.count(bytes);
        state.arrive(event, payload);
        run.watch_history(&state);
        drop(state);
        run.wake();
        Ok(ticket)
    }

    pub(crate) fn cancel(&self, id: &FlowId) -> Result<Ticket, FlowsError> {
        let run = self.running(id)?;
        let at = self.options.clock.now();
        let mut state = run.state();
        if state.ending.is_some() {
            return Err(FlowsError::NotRunning(*id));
        }
        if state.cancelled {
            return Ok(Ticket(self.taken.load(Ordering::Acquire)));
        }
        let (ticket, bytes) = self.append(&run, &Entry::Cancelled { at })?;
        state.count(bytes);
        state.cancelled = true;
        run.beware.store(true, Ordering::Release);
        drop(state);
        run.wake();
        Ok(ticket)
    }
}
