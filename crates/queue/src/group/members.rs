//! A group as its consumers share it.

use super::changes::Progress;
use super::deadlines::Deadline;
use super::options::{Delivery, GroupOptions};
use super::state::GroupState;
use super::terms::{ConsumerId, FailedMessage, GroupCounts, HeldLease, Lease, Nack, Offer};
use crate::error::QueueError;
use crate::message::{Message, MessageId};
use crate::name::Name;
use crate::rate::{Meter, Rate};
use crate::sabotage::Sabotage;
use crate::topic::{LaneCursor, Step, Topic};
use rialto_clock::Timestamp;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A message that is leased to a consumer until it is acknowledged or its deadline passes.
#[derive(Clone, Debug)]
pub struct Delivered {
    pub(super) message: Message,
    pub(crate) lease: u64,
    pub(super) attempt: u16,
}

impl Delivered {
    /// The number of this delivery, from 1.
    #[must_use]
    pub fn attempt(&self) -> u16 {
        self.attempt
    }

    /// The number of the lease. Together with [`Message::id`] it identifies the delivery.
    #[must_use]
    pub fn lease(&self) -> u64 {
        self.lease
    }

    /// The message, which may be kept longer than the lease.
    #[must_use]
    pub fn message(&self) -> &Message {
        &self.message
    }
}

impl Deref for Delivered {
    type Target = Message;

    fn deref(&self) -> &Message {
        &self.message
    }
}

/// The messages of a fetch.
#[derive(Debug, Default)]
pub struct Fetched {
    /// The messages, in order of delivery.
    pub messages: Vec<Delivered>,
    /// The number of messages that retention dropped before they were delivered.
    pub missed: u64,
}

pub(super) struct Inner {
    pub(super) state: GroupState,
    /// The cursors of new messages.
    fresh: Vec<LaneCursor>,
    /// The cursors of redelivered messages.
    again: Vec<LaneCursor>,
    is_deleted: bool,
    pub(super) delivered_bytes: u64,
    meter: Meter,
}

/// A consumer group of a topic.
pub(crate) struct Group {
    pub(crate) id: u32,
    pub(crate) name: Name,
    pub(crate) topic: Arc<Topic>,
    inner: Mutex<Inner>,
    /// Whether the control log has yet to record changes.
    pub(crate) is_dirty: AtomicBool,
    /// Whether its failed messages could not be moved when that was last tried.
    is_stuck: AtomicBool,
}

impl Group {
    pub(crate) fn new(id: u32, name: Name, topic: Arc<Topic>, state: GroupState) -> Self {
        let cursors = |state: &GroupState| -> Vec<LaneCursor> {
            let floor = |lane: u8| LaneCursor::new(usize::from(lane), state.window(lane).floor());
            (0..state.lanes()).map(floor).collect()
        };
        let inner = Mutex::new(Inner {
            fresh: cursors(&state),
            again: cursors(&state),
            state,
            is_deleted: false,
            delivered_bytes: 0,
            meter: Meter::new(topic.runtime.now()),
        });
        Self {
            id,
            name,
            topic,
            inner,
            is_dirty: AtomicBool::new(false),
            is_stuck: AtomicBool::new(false),
        }
    }

    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn options(&self) -> GroupOptions {
        self.inner().state.options.clone()
    }

    pub(crate) fn join(&self) -> Result<ConsumerId, QueueError> {
        let mut inner = self.inner();
        self.check(&inner)?;
        Ok(inner.state.join())
    }

    pub(super) fn check(&self, inner: &Inner) -> Result<(), QueueError> {
        if inner.is_deleted {
            let (topic, group) = (self.topic.name.clone(), self.name.to_string());
            return Err(QueueError::UnknownGroup { topic, group });
        }
        self.topic.check_open()
    }

    pub(crate) fn leave(&self, consumer: ConsumerId) {
        let mut inner = self.inner();
        inner.state.leave(consumer, self.topic.runtime.now());
        drop(inner);
        self.wake();
    }

