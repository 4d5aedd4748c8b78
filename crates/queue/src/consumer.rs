//! Consuming as a member of a group.

use crate::dead_letters;
use crate::error::QueueError;
use crate::fetch_options::{FetchOptions, check_lease};
use crate::group::{
    ConsumerId, Delivered, Delivery, Fetched, Group, GroupScan, Nack, Unacknowledged,
};
use crate::message::{Message, MessageId};
use crate::name::Name;
use crate::shared::{SharedQueue, message_at};
use crate::subscription::Subscription;
use crate::waiting::Waiting;
use rialto_clock::Timestamp;
use rialto_log::Level;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

/// How many bytes one fetch delivers, unless the caller says otherwise.
const FETCH_BYTES_MAX: usize = 8 << 20;

/// A member of a consumer group. When it is dropped, its messages are delivered to others at once,
/// and the attempt counts; [`Consumer::return_unseen`] gives messages back without counting the
/// attempt.
pub struct Consumer {
    group: Arc<Group>,
    core: Arc<SharedQueue>,
    id: ConsumerId,
    bytes_max: usize,
}

impl Consumer {
    pub(crate) fn new(group: Arc<Group>, core: Arc<SharedQueue>) -> Result<Self, QueueError> {
        let id = group.join()?;
        Ok(Self { group, core, id, bytes_max: FETCH_BYTES_MAX })
    }

    /// The topic that it consumes.
    #[must_use]
    pub fn topic(&self) -> &Name {
        &self.group.topic.name
    }

    /// The group that it is a member of.
    #[must_use]
    pub fn group(&self) -> &Name {
        &self.group.name
    }

    /// A fetch stops behind the message with which it has delivered this many bytes.
    #[must_use]
    pub fn bytes_max(mut self, bytes: usize) -> Self {
        self.bytes_max = bytes.max(1);
        self
    }

    /// Its number among the consumers of the group in this process
    /// ([`OutstandingMessage::consumer`](crate::OutstandingMessage::consumer)).
    #[must_use]
    pub fn number(&self) -> u32 {
        self.id.0
    }

    /// The messages available now, at most `messages_max`.
    pub fn try_fetch(&self, messages_max: usize) -> Result<Fetched, QueueError> {
        self.try_fetch_with(FetchOptions::new(messages_max))
    }

    /// As [`Consumer::try_fetch`], with a lease length of its own.
    pub fn try_fetch_with(&self, options: FetchOptions) -> Result<Fetched, QueueError> {
        let fetched = self.take(options)?;
        if !fetched.messages.is_empty() && self.is_at_most_once() {
            self.confirm()?;
        }
        Ok(fetched)
    }

    /// Returns the messages as they arrive, with a bound on outstanding ones.
    #[must_use]
    pub fn subscribe(self, prefetch: usize) -> Subscription {
        Subscription::new(self, prefetch)
    }

    /// Fails while the control log cannot record acknowledgements. Nothing is delivered or
    /// confirmed meanwhile.
    #[inline]
    fn check_kept(&self) -> Result<(), QueueError> {
        if self.group.topic.level() == Level::Memory { Ok(()) } else { self.core.check_kept() }
    }

    /// The messages available now. With at-most-once delivery, their acknowledgement is not
    /// confirmed yet.
    pub(crate) fn take(&self, options: FetchOptions) -> Result<Fetched, QueueError> {
        let FetchOptions { messages_max, bytes_max, ack_wait } = options;
        check_lease(ack_wait)?;
        self.check_kept()?;
        let bytes_max = bytes_max.unwrap_or(self.bytes_max);
        let fetched = self.group.take(self.id, messages_max, bytes_max, ack_wait)?;
        dead_letters::move_failed(&self.core, &self.group);
        if self.group.has_changes() {
            self.core.mark(&self.group);
        }
        Ok(fetched)
    }

    /// How often a message was delivered to the group, returns left out, also before this opening. 0
    /// if it is not known.
    #[must_use]
    pub fn attempts(&self, id: MessageId) -> u16 {
        self.group.attempts_of(id)
    }

    /// When the delay before the next attempt of a message ends, if it is delayed after a failure.
    #[must_use]
    pub fn rests_until(&self, id: MessageId) -> Option<Timestamp> {
        self.group.rests_until(id)
    }

