//! What the runtime and the code of a flow share about a run.

use super::encoding::{EncodedTime, put, put_completed, put_finished, put_length};
use super::replay::{Arrived, Recorded, Replay, describe};
use super::spare;
use crate::error::{FlowError, Parked};
use crate::flows::Inner;
use crate::flows::ready::Ready;
use crate::history::{Ending, Entry, Kind, Place};
use crate::observe::Observer;
use crate::store::{End, InboxMark, OutboxMessage, RunNumber, Write};
use crate::{FlowId, Timestamp};
use serde::Serialize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::Waker;

/// How many bytes of messages and marks one write of a run takes, beside what it adds to the history.
const SENT_BYTES_MAX: usize = 256 << 10;

/// What all runs of a runtime share.
pub(crate) struct Services {
    /// Whether what is stored counts as confirmed at once.
    pub(crate) at_once: bool,
    pub(crate) payload_bytes_max: usize,
    pub(crate) history_bytes_max: usize,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    pub(crate) random: AtomicU64,
    /// Set when the runtime stops: no step may begin any more.
    pub(crate) stopped: AtomicBool,
    /// The runs that are ready to be polled.
    pub(crate) ready: Ready,
    /// For starting children.
    pub(crate) flows: Weak<Inner>,
}

impl Services {
    /// What steps and events may bring a history to at most. Beyond it go only the entries that bring
    /// a run to its end, and they are small.
    pub(crate) fn history_bytes_end(&self) -> usize {
        self.history_bytes_max + 2 * self.payload_bytes_max
    }

    /// A random number; the sequence follows from the seed.
    pub(crate) fn random(&self) -> u64 {
        let state = self.random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        mix(state)
    }
}

/// Spreads the bits of a number (the finaliser of SplitMix64).
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What the code of a flow meets at a place.
pub(crate) enum Replayed {
    /// Nothing is recorded: it is to be done.
    Fresh,
    /// It was done before, as this entry among all of the run.
    Recorded(Recorded, u32),
    /// Nothing is recorded, and the flow has failed: it is not to be done any more.
    Refused(FlowError),
    /// The code has changed; the run is parked and must not go on.
    Changed,
}

#[derive(Default)]
pub(crate) struct RunState {
    /// The time of the current poll.
    pub(crate) polled_at: Timestamp,
    /// The same, as it stands in entries.
    polled_at_encoded: EncodedTime,
    /// The time of the last thing that was recorded or played: what the flow takes for now.
    pub(crate) told_time: Timestamp,
    replay: Option<Box<Replay>>,
    pub(crate) events: Vec<Arrived>,
    pub(crate) cancelled: bool,
    /// Branches that have, after a restart, finished what may have been begun before a cancel.
    pub(crate) in_doubt_done: Vec<u64>,
    pub(crate) parked: Option<Box<Parked>>,
    /// Whether the parked run is to go on from its history.
    pub(crate) retried: bool,
    /// How it ended; not visible before it is confirmed.
    pub(crate) ending: Option<Ending>,
    /// Whether the ending is confirmed.
    pub(crate) is_over: bool,
    /// Who waits for the ending.
    pub(crate) waiters: Vec<Waker>,

    // What has been done and is not yet given to the store.
    out: Vec<u8>,
    /// Where in it the value of the last finished step begins.
    last_value: usize,
    messages: Vec<OutboxMessage>,
    marks: Vec<InboxMark>,
    /// How many bytes of the next write the messages and marks take.
    sent_bytes: usize,
    ended: Option<End>,
    /// How many entries there are, those in `out` included.
    entries: u32,
    /// How many of them are confirmed.
    pub(crate) confirmed: u32,
    pub(crate) history_bytes: usize,
    /// Who waits inside of the execution with a waker of their own.
    sleepers: Vec<Waker>,
    /// The times that the execution waits for.
    wanted: Vec<Timestamp>,
    /// The time at which the runtime has been asked to wake the run.
    pub(crate) timer: Option<Timestamp>,
}

impl RunState {
    /// A run that has just begun.
    pub(crate) fn new(at: Timestamp, input_bytes: usize) -> Self {
        Self {
            polled_at: at,
            polled_at_encoded: EncodedTime::new(at),
            told_time: at,
            history_bytes: input_bytes,
            out: spare::buffer(),
            ..Self::default()
        }
    }

