//! The one writer: takes commands from the producers, stamps, journals and applies them.

use crate::Level;
use crate::batch::gate;
use crate::ingress::{Answer, Lane, LaneSet, Submission};
use crate::marks::Phase;
use crate::sabotage::Sabotage;
use crate::scribe::Scribe;
use crate::share::Share;
use crate::signal::Progress;
use crate::venue::Venue;
use rialto_core::{Core, RULES_VERSIONS};
use rialto_model::{Command, Outcome, Seq, Timestamp};
use rtrb::chunks::ReadChunk;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How many commands one producer may have taken before the others get their turn.
const FAIR_SHARE: usize = 128;
/// How many commands one step takes, so that the time it stamps stays fresh.
const STEP_COMMANDS_MAX: usize = 512;

/// Takes commands from all producers in turn. A step reads the clock once.
pub(crate) struct Sequencer {
    /// `None` only after [`Sequencer::finish`].
    scribe: Option<Scribe>,
    venue: Arc<Venue>,
    level: Level,
    share: Share,
    lanes: Vec<Lane>,
    turn: usize,
    barrier: Option<Barrier>,
    finished: Option<Core>,
}

/// Nothing is sequenced until the snapshot through this sequence has been made: the next command
/// sets the version of the rules, be it the one in force.
struct Barrier {
    through: Seq,
}

/// Commands that are being taken from a lane. What has been answered leaves the lane also when the
/// next command panics: otherwise it would be answered once more, as what was never sequenced.
struct Taking<'a> {
    chunk: Option<ReadChunk<'a, Submission>>,
    count: usize,
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        if let Some(chunk) = self.chunk.take() {
            chunk.commit(self.count);
        }
    }
}

/// Why the commands of a lane were not taken any further.
enum Stop {
    /// Its share is used up, or it is empty.
    Turn,
    /// No batch is free.
    NoRoom,
    /// The next command waits for a snapshot.
    Barrier,
}

