//! Publishing on several topics and acknowledging messages of several groups, together or not at all.

use crate::consumer::Consumer;
use crate::control::{Control, Finished, Moved, TRANSACTION_BYTES_MAX};
use crate::error::QueueError;
use crate::group::{Delivered, Group, HeldLease, Range};
use crate::message::MessageId;
use crate::producer;
use crate::publish::{Due, Publish, Stamp};
use crate::shared::SharedQueue;
use crate::topic::DELAYED_LANE;
use rialto_log::Level;
use std::borrow::Cow;
use std::sync::Arc;

/// The most messages and acknowledgements of one transaction.
pub const TRANSACTION_PARTS_MAX: usize = 16_384;

/// The longest name of a producer of transactions, in bytes.
pub const TRANSACTION_PRODUCER_BYTES_MAX: usize = 255;

/// The result of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Committed {
    /// The transaction was committed now.
    Now,
    /// It was committed earlier under the same number; nothing happened now.
    Before,
}

/// Messages to publish and acknowledge together. Nothing happens before [`Transaction::commit`];
/// dropping it discards it.
///
/// A transaction is one record of the control log. Once that is written it is committed: its
/// messages reach their topics exactly once, and the messages that it acknowledged are not
/// delivered again. Consumers see its messages only afterwards, topic by topic.
pub struct Transaction {
    core: Arc<SharedQueue>,
    messages: Vec<Moved<'static>>,
    bytes: usize,
    groups: Vec<(Arc<Group>, Vec<HeldLease>)>,
    level: Level,
    parts: usize,
    number: Option<(String, u64)>,
    /// Whether it was committed earlier under its number; then its contents are ignored.
    is_known: bool,
}

