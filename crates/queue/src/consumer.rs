//! Consuming as a member of a group.

use crate::dead_letters;
use crate::error::QueueError;
use crate::group::{ConsumerId, Delivered, Delivery, Fetched, Group, GroupScan, Nack};
use crate::message::{Message, MessageId};
use crate::name::Name;
use crate::shared::SharedQueue;
use crate::subscription::Subscription;
use crate::waiting::Waiting;
use rialto_log::Level;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

/// How many bytes one fetch delivers, unless the caller says otherwise.
const FETCH_BYTES_MAX: usize = 8 << 20;

/// A member of a consumer group. When it is dropped, what it had is delivered to others at once, and
/// counts as tried; [`Consumer::return_unseen`] gives back what it has not looked at.
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

    /// What there is now, at most this many messages.
    pub fn try_fetch(&self, messages_max: usize) -> Result<Fetched, QueueError> {
        let fetched = self.take(messages_max)?;
        if !fetched.messages.is_empty() && self.is_at_most_once() {
            self.confirm()?;
        }
        Ok(fetched)
    }

    /// Has the messages pushed as they arrive, up to a number outstanding at a time.
    #[must_use]
    pub fn subscribe(self, prefetch: usize) -> Subscription {
        Subscription::new(self, prefetch)
    }

    /// Whether what the consumer says now can be kept. Nothing is delivered while it cannot, and nobody
    /// is told that it was.
    #[inline]
    fn check_kept(&self) -> Result<(), QueueError> {
        if self.group.topic.level() == Level::Memory { Ok(()) } else { self.core.check_kept() }
    }

    /// What there is now. If it is delivered at most once, that is not confirmed yet.
    pub(crate) fn take(&self, messages_max: usize) -> Result<Fetched, QueueError> {
        self.check_kept()?;
        let fetched = self.group.take(self.id, messages_max, self.bytes_max)?;
        dead_letters::move_failed(&self.core, &self.group);
        if self.group.has_changes() {
            self.core.mark(&self.group);
        }
        Ok(fetched)
    }

    /// What would be delivered next, at most this many messages and about as many bytes as a fetch
    /// delivers, without taking them. They end short of damage, which is an error if it comes first.
    pub fn peek(&self, messages_max: usize) -> Result<Vec<Message>, QueueError> {
        self.group.peek(messages_max, self.bytes_max)
    }

    /// As [`Consumer::peek`], one after the other, and none before this place.
    pub(crate) fn look(&self, from: &[u64]) -> Result<GroupScan<'_>, QueueError> {
        self.group.look(from)
    }

    /// Is given this message, unless it is leased or the group has acknowledged it.
    pub(crate) fn claim(&self, message: Message) -> Result<Option<Delivered>, QueueError> {
        self.check_kept()?;
        let claimed = self.group.claim(self.id, message)?;
        self.core.mark(&self.group);
        Ok(claimed)
    }

    pub(crate) fn is_at_most_once(&self) -> bool {
        self.group.options().delivery == Delivery::AtMostOnce
    }

    /// At most this many messages; if there are none, waits for some, at most this long.
    pub fn fetch(&self, messages_max: usize, wait: Duration) -> Result<Fetched, QueueError> {
        let fetched = self.try_fetch(messages_max)?;
        if !fetched.messages.is_empty() || fetched.missed > 0 || wait.is_zero() {
            return Ok(fetched);
        }
        let deadline = Instant::now().checked_add(wait);
        let arrived = self.arrived(messages_max, std::future::pending());
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
        let fetched = self.arrived(messages_max, end).await?;
        if !fetched.messages.is_empty() && self.is_at_most_once() {
            self.confirmed().await?;
        }
        Ok(fetched)
    }

    /// What [`Consumer::fetch_until`] delivers, not confirmed yet.
    async fn arrived(
        &self,
        messages_max: usize,
        end: impl Future<Output = ()>,
    ) -> Result<Fetched, QueueError> {
        let mut end = pin!(end);
        let mut waiting = Waiting::new(self.group.topic.priorities());
        std::future::poll_fn(|context| {
            let take = || match self.take(messages_max) {
                Ok(fetched) if fetched.messages.is_empty() && fetched.missed == 0 => Poll::Pending,
                result => Poll::Ready(result),
            };
            if let ready @ Poll::Ready(_) = take() {
                return ready;
            }
            // Looked at again: what has come meanwhile is not missed.
            waiting.register(context.waker(), |_, lane| lane.visible() + 1);
            if let ready @ Poll::Ready(_) = take() {
                return ready;
            }
            end.as_mut().poll(context).map(|()| Ok(Fetched::default()))
        })
        .await
    }

    /// The message was worked on, and will not be delivered again. This is written before long;
    /// [`Consumer::confirm`] waits for it.
    #[inline]
    pub fn ack(&self, message: &Delivered) -> Result<(), QueueError> {
        self.ack_lease(message.id(), message.lease)
    }

    /// As [`Consumer::ack`] for several, at once. Says which were not acknowledged: those that were no
    /// longer this consumer's, or all if that cannot be kept, which [`Consumer::confirm`] says.
    pub fn ack_all<'m>(&self, messages: impl IntoIterator<Item = &'m Delivered>) -> Vec<MessageId> {
        let leases = messages.into_iter().map(|message| (message.id(), message.lease));
        if self.check_kept().is_err() {
            return leases.map(|(id, _)| id).collect();
        }
        let lost = self.group.ack_all(leases, self.id);
        self.core.mark(&self.group);
        lost
    }

    /// As [`Consumer::ack_all`], by what was kept of the messages.
    pub fn ack_leases(&self, leases: &[(MessageId, u64)]) -> Vec<MessageId> {
        if self.check_kept().is_err() {
            return leases.iter().map(|(id, _)| *id).collect();
        }
        let lost = self.group.ack_all(leases.iter().copied(), self.id);
        self.core.mark(&self.group);
        lost
    }

    /// As [`Consumer::ack`] for everything that this consumer has of the message's lane, up to the
    /// message. Returns how many messages that were: none if that cannot be kept.
    pub fn ack_through(&self, message: &Delivered) -> u64 {
        if self.check_kept().is_err() {
            return 0;
        }
        let done = self.group.ack_through(message.id(), self.id);
        self.core.mark(&self.group);
        done
    }

    /// As [`Consumer::ack`], by what was kept of the message.
    #[inline]
    pub fn ack_lease(&self, id: MessageId, lease: u64) -> Result<(), QueueError> {
        self.check_kept()?;
        let result = self.group.ack(id, lease, self.id);
        self.core.mark(&self.group);
        result
    }

    /// The message was not worked on, and is to be delivered again: after this time, or after what
    /// the group says. `detail` goes with it to the dead letters if this was the last try.
    pub fn nack(
        &self,
        message: &Delivered,
        delay: Option<Duration>,
        detail: &str,
    ) -> Result<(), QueueError> {
        self.nack_lease(message.id(), message.lease, delay, detail)
    }

    /// As [`Consumer::nack`], by what was kept of the message.
    pub fn nack_lease(
        &self,
        id: MessageId,
        lease: u64,
        delay: Option<Duration>,
        detail: &str,
    ) -> Result<(), QueueError> {
        self.give_back(id, lease, Nack::Retry { delay, detail: detail.to_owned() })
    }

    /// These messages were not looked at: they are delivered again as if they had not been handed
    /// out now. Says which were no longer this consumer's.
    pub fn return_unseen(&self, leases: &[(MessageId, u64)]) -> Vec<MessageId> {
        let lost = self.group.return_unseen(leases, self.id);
        self.core.mark(&self.group);
        lost
    }

    /// The message cannot be worked on by anybody: it goes to the dead letters now.
    pub fn refuse(&self, message: &Delivered, detail: &str) -> Result<(), QueueError> {
        self.refuse_lease(message.id(), message.lease, detail)
    }

    /// As [`Consumer::refuse`], by what was kept of the message.
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

    /// The message takes longer: its deadline is moved to the group's `ack_wait` from now.
    pub fn extend(&self, message: &Delivered) -> Result<(), QueueError> {
        self.group.extend(message.id(), message.lease, self.id)
    }

    /// As [`Consumer::extend`], by what was kept of the message.
    pub fn extend_lease(&self, id: MessageId, lease: u64) -> Result<(), QueueError> {
        self.group.extend(id, lease, self.id)
    }

    /// Returns when everything that was said so far is as safe as the topic's messages are.
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

    /// It is a member no more.
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