impl Sequencer {
    pub(crate) fn new(scribe: Scribe, venue: Arc<Venue>, level: Level, share: Share) -> Self {
        Self {
            scribe: Some(scribe),
            venue,
            level,
            share,
            lanes: Vec::new(),
            turn: 0,
            barrier: None,
            finished: None,
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.venue.progression.phase()
    }

    /// The core, until the sequencer has finished.
    pub(crate) fn core(&self) -> Option<&Core> {
        self.scribe.as_ref().map(Scribe::core)
    }

    /// The core, once the sequencer has finished.
    pub(crate) fn take_core(&mut self) -> Option<Core> {
        self.finished.take()
    }

    pub(crate) fn step(&mut self) -> Progress {
        if self.scribe.is_none() {
            return Progress::Finished;
        }
        let phase = self.venue.progression.phase();
        if phase >= Phase::Stopped {
            return self.finish();
        }
        self.venue.lanes.take_arrivals(&mut self.lanes);
        if phase < Phase::Draining && self.is_at_rest() {
            self.close_lanes();
            return Progress::Idle(None);
        }
        let Some(scribe) = &mut self.scribe else { return Progress::Finished };
        let before = scribe.seq();
        let reading = self.venue.clock.read();
        // A tick may have been stamped with the time that it was due at.
        let now = reading.time.max(scribe.time());
        scribe.set_taken_at(reading.passed);
        let is_stalled = self.venue.is_stalled();
        let mut taken = LaneSet::default();
        if !is_stalled {
            taken = self.take_turns(now);
            self.work_in_background(now, reading.passed, before);
        }
        let Some(scribe) = &mut self.scribe else { return Progress::Finished };
        let after = scribe.seq();
        if after > before {
            scribe.stamp();
            self.venue.progression.advance(Level::Memory, after);
            if self.level == Level::Memory {
                self.venue.lanes.wake(&taken);
            }
        }
        // A group is written as soon as the one before it has been: what arrives meanwhile joins.
        if scribe.open_batch().is_some()
            && (self.venue.in_flight.load(Ordering::Acquire) == 0 || self.barrier.is_some())
        {
            scribe.seal();
            return Progress::Worked;
        }
        if after > before {
            return Progress::Worked;
        }
        let idle = self.lanes.iter().all(|lane| lane.submissions.is_empty());
        if phase == Phase::Draining && idle && scribe.open_batch().is_none() {
            return self.finish();
        }
        self.close_lanes();
        // While the disk hangs, what is due waits as well; the end of it wakes this thread.
        Progress::Idle(if is_stalled { None } else { self.nap(now) })
    }

    /// Whether there is nothing to do and nothing that time alone will bring. Then the clocks are not
    /// read: a thread that waits for work comes here tens of times before it sleeps, on a processor
    /// that others want.
    fn is_at_rest(&self) -> bool {
        let is_idle = |scribe: &Scribe| {
            let core = scribe.core();
            let waits_for_the_journal = self.venue.in_flight.load(Ordering::Acquire) > 0;
            (waits_for_the_journal || !scribe.has_open_batch())
                && core.next_due() == Timestamp::MAX
                && core.next_background_work() == Timestamp::MAX
        };
        self.barrier.is_none()
            && self.lanes.iter().all(|lane| lane.submissions.is_empty())
            && self.scribe.as_ref().is_some_and(is_idle)
    }

    /// Sequences a tick if there is background work, and if commands leave time for it. `before` is
    /// the last command before this step, which began at `step_began`.
    fn work_in_background(&mut self, now: Timestamp, step_began: Duration, before: Seq) {
        let Some(scribe) = &mut self.scribe else { return };
        if scribe.core().next_background_work() > now || self.barrier.is_some() {
            self.share.reset();
            return;
        }
        if scribe.core().next_due() <= now {
            // What must come first waits for a batch. A suspended order goes on at the time of what
            // began it, so that none of those that it was found to meet dies on the way.
            return;
        }
        let began = self.venue.clock.passed();
        if scribe.seq() > before {
            self.share.commands_took(began.saturating_sub(step_began));
            if !self.share.is_due() {
                return;
            }
        }
        if scribe.make_room() {
            scribe.sequence(now, &Command::Tick);
            let ended = self.venue.clock.passed();
            self.share.background_took(ended.saturating_sub(began));
        }
    }

    /// Takes commands from the lanes in turn; returns the lanes that commands were taken from.
    fn take_turns(&mut self, now: Timestamp) -> LaneSet {
        let mut taken = LaneSet::default();
        let Some(scribe) = &mut self.scribe else { return taken };
        if let Some(barrier) = &self.barrier
            && !self.venue.snapshots.is_settled(barrier.through)
        {
            return taken;
        }
        if !scribe.catch_up(now) {
            return taken;
        }
        let mut left = STEP_COMMANDS_MAX;
        for _ in 0..self.lanes.len() {
            let index = self.turn % self.lanes.len();
            let (count, stop) = self.take_from(index, now, left.min(FAIR_SHARE));
            if count > 0 {
                taken.insert(self.lanes[index].slot);
            }
            left -= count;
            match stop {
                // The lane that was cut short is the first to have its turn again.
                Stop::NoRoom | Stop::Barrier => return taken,
                Stop::Turn => self.turn = (index + 1) % self.lanes.len(),
            }
            if left == 0 {
                break;
            }
        }
        taken
    }

    /// Takes up to `share` commands from one lane.
    fn take_from(&mut self, index: usize, now: Timestamp, share: usize) -> (usize, Stop) {
        let (Some(scribe), lane) = (&mut self.scribe, &mut self.lanes[index]) else {
            return (0, Stop::NoRoom);
        };
        let share = share.min(lane.submissions.slots());
        let Ok(chunk) = lane.submissions.read_chunk(share) else { return (0, Stop::Turn) };
        let mut taking = Taking { chunk: Some(chunk), count: 0 };
        let Some(chunk) = &taking.chunk else { return (0, Stop::Turn) };
        let (front, back) = chunk.as_slices();
        let mut stop = Stop::Turn;
        let ahead = |places: usize| {
            let at = places.checked_sub(front.len());
            at.map_or_else(|| front.get(places), |at| back.get(at))
        };
        (0..Core::PREFETCH_FAR)
            .filter_map(ahead)
            .for_each(|far| scribe.core().prefetch_far(&far.command));
        for (at, submission) in front.iter().chain(back).enumerate() {
            if let Some(far) = ahead(at + Core::PREFETCH_FAR) {
                scribe.core().prefetch_far(&far.command);
            }
            if let Some(near) = ahead(at + Core::PREFETCH_NEAR) {
                scribe.core().prefetch_near(&near.command);
            }
            if !scribe.catch_up(now) || !scribe.make_room() {
                stop = Stop::NoRoom;
                break;
            }
            let gate = gate(self.level, submission.level);
            let mut answer =
                Answer { token: submission.token, seq: Seq::ZERO, time: now, outcome: None, gate };
            if let Command::SetRulesVersion { version } = submission.command
                && (scribe.core().rules_version()..=*RULES_VERSIONS.end()).contains(&version)
                && !self.venue.switch.is(Sabotage::ChangeRulesWithoutSnapshot)
            {
                let through = scribe.seq();
                match self.barrier.take() {
                    Some(barrier) if barrier.through == through => {
                        if !self.venue.snapshots.is_durable(through) {
                            // Without the snapshot the change would be irrevocable; it is not
                            // journaled, and the answer carries no sequence.
                            // No mark will pass it and wake the caller.
                            let _ = lane.answers.push(answer);
                            lane.shared.wake();
                            taking.count += 1;
                            continue;
                        }
                    }
                    _ => {
                        self.venue.snapshots.request(through);
                        self.venue.follower.notify();
                        self.barrier = Some(Barrier { through });
                        stop = Stop::Barrier;
                        break;
                    }
                }
            }
            let (seq, outcome) = scribe.sequence(now, &submission.command);
            (answer.seq, answer.outcome) = (seq, Some(outcome));
            if self.venue.switch.is(Sabotage::AnswerSomethingElse) {
                answer.outcome = Some(Outcome::Done);
            }
            // The ring has room for every command that a producer may have in flight.
            let _ = lane.answers.push(answer);
            taking.count += 1;
            if gate > Level::Memory
                && let Some(batch) = scribe.open_batch()
            {
                batch.lanes.insert(lane.slot);
                batch.sync |= gate == Level::Synced && self.level < Level::Synced;
            }
        }
        (taking.count, stop)
    }

    /// How long there is nothing to do unless somebody brings work.
    fn nap(&self, now: Timestamp) -> Option<Duration> {
        let core = self.scribe.as_ref()?.core();
        // Work that is there already waits for a batch or a snapshot, and whoever brings it notifies.
        let work = Some(core.next_background_work()).filter(|due| *due > now);
        let due = core.next_due().min(work.unwrap_or(Timestamp::MAX));
        (due != Timestamp::MAX).then(|| Duration::from_nanos(due.0.saturating_sub(now.0)))
    }

    /// Lets go of producers that are gone.
    fn close_lanes(&mut self) {
        self.lanes.retain(|lane| {
            let over = lane.is_over();
            if over {
                self.venue.lanes.close(lane.slot);
            }
            !over
        });
    }

    /// Ends the work: the journal sees that no more batches will come.
    fn finish(&mut self) -> Progress {
        self.abandon_lanes();
        self.finished = self.scribe.take().map(Scribe::into_core);
        self.venue.journal.notify();
        Progress::Finished
    }

    fn abandon_lanes(&mut self) {
        if self.venue.switch.is(Sabotage::LeaveUnanswered) {
            return self.lanes.clear();
        }
        self.venue.lanes.abandon_arrivals();
        self.lanes.drain(..).for_each(Lane::abandon);
    }
}

impl Drop for Sequencer {
    /// Also when the thread panics, nobody is left waiting for an answer that cannot come.
    fn drop(&mut self) {
        self.abandon_lanes();
    }
}
