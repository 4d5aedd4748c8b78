//! Publishing on several topics and being done with messages of several groups, together or not at
//! all.

use crate::consumer::Consumer;
use crate::control::{Finished, Moved, TRANSACTION_BYTES_MAX};
use crate::core::Core;
use crate::error::QueueError;
use crate::group::{Delivered, Group, Range};
use crate::message::MessageId;
use crate::publish::{Due, Publish, Stamp};
use crate::topic::DELAYED_LANE;
use rialto_log::Level;
use std::borrow::Cow;
use std::sync::Arc;

/// The most messages and acknowledgements of one transaction.
pub const TRANSACTION_PARTS_MAX: usize = 16_384;

/// Messages that a consumer has, each with the number of its lease.
type Leases = Vec<(MessageId, u64)>;

/// What is to happen together. Nothing happens before [`Transaction::commit`]; dropping it forgets it.
///
/// A transaction is one record of the control log. Once that is written it is committed: whatever
/// happens then, its messages are in their topics, each once, and the messages it was done with are
/// not handed out again. Consumers see its messages only afterwards, topic by topic.
pub struct Transaction {
    core: Arc<Core>,
    messages: Vec<Moved<'static>>,
    bytes: usize,
    groups: Vec<(Arc<Group>, Leases)>,
    level: Level,
    parts: usize,
}

impl Transaction {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        let (messages, groups) = (Vec::new(), Vec::new());
        Self { core, messages, bytes: 0, groups, level: Level::Memory, parts: 0 }
    }

    fn take_part(&mut self, bytes: usize) -> Result<(), QueueError> {
        let (bytes, parts) = (self.bytes + bytes, self.parts + 1);
        if bytes > TRANSACTION_BYTES_MAX || parts > TRANSACTION_PARTS_MAX {
            return Err(QueueError::TransactionTooLarge { bytes, parts });
        }
        (self.bytes, self.parts) = (bytes, parts);
        Ok(())
    }

    /// Adds a message to be published.
    pub fn publish(&mut self, topic: &str, message: &Publish<'_>) -> Result<&mut Self, QueueError> {
        let topic = self.core.topic(topic)?;
        topic.check_open()?;
        topic.check_own()?;
        let options = &topic.options;
        let bytes = message.check(options.priorities, options.message_bytes_max)?;
        self.take_part(bytes + 16)?;
        let now = self.core.house.now();
        let deliver_at = match message.due {
            Due::Now => None,
            Due::After(delay) => Some(now.after(delay)),
            Due::At(time) => Some(time),
        };
        let lane = match deliver_at {
            Some(at) if at > now => DELAYED_LANE,
            _ => message.priority,
        };
        let mut record = vec![0; bytes];
        let stamp = Stamp { published_at: now, deliver_at, producer: 0, producer_sequence: 0 };
        message.encode(stamp, &mut record);
        let nth = topic.nth(lane) as u8;
        self.level = self.level.max(topic.level());
        self.messages.push(Moved { topic: topic.id, nth, record: Cow::Owned(record) });
        Ok(self)
    }

    /// Adds that a message has been worked on.
    pub fn ack(
        &mut self,
        consumer: &Consumer,
        message: &Delivered,
    ) -> Result<&mut Self, QueueError> {
        self.take_part(24)?;
        let (group, _) = consumer.shared();
        let lease = (message.id(), message.lease);
        self.level = self.level.max(group.topic.level());
        match self.groups.iter_mut().find(|(other, _)| Arc::ptr_eq(other, group)) {
            Some((_, leases)) => leases.push(lease),
            None => self.groups.push((group.clone(), vec![lease])),
        }
        Ok(self)
    }

    /// Has it all happen. Returns when no loss of power can undo it, unless all its topics are of
    /// memory. If a message is no longer the consumer's, nothing happens.
    pub fn commit(self) -> Result<(), QueueError> {
        let house = self.core.house.clone();
        house.block_on(self.committed(), None).unwrap_or(Err(QueueError::Closed))
    }

    /// As [`Transaction::commit`], on a task. Once it has been polled, dropping it does not undo it.
    pub async fn committed(self) -> Result<(), QueueError> {
        let Self { core, messages, groups, level, .. } = self;
        for (nth, (group, leases)) in groups.iter().enumerate() {
            if let Err(error) = group.reserve(leases) {
                for (group, leases) in &groups[..nth] {
                    group.unreserve(leases);
                }
                return Err(error);
            }
        }
        let finish = || {
            for (group, leases) in &groups {
                group.committed(leases);
                core.mark(group);
            }
        };
        let Some(control) = &core.control else {
            for moved in &messages {
                if let Some(topic) = core.topic_of(moved.topic) {
                    topic.take_record(usize::from(moved.nth), &moved.record, 0)?;
                }
            }
            finish();
            return Ok(());
        };
        let finished = groups.iter().map(|(group, leases)| Finished {
            topic: group.topic.id,
            group: group.id,
            done: ranges(leases),
        });
        let changing = control.changing();
        if let Err(error) = control.commit(messages, finished.collect()) {
            groups.iter().for_each(|(group, leases)| group.unreserve(leases));
            return Err(error);
        }
        finish();
        drop(changing);
        let is_kept = level != Level::Memory;
        let round = control.hurry(is_kept);
        control.round(round, is_kept).await
    }
}

fn ranges(leases: &[(MessageId, u64)]) -> Vec<(u8, Range)> {
    let mut ids: Vec<_> = leases.iter().map(|(id, _)| *id).collect();
    ids.sort_unstable();
    let mut ranges: Vec<(u8, Range)> = Vec::new();
    for MessageId { lane, seq } in ids {
        match ranges.last_mut() {
            Some((other, range)) if *other == lane && range.last + 1 == seq => range.last = seq,
            _ => ranges.push((lane, Range { first: seq, last: seq })),
        }
    }
    ranges
}
