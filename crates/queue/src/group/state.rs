//! The state of a group and its transitions. It has no clock, no threads and no disk: time is a
//! parameter.

use super::changes::{Changes, Progress};
use super::deadlines::{Deadline, Deadlines};
use super::failed::FailedMessages;
use super::keys::Keys;
use super::options::{DeliveryOrder, GroupOptions, Sharing};
use super::terms::{ConsumerId, DeadLetterReason, FailedMessage, GroupCounts, Lease, Nack, Offer};
use super::window::{Range, Slot, Standing, Window};
use crate::message::MessageId;
use rialto_clock::Timestamp;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

pub(crate) struct GroupState {
    pub(crate) options: GroupOptions,
    pub(super) windows: Vec<Window>,
    pub(super) ready: BTreeSet<MessageId>,
    pub(super) deadlines: Deadlines,
    last_lease: u64,
    consumers: Vec<ConsumerId>,
    last_consumer: u32,
    pub(super) keys: Keys,
    /// The attempts of messages before the group was opened.
    pub(super) earlier_attempts: HashMap<MessageId, (u16, Timestamp)>,
    failed: FailedMessages,
    pub(crate) changes: Changes,
    pub(crate) counts: GroupCounts,
    /// Whether something can be delivered that could not before: waiting consumers must be woken.
    pub(crate) has_freed: bool,
    /// Whether changes are written to the control log at all.
    pub(super) keeps_changes: bool,
}

impl GroupState {
    /// The whole progress of the group for the control log: acknowledgements, seen messages and
    /// attempts.
    pub(crate) fn image(&self) -> Progress {
        let lanes = 0..self.lanes();
        let done = lanes.clone().flat_map(|lane| {
            self.window(lane).done_ranges().into_iter().map(move |range| (lane, range))
        });
        Progress {
            floors: self.windows.iter().map(Window::floor).collect(),
            done: done.collect(),
            seen: lanes.map(|lane| (lane, self.window(lane).end())).collect(),
            tried: self.attempts(),
        }
    }

    /// The changes since the last call.
    pub(crate) fn take_changes(&mut self) -> Progress {
        let changes = std::mem::take(&mut self.changes);
        Progress {
            floors: Vec::new(),
            done: changes.done,
            seen: (0..self.lanes()).map(|lane| (lane, self.window(lane).end())).collect(),
            tried: changes.tried,
        }
    }

    /// A group that begins at these numbers, one for each lane.
    pub(crate) fn new(options: GroupOptions, floors: &[u64], keeps_changes: bool) -> Self {
        Self {
            options,
            windows: floors.iter().map(|floor| Window::new(*floor)).collect(),
            ready: BTreeSet::new(),
            deadlines: Deadlines::default(),
            last_lease: 0,
            consumers: Vec::new(),
            last_consumer: 0,
            keys: Keys::default(),
            earlier_attempts: HashMap::new(),
            failed: FailedMessages::default(),
            changes: Changes::default(),
            counts: GroupCounts::default(),
            has_freed: false,
            keeps_changes,
        }
    }

    /// Continues the progress of an earlier process. Each delivery that was open then counts as one
    /// more attempt.
    pub(crate) fn restore(&mut self, progress: &Progress) {
        for (lane, range) in &progress.done {
            self.windows[usize::from(*lane)].finish_far(*range);
        }
        for (lane, end) in &progress.seen {
            let lane = *lane;
            for seq in self.window(lane).floor()..*end {
                let id = MessageId { lane, seq };
                if !self.knows(id) {
                    self.earlier_attempts.insert(id, (1, Timestamp(0)));
                }
            }
        }
        for (id, attempts, due) in &progress.tried {
            if !self.knows(*id) {
                self.earlier_attempts.insert(*id, (*attempts, *due));
            }
        }
    }

    pub(crate) fn window(&self, lane: u8) -> &Window {
        &self.windows[usize::from(lane)]
    }

    pub(super) fn window_mut(&mut self, id: MessageId) -> &mut Window {
        &mut self.windows[usize::from(id.lane)]
    }

