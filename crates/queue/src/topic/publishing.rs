//! Publishing on a topic.

use super::filling::{Filling, LaneFilling};
use super::producers::TRANSACTIONS;
use super::write_turn::WriteTurn;
use super::{DELAYED_LANE, Kind, Topic};
use crate::batch::Batch;
use crate::error::QueueError;
use crate::format;
use crate::message::MessageId;
use crate::publish::{Due, Publish, Stamp};
use crate::runtime::Runtime;
use crate::sabotage::Sabotage;
use crate::waiting::Waiting;
use rialto_clock::Timestamp;
use rialto_log::{AppendError, Level};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// From this many full groups on, more are likely to follow, and preparing buffers costs little in
/// comparison.
const MANY: u64 = 4;

/// Who writes messages to the disk.
#[derive(Clone, Copy)]
enum WriteBy {
    /// A thread of the queue.
    Queue,
    /// The thread that publishes.
    Caller,
}

/// A message and its producer.
#[derive(Clone, Copy)]
pub(crate) struct Incoming<'m> {
    pub(crate) publish: &'m Publish<'m>,
    /// The producer's id and the number it gave the message; an id of 0 is none.
    pub(crate) producer: (u64, u64),
}

/// The result for a message that was not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepted {
    At(MessageId),
    /// It was accepted earlier. It is durable when this later message of its lane is.
    Duplicate(MessageId),
}

/// The reason that a message was not accepted.
pub(crate) enum Refusal {
    /// There is no room now. It may be accepted when the topic's count of `room_made` passes this.
    Later(u64, QueueError),
    Never(QueueError),
}

