//! Recordings of unfinished records.

use crate::capture::{Capture, Fields};
use crate::clock::TickClock;
use crate::live::{Live, Outcome};
use crate::record::{RecordId, StepId};
use crate::records::Recorder;
use rialto_bus::Trail;
use rialto_clock::Clock;
use rialto_spinlock::Guard;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// An unfinished record. One that is dropped before it has ended is [abandoned], or has panicked.
///
/// The methods do nothing if the sampling left it out or there was no room. It may be shared:
/// concurrent branches name the parent of their steps.
///
/// [abandoned]: super::RecordEnding::Abandoned
pub struct Recording<'a, C: Clock = TickClock> {
    recorder: RecorderRef<'a, C>,
    id: RecordId,
    /// Of no meaning unless `id` is that of a record.
    slot: u32,
    has_ended: bool,
}

pub(crate) enum RecorderRef<'a, C: Clock> {
    Borrowed(&'a Recorder<C>),
    Shared(Arc<Recorder<C>>),
}

impl<C: Clock> Deref for RecorderRef<'_, C> {
    type Target = Recorder<C>;

    #[inline]
    fn deref(&self) -> &Recorder<C> {
        match self {
            RecorderRef::Borrowed(recorder) => recorder,
            RecorderRef::Shared(recorder) => recorder,
        }
    }
}

impl<'a, C: Clock> Recording<'a, C> {
    pub(crate) fn new(recorder: RecorderRef<'a, C>, id: RecordId, slot: u32) -> Recording<'a, C> {
        Recording { recorder, id, slot, has_ended: !id.is_record() }
    }

    /// The number of the record; [`RecordId::LEFT_OUT`] if there is none.
    #[must_use]
    pub fn id(&self) -> RecordId {
        self.id
    }

    /// Whether there is a record. Check it before computing an expensive variable.
    #[inline]
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.id.is_record()
    }

    #[inline]
    fn record(&self) -> Option<Guard<'_, Live>> {
        self.is_recorded().then(|| self.recorder.slot(self.slot))
    }

    /// Records a top-level step.
    #[inline]
    pub fn step(&self, name: &'static str) -> StepId {
        self.step_of(StepId::BEGIN, name)
    }

    /// Records a step with a parent.
    #[inline]
    pub fn step_of(&self, whole: StepId, name: &'static str) -> StepId {
        if !self.is_recorded() {
            return StepId::LOST;
        }
        let now = self.recorder.now();
        self.record().map_or(StepId::LOST, |mut record| record.step(whole, name, now))
    }

    /// Records the end of a step. It is needed only for concurrent steps, which do not end where
    /// the next begins.
    pub fn finish(&self, step: StepId) {
        if !self.is_recorded() {
            return;
        }
        let now = self.recorder.now();
        if let Some(mut record) = self.record() {
            record.finish(step, now);
        }
    }

    /// Writes the fields of a value at the last step.
    #[inline]
    pub fn capture(&self, value: &(impl Capture + ?Sized)) {
        self.fields(|fields| value.capture(fields));
    }

    /// Writes the fields of a value at a step.
    #[inline]
    pub fn capture_at(&self, step: StepId, value: &(impl Capture + ?Sized)) {
        self.fields_at(step, |fields| value.capture(fields));
    }

    /// Writes variables at the last step. The record is locked meanwhile: what
    /// `write` calls must not use this recording.
    #[inline]
    pub fn fields(&self, write: impl FnOnce(&mut Fields<'_>)) {
        if let Some(mut record) = self.record() {
            record.write(None, write);
        }
    }

    /// Writes variables at a step. The record is locked meanwhile, as by [`Recording::fields`].
    #[inline]
    pub fn fields_at(&self, step: StepId, write: impl FnOnce(&mut Fields<'_>)) {
        if let Some(mut record) = self.record() {
            record.write(Some(step), write);
        }
    }

    /// Ends the record with success.
    #[inline]
    pub fn succeed(mut self) {
        self.end(Outcome::Succeeded, "");
    }

    /// Ends the record with a failure. `code` is stable; of the message 256 bytes are kept.
    pub fn fail(mut self, code: &'static str, message: &str) {
        self.end(Outcome::Failed(code), message);
    }

    #[inline]
    fn end(&mut self, outcome: Outcome, message: &str) {
        if !self.has_ended {
            self.has_ended = true;
            self.recorder.end(self.slot, outcome, message);
        }
    }
}

impl<C: Clock> Drop for Recording<'_, C> {
    #[inline]
    fn drop(&mut self) {
        if !self.has_ended {
            let panics = std::thread::panicking();
            self.end(if panics { Outcome::Panicked } else { Outcome::Abandoned }, "");
        }
    }
}

impl<C: Clock> Trail for Recording<'_, C> {
    fn step(&self, name: &'static str) {
        Recording::step(self, name);
    }

    fn note(&self, name: &'static str, value: &dyn fmt::Debug) {
        self.fields(|fields| fields.debug(name, value));
    }

    fn id(&self) -> u64 {
        self.id.0
    }
}

impl<C: Clock> fmt::Debug for Recording<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording").field("id", &self.id).finish_non_exhaustive()
    }
}
