//! The single writer: takes commands from the producers, stamps, journals and applies them.

use crate::Level;
use crate::batch::gate;
use crate::batch_builder::BatchBuilder;
use crate::ingress::{Entry, NoAnswer, PendingReply, ProducerRings, ProducerSet, Reply};
use crate::marks::Phase;
use crate::sabotage::Sabotage;
use crate::signal::Progress;
use crate::state::EngineState;
use crate::time_share::TimeShare;
use rialto_core::{Core, RULES_VERSIONS};
use rialto_model::{Command, Outcome, Seq, Timestamp};
use rtrb::chunks::ReadChunk;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The most commands of one producer in one turn.
const FAIR_SHARE: usize = 128;
/// The most commands of one step, so that its time stays accurate.
const STEP_COMMANDS_MAX: usize = 512;

/// Takes commands from all producers in turn. A step reads the clock once.
pub(crate) struct Sequencer {
    /// `None` only after [`Sequencer::finish`].
    builder: Option<BatchBuilder>,
    state: Arc<EngineState>,
    level: Level,
    share: TimeShare,
    producers: Vec<ProducerRings>,
    turn: usize,
    barrier: Option<Barrier>,
    finished: Option<Core>,
}

/// Blocks sequencing until the snapshot through this sequence is made: the next command sets the
/// rules version, even if it is the present one.
struct Barrier {
    through: Seq,
}

/// Commands that are being taken from a ring. An answered command leaves the ring even if the next
/// command panics; otherwise it would be answered again as not sequenced.
struct Taking<'a> {
    chunk: Option<ReadChunk<'a, Entry>>,
    count: usize,
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        if let Some(chunk) = self.chunk.take() {
            chunk.commit(self.count);
        }
    }
}

/// The reason why taking commands of a producer stopped.
enum Stop {
    /// Its turn is over, or its ring is empty.
    Turn,
    /// No batch is free.
    NoRoom,
    /// The next command waits for a snapshot.
    Barrier,
}