    pub(crate) fn lanes(&self) -> u8 {
        self.windows.len() as u8
    }

    /// The number of outstanding messages: leased, or waiting for redelivery.
    pub(crate) fn outstanding(&self) -> usize {
        self.windows.iter().map(Window::outstanding).sum()
    }

    pub(crate) fn join(&mut self) -> ConsumerId {
        self.last_consumer += 1;
        let consumer = ConsumerId(self.last_consumer);
        self.consumers.push(consumer);
        consumer
    }

    pub(crate) fn consumers(&self) -> usize {
        self.consumers.len()
    }

    /// Whether the consumer may receive messages.
    pub(crate) fn may_take(&self, consumer: ConsumerId) -> bool {
        match self.options.sharing {
            Sharing::Competing => self.consumers.contains(&consumer),
            Sharing::SingleActive => self.consumers.first() == Some(&consumer),
        }
    }

    /// Removes a consumer; its messages may be delivered again at once.
    pub(crate) fn leave(&mut self, consumer: ConsumerId, now: Timestamp) {
        self.consumers.retain(|other| *other != consumer);
        let mut had = Vec::new();
        for (lane, window) in (0..).zip(&self.windows) {
            let leased = window.each().filter(|(_, slot)| {
                slot.standing == Standing::Leased && slot.consumer == consumer.0
            });
            had.extend(leased.map(|(seq, _)| MessageId { lane, seq }));
        }
        for id in had {
            self.retry(id, now, Duration::ZERO, DeadLetterReason::Unanswered, String::new());
        }
    }

    /// Whether the window of a lane has room for another new message.
    #[inline]
    pub(crate) fn has_room(&self, lane: u8) -> bool {
        self.windows[usize::from(lane)].len() < self.options.outstanding_max
    }

    /// Whether the group has acknowledged a message, or has leased it, so that it is not new.
    #[inline]
    pub(crate) fn knows(&self, id: MessageId) -> bool {
        let window = &self.windows[usize::from(id.lane)];
        id.seq < window.floor()
            || window.get(id.seq).is_some_and(|slot| slot.standing != Standing::Unseen)
    }

    /// Whether a message could be delivered now.
    pub(crate) fn is_free(&self, id: MessageId) -> bool {
        let window = &self.windows[usize::from(id.lane)];
        let is_free = |slot: &Slot| matches!(slot.standing, Standing::Unseen | Standing::Ready);
        id.seq >= window.floor() && window.get(id.seq).is_none_or(is_free)
    }

    /// When a lease of this length ends that begins now; without one, of the group's length.
    #[inline]
    pub(crate) fn deadline(&self, now: Timestamp, length: Option<Duration>) -> Deadline {
        match length {
            Some(length) if length != self.options.ack_wait => Deadline::Own(now.after(length)),
            _ => Deadline::Group(now.after(self.options.ack_wait)),
        }
    }

