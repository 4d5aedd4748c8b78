//! Listing the leased messages of a group.

use super::members::Group;
use super::state::GroupState;
use super::window::Standing;
use crate::error::QueueError;
use crate::message::MessageId;
use crate::topic::{LaneCursor, Step};
use rialto_clock::Timestamp;

/// The most leased messages of one page.
pub const LEASED_MAX: usize = 1_000;

/// A message that is leased to a consumer of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutstandingMessage {
    /// Its id.
    pub id: MessageId,
    /// The number of its lease.
    pub lease: u64,
    /// When the lease ends, unless it is extended.
    pub deadline: Timestamp,
    /// The number of this delivery, from 1.
    pub attempt: u16,
    /// The number of the consumer ([`Consumer::number`](crate::Consumer::number)).
    pub consumer: u32,
    /// When its topic accepted the message; `None` if the topic has dropped it.
    pub published_at: Option<Timestamp>,
}

impl GroupState {
    /// At most `max` messages after `after` whose leases last at `now`, by lane and number. Their
    /// times of publication are left out.
    fn leased(
        &self,
        after: Option<MessageId>,
        max: usize,
        now: Timestamp,
    ) -> Vec<OutstandingMessage> {
        let first = after.map_or(MessageId { lane: 0, seq: 0 }, |after| MessageId {
            lane: after.lane,
            seq: after.seq.saturating_add(1),
        });
        let lanes = (0..).zip(&self.windows).skip(usize::from(first.lane));
        let messages = lanes.flat_map(|(lane, window)| {
            let from = if lane == first.lane { first.seq } else { 0 };
            window.each_from(from).map(move |(seq, slot)| (MessageId { lane, seq }, slot))
        });
        let leased = messages.filter_map(|(id, slot)| {
            let is_leased = matches!(slot.standing, Standing::Leased | Standing::Reserved);
            let deadline = is_leased.then(|| self.deadlines.of(slot.lease)).flatten()?;
            (deadline > now).then_some(OutstandingMessage {
                id,
                lease: slot.lease,
                deadline,
                attempt: slot.attempts,
                consumer: slot.consumer,
                published_at: None,
            })
        });
        leased.take(max).collect()
    }
}

impl Group {
    /// At most `max` leased messages after `after`, by lane and number. The group is not locked
    /// while the disk is read.
    pub(crate) fn leased(
        &self,
        after: Option<MessageId>,
        max: usize,
    ) -> Result<Vec<OutstandingMessage>, QueueError> {
        let now = self.topic.runtime.now();
        let mut leased = {
            let inner = self.inner();
            self.check(&inner)?;
            inner.state.leased(after, max.min(LEASED_MAX), now)
        };
        let mut cursor: Option<(u8, LaneCursor)> = None;
        for it in &mut leased {
            let MessageId { lane, seq } = it.id;
            // Neighbours are read in one pass.
            let (_, cursor) = match &mut cursor {
                Some(open) if open.0 == lane => open,
                other => other.insert((lane, LaneCursor::new(usize::from(lane), seq))),
            };
            cursor.seek(seq);
            if let Step::Message(message) = cursor.step(&self.topic)?
                && message.id() == it.id
            {
                it.published_at = Some(message.published_at());
            }
        }
        Ok(leased)
    }
}