    /// Wakes all waiting consumers of the topic, because there is a message to redeliver.
    pub(crate) fn wake(&self) {
        for lane in &self.topic.lanes {
            lane.arrivals.wake_all();
        }
    }

    /// Delivers at most `messages_max` messages to a consumer, and stops after the one that reaches
    /// `bytes_max` bytes. The leases have this length, or the group's.
    pub(crate) fn take(
        &self,
        consumer: ConsumerId,
        messages_max: usize,
        bytes_max: usize,
        length: Option<Duration>,
    ) -> Result<Fetched, QueueError> {
        let now = self.topic.runtime.now();
        let mut guard = self.inner();
        self.check(&guard)?;
        let mut fetched = Fetched::default();
        let inner = &mut *guard;
        let is_forgetful = self.topic.runtime.sabotage.is(Sabotage::ForgetLeases);
        inner.state.advance(if is_forgetful { Timestamp(u64::MAX) } else { now });
        let mut taken = Ok(());
        if inner.state.may_take(consumer) {
            let mut taking = Taking {
                topic: &self.topic,
                consumer,
                now,
                deadline: inner.state.deadline(now, length),
                bytes: 0,
                bytes_max,
                fetched: &mut fetched,
            };
            taken = (0..inner.state.lanes()).rev().try_for_each(|lane| {
                taking.again(inner, lane, messages_max)?;
                taking.fresh(inner, lane, messages_max)
            });
            inner.delivered_bytes += taking.bytes as u64;
        }
        if inner.state.options.delivery == Delivery::AtMostOnce {
            for delivered in &fetched.messages {
                inner.state.ack(delivered.id(), delivered.lease, consumer);
            }
        }
        drop(guard);
        self.release_room();
        match taken {
            // Messages before the error have been leased and must be delivered. The next fetch
            // returns the error again.
            Err(error) if fetched.messages.is_empty() && fetched.missed == 0 => Err(error),
            _ => Ok(fetched),
        }
    }

    pub(crate) fn ack(
        &self,
        id: MessageId,
        lease: u64,
        consumer: ConsumerId,
    ) -> Result<(), QueueError> {
        let held = self.inner().state.ack(id, lease, consumer);
        self.release_room();
        if held { Ok(()) } else { Err(QueueError::LeaseLost(id)) }
    }

    pub(crate) fn ack_all(
        &self,
        leases: impl Iterator<Item = (MessageId, u64)>,
        consumer: ConsumerId,
    ) -> Vec<MessageId> {
        let mut inner = self.inner();
        let is_lost = |(id, lease): &(MessageId, u64)| !inner.state.ack(*id, *lease, consumer);
        let lost = leases.filter(is_lost).map(|(id, _)| id).collect();
        drop(inner);
        self.release_room();
        lost
    }

    /// Reserves messages for a transaction: all of them or, if one lease is lost, none.
    pub(crate) fn reserve(&self, leases: &[HeldLease]) -> Result<(), QueueError> {
        let mut inner = self.inner();
        self.check(&inner)?;
        for (nth, held) in leases.iter().enumerate() {
            if !inner.state.reserve(held.id, held.lease, held.consumer) {
                for held in &leases[..nth] {
                    inner.state.unreserve(held.id);
                }
                drop(inner);
                self.release_room();
                return Err(QueueError::LeaseLost(held.id));
            }
        }
        Ok(())
    }

    pub(crate) fn unreserve(&self, leases: &[HeldLease]) {
        let mut inner = self.inner();
        leases.iter().for_each(|held| inner.state.unreserve(held.id));
        drop(inner);
        self.release_room();
    }

    pub(crate) fn committed(&self, leases: &[HeldLease]) {
        let mut inner = self.inner();
        leases.iter().for_each(|held| inner.state.committed(held.id));
        drop(inner);
        self.release_room();
    }