impl Topic {
    /// Accepts messages in order, under one lock. Stops at the first that is refused. A thread of
    /// the queue writes them.
    pub(crate) fn publish<'m>(
        self: &Arc<Self>,
        incoming: impl IntoIterator<Item = Incoming<'m>>,
        accepted: impl FnMut(Accepted),
    ) -> Result<(), Refusal> {
        self.accept(incoming, accepted, WriteBy::Queue).map(drop)
    }

    /// As [`Topic::publish`]. If nobody writes the topic, the caller is to, and gets the turn.
    pub(crate) fn publish_to_write<'m>(
        self: &Arc<Self>,
        incoming: impl IntoIterator<Item = Incoming<'m>>,
        accepted: impl FnMut(Accepted),
    ) -> Result<Option<WriteTurn>, Refusal> {
        // Without threads, the steps of the simulation decide when something is written.
        let by = if self.runtime.is_driven() { WriteBy::Queue } else { WriteBy::Caller };
        self.accept(incoming, accepted, by)
    }

    fn accept<'m>(
        self: &Arc<Self>,
        incoming: impl IntoIterator<Item = Incoming<'m>>,
        mut accepted: impl FnMut(Accepted),
        by: WriteBy,
    ) -> Result<Option<WriteTurn>, Refusal> {
        self.check_own().map_err(Refusal::Never)?;
        if self.level() != Level::Memory
            && let Err(error) = self.runtime.check_room()
        {
            self.filling().refused += 1;
            return Err(Refusal::Never(error));
        }
        let now = self.runtime.now();
        let mut filling = self.filling();
        let mut result = Ok(None);
        // The lanes with new messages, a bit for each.
        let mut touched = 0_u32;
        for incoming in incoming {
            match self.take_in(&mut filling, incoming, now) {
                Ok(taken) => {
                    if let Accepted::At(id) = taken {
                        touched |= 1 << self.nth(id.lane);
                    }
                    accepted(taken);
                }
                Err(refusal) => {
                    filling.refused += 1;
                    result = Err(refusal);
                    break;
                }
            }
        }
        if self.level() == Level::Memory {
            drop(filling);
            while touched != 0 {
                let lane = &self.lanes[touched.trailing_zeros() as usize];
                lane.arrivals.wake_through(lane.visible());
                touched &= touched - 1;
            }
        } else if filling.pending_bytes > 0 {
            match (&mut result, by) {
                (Ok(turn), WriteBy::Caller) => *turn = WriteTurn::take(self, &mut filling),
                _ => self.schedule(&mut filling),
            }
        }
        result
    }

    #[inline]
    fn take_in(
        self: &Arc<Self>,
        filling: &mut Filling,
        incoming: Incoming<'_>,
        now: Timestamp,
    ) -> Result<Accepted, Refusal> {
        if let Some(end) = &filling.end {
            return Err(Refusal::Never(self.ended(end)));
        }
        let Incoming { publish, producer: (producer, producer_sequence) } = incoming;
        let bytes = publish
            .check(self.options.priorities, self.options.message_bytes_max)
            .map_err(|error| Refusal::Never(error.into()))?;
        if producer == TRANSACTIONS || (producer != 0 && producer_sequence == u64::MAX) {
            let number = producer_sequence;
            return Err(Refusal::Never(QueueError::ProducerNumber { producer, number }));
        }
        let deliver_at = match publish.due {
            Due::Now => None,
            Due::After(delay) => Some(now.after(delay)),
            Due::At(time) => Some(time),
        };
        let is_delayed = deliver_at.is_some_and(|at| at > now);
        let nth = if is_delayed { self.lanes.len() - 1 } else { usize::from(publish.priority) };
        if producer != 0 && !self.runtime.sabotage.is(Sabotage::TakeDuplicates) {
            // A message that was delayed when it was first sent may not be delayed any more.
            let delayed = (publish.due != Due::Now).then_some(self.lanes.len() - 1);
            for nth in [Some(nth), delayed].into_iter().flatten() {
                let last = filling.producers.last(nth as u8, producer);
                if last.is_some_and(|last| producer_sequence <= last) {
                    filling.duplicates += 1;
                    let (lane, seq) = (self.lanes[nth].number, filling.lanes[nth].next_seq - 1);
                    return Ok(Accepted::Duplicate(MessageId { lane, seq }));
                }
            }
        }
        self.check_room(filling, nth, bytes)?;
        let (lane, filled) = (&self.lanes[nth], &mut filling.lanes[nth]);
        let published_at = now.max(filled.last_time);
        let stamp = Stamp { published_at, deliver_at, producer, producer_sequence };
        let seq = filled.append(&self.runtime, bytes, |room| publish.encode(stamp, room));
        filled.last_time = published_at;
        self.appended(filling, nth, seq, bytes, (producer, producer_sequence));
        filling.published_messages += 1;
        filling.published_bytes += bytes as u64;
        Ok(Accepted::At(MessageId { lane: lane.number, seq }))
    }

    /// Updates the counters after a message was appended.
    #[inline]
    fn appended(
        &self,
        filling: &mut Filling,
        nth: usize,
        seq: u64,
        bytes: usize,
        (producer, producer_sequence): (u64, u64),
    ) {
        let (lane, filled) = (&self.lanes[nth], &mut filling.lanes[nth]);
        filled.extents.add(seq, bytes as u64, filled.last_time);
        if self.level() == Level::Memory {
            // Full groups go to the recent messages; readers take the open group themselves.
            while let Some(group) = filled.full.pop_front() {
                lane.shelve(Batch::of_group(group, &self.runtime.spares));
            }
            lane.published(seq);
        } else {
            filling.pending_bytes += bytes;
        }
        if producer != 0 {
            let safe = |nth: u8| self.lanes[usize::from(nth)].mark(Level::Synced);
            filling.producers.accept(nth as u8, seq, (producer, producer_sequence), safe);
        }
    }

    /// Appends an encoded record, unless its transaction has delivered it already. Bounds do not
    /// apply, because its admission was decided before. A transaction of 0 is none. Delayed
    /// messages counted as published when they were sent.
    pub(crate) fn take_record(
        self: &Arc<Self>,
        nth: usize,
        record: &[u8],
        transaction: u64,
        is_new: bool,
    ) -> Result<Accepted, QueueError> {
        self.check_own()?;
        let now = self.runtime.now();
        let mut guard = self.filling();
        let filling = &mut *guard;
        if let Some(end) = &filling.end {
            return Err(self.ended(end));
        }
        let is_blind = self.runtime.sabotage.is(Sabotage::DeliverTwice);
        let producer = if transaction == 0 || is_blind { 0 } else { TRANSACTIONS };
        let last = filling.producers.last(nth as u8, TRANSACTIONS);
        if producer != 0 && last.is_some_and(|last| transaction <= last) {
            let (lane, seq) = (self.lanes[nth].number, filling.lanes[nth].next_seq - 1);
            return Ok(Accepted::Duplicate(MessageId { lane, seq }));
        }
        let lane = self.lanes[nth].number;
        let filled = &mut filling.lanes[nth];
        filled.last_time = now.max(filled.last_time);
        let published_at = filled.last_time;
        let seq = filled.append(&self.runtime, record.len(), |room| {
            room.copy_from_slice(record);
            format::restamp(room, published_at, transaction);
        });
        self.appended(filling, nth, seq, record.len(), (producer, transaction));
        if is_new {
            filling.published_messages += 1;
            filling.published_bytes += record.len() as u64;
        }
        if self.level() == Level::Memory {
            drop(guard);
            self.lanes[nth].arrivals.wake_through(seq);
        } else {
            self.schedule(filling);
        }
        Ok(Accepted::At(MessageId { lane, seq }))
    }

    fn check_room(&self, filling: &mut Filling, nth: usize, bytes: usize) -> Result<(), Refusal> {
        let later = |error| Err(Refusal::Later(self.room_made.load(Ordering::Acquire), error));
        if filling.pending_bytes + bytes > self.options.pending_bytes_max
            && filling.pending_bytes > 0
        {
            let bytes = filling.pending_bytes;
            return later(QueueError::Busy { topic: self.name.clone(), bytes });
        }
        let bounds = self.options.bounds;
        if self.lanes[nth].number == DELAYED_LANE
            && let Some(max) = bounds.bytes
        {
            // Delayed messages have a bound of their own, equal to that of the others.
            let (messages, held) = (self.delayed_held(filling), filling.lanes[nth].extents.bytes());
            if held + bytes as u64 > max {
                let topic = self.name.clone();
                return later(QueueError::Full { topic, messages, bytes: held });
            }
        }
        if self.options.kind == Kind::WorkQueue
            && (bounds.messages.is_some() || bounds.bytes.is_some())
        {
            let (messages, held) = self.held(filling);
            if bounds.messages.is_some_and(|max| messages >= max)
                || bounds.bytes.is_some_and(|max| held + bytes as u64 > max)
            {
                let topic = self.name.clone();
                return later(QueueError::Full { topic, messages, bytes: held });
            }
        }
        Ok(())
    }

    /// Returns when room has been made since the count was `seen`.
    pub(crate) async fn room(&self, seen: u64) {
        let mut waiting = Waiting::new(std::slice::from_ref(&self.room));
        std::future::poll_fn(|context| {
            if self.room_made.load(Ordering::Acquire) != seen {
                return std::task::Poll::Ready(());
            }
            waiting.register(context.waker(), |_, _| seen);
            if self.room_made.load(Ordering::Acquire) != seen {
                return std::task::Poll::Ready(());
            }
            std::task::Poll::Pending
        })
        .await;
    }

    /// Moves the open group of a lane in memory to the recent messages.
    pub(crate) fn shelve_open(&self, nth: usize) {
        let mut filling = self.filling();
        let filled = &mut filling.lanes[nth];
        if let Some(open) = filled.open.take_if(|open| !open.is_empty()) {
            self.lanes[nth].shelve(Batch::of_group(open, &self.runtime.spares));
        }
    }
}

impl LaneFilling {
    /// Appends a record of `bytes` bytes, which fit into a group, and returns its number.
    #[inline]
    fn append(&mut self, runtime: &Runtime, bytes: usize, encode: impl FnOnce(&mut [u8])) -> u64 {
        let mut is_filling = false;
        loop {
            let next_seq = self.next_seq;
            let open = self.open.get_or_insert_with(|| runtime.buffer(next_seq, is_filling));
            match open.reserve(bytes) {
                Ok(room) => {
                    encode(room);
                    let seq = open.commit(bytes);
                    self.next_seq = seq + 1;
                    return seq;
                }
                Err(AppendError::Full) => {
                    self.full.extend(self.open.take());
                    self.filled += 1;
                    is_filling = self.filled >= MANY;
                }
                Err(AppendError::TooLong { .. }) => {
                    unreachable!("the message was checked to be no longer than a group holds")
                }
            }
        }
    }
}