    /// A run that has a history.
    pub(crate) fn resumed(
        at: Timestamp,
        input_bytes: usize,
        history: &[u8],
    ) -> Result<Self, String> {
        let read = Replay::read(history)?;
        Ok(Self {
            told_time: at,
            replay: Some(Box::new(read.replay)),
            events: read.events,
            cancelled: read.cancelled,
            entries: read.entries,
            confirmed: read.entries,
            history_bytes: input_bytes + history.len(),
            ending: read.ending,
            ..Self::default()
        })
    }

    /// Prepares a poll: what is due is no longer waited for, and sleepers are woken.
    pub(crate) fn begin_poll(&mut self, now: Timestamp) -> Vec<Waker> {
        self.polled_at = now;
        self.polled_at_encoded = EncodedTime::new(now);
        if !self.wanted.is_empty() {
            self.wanted.retain(|at| *at > now);
        }
        std::mem::take(&mut self.sleepers)
    }

    /// Remembers a waker inside of the execution. The run itself is polled anyway.
    pub(crate) fn sleep(&mut self, run: usize, waker: &Waker) {
        if waker.data() as usize != run && !self.sleepers.iter().any(|other| other.will_wake(waker))
        {
            self.sleepers.push(waker.clone());
        }
    }

    /// Asks once to be polled at a time.
    pub(crate) fn want(&mut self, at: Timestamp) {
        if at != Timestamp::MAX {
            self.wanted.push(at);
        }
    }

    /// Takes one wish back.
    pub(crate) fn unwant(&mut self, at: Timestamp) {
        if let Some(nth) = self.wanted.iter().position(|other| *other == at) {
            self.wanted.swap_remove(nth);
        }
    }

    /// The earliest time at which the run wants to be polled.
    pub(crate) fn next_wanted(&self) -> Option<Timestamp> {
        self.wanted.iter().min().copied()
    }

    /// Looks up what is recorded at a place. Where the code does something else than was recorded
    /// the run is parked.
    pub(crate) fn meet(
        &mut self,
        run: (FlowId, &str, u32),
        place: Place,
        kind: Kind,
        name: &str,
    ) -> Replayed {
        if self.parked.is_some() {
            return Replayed::Changed;
        }
        let Some(replay) = &mut self.replay else { return Replayed::Fresh };
        let recorded = match replay.play(place, kind, name) {
            // The flow had failed before this wait had an end.
            Ok(Some((Recorded::Waiting { .. }, _))) if replay.failing.is_some() => {
                return self.refused();
            }
            Ok(Some((what, order))) => {
                if let Recorded::Finished { at, .. }
                | Recorded::Failed { at, .. }
                | Recorded::Received { at, .. }
                | Recorded::Lapsed { at, .. } = &what
                {
                    self.told_time = self.told_time.max(*at);
                }
                return Replayed::Recorded(what, order);
            }
            Ok(None) if replay.failing.is_some() => return self.refused(),
            Ok(None) => return Replayed::Fresh,
            Err(recorded) => recorded,
        };
        self.changed(run, recorded, describe(place, kind, name));
        Replayed::Changed
    }

    /// Whatever the flow does after its failure was refused then and is refused now.
    fn refused(&self) -> Replayed {
        Replayed::Refused(self.failing().unwrap_or(FlowError::Cancelled))
    }

    fn changed(&mut self, run: (FlowId, &str, u32), recorded: String, present: String) {
        let (id, flow, version) = (run.0, run.1.to_owned(), run.2);
        let changed = Parked::Changed { id, flow, version, recorded, present };
        self.parked.get_or_insert_with(|| Box::new(changed));
    }

    /// Says that the code has come to its end. False, and the run is parked, if more was recorded.
    pub(crate) fn played_whole(&mut self, run: (FlowId, &str, u32)) -> bool {
        let unplayed = self.replay.as_ref().and_then(|replay| replay.unplayed());
        if let Some(recorded) = unplayed {
            self.changed(run, recorded, "its end".to_owned());
        }
        self.parked.is_none()
    }

    /// Why the flow failed in an earlier life, if it did.
    pub(crate) fn failing(&self) -> Option<FlowError> {
        let failing = self.replay.as_ref()?.failing.as_ref()?;
        Some(FlowError::from_stored(failing))
    }