    /// Delivers a new message until the deadline, or queues it behind another of its key.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        id: MessageId,
        key: &[u8],
        consumer: ConsumerId,
        now: Timestamp,
        deadline: Deadline,
    ) -> Offer {
        let in_turn = self.options.order == DeliveryOrder::None || self.keys.enter(key, id);
        // It was recorded as seen and not tried; now it is tried.
        let mut is_known_untried = false;
        if !self.earlier_attempts.is_empty()
            && let Some((attempts, due)) = self.earlier_attempts.remove(&id)
        {
            is_known_untried = attempts == 0;
            self.window_mut(id).reach(id.seq).attempts = attempts;
            let attempts_max = self.options.attempts_max;
            if attempts_max > 0 && attempts >= attempts_max {
                self.fail(id, DeadLetterReason::Unanswered, String::new());
                return Offer::Behind;
            }
            if due > now {
                self.deadlines.rest(due, id);
                if in_turn {
                    self.window_mut(id).reach(id.seq).standing = Standing::Resting;
                    return Offer::Behind;
                }
            }
        }
        if in_turn {
            if is_known_untried && self.keeps_changes {
                self.changes.tried.push((id, 1, Timestamp(0)));
            }
            Offer::Leased(self.lease(id, consumer, deadline))
        } else {
            let slot = self.window_mut(id).reach(id.seq);
            slot.standing = Standing::Behind;
            let attempts = slot.attempts;
            // It has been seen and not tried, which must be recorded for a later process.
            if self.keeps_changes {
                let until = self.deadlines.rests(id).unwrap_or_default();
                self.changes.tried.push((id, attempts, until));
            }
            Offer::Behind
        }
    }

    /// Skips a new message: it counts as acknowledged.
    #[inline]
    pub(crate) fn skip(&mut self, id: MessageId) {
        self.finish(id);
    }

    #[inline]
    fn lease(&mut self, id: MessageId, consumer: ConsumerId, deadline: Deadline) -> Lease {
        self.last_lease += 1;
        let number = self.last_lease;
        let slot = self.windows[usize::from(id.lane)].reach(id.seq);
        let attempt = slot.attempts.saturating_add(1);
        // A seen message counts as tried once. Other counts must be recorded.
        if self.keeps_changes && (attempt > 1 || slot.standing != Standing::Unseen) {
            self.changes.tried.push((id, attempt, Timestamp(0)));
        }
        *slot = Slot {
            lease: number,
            consumer: consumer.0,
            attempts: attempt,
            standing: Standing::Leased,
        };
        let windows = &self.windows;
        let current = windows.iter().map(Window::outstanding).sum();
        self.deadlines
            .lease(deadline, id, number, current, |id, lease| is_leased(windows, id, lease));
        self.changes.has_seen_more |= self.keeps_changes;
        self.counts.delivered += 1;
        self.counts.redelivered += u64::from(attempt > 1);
        Lease { number, attempt }
    }

    /// The next message of a lane that is to be delivered again.
    pub(crate) fn next_ready(&mut self, lane: u8) -> Option<MessageId> {
        let all = MessageId { lane, seq: 0 }..=MessageId { lane, seq: u64::MAX };
        while let Some(id) = self.ready.range(all.clone()).next().copied() {
            let standing = self.window(id.lane).get(id.seq).map(|slot| slot.standing);
            if standing == Some(Standing::Ready) {
                return Some(id);
            }
            self.ready.remove(&id);
        }
        None
    }

    /// Redelivers a message.
    pub(crate) fn release(
        &mut self,
        id: MessageId,
        consumer: ConsumerId,
        deadline: Deadline,
    ) -> Lease {
        self.ready.remove(&id);
        self.lease(id, consumer, deadline)
    }

    #[inline]
    fn finish(&mut self, id: MessageId) -> bool {
        self.has_freed |= !self.has_room(id.lane);
        if !self.window_mut(id).finish(id.seq) {
            return false;
        }
        self.deadlines.forget_rest(id);
        if self.keeps_changes {
            self.changes.done(id);
        }
        if self.options.order == DeliveryOrder::PerKey
            && let Some(next) = self.keys.leave(id)
        {
            let rests = self.deadlines.rests(next).is_some();
            let slot = self.window_mut(next).reach(next.seq);
            if slot.standing == Standing::Behind {
                slot.standing = if rests { Standing::Resting } else { Standing::Ready };
                if !rests {
                    self.ready.insert(next);
                    self.has_freed = true;
                }
            }
        }
        true
    }

    /// The consumer of a lease, if it is the last lease of the message and the message is not
    /// acknowledged. A lease that ran out counts until the message is delivered again. Lease 0 is that
    /// of a message that was not delivered.
    #[inline]
    fn holder(&self, id: MessageId, lease: u64) -> Option<ConsumerId> {
        let slot = self.windows.get(usize::from(id.lane))?.get(id.seq)?;
        let is_out =
            matches!(slot.standing, Standing::Leased | Standing::Ready | Standing::Resting);
        (is_out && lease != 0 && slot.lease == lease).then_some(ConsumerId(slot.consumer))
    }

    /// Whether a consumer may settle a message: it holds the lease, or the holder has left the
    /// group.
    #[inline]
    fn holds(&self, id: MessageId, lease: u64, consumer: ConsumerId) -> bool {
        self.holder(id, lease)
            .is_some_and(|holder| holder == consumer || !self.consumers.contains(&holder))
    }

    /// Whether a consumer holds this lease of a message.
    pub(crate) fn is_leased(&self, id: MessageId, lease: u64) -> bool {
        is_leased(&self.windows, id, lease)
    }

    /// A consumer acknowledges a message. False if the consumer no longer holds it.
    #[inline]
    pub(crate) fn ack(&mut self, id: MessageId, lease: u64, consumer: ConsumerId) -> bool {
        let held = self.holds(id, lease, consumer);
        if held {
            self.finish(id);
            self.counts.acked += 1;
            self.deadlines.forget(lease);
        }
        held
    }

    /// Reserves a message for a transaction that will acknowledge it. False if the consumer no
    /// longer holds it.
    pub(crate) fn reserve(&mut self, id: MessageId, lease: u64, consumer: ConsumerId) -> bool {
        let held = self.holds(id, lease, consumer);
        if held && let Some(slot) = self.window_mut(id).get_mut(id.seq) {
            slot.standing = match slot.standing {
                Standing::Leased => Standing::Reserved,
                _ => Standing::Settling,
            };
        }
        held
    }

    /// Undoes the reservation: the transaction was given up.
    pub(crate) fn unreserve(&mut self, id: MessageId) {
        let rests = self.deadlines.rests(id).is_some();
        let Some(slot) = self.window_mut(id).get_mut(id.seq) else { return };
        match slot.standing {
            Standing::Reserved => slot.standing = Standing::Leased,
            Standing::Settling if rests => slot.standing = Standing::Resting,
            // It was not leased, or its deadline has passed meanwhile. The lease counts until the
            // message is delivered again.
            Standing::Settling => {
                slot.standing = Standing::Ready;
                self.ready.insert(id);
                self.has_freed = true;
            }
            _ => {}
        }
    }

    pub(crate) fn committed(&mut self, id: MessageId) {
        self.counts.acked += 1;
        self.finish(id);
    }

    /// Acknowledges all messages of a lane up to this one that a consumer holds. Returns their
    /// number.
    pub(crate) fn ack_through(&mut self, id: MessageId, consumer: ConsumerId) -> u64 {
        let Some(window) = self.windows.get(usize::from(id.lane)) else { return 0 };
        let held: Vec<_> = window
            .each()
            .take_while(|(seq, _)| *seq <= id.seq)
            .filter(|(_, slot)| slot.standing == Standing::Leased && slot.consumer == consumer.0)
            .map(|(seq, _)| MessageId { lane: id.lane, seq })
            .collect();
        for id in &held {
            self.finish(*id);
            self.counts.acked += 1;
        }
        held.len() as u64
    }

    /// A consumer gives a message back. False if the consumer no longer holds it.
    pub(crate) fn nack(
        &mut self,
        id: MessageId,
        lease: u64,
        consumer: ConsumerId,
        nack: Nack,
        now: Timestamp,
    ) -> bool {
        if !self.holds(id, lease, consumer) {
            return false;
        }
        self.counts.nacked += 1;
        match nack {
            Nack::Retry { delay, detail } => {
                let delay = delay.unwrap_or_else(|| self.retry_delay(id));
                self.retry(id, now, delay, DeadLetterReason::Rejected, detail);
            }
            Nack::Refuse { detail } => self.fail(id, DeadLetterReason::Refused, detail),
            Nack::Unseen => self.unsee(id),
        }
        true
    }

    /// Undoes a delivery. If its lease ended before, the attempt counts.
    fn unsee(&mut self, id: MessageId) {
        let Some(slot) = self.window_mut(id).get_mut(id.seq) else { return };
        if slot.standing != Standing::Leased {
            return;
        }
        slot.standing = Standing::Ready;
        slot.attempts = slot.attempts.saturating_sub(1);
        let attempts = slot.attempts;
        self.ready.insert(id);
        self.has_freed = true;
        if self.keeps_changes {
            self.changes.tried.push((id, attempts, Timestamp(0)));
        }
    }

    /// Extends a lease to this long from now; without a length, to the group's. A lease that ends
    /// later anyway stays as it is. False if the consumer no longer holds it.
    pub(crate) fn extend(
        &mut self,
        id: MessageId,
        lease: u64,
        consumer: ConsumerId,
        now: Timestamp,
        length: Option<Duration>,
    ) -> bool {
        let held = self.is_leased(id, lease)
            && self.window(id.lane).get(id.seq).is_some_and(|slot| slot.consumer == consumer.0);
        if held {
            let length = length.unwrap_or(self.options.ack_wait);
            self.deadlines.extend(lease, now.after(length));
        }
        held
    }

    /// How long a message waits for its next attempt, if its consumer does not say.
    fn retry_delay(&mut self, id: MessageId) -> Duration {
        let attempts = self.windows[usize::from(id.lane)].reach(id.seq).attempts;
        self.options.retry_delay_after(attempts)
    }

    fn retry(
        &mut self,
        id: MessageId,
        now: Timestamp,
        delay: Duration,
        reason: DeadLetterReason,
        detail: String,
    ) {
        let attempts_max = self.options.attempts_max;
        let slot = self.windows[usize::from(id.lane)].reach(id.seq);
        let attempts = slot.attempts;
        if attempts_max > 0 && attempts >= attempts_max {
            return self.fail(id, reason, detail);
        }
        let due = now.after(delay);
        slot.standing = if delay.is_zero() { Standing::Ready } else { Standing::Resting };
        if delay.is_zero() {
            // It may have been delayed earlier.
            self.deadlines.forget_rest(id);
            self.ready.insert(id);
            self.has_freed = true;
        } else {
            self.deadlines.rest(due, id);
        }
        if self.keeps_changes {
            self.changes.tried.push((id, attempts, due));
        }
    }

    pub(super) fn fail(&mut self, id: MessageId, reason: DeadLetterReason, detail: String) {
        let slot = self.windows[usize::from(id.lane)].reach(id.seq);
        slot.standing = Standing::Settling;
        let attempts = slot.attempts;
        self.failed.push(FailedMessage { id, attempts, reason, detail });
    }

    /// A new message expired before it could be delivered.
    pub(crate) fn expire_unseen(&mut self, id: MessageId) {
        self.counts.expired += 1;
        self.finish(id);
    }

    /// Ends leases and delays that are due.
    pub(crate) fn advance(&mut self, now: Timestamp) {
        let windows = &self.windows;
        let is_current = |id, lease| is_leased(windows, id, lease);
        let mut ended = Vec::new();
        while let Some((id, _)) = self.deadlines.next_ended(now, is_current) {
            ended.push(id);
        }
        // Consumers are woken even if the message is delayed, because there is room for another.
        self.has_freed |= !ended.is_empty();
        for id in ended {
            let slot = self.windows[usize::from(id.lane)].reach(id.seq);
            if slot.standing == Standing::Reserved {
                slot.standing = Standing::Settling;
                continue;
            }
            self.counts.unanswered += 1;
            let delay = self.retry_delay(id);
            self.retry(id, now, delay, DeadLetterReason::Unanswered, String::new());
        }
        while let Some(id) = self.deadlines.next_rested(now) {
            if let Some(slot) = self.window_mut(id).get_mut(id.seq)
                && slot.standing == Standing::Resting
            {
                slot.standing = Standing::Ready;
                self.ready.insert(id);
                self.has_freed = true;
            }
        }
    }

    /// When [`GroupState::advance`] is due.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.deadlines.next_due()
    }

    /// The number of messages that wait for their dead-letter topic.
    pub(crate) fn failed_messages(&self) -> usize {
        self.failed.len()
    }

    /// Whether messages wait for their dead-letter topic.
    pub(crate) fn has_failed(&self) -> bool {
        !self.failed.is_empty()
    }

    /// The messages that wait for their dead-letter topic. Each is to be passed to
    /// [`GroupState::dead_lettered`] or [`GroupState::put_back`].
    pub(crate) fn take_failed(&mut self) -> Vec<FailedMessage> {
        self.failed.take()
    }

    /// Finishes failed messages that retention has dropped. `first_left` is the first message left of a
    /// lane. False if there are none.
    pub(crate) fn finish_gone(&mut self, first_left: impl Fn(u8) -> u64) -> bool {
        let has_gone = (0..self.lanes()).any(|lane| self.window(lane).floor() < first_left(lane));
        if self.failed.is_empty() || !has_gone {
            return false;
        }
        let gone = self.failed.take_gone(|id| id.seq < first_left(id.lane));
        for failure in &gone {
            self.dead_lettered(failure.id);
        }
        !gone.is_empty()
    }

    /// A failed message is in its dead-letter topic, or dropped.
    pub(crate) fn dead_lettered(&mut self, id: MessageId) {
        self.counts.dead += 1;
        self.finish(id);
    }

    /// Failed messages could not be moved yet.
    pub(crate) fn put_back(&mut self, failures: impl IntoIterator<Item = FailedMessage>) {
        failures.into_iter().for_each(|failure| self.failed.push(failure));
    }

    /// Removes the messages of a lane below `first`, which retention dropped. Returns how many were
    /// not acknowledged.
    pub(crate) fn pass(&mut self, lane: u8, first: u64) -> u64 {
        let window = &mut self.windows[usize::from(lane)];
        let before = window.floor();
        if first <= before {
            return 0;
        }
        let gone: Vec<_> = window
            .each()
            .take_while(|(seq, _)| *seq < first)
            .filter(|(_, slot)| slot.standing != Standing::Done)
            .map(|(seq, _)| MessageId { lane, seq })
            .collect();
        let missed = gone.len() as u64 + window.unknown_below(first);
        drop(self.failed.take_gone(|id| id.lane == lane && id.seq < first));
        for id in gone {
            self.finish(id);
        }
        self.windows[usize::from(lane)].pass(first);
        if self.keeps_changes {
            self.changes.done.push((lane, Range { first: before, last: first - 1 }));
        }
        missed
    }

    /// The attempts of a message that is not acknowledged.
    pub(crate) fn attempts_of(&self, id: MessageId) -> u16 {
        let earlier = self.earlier_attempts.get(&id).map(|(attempts, _)| *attempts);
        let slot = || Some(self.windows.get(usize::from(id.lane))?.get(id.seq)?.attempts);
        earlier.or_else(slot).unwrap_or_default()
    }

    /// The end of the delay before the next attempt of a message, if it has one.
    pub(crate) fn rests_until(&self, id: MessageId) -> Option<Timestamp> {
        let earlier = self.earlier_attempts.get(&id).map(|(_, due)| *due);
        self.deadlines.rests(id).or(earlier).filter(|due| *due > Timestamp(0))
    }

    /// The attempts of unacknowledged messages and the ends of their delays.
    pub(crate) fn attempts(&self) -> Vec<(MessageId, u16, Timestamp)> {
        let mut attempts: Vec<_> = Vec::new();
        for (lane, window) in (0..).zip(&self.windows) {
            let seen = window
                .each()
                .filter(|(_, slot)| !matches!(slot.standing, Standing::Unseen | Standing::Done));
            attempts.extend(seen.map(|(seq, slot)| {
                let id = MessageId { lane, seq };
                let rests = matches!(slot.standing, Standing::Resting | Standing::Behind);
                let until = self.deadlines.rests(id).filter(|_| rests).unwrap_or_default();
                (id, slot.attempts, until)
            }));
        }
        attempts.extend(self.earlier_attempts.iter().map(|(id, (n, due))| (*id, *n, *due)));
        attempts.sort_unstable();
        attempts
    }
}

/// Whether a message is leased or reserved.
fn is_leased(windows: &[Window], id: MessageId, lease: u64) -> bool {
    let slot = windows.get(usize::from(id.lane)).and_then(|window| window.get(id.seq));
    slot.is_some_and(|slot| {
        slot.lease == lease && matches!(slot.standing, Standing::Leased | Standing::Reserved)
    })
}
