//! Journal first: writes a command into the open batch, then applies it to the core.

use crate::batch::{Batch, COMMAND_RECORD_BYTES_MAX, EVENT_RECORD_BYTES_MAX, Encoding};
use crate::ingress::{Answer, Execution};
use crate::sabotage::Sabotage;
use crate::state::EngineState;
use rialto_core::Core;
use rialto_model::{
    Attribution, Command, NewOrder, Outcome, Seq, Timestamp, encode_attribution, encode_command,
    encode_order,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Owns the core and the open batch.
pub(crate) struct BatchBuilder {
    core: Core,
    time: Timestamp,
    /// The monotonic time at which the commands of this step were taken.
    taken_at: Duration,
    seq: Seq,
    /// The last sequence in the stamps of the open batch.
    stamped: Seq,
    open: Option<Box<Batch>>,
    free: rtrb::Consumer<Box<Batch>>,
    sealed: rtrb::Producer<Box<Batch>>,
    state: Arc<EngineState>,
}

impl BatchBuilder {
    pub(crate) fn new(
        core: Core,
        free: rtrb::Consumer<Box<Batch>>,
        sealed: rtrb::Producer<Box<Batch>>,
        state: Arc<EngineState>,
    ) -> Self {
        let (time, seq) = (core.time(), core.seq());
        Self {
            core,
            time,
            taken_at: Duration::ZERO,
            seq,
            stamped: seq,
            open: None,
            free,
            sealed,
            state,
        }
    }

    pub(crate) fn core(&self) -> &Core {
        &self.core
    }

    pub(crate) fn into_core(self) -> Core {
        self.core
    }

    /// The last assigned sequence.
    pub(crate) fn seq(&self) -> Seq {
        self.seq
    }

    /// The last assigned time.
    pub(crate) fn time(&self) -> Timestamp {
        self.time
    }

    /// Sets the monotonic time of a step.
    pub(crate) fn set_taken_at(&mut self, passed: Duration) {
        self.taken_at = passed;
    }

    pub(crate) fn open_batch(&mut self) -> Option<&mut Batch> {
        self.open.as_deref_mut().filter(|batch| !batch.is_empty())
    }

    /// Whether the open batch has commands.
    pub(crate) fn has_open_batch(&self) -> bool {
        self.open.as_deref().is_some_and(|batch| !batch.is_empty())
    }

    /// Makes room for one more command with the most events that it can have. False: all batches
    /// are in use by the journal and the event log.
    #[inline]
    pub(crate) fn make_room(&mut self) -> bool {
        let has_room = self.open.as_mut().is_some_and(|batch| batch.has_room());
        has_room || self.take_batch()
    }

    #[cold]
    fn take_batch(&mut self) -> bool {
        self.seal();
        if self.open.is_none() {
            self.open = self.free.pop().ok();
            if let Some(batch) = &mut self.open {
                batch.begin(self.seq.next(), self.core.rules_version());
            }
        }
        self.open.is_some()
    }

    /// Records in the open batch when the commands since the last stamp were taken.
    pub(crate) fn stamp(&mut self) {
        let (seq, taken_at) = (self.seq, self.taken_at);
        let commands = seq.0 - self.stamped.0;
        if let Some(batch) = self.open_batch()
            && commands > 0
        {
            batch.stamp(taken_at, commands);
        }
        self.stamped = seq;
    }

    /// Passes the open batch to the journal, unless it is empty.
    pub(crate) fn seal(&mut self) {
        if self.open_batch().is_none() {
            return;
        }
        self.stamp();
        let Some(batch) = self.open.take() else { return };
        self.state.in_flight.fetch_add(1, Ordering::AcqRel);
        // The ring has room for all batches; it refuses only when its reader is gone, and then the
        // engine has failed.
        let _ = self.sealed.push(batch);
        self.state.journal.notify();
    }

    /// Journals a command at `time`, which must not be before the last one, and applies it. There
    /// must be room for it.
    #[inline(never)]
    pub(crate) fn sequence(&mut self, time: Timestamp, command: &Command) -> Answer {
        self.sequence_from(time, command, None)
    }

    /// [`BatchBuilder::sequence`] of `Command::Place(*terms)`, without building the command.
    #[inline]
    pub(crate) fn sequence_order(&mut self, time: Timestamp, terms: &NewOrder) -> Answer {
        let encode = |record: &mut [u8]| encode_order(time, terms, record);
        self.write_and_apply(time, encode, |core, seq, events| {
            core.apply_order(seq, time, terms, events)
        })
    }

    /// [`BatchBuilder::sequence`] with who sent the command, and why, if the rules know it.
    #[cold]
    #[inline(never)]
    pub(crate) fn sequence_attributed(
        &mut self,
        time: Timestamp,
        command: &Command,
        attribution: Option<Attribution>,
    ) -> Answer {
        let attribution = attribution.filter(|_| self.core.knows_attributions());
        self.sequence_from(time, command, attribution.as_ref())
    }

    #[inline(always)]
    fn sequence_from(
        &mut self,
        time: Timestamp,
        command: &Command,
        attribution: Option<&Attribution>,
    ) -> Answer {
        let is_cancel = matches!(command, Command::Cancel { .. });
        assert!(!(is_cancel && self.state.switch.is(Sabotage::PanicAtCancel)), "as it was told");
        let unjournaled = is_cancel && self.state.switch.is(Sabotage::ApplyWithoutJournal);
        let journaled = if unjournaled { &Command::Tick } else { command };
        let unattributed = self.state.switch.is(Sabotage::JournalWithoutAttribution);
        let encode = |record: &mut [u8]| {
            let before = match attribution {
                Some(attribution) if !unattributed => encode_attribution(attribution, record),
                _ => 0,
            };
            before + encode_command(time, journaled, &mut record[before..])
        };
        self.write_and_apply(time, encode, |core, seq, events| {
            core.apply_attributed(seq, time, command, attribution, events)
        })
    }

    #[inline(always)]
    fn write_and_apply(
        &mut self,
        time: Timestamp,
        encode: impl FnOnce(&mut [u8]) -> usize,
        apply: impl FnOnce(&mut Core, Seq, &mut Encoding<'_>) -> Outcome,
    ) -> Answer {
        debug_assert!(time >= self.time, "stamped time went back");
        let batch = self.open.as_mut().expect("the caller made room");
        let seq = self.seq.next();
        let record = batch.journal.reserve(COMMAND_RECORD_BYTES_MAX).expect("the caller made room");
        let len = encode(record);
        batch.journal.commit(len);
        let record = batch.events.reserve(EVENT_RECORD_BYTES_MAX).expect("the caller made room");
        let mut events = Encoding::new(time, record);
        let outcome = apply(&mut self.core, seq, &mut events);
        let (len, execution) = events.finish();
        // A tick may enter orders, none of which is its own.
        let execution = match outcome {
            Outcome::Order { .. } => execution,
            _ => Execution::default(),
        };
        batch.events.commit(len);
        // A segment has one rules version, and so has each group.
        batch.is_closed = batch.rules_version != self.core.rules_version();
        self.seq = seq;
        self.time = time;
        Answer { seq, time, outcome, execution }
    }

    /// Sequences the ticks that are due before a command at `now`. False: there was no room.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: Timestamp) -> bool {
        while self.core.next_due() <= now {
            if !self.make_room() {
                return false;
            }
            // Zero means urgent work: it continues at the time of the command that began it.
            let due = self.core.next_due().max(self.time);
            self.sequence(due, &Command::Tick);
        }
        true
    }
}
