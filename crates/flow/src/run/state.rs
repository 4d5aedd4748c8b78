//! The state of a run that the runtime and the flow share.

use super::encoding::{EncodedTime, put, put_completed, put_finished, put_length};
use super::replay::{Arrived, Recorded, Replay, describe};
use super::spare;
use crate::error::{FlowError, Parked};
use crate::flows::Inner;
use crate::flows::ready::Ready;
use crate::history::{Ending, Entry, EntryPosition, Kind};
use crate::observe::Observer;
use crate::store::{End, InboxMark, OutboxMessage, RunNumber, Write};
use crate::{FlowId, Timestamp};
use serde::Serialize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::Waker;

/// The most bytes of messages and marks in one write of a run, besides its entries.
const SENT_BYTES_MAX: usize = 256 << 10;

/// The services that all runs of a runtime share.
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
    /// The longest history that steps and events may reach. Only the small entries that end a run
    /// may exceed it.
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

/// The recorded state at a position of the code.
pub(crate) enum Replayed {
    /// Nothing is recorded: the operation is to be executed.
    Fresh,
    /// The operation is recorded, as the entry with this index.
    Recorded(Recorded, u32),
    /// Nothing is recorded, and the flow has failed: the operation is not executed.
    Refused(FlowError),
    /// The code has changed; the run is parked and must not continue.
    Changed,
}

#[derive(Default)]
pub(crate) struct RunState {
    /// The time of the current poll.
    pub(crate) polled_at: Timestamp,
    /// The same, encoded.
    polled_at_encoded: EncodedTime,
    /// The time of the last entry that was recorded or replayed, which is the flow's present time.
    pub(crate) told_time: Timestamp,
    replay: Option<Box<Replay>>,
    pub(crate) events: Vec<Arrived>,
    pub(crate) cancelled: bool,
    /// Branches that have, after a restart, finished a step that may have begun before a cancel.
    pub(crate) in_doubt_done: Vec<u64>,
    pub(crate) parked: Option<Box<Parked>>,
    /// Whether the parked run is to be resumed from its history.
    pub(crate) retried: bool,
    /// The ending, which is not visible before it is confirmed.
    pub(crate) ending: Option<Ending>,
    /// Whether the ending is confirmed.
    pub(crate) is_over: bool,
    /// The callers that wait for the ending.
    pub(crate) waiters: Vec<Waker>,

    // Entries that are not yet given to the store.
    out: Vec<u8>,
    /// The offset in it of the last finished step's value.
    last_value: usize,
    messages: Vec<OutboxMessage>,
    marks: Vec<InboxMark>,
    /// The bytes of messages and marks in the next write.
    sent_bytes: usize,
    ended: Option<End>,
    /// The number of entries, including those in `out`.
    entries: u32,
    /// The number of confirmed entries.
    pub(crate) confirmed: u32,
    pub(crate) history_bytes: usize,
    /// Wakers of futures inside of the execution that have their own.
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

    /// Prepares a poll: removes due timers and wakes sleepers.
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

    /// Adds a timer.
    pub(crate) fn want(&mut self, at: Timestamp) {
        if at != Timestamp::MAX {
            self.wanted.push(at);
        }
    }

    /// Removes a timer.
    pub(crate) fn unwant(&mut self, at: Timestamp) {
        if let Some(nth) = self.wanted.iter().position(|other| *other == at) {
            self.wanted.swap_remove(nth);
        }
    }

    /// The earliest timer.
    pub(crate) fn next_wanted(&self) -> Option<Timestamp> {
        self.wanted.iter().min().copied()
    }

    /// Looks up the entry at a position. If it does not match the code, the run is parked.
    pub(crate) fn meet(
        &mut self,
        run: (FlowId, &str, u32),
        position: EntryPosition,
        kind: Kind,
        name: &str,
    ) -> Replayed {
        if self.parked.is_some() {
            return Replayed::Changed;
        }
        let Some(replay) = &mut self.replay else { return Replayed::Fresh };
        let recorded = match replay.play(position, kind, name) {
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
        self.changed(run, recorded, describe(position, kind, name));
        Replayed::Changed
    }

    /// Operations after the flow's failure are refused again.
    fn refused(&self) -> Replayed {
        Replayed::Refused(self.failing().unwrap_or(FlowError::Cancelled))
    }

    fn changed(&mut self, run: (FlowId, &str, u32), recorded: String, present: String) {
        let (id, flow, version) = (run.0, run.1.to_owned(), run.2);
        let changed = Parked::Changed { id, flow, version, recorded, present };
        self.parked.get_or_insert_with(|| Box::new(changed));
    }

    /// Ends the replay. False, and the run is parked, if entries were not replayed.
    pub(crate) fn played_whole(&mut self, run: (FlowId, &str, u32)) -> bool {
        let unplayed = self.replay.as_ref().and_then(|replay| replay.unplayed());
        if let Some(recorded) = unplayed {
            self.changed(run, recorded, "its end".to_owned());
        }
        self.parked.is_none()
    }

    /// The error of the flow in an earlier process, if it failed.
    pub(crate) fn failing(&self) -> Option<FlowError> {
        let failing = self.replay.as_ref()?.failing.as_ref()?;
        Some(FlowError::from_stored(failing))
    }

    pub(crate) fn is_undone(&self, position: EntryPosition) -> bool {
        self.replay.as_ref().is_some_and(|replay| replay.is_undone(position))
    }

    /// Adds an entry to be stored, and returns the number of entries.
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
        position: EntryPosition,
        kind: Kind,
        name: &'static str,
        value: &impl Serialize,
        services: &Services,
    ) -> Result<u32, FlowError> {
        let (before, history_before) = (self.out.len(), self.history_bytes);
        put_finished(&mut self.out, position, kind, name, &self.polled_at_encoded);
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

    /// Whether the next write has room for `bytes` of messages and marks. An empty one always has:
    /// longer ones are refused elsewhere.
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

    /// Takes the entries to be stored, with the number of entries afterwards.
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