    pub(crate) fn ack_through(&self, id: MessageId, consumer: ConsumerId) -> u64 {
        let done = self.inner().state.ack_through(id, consumer);
        self.release_room();
        done
    }

    pub(crate) fn nack(
        &self,
        id: MessageId,
        lease: u64,
        consumer: ConsumerId,
        nack: Nack,
    ) -> Result<(), QueueError> {
        let held = self.inner().state.nack(id, lease, consumer, nack, self.topic.runtime.now());
        self.wake_for_freed();
        if held { Ok(()) } else { Err(QueueError::LeaseLost(id)) }
    }

    /// Takes back messages without counting the attempt. Returns the messages that the consumer no
    /// longer held.
    pub(crate) fn return_unseen(
        &self,
        leases: &[(MessageId, u64)],
        consumer: ConsumerId,
    ) -> Vec<MessageId> {
        let now = self.topic.runtime.now();
        let mut inner = self.inner();
        let is_lost = |(id, lease): &&(MessageId, u64)| {
            !inner.state.nack(*id, *lease, consumer, Nack::Unseen, now)
        };
        let lost = leases.iter().filter(is_lost).map(|(id, _)| *id).collect();
        drop(inner);
        self.wake_for_freed();
        lost
    }

    /// Removes the leases that have ended.
    pub(crate) fn retain_leased(
        &self,
        leases: &mut HashMap<u64, MessageId>,
    ) -> Result<(), QueueError> {
        let inner = self.inner();
        self.check(&inner)?;
        leases.retain(|lease, id| inner.state.is_leased(*id, *lease));
        Ok(())
    }

    pub(crate) fn extend(
        &self,
        id: MessageId,
        lease: u64,
        consumer: ConsumerId,
        length: Option<Duration>,
    ) -> Result<(), QueueError> {
        let now = self.topic.runtime.now();
        let held = self.inner().state.extend(id, lease, consumer, now, length);
        if held { Ok(()) } else { Err(QueueError::LeaseLost(id)) }
    }

    /// The numbers below which the group has acknowledged everything, one for each lane.
    pub(super) fn floors(&self) -> Result<Vec<u64>, QueueError> {
        let inner = self.inner();
        self.check(&inner)?;
        Ok((0..inner.state.lanes()).map(|lane| inner.state.window(lane).floor()).collect())
    }

    /// Whether a message could be delivered now and passes the filter.
    pub(super) fn would_give(&self, message: &Message) -> bool {
        let inner = self.inner();
        let filter = inner.state.options.filter.as_ref();
        inner.state.is_free(message.id()) && filter.is_none_or(|filter| filter.holds(message))
    }

    pub(crate) fn attempts_of(&self, id: MessageId) -> u16 {
        self.inner().state.attempts_of(id)
    }

    pub(crate) fn rests_until(&self, id: MessageId) -> Option<Timestamp> {
        self.inner().state.rests_until(id)
    }

    /// Whether a message is ready to be delivered again, or was not looked at yet.
    pub(crate) fn may_give(&self) -> bool {
        let mut guard = self.inner();
        let inner = &mut *guard;
        let is_fresh = |lane: u8| {
            let nth = usize::from(lane);
            let is_new = |cursor: &LaneCursor| cursor.next() <= self.topic.lanes[nth].visible();
            inner.fresh.get(nth).is_some_and(is_new)
        };
        let mut lanes = 0..inner.state.lanes();
        lanes.any(|lane| {
            inner.state.next_ready(lane).is_some() || inner.state.has_room(lane) && is_fresh(lane)
        })
    }

    /// Ends leases and delays that are due.
    pub(crate) fn advance(&self, now: Timestamp) {
        let mut inner = self.inner();
        if inner.state.next_due().is_some_and(|due| due <= now) {
            inner.state.advance(now);
        }
        drop(inner);
        self.wake_for_freed();
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.inner().state.has_failed()
    }

