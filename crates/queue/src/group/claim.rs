//! Claims: leasing one message out of turn.

use super::deadlines::Deadline;
use super::members::{Delivered, Group};
use super::options::{Delivery, DeliveryOrder};
use super::state::GroupState;
use super::terms::{ConsumerId, DeadLetterReason, Lease};
use super::window::Standing;
use crate::error::QueueError;
use crate::message::{Message, MessageId};
use rialto_clock::Timestamp;
use std::time::Duration;

impl GroupState {
    /// Whether a message may be leased out of turn. A delay of its redelivery does not matter.
    fn is_claimable(&self, id: MessageId) -> bool {
        let standing = self.windows[usize::from(id.lane)].get(id.seq).map(|slot| slot.standing);
        self.is_free(id) || standing == Some(Standing::Resting)
    }

    /// Delivers a message out of turn, unless it is leased or acknowledged, or behind another of its
    /// key. A message without attempts left is dead-lettered instead.
    pub(crate) fn claim(
        &mut self,
        id: MessageId,
        key: &[u8],
        consumer: ConsumerId,
        deadline: Deadline,
    ) -> Option<Lease> {
        if !self.is_claimable(id) {
            return None;
        }
        if self.options.order == DeliveryOrder::PerKey && !self.knows(id) {
            if self.keys.is_busy(key) {
                return None;
            }
            self.keys.enter(key, id);
        }
        self.deadlines.forget_rest(id);
        let earlier = self.earlier_attempts.remove(&id);
        let is_far = id.seq >= self.window(id.lane).end();
        let slot = self.window_mut(id).reach_far(id.seq);
        if let Some((attempts, _)) = earlier {
            slot.attempts = attempts;
        }
        let attempts = slot.attempts;
        let attempts_max = self.options.attempts_max;
        if attempts_max > 0 && attempts >= attempts_max {
            self.ready.remove(&id);
            self.fail(id, DeadLetterReason::Unanswered, String::new());
            return None;
        }
        if attempts == 0 && (is_far || earlier.is_some()) && self.keeps_changes {
            // The seen number does not cover this attempt, so it is recorded by itself.
            self.changes.tried.push((id, 1, Timestamp(0)));
        }
        Some(self.release(id, consumer, deadline))
    }

    /// An expired message is acknowledged instead of claimed.
    pub(crate) fn expire_claimed(&mut self, id: MessageId) {
        if self.is_claimable(id) {
            self.window_mut(id).reach_far(id.seq);
            self.expire_unseen(id);
        }
    }
}

impl Group {
    /// Leases this message to a consumer out of turn, unless it is leased or acknowledged, or behind
    /// another of its key. The lease has this length, or the group's.
    pub(crate) fn claim(
        &self,
        consumer: ConsumerId,
        message: Message,
        length: Option<Duration>,
    ) -> Result<Option<Delivered>, QueueError> {
        let now = self.topic.runtime.now();
        let mut inner = self.inner();
        self.check(&inner)?;
        if !inner.state.may_take(consumer) {
            return Ok(None);
        }
        let deadline = inner.state.deadline(now, length);
        let id = message.id();
        let Some(lease) = inner.state.claim(id, message.key(), consumer, deadline) else {
            return Ok(None);
        };
        inner.delivered_bytes += message.record().len() as u64;
        let is_acked = inner.state.options.delivery == Delivery::AtMostOnce
            && inner.state.ack(id, lease.number, consumer);
        drop(inner);
        if is_acked {
            self.release_room();
        }
        Ok(Some(Delivered { message, lease: lease.number, attempt: lease.attempt }))
    }

    /// Acknowledges a message that expired, unless it is leased.
    pub(crate) fn expire(&self, id: MessageId) {
        self.inner().state.expire_claimed(id);
        self.release_room();
    }
}