    /// Whether a fetch may deliver something now: a message is ready to be delivered again, or there
    /// are messages that no fetch has come to. It reads nothing, so that such messages may turn out to
    /// be filtered or expired.
    #[must_use]
    pub fn may_fetch(&self) -> bool {
        self.group.may_give()
    }

    /// The messages that would be delivered next, without leasing them: at most `messages_max`, and
    /// about as many bytes as a fetch delivers. They end before damage, which is an error if it
    /// comes first.
    pub fn peek(&self, messages_max: usize) -> Result<Vec<Message>, QueueError> {
        self.group.peek(messages_max, self.bytes_max)
    }

    /// As [`Consumer::peek`], one after the other, from this position on.
    pub(crate) fn look(&self, from: &[u64]) -> Result<GroupScan<'_>, QueueError> {
        self.group.look(from)
    }

    /// Every message of the topic that the group has not acknowledged, without leasing it: new ones,
    /// leased ones, those that wait for another attempt or for their dead-letter topic, and delayed
    /// ones. Expired messages that the group has not come to are among them. For an owner that
    /// rebuilds an index when it opens a queue.
    ///
    /// - Delayed messages come first, under their ids in the lane 255. Then the lanes follow, the
    ///   highest priority first, each in order.
    /// - All messages are visited that were accepted before the call and not acknowledged meanwhile.
    ///   A delayed message that is moved to its lane meanwhile may be visited twice.
    /// - It holds a few megabytes at a time and waits for messages that are being written.
    /// - It ends with the first error, such as damage.
    pub fn unacknowledged(&self) -> Result<Unacknowledged<'_>, QueueError> {
        self.group.unacknowledged(&self.core)
    }

    /// Leases one message out of turn, for the group's `ack_wait` or another length: a waiting one,
    /// or one that rests before its next attempt. `None` if it cannot be leased:
    ///
    /// - It is leased or acknowledged, was dropped, has expired, or does not pass the group's filter.
    /// - It is delayed; its id changes when it is due.
    /// - It has no attempt left, and becomes a dead letter.
    /// - Another message of its key is outstanding, in a group with order per key. Otherwise it is
    ///   delivered before earlier new messages of its key.
    /// - This consumer is not the active one, in a group with a single active consumer.
    pub fn claim(
        &self,
        id: MessageId,
        ack_wait: Option<Duration>,
    ) -> Result<Option<Delivered>, QueueError> {
        check_lease(ack_wait)?;
        let topic = &self.group.topic;
        topic.check_open()?;
        if id.lane >= topic.options.priorities {
            return Ok(None);
        }
        let Some(message) = message_at(topic, id)? else { return Ok(None) };
        if self.group.options().filter.is_some_and(|filter| !filter.holds(&message)) {
            return Ok(None);
        }
        if message.is_expired(topic.runtime.now()) {
            self.check_kept()?;
            self.group.expire(id);
            self.core.mark(&self.group);
            return Ok(None);
        }
        let claimed = self.claim_message(message, ack_wait)?;
        if claimed.is_some() && self.is_at_most_once() {
            self.confirm()?;
        }
        Ok(claimed)
    }

    /// As [`Consumer::claim`], whatever the filter and its expiry say. With at-most-once delivery,
    /// the acknowledgement is not confirmed yet.
    pub(crate) fn claim_message(
        &self,
        message: Message,
        ack_wait: Option<Duration>,
    ) -> Result<Option<Delivered>, QueueError> {
        self.check_kept()?;
        let claimed = self.group.claim(self.id, message, ack_wait)?;
        dead_letters::move_failed(&self.core, &self.group);
        self.core.mark(&self.group);
        Ok(claimed)
    }

    pub(crate) fn is_at_most_once(&self) -> bool {
        self.group.options().delivery == Delivery::AtMostOnce
    }

    /// At most `messages_max` messages. If there are none, waits for some until the time is over.
    pub fn fetch(&self, messages_max: usize, wait: Duration) -> Result<Fetched, QueueError> {
        self.fetch_with(FetchOptions::new(messages_max), wait)
    }

    /// As [`Consumer::fetch`], with a lease length of its own. Leases begin when messages arrive.
    pub fn fetch_with(&self, options: FetchOptions, wait: Duration) -> Result<Fetched, QueueError> {
        let fetched = self.try_fetch_with(options)?;
        if !fetched.messages.is_empty() || fetched.missed > 0 || wait.is_zero() {
            return Ok(fetched);
        }
        let deadline = Instant::now().checked_add(wait);
        let arrived = self.arrived(options, std::future::pending());
        let Some(fetched) = self.core.runtime.block_on(arrived, deadline) else {
            return Ok(Fetched::default());
        };
        let fetched = fetched?;
        if !fetched.messages.is_empty() && self.is_at_most_once() {
            self.confirm()?;
        }
        Ok(fetched)
    }

    /// At most this many messages, as soon as there are some. Dropping the future loses nothing,
    /// unless the group delivers at most once; [`Consumer::fetch_until`] loses nothing then, too.
    pub async fn next(&self, messages_max: usize) -> Result<Fetched, QueueError> {
        self.fetch_until(messages_max, std::future::pending()).await
    }

    /// As [`Consumer::fetch`], on a task: at most this many messages, as soon as there are some, and
    /// none if `end` comes first.
    pub async fn fetch_until(
        &self,
        messages_max: usize,
        end: impl Future<Output = ()>,
    ) -> Result<Fetched, QueueError> {
        self.fetch_until_with(FetchOptions::new(messages_max), end).await
    }

    /// As [`Consumer::fetch_until`], with a lease length of its own.
    pub async fn fetch_until_with(
        &self,
        options: FetchOptions,
        end: impl Future<Output = ()>,
    ) -> Result<Fetched, QueueError> {
        let fetched = self.arrived(options, end).await?;
        if !fetched.messages.is_empty() && self.is_at_most_once() {
            self.confirmed().await?;
        }
        Ok(fetched)
    }

    /// The messages that [`Consumer::fetch_until`] delivers, not confirmed yet.
    async fn arrived(
        &self,
        options: FetchOptions,
        end: impl Future<Output = ()>,
    ) -> Result<Fetched, QueueError> {
        let mut end = pin!(end);
        let mut waiting = Waiting::new(self.group.topic.priorities());
        std::future::poll_fn(|context| {
            let take = || match self.take(options) {
                Ok(fetched) if fetched.messages.is_empty() && fetched.missed == 0 => Poll::Pending,
                result => Poll::Ready(result),
            };
            if let ready @ Poll::Ready(_) = take() {
                return ready;
            }
            // Checked again, so that messages that arrived meanwhile are not missed.
            waiting.register(context.waker(), |_, lane| lane.visible() + 1);
            if let ready @ Poll::Ready(_) = take() {
                return ready;
            }
            end.as_mut().poll(context).map(|()| Ok(Fetched::default()))
        })
        .await
    }

    /// Acknowledges the message: it is not delivered to the group again. The acknowledgement is
    /// written soon; [`Consumer::confirm`] waits for that.
    #[inline]
    pub fn ack(&self, message: &Delivered) -> Result<(), QueueError> {
        self.ack_lease(message.id(), message.lease)
    }

    /// As [`Consumer::ack`] for several messages. Returns the messages that were not acknowledged:
    /// the ones that this consumer no longer holds, or all if the control log cannot be written,
    /// which [`Consumer::confirm`] reports.
    pub fn ack_all<'m>(&self, messages: impl IntoIterator<Item = &'m Delivered>) -> Vec<MessageId> {
        let leases = messages.into_iter().map(|message| (message.id(), message.lease));
        if self.check_kept().is_err() {
            return leases.map(|(id, _)| id).collect();
        }
        let lost = self.group.ack_all(leases, self.id);
        self.core.mark(&self.group);
        lost
    }

    /// As [`Consumer::ack_all`], by ids and leases.
    pub fn ack_leases(&self, leases: &[(MessageId, u64)]) -> Vec<MessageId> {
        if self.check_kept().is_err() {
            return leases.iter().map(|(id, _)| *id).collect();
        }
        let lost = self.group.ack_all(leases.iter().copied(), self.id);
        self.core.mark(&self.group);
        lost
    }

    /// Acknowledges all messages up to this one that the consumer holds in its lane. Returns their
    /// number, which is 0 if the control log cannot be written.
    pub fn ack_through(&self, message: &Delivered) -> u64 {
        if self.check_kept().is_err() {
            return 0;
        }
        let done = self.group.ack_through(message.id(), self.id);
        self.core.mark(&self.group);
        done
    }

    /// As [`Consumer::ack`], by id and lease.
    #[inline]
    pub fn ack_lease(&self, id: MessageId, lease: u64) -> Result<(), QueueError> {
        self.check_kept()?;
        let result = self.group.ack(id, lease, self.id);
        self.core.mark(&self.group);
        result
    }

    /// Gives the message back, to be delivered again after `delay`, or after the group's delay.
    /// `detail` is kept with the dead letter if this was the last attempt.
    pub fn nack(
        &self,
        message: &Delivered,
        delay: Option<Duration>,
        detail: &str,
    ) -> Result<(), QueueError> {
        self.nack_lease(message.id(), message.lease, delay, detail)
    }

    /// As [`Consumer::nack`], by id and lease.
    pub fn nack_lease(
        &self,
        id: MessageId,
        lease: u64,
        delay: Option<Duration>,
        detail: &str,
    ) -> Result<(), QueueError> {
        self.give_back(id, lease, Nack::Retry { delay, detail: detail.to_owned() })
    }

    /// Gives messages back without counting the attempt. Returns the messages that this consumer no
    /// longer held.
    pub fn return_unseen(&self, leases: &[(MessageId, u64)]) -> Vec<MessageId> {
        let lost = self.group.return_unseen(leases, self.id);
        self.core.mark(&self.group);
        lost
    }

    /// Dead-letters the message now, without further attempts.
    pub fn refuse(&self, message: &Delivered, detail: &str) -> Result<(), QueueError> {
        self.refuse_lease(message.id(), message.lease, detail)
    }

    /// As [`Consumer::refuse`], by id and lease.
    pub fn refuse_lease(&self, id: MessageId, lease: u64, detail: &str) -> Result<(), QueueError> {
        self.give_back(id, lease, Nack::Refuse { detail: detail.to_owned() })
    }

    fn give_back(&self, id: MessageId, lease: u64, nack: Nack) -> Result<(), QueueError> {
        self.check_kept()?;
        let result = self.group.nack(id, lease, self.id, nack);
        dead_letters::move_failed(&self.core, &self.group);
        self.core.mark(&self.group);
        result
    }

    /// Extends the lease to the group's `ack_wait` from now. A lease that ends later anyway stays as
    /// it is.
    pub fn extend(&self, message: &Delivered) -> Result<(), QueueError> {
        self.extend_lease(message.id(), message.lease)
    }

    /// As [`Consumer::extend`], by id and lease.
    pub fn extend_lease(&self, id: MessageId, lease: u64) -> Result<(), QueueError> {
        self.group.extend(id, lease, self.id, None)
    }

    /// As [`Consumer::extend`], to this long from now.
    pub fn extend_by(&self, message: &Delivered, length: Duration) -> Result<(), QueueError> {
        self.extend_lease_by(message.id(), message.lease, length)
    }

    /// As [`Consumer::extend_by`], by id and lease.
    pub fn extend_lease_by(
        &self,
        id: MessageId,
        lease: u64,
        length: Duration,
    ) -> Result<(), QueueError> {
        check_lease(Some(length))?;
        self.group.extend(id, lease, self.id, Some(length))
    }

    /// Returns when all acknowledgements so far are as durable as the topic's level.
    pub fn confirm(&self) -> Result<(), QueueError> {
        self.core.runtime.block_on(self.confirmed(), None).unwrap_or(Err(QueueError::Closed))
    }

    /// As [`Consumer::confirm`], on a task.
    pub async fn confirmed(&self) -> Result<(), QueueError> {
        let level = self.group.topic.level();
        match &self.core.control {
            Some(control) if level != Level::Memory => {
                self.core.mark(&self.group);
                let synced = level == Level::Synced;
                let round = control.hurry(synced);
                control.round(round, synced).await
            }
            _ => Ok(()),
        }
    }

    /// Leaves the group.
    pub(crate) fn leave(&self) {
        self.group.leave(self.id);
        self.core.mark(&self.group);
    }

    pub(crate) fn shared(&self) -> (&Arc<Group>, &Arc<SharedQueue>) {
        (&self.group, &self.core)
    }

    pub(crate) fn id(&self) -> ConsumerId {
        self.id
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        self.leave();
    }
}