    /// Logs that failed messages cannot be moved, or can be again.
    pub(crate) fn note_stuck(&self, reason: Option<&str>) {
        if self.is_stuck.load(Ordering::Relaxed) == reason.is_some() {
            return;
        }
        self.is_stuck.store(reason.is_some(), Ordering::Relaxed);
        let (topic, group) = (&self.topic.name, &self.name);
        match reason {
            Some(reason) => tracing::warn!(
                %topic, %group, "messages cannot become dead letters and wait: {reason}"
            ),
            None => tracing::info!(%topic, %group, "messages become dead letters again"),
        }
    }

    pub(crate) fn take_failed(&self) -> Vec<FailedMessage> {
        self.inner().state.take_failed()
    }

    /// Finishes failed messages that retention has dropped. False if there are none.
    pub(crate) fn finish_gone(&self) -> bool {
        let topic = &self.topic;
        let has_gone = self.inner().state.finish_gone(|lane| topic.lanes[topic.nth(lane)].first());
        if has_gone {
            self.wake_for_freed();
        }
        has_gone
    }

    pub(crate) fn dead_lettered(&self, id: MessageId) {
        self.inner().state.dead_lettered(id);
        self.release_room();
        self.wake();
    }

    pub(crate) fn put_back(&self, failures: impl IntoIterator<Item = FailedMessage>) {
        self.inner().state.put_back(failures);
    }

    /// The changes since the last call; `None` if there are none.
    pub(crate) fn take_changes(&self) -> Option<Progress> {
        self.is_dirty.store(false, Ordering::SeqCst);
        let mut inner = self.inner();
        // The control log must not record anything of a deleted group.
        let has_changes = !inner.is_deleted && !inner.state.changes.is_empty();
        has_changes.then(|| inner.state.take_changes())
    }

    pub(crate) fn has_changes(&self) -> bool {
        !self.inner().state.changes.is_empty()
    }

    /// The whole progress for the control log. It includes the changes so far.
    pub(crate) fn image(&self) -> Progress {
        let mut inner = self.inner();
        drop(inner.state.take_changes());
        inner.state.image()
    }

    pub(crate) fn delete(&self) {
        self.inner().is_deleted = true;
        self.wake();
    }

    /// The number below which the group has acknowledged everything in a lane.
    pub(crate) fn floor(&self, lane: u8) -> u64 {
        self.inner().state.window(lane).floor()
    }

    /// Wakes consumers that wait for redelivered messages; in a work queue, releases messages that
    /// all groups have acknowledged.
    pub(super) fn release_room(&self) {
        self.wake_for_freed();
        self.topic.release_done();
    }

    fn wake_for_freed(&self) {
        let has_freed = std::mem::take(&mut self.inner().state.has_freed);
        if has_freed {
            self.wake();
        }
    }

    /// Samples the counters for the rates. To be called once a second.
    pub(crate) fn sample(&self, now: Timestamp) {
        let mut guard = self.inner();
        let inner = &mut *guard;
        inner.meter.sample(now, inner.state.counts.delivered, inner.delivered_bytes);
    }

    pub(crate) fn stats(&self) -> GroupStats {
        let inner = self.inner();
        let state = &inner.state;
        let lag = (0..state.lanes())
            .map(|nth| {
                let (lane, floor) =
                    (&self.topic.lanes[usize::from(nth)], state.window(nth).floor());
                // Messages that retention dropped do not count.
                (lane.visible() + 1).saturating_sub(floor.max(lane.first()))
            })
            .sum();
        GroupStats {
            name: self.name.clone(),
            consumers: state.consumers(),
            lag,
            outstanding: state.outstanding(),
            dead_letters_pending: state.failed_messages(),
            floors: (0..state.lanes()).map(|lane| state.window(lane).floor()).collect(),
            counts: state.counts,
            delivered_bytes: inner.delivered_bytes,
            delivered_rate: inner.meter.rate(
                self.topic.runtime.now(),
                state.counts.delivered,
                inner.delivered_bytes,
            ),
        }
    }
}