impl Transaction {
    pub(crate) fn new(core: Arc<SharedQueue>) -> Self {
        let (messages, groups) = (Vec::new(), Vec::new());
        let (bytes, parts, level) = (0, 0, Level::Memory);
        Self { core, messages, bytes, groups, level, parts, number: None, is_known: false }
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
        if self.is_known {
            return Ok(self);
        }
        let topic = self.core.topic(topic)?;
        topic.check_open()?;
        topic.check_own()?;
        if topic.level() != Level::Memory {
            self.core.runtime.check_room()?;
        }
        let options = &topic.options;
        let bytes = message.check(options.priorities, options.message_bytes_max)?;
        self.take_part(bytes + 16)?;
        let now = self.core.runtime.now();
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

    /// Numbers the transaction, which makes it safe to send it again: a transaction with this
    /// number or a lower one is committed once, also across restarts. Numbers increase, and gaps
    /// are allowed. A producer has a name of 1 to [`TRANSACTION_PRODUCER_BYTES_MAX`] bytes; these
    /// are not the producers of topics, which number messages. A queue remembers
    /// [`TRANSACTION_PRODUCERS_MAX`](crate::TRANSACTION_PRODUCERS_MAX) of them; when there are
    /// more, the owner that has the most of them loses those of topics in memory only, and then the
    /// least recently used. The owner is the part of the name before its first `/`. Numbers of
    /// transactions on topics in memory only are lost with the process.
    ///
    /// Call it before anything else. If the transaction was committed earlier, its contents are not
    /// checked, so that a repetition gets the answer even if its topics or groups are deleted.
    pub fn numbered(&mut self, producer: &str, number: u64) -> Result<&mut Self, QueueError> {
        if !(1..=TRANSACTION_PRODUCER_BYTES_MAX).contains(&producer.len()) {
            return Err(QueueError::TransactionProducer { bytes: producer.len() });
        }
        self.is_known = self.core.transaction_numbers().knows(producer, number);
        self.number = Some((producer.to_owned(), number));
        Ok(self)
    }

    /// Whether it was committed earlier under its number. The earlier commit is durable only when
    /// [`Transaction::commit`] has returned.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// Adds the acknowledgement of a message.
    pub fn ack(
        &mut self,
        consumer: &Consumer,
        message: &Delivered,
    ) -> Result<&mut Self, QueueError> {
        self.ack_lease(consumer, message.id(), message.lease)
    }

    /// As [`Transaction::ack`], by id and lease.
    pub fn ack_lease(
        &mut self,
        consumer: &Consumer,
        id: MessageId,
        lease: u64,
    ) -> Result<&mut Self, QueueError> {
        if self.is_known {
            return Ok(self);
        }
        let (group, core) = consumer.shared();
        // A message of a consumer of another queue cannot be acknowledged here.
        if !Arc::ptr_eq(core, &self.core) {
            return Err(QueueError::LeaseLost(id));
        }
        self.take_part(24)?;
        let lease = HeldLease { id, lease, consumer: consumer.id() };
        self.level = self.level.max(group.topic.level());
        match self.groups.iter_mut().find(|(other, _)| Arc::ptr_eq(other, group)) {
            Some((_, leases)) => leases.push(lease),
            None => self.groups.push((group.clone(), vec![lease])),
        }
        Ok(self)
    }

    /// Commits the transaction. Returns when it is durable, unless all its topics are in memory. If
    /// a lease was lost, nothing happens.
    pub fn commit(self) -> Result<Committed, QueueError> {
        let runtime = self.core.runtime.clone();
        runtime.block_on(self.committed(), None).unwrap_or(Err(QueueError::Closed))
    }

    /// As [`Transaction::commit`], on a task. Dropped before its end, it may be committed or not, but
    /// never in part.
    pub async fn committed(self) -> Result<Committed, QueueError> {
        let core = self.core.clone();
        self.keep_acknowledged().await?;
        let (committed, is_kept) = self.decide()?;
        if let Some(control) = &core.control {
            let round = control.hurry(is_kept);
            control.round(round, is_kept).await?;
        }
        Ok(committed)
    }

    /// Makes the acknowledged messages durable. A delayed message that became due has a copy in a lane: if
    /// the power took the copy, its acknowledgement would be of nothing, and the message would become
    /// due again.
    async fn keep_acknowledged(&self) -> Result<(), QueueError> {
        for (group, leases) in &self.groups {
            // Nothing becomes due in an external log, which the queue does not write.
            if group.topic.level() != Level::Memory && group.topic.mounting.is_none() {
                let mut ids: Vec<_> = leases.iter().map(|held| held.id).collect();
                ids.sort_unstable();
                producer::confirm(&group.topic, &ids, Level::Synced).await?;
            }
        }
        Ok(())
    }

    /// Commits in memory, and returns the round whose sync is to be awaited, if any.
    fn decide(mut self) -> Result<(Committed, bool), QueueError> {
        let core = self.core.clone();
        let is_kept = self.level != Level::Memory;
        let _changing = core.control.as_ref().map(Control::changing);
        let Some((producer, number)) = self.number.take() else {
            self.take_effect(None)?;
            return Ok((Committed::Now, is_kept));
        };
        // Locked until it is noted: another transaction with the same number must not come between.
        let mut numbers = core.transaction_numbers();
        if self.is_known || numbers.knows(&producer, number) {
            // The first commit may not be durable yet, and may have had other topics.
            return Ok((Committed::Before, true));
        }
        self.take_effect(is_kept.then(|| (producer.clone(), number)))?;
        numbers.remember(&producer, number, is_kept);
        Ok((Committed::Now, is_kept))
    }

    fn take_effect(self, number: Option<(String, u64)>) -> Result<(), QueueError> {
        let Self { core, messages, groups, .. } = self;
        for (nth, (group, leases)) in groups.iter().enumerate() {
            if let Err(error) = group.reserve(leases) {
                for (group, leases) in &groups[..nth] {
                    group.unreserve(leases);
                }
                return Err(error);
            }
        }
        if let Some(control) = &core.control {
            let finished = groups.iter().map(|(group, leases)| Finished {
                topic: group.topic.id,
                group: group.id,
                done: ranges(leases),
            });
            if let Err(error) = control.commit(messages, finished.collect(), number) {
                groups.iter().for_each(|(group, leases)| group.unreserve(leases));
                return Err(error);
            }
        } else {
            for moved in &messages {
                // Topics in memory end only when they are deleted or the queue is closed, with
                // their messages.
                if let Some(topic) = core.topic_of(moved.topic) {
                    let _ = topic.take_record(usize::from(moved.nth), &moved.record, 0, true);
                }
            }
        }
        for (group, leases) in &groups {
            group.committed(leases);
            core.mark(group);
        }
        Ok(())
    }
}

fn ranges(leases: &[HeldLease]) -> Vec<(u8, Range)> {
    let mut ids: Vec<_> = leases.iter().map(|held| held.id).collect();
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