    pub(crate) fn is_undone(&self, place: Place) -> bool {
        self.replay.as_ref().is_some_and(|replay| replay.is_undone(place))
    }

    /// Adds an entry to what is to be stored, and returns how many there are then.
    pub(crate) fn record(&mut self, entry: &Entry<'_>) -> u32 {
        let before = self.out.len();
        put(entry, &mut self.out)
            .expect("an entry is made of numbers, texts and bytes, and memory takes them all");
        self.recorded(before)
    }

    fn recorded(&mut self, before: usize) -> u32 {
        self.history_bytes += self.out.len() - before;
        self.entries += 1;
        self.told_time = self.polled_at;
        self.entries
    }

    /// Records that a step or child has finished. An error says why its value cannot be stored.
    pub(crate) fn record_finished(
        &mut self,
        place: Place,
        kind: Kind,
        name: &'static str,
        value: &impl Serialize,
        services: &Services,
    ) -> Result<u32, FlowError> {
        let (before, history_before) = (self.out.len(), self.history_bytes);
        put_finished(&mut self.out, place, kind, name, &self.polled_at_encoded);
        let mark = self.recorded(before);
        // The value is the last field, and an empty one ends in the byte of its length.
        let begin = self.out.len();
        let refused = match put(value, &mut self.out) {
            Ok(()) => {
                let bytes = self.out.len() - begin;
                let limit = services.payload_bytes_max;
                self.history_bytes += bytes;
                if bytes > limit {
                    Some(FlowError::TooLarge { name: name.to_owned(), bytes, limit })
                } else if self.history_bytes > services.history_bytes_end() {
                    // Many steps that have begun at once, below the limit, may end beyond it.
                    Some(FlowError::HistoryFull { name: name.to_owned() })
                } else {
                    None
                }
            }
            Err(error) => {
                Some(FlowError::Codec { name: name.to_owned(), reason: error.to_string() })
            }
        };
        if let Some(error) = refused {
            self.history_bytes = history_before;
            self.out.truncate(before);
            self.entries -= 1;
            return Err(error);
        }
        let moved = put_length(&mut self.out, begin);
        self.history_bytes += moved;
        self.last_value = begin + moved;
        Ok(mark)
    }

    pub(crate) fn last_value(&self) -> &[u8] {
        &self.out[self.last_value..]
    }

    /// Counts an entry that was stored directly.
    pub(crate) fn count(&mut self, bytes: usize) {
        self.history_bytes += bytes;
        self.entries += 1;
    }

    /// Keeps an event until the run waits for it.
    pub(crate) fn arrive(&mut self, name: &str, payload: Vec<u8>) {
        self.events.push(Arrived { name: name.to_owned(), payload, taken: false });
    }

    /// Whether the next write has room for so many bytes of messages and marks. An empty one has:
    /// what is too long for it is refused in other ways.
    pub(crate) fn can_send(&self, bytes: usize) -> bool {
        self.sent_bytes == 0 || self.sent_bytes + bytes <= SENT_BYTES_MAX
    }

    pub(crate) fn send(
        &mut self,
        messages: Vec<OutboxMessage>,
        marks: Vec<InboxMark>,
        bytes: usize,
    ) {
        self.messages.extend(messages);
        self.marks.extend(marks);
        self.sent_bytes += bytes;
    }

    pub(crate) fn end(&mut self, ending: Ending) {
        let at = self.polled_at;
        self.ended = Some(End { at, outcome: ending.outcome() });
        let before = self.out.len();
        self.ending = Some(match ending {
            Ending::Completed(output) => {
                put_completed(&mut self.out, &self.polled_at_encoded, &output);
                self.recorded(before);
                Ending::Completed(output)
            }
            ending => {
                let entry = Entry::Ended { at, ending: ending.clone() };
                self.record(&entry);
                ending
            }
        });
    }

    /// Takes what is to be stored, with the number of entries that it brings the history to.
    pub(crate) fn take_write(&mut self, run: RunNumber, spare: Vec<u8>) -> Option<(Write, u32)> {
        if self.out.is_empty() {
            return None;
        }
        let write = Write {
            run,
            ended: self.ended,
            entries: std::mem::replace(&mut self.out, spare),
            messages: std::mem::take(&mut self.messages),
            marks: std::mem::take(&mut self.marks),
        };
        self.sent_bytes = 0;
        Some((write, self.entries))
    }
}