/// The state of a group.
#[derive(Clone, Debug)]
pub struct GroupStats {
    /// Its name.
    pub name: Name,
    /// The number of its consumers in this process.
    pub consumers: usize,
    /// The lag: the number of messages from the oldest one that is not acknowledged.
    pub lag: u64,
    /// The number of outstanding messages: leased, or waiting for redelivery.
    pub outstanding: usize,
    /// Messages whose last attempt failed, and which cannot become dead letters yet.
    pub dead_letters_pending: usize,
    /// The numbers below which everything is acknowledged, one for each lane.
    pub floors: Vec<u64>,
    /// Counts since it was opened.
    pub counts: GroupCounts,
    /// The bytes of all deliveries since then.
    pub delivered_bytes: u64,
    /// The rate of deliveries.
    pub delivered_rate: Rate,
}

/// One call of [`Group::take`].
struct Taking<'a> {
    topic: &'a Topic,
    consumer: ConsumerId,
    now: Timestamp,
    deadline: Deadline,
    bytes: usize,
    bytes_max: usize,
    fetched: &'a mut Fetched,
}

impl Taking<'_> {
    fn has_room(&self, messages_max: usize) -> bool {
        self.fetched.messages.len() < messages_max && self.bytes < self.bytes_max
    }

    fn give(&mut self, message: Message, lease: Lease) {
        self.bytes += message.record().len();
        let Lease { number, attempt } = lease;
        self.fetched.messages.push(Delivered { message, lease: number, attempt });
    }

    /// Redelivers messages of a lane.
    fn again(
        &mut self,
        inner: &mut Inner,
        lane: u8,
        messages_max: usize,
    ) -> Result<(), QueueError> {
        while self.has_room(messages_max)
            && let Some(id) = inner.state.next_ready(lane)
        {
            let cursor = &mut inner.again[usize::from(id.lane)];
            cursor.seek(id.seq);
            match cursor.step(self.topic)? {
                Step::Message(message) if message.id() == id && message.is_expired(self.now) => {
                    inner.state.expire_unseen(id);
                }
                Step::Message(message) if message.id() == id => {
                    let lease = inner.state.release(id, self.consumer, self.deadline);
                    self.give(message, lease);
                }
                // Retention dropped it while it was leased.
                _ => {
                    let first = self.topic.lanes[usize::from(id.lane)].first();
                    self.fetched.missed += inner.state.pass(id.lane, first.max(id.seq + 1));
                }
            }
        }
        Ok(())
    }

    /// Delivers new messages of a lane.
    fn fresh(
        &mut self,
        inner: &mut Inner,
        lane: u8,
        messages_max: usize,
    ) -> Result<(), QueueError> {
        while self.has_room(messages_max) && inner.state.has_room(lane) {
            match inner.fresh[usize::from(lane)].step(self.topic)? {
                Step::Message(message) => self.consider(inner, message),
                Step::End => break,
                Step::Gap(_, first) => self.fetched.missed += inner.state.pass(lane, first),
            }
        }
        Ok(())
    }

    #[inline]
    fn consider(&mut self, inner: &mut Inner, message: Message) {
        let (state, id) = (&mut inner.state, message.id());
        if state.knows(id) {
            return;
        }
        if state.options.filter.as_ref().is_some_and(|filter| !filter.holds(&message)) {
            state.counts.filtered += 1;
            state.skip(id);
        } else if message.is_expired(self.now) {
            state.expire_unseen(id);
        } else {
            let is_blind = self.topic.runtime.sabotage.is(Sabotage::IgnoreKeys);
            let key = if is_blind { &[] } else { message.key() };
            let offer = state.offer(id, key, self.consumer, self.now, self.deadline);
            if let Offer::Leased(lease) = offer {
                self.give(message, lease);
            }
        }
    }
}