impl Sequencer {
    pub(crate) fn new(
        builder: BatchBuilder,
        state: Arc<EngineState>,
        level: Level,
        share: TimeShare,
    ) -> Self {
        Self {
            builder: Some(builder),
            state,
            level,
            share,
            producers: Vec::new(),
            turn: 0,
            barrier: None,
            finished: None,
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.state.progression.phase()
    }

    /// The core, until the sequencer has finished.
    pub(crate) fn core(&self) -> Option<&Core> {
        self.builder.as_ref().map(BatchBuilder::core)
    }

    /// Takes the core, once the sequencer has finished.
    pub(crate) fn take_core(&mut self) -> Option<Core> {
        self.finished.take()
    }

    pub(crate) fn step(&mut self) -> Progress {
        if self.builder.is_none() {
            return Progress::Finished;
        }
        let phase = self.state.progression.phase();
        if phase >= Phase::Stopped {
            return self.finish();
        }
        self.state.producers.take_arrivals(&mut self.producers);
        if phase < Phase::Draining && self.is_at_rest() {
            self.close_producers();
            return Progress::Idle(None);
        }
        let Some(builder) = &mut self.builder else { return Progress::Finished };
        let before = builder.seq();
        let reading = self.state.clock.read();
        // A tick may have a later time, at which it was due.
        let now = reading.time.max(builder.time());
        builder.set_taken_at(reading.passed);
        let is_stalled = self.state.is_stalled();
        let mut taken = ProducerSet::default();
        if !is_stalled {
            taken = self.take_turns(now);
            self.work_in_background(now, reading.passed, before);
        }
        let Some(builder) = &mut self.builder else { return Progress::Finished };
        let after = builder.seq();
        if after > before {
            builder.stamp();
            self.state.progression.advance(Level::Memory, after);
            if self.level == Level::Memory {
                self.state.producers.wake(&taken);
            }
        }
        // A group is written as soon as the previous one is: commands that arrive meanwhile join
        // it.
        if builder.open_batch().is_some()
            && (self.state.in_flight.load(Ordering::Acquire) == 0 || self.barrier.is_some())
        {
            builder.seal();
            return Progress::Worked;
        }
        if after > before {
            return Progress::Worked;
        }
        let idle = self.producers.iter().all(|producer| producer.submissions.is_empty());
        if phase == Phase::Draining && idle && builder.open_batch().is_none() {
            return self.finish();
        }
        self.close_producers();
        // While the disk hangs, due work waits too; the end of the hang wakes this thread.
        Progress::Idle(if is_stalled { None } else { self.nap(now) })
    }

    /// Whether there is no work now, and none that will be due. Then the clocks are not read: a
    /// waiting thread comes here many times before it sleeps.
    fn is_at_rest(&self) -> bool {
        let is_idle = |builder: &BatchBuilder| {
            let core = builder.core();
            let waits_for_the_journal = self.state.in_flight.load(Ordering::Acquire) > 0;
            (waits_for_the_journal || !builder.has_open_batch())
                && core.next_due() == Timestamp::MAX
                && core.next_background_work() == Timestamp::MAX
        };
        self.barrier.is_none()
            && self.producers.iter().all(|producer| producer.submissions.is_empty())
            && self.builder.as_ref().is_some_and(is_idle)
    }

    /// Sequences a tick if there is background work, and if its share of time allows. `before` is
    /// the last command before this step, which began at `step_began`.
    fn work_in_background(&mut self, now: Timestamp, step_began: Duration, before: Seq) {
        let Some(builder) = &mut self.builder else { return };
        if builder.core().next_background_work() > now || self.barrier.is_some() {
            self.share.reset();
            return;
        }
        if builder.core().next_due() <= now {
            // Work that must come first waits for a batch. A suspended order continues at the time
            // of its command, so that no order that it matches expires meanwhile.
            return;
        }
        let began = self.state.clock.passed();
        if builder.seq() > before {
            self.share.commands_took(began.saturating_sub(step_began));
            if !self.share.is_due() {
                return;
            }
        }
        if builder.make_room() {
            builder.sequence(now, &Command::Tick);
            let ended = self.state.clock.passed();
            self.share.background_took(ended.saturating_sub(began));
        }
    }

    /// Takes commands from the producers in turn; returns the producers that had any.
    fn take_turns(&mut self, now: Timestamp) -> ProducerSet {
        let mut taken = ProducerSet::default();
        let Some(builder) = &mut self.builder else { return taken };
        if let Some(barrier) = &self.barrier
            && !self.state.snapshots.is_settled(barrier.through)
        {
            return taken;
        }
        if !builder.catch_up(now) {
            return taken;
        }
        let mut left = STEP_COMMANDS_MAX;
        for _ in 0..self.producers.len() {
            let index = self.turn % self.producers.len();
            let (count, stop) = self.take_from(index, now, left.min(FAIR_SHARE));
            if count > 0 {
                taken.insert(self.producers[index].slot);
            }
            left -= count;
            match stop {
                // The producer whose turn was interrupted is the next one.
                Stop::NoRoom | Stop::Barrier => return taken,
                Stop::Turn => self.turn = (index + 1) % self.producers.len(),
            }
            if left == 0 {
                break;
            }
        }
        taken
    }

    /// Takes up to `share` commands from one producer.
    fn take_from(&mut self, index: usize, now: Timestamp, share: usize) -> (usize, Stop) {
        let (Some(builder), producer) = (&mut self.builder, &mut self.producers[index]) else {
            return (0, Stop::NoRoom);
        };
        let share = share.min(producer.submissions.slots());
        // Read after the number of submissions, so that none of theirs is missed.
        let mut attributed = producer.attributions.next();
        let Ok(chunk) = producer.submissions.read_chunk(share) else { return (0, Stop::Turn) };
        let mut taking = Taking { chunk: Some(chunk), count: 0 };
        let Some(chunk) = &taking.chunk else { return (0, Stop::Turn) };
        let (front, back) = chunk.as_slices();
        let mut stop = Stop::Turn;
        let ahead = |places: usize| {
            let at = places.checked_sub(front.len());
            at.map_or_else(|| front.get(places), |at| back.get(at))
        };
        (0..Core::PREFETCH_FAR).filter_map(ahead).for_each(|far| far.prefetch_far(builder.core()));
        for (at, entry) in front.iter().chain(back).enumerate() {
            if let Some(far) = ahead(at + Core::PREFETCH_FAR) {
                far.prefetch_far(builder.core());
            }
            if let Some(near) = ahead(at + Core::PREFETCH_NEAR) {
                near.prefetch_near(builder.core());
            }
            if !builder.catch_up(now) || !builder.make_room() {
                stop = Stop::NoRoom;
                break;
            }
            let gate = gate(self.level, entry.level);
            let token = entry.token;
            let mut answer = if let Some(terms) = entry.order()
                && at != attributed
            {
                builder.sequence_order(now, terms)
            } else {
                let command = producer.others.command(entry);
                if let Command::SetRulesVersion { version } = command
                    && (builder.core().rules_version()..=*RULES_VERSIONS.end()).contains(&version)
                    && !self.state.switch.is(Sabotage::ChangeRulesWithoutSnapshot)
                {
                    let through = builder.seq();
                    match self.barrier.take() {
                        Some(barrier) if barrier.through == through => {
                            if !self.state.snapshots.is_durable(through) {
                                // Without the snapshot the change could not be undone, so that it is
                                // not journaled. No mark will wake the caller.
                                let reply = Reply { token, answer: Err(NoAnswer::NoSnapshot) };
                                let _ = producer.answers.push(PendingReply { reply, gate });
                                producer.shared.wake();
                                taking.count += 1;
                                producer.others.take(entry);
                                if at == attributed {
                                    producer.attributions.take();
                                    attributed = producer.attributions.next();
                                }
                                continue;
                            }
                        }
                        _ => {
                            self.state.snapshots.request(through);
                            self.state.follower.notify();
                            self.barrier = Some(Barrier { through });
                            stop = Stop::Barrier;
                            break;
                        }
                    }
                }
                producer.others.take(entry);
                if at == attributed {
                    let attribution = producer.attributions.take();
                    attributed = producer.attributions.next();
                    builder.sequence_attributed(now, &command, attribution)
                } else {
                    builder.sequence(now, &command)
                }
            };
            if self.state.switch.is(Sabotage::AnswerSomethingElse) {
                answer.outcome = Outcome::Done;
            }
            // The ring has room for every command in flight of a producer.
            let reply = Reply { token, answer: Ok(answer) };
            let _ = producer.answers.push(PendingReply { reply, gate });
            taking.count += 1;
            if gate > Level::Memory
                && let Some(batch) = builder.open_batch()
            {
                batch.producers.insert(producer.slot);
                batch.sync |= gate == Level::Synced && self.level < Level::Synced;
            }
        }
        producer.attributions.count(taking.count);
        (taking.count, stop)
    }

    /// The time until there is work without new commands.
    fn nap(&self, now: Timestamp) -> Option<Duration> {
        let core = self.builder.as_ref()?.core();
        // Present work waits for a batch or a snapshot, whose thread wakes this one.
        let work = Some(core.next_background_work()).filter(|due| *due > now);
        let due = core.next_due().min(work.unwrap_or(Timestamp::MAX));
        (due != Timestamp::MAX).then(|| Duration::from_nanos(due.0.saturating_sub(now.0)))
    }

    fn close_producers(&mut self) {
        self.producers.retain(|producer| {
            let over = producer.is_over();
            if over {
                self.state.producers.close(producer.slot);
            }
            !over
        });
    }

    /// Ends the work, so that the journal sees that no more batches come.
    fn finish(&mut self) -> Progress {
        self.abandon_producers();
        self.finished = self.builder.take().map(BatchBuilder::into_core);
        self.state.journal.notify();
        Progress::Finished
    }

    fn abandon_producers(&mut self) {
        if self.state.switch.is(Sabotage::LeaveUnanswered) {
            return self.producers.clear();
        }
        self.state.producers.abandon_arrivals();
        self.producers.drain(..).for_each(ProducerRings::abandon);
    }
}

impl Drop for Sequencer {
    /// Also after a panic, so that no caller waits for an answer for ever.
    fn drop(&mut self) {
        self.abandon_producers();
    }
}
