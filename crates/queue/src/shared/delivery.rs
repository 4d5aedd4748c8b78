//! The delivery of transactions to topics, and what the control log keeps for it.

use super::{SharedQueue, lock};
use crate::control::{ControlHost, Json, Moved, PastTransaction, Record};
use crate::error::QueueError;
use crate::group::Progress;
use crate::topic::{Accepted, DELAYED_LANE, End, Topic};
use rialto_log::Level;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The most producers of transactions in one record, so that it has room for the longest names.
const TOLD_PRODUCERS: usize = 1_024;

/// The id of no topic: they count from 1.
const NO_TOPIC: u32 = 0;

/// The messages of a transaction that are in their topics and not yet durable.
pub(super) struct Delivering {
    id: u64,
    /// The number of the transaction's record.
    seq: u64,
    messages: Vec<Undelivered>,
}

/// A message of a transaction that is not durable in its topic yet.
struct Undelivered {
    topic: Arc<Topic>,
    place: u64,
    /// Its number in its lane; the largest number if the topic could not take it.
    seq: u64,
    message: Moved<'static>,
}

impl Undelivered {
    fn is_safe(&self) -> bool {
        let lane = &self.topic.lanes[usize::from(self.message.nth)];
        self.topic.is_deleted() || lane.mark(Level::Synced) >= self.seq
    }
}

impl SharedQueue {
    /// Puts the messages of a committed transaction into their topics, unless they are there.
    pub(crate) fn deliver(&self, transaction: PastTransaction) -> Result<(), QueueError> {
        let PastTransaction { id, seq, messages, is_new } = transaction;
        let mut delivered = Vec::with_capacity(messages.len());
        for (place, moved) in (0..).zip(messages) {
            // Messages of a topic that was deleted meanwhile are dropped.
            let Some(topic) = self.topic_of(moved.topic) else { continue };
            if usize::from(moved.nth) >= topic.lanes.len() {
                continue;
            }
            let nth = usize::from(moved.nth);
            let number = transaction_number(id, place);
            let seq = match topic.take_record(nth, &moved.record, number, is_new) {
                Ok(Accepted::At(message)) => message.seq,
                Ok(Accepted::Duplicate(_)) | Err(QueueError::TopicDeleted(_)) => continue,
                // The message waits until the queue is opened again and the topic can be written.
                Err(QueueError::Failed { .. }) => u64::MAX,
                Err(error) => return Err(error),
            };
            if topic.level() != Level::Memory {
                delivered.push(Undelivered { topic, place, seq, message: moved });
            }
        }
        if delivered.is_empty() {
            return Ok(());
        }
        lock(&self.delivering).push_back(Delivering { id, seq, messages: delivered });
        Ok(())
    }

    /// The record of the oldest transaction whose messages a loss of power could still take.
    fn safe_below(&self) -> Option<u64> {
        let mut delivering = lock(&self.delivering);
        delivering.retain_mut(|it| {
            it.messages.retain(|message| !message.is_safe());
            !it.messages.is_empty()
        });
        delivering.iter().map(|it| it.seq).min()
    }

    /// Writes transactions again whose only undelivered messages are for topics that cannot be
    /// written: such a topic may stay so until the queue is opened again, and the control log must
    /// not grow until then.
    fn carry(&self, write: &mut dyn FnMut(&Record<'_>) -> u64) {
        for transaction in &mut *lock(&self.delivering) {
            transaction.messages.retain(|message| !message.is_safe());
            let waits = |message: &Undelivered| message.topic.is_failed();
            if transaction.messages.is_empty() || !transaction.messages.iter().all(waits) {
                continue;
            }
            // Topics identify a message by its index in the transaction. Delivered messages are
            // replaced by placeholders for no topic.
            let last = transaction.messages.last().map_or(0, |message| message.place);
            let nothing = || Moved { topic: NO_TOPIC, nth: 0, record: Cow::Borrowed(&[]) };
            let mut messages: Vec<_> =
                std::iter::repeat_with(nothing).take(last as usize + 1).collect();
            for Undelivered { place, message, .. } in &transaction.messages {
                let Moved { topic, nth, ref record } = *message;
                messages[*place as usize] = Moved { topic, nth, record: Cow::Borrowed(record) };
            }
            let id = transaction.id;
            transaction.seq = write(&Record::Transaction { id, messages, finished: Vec::new() });
        }
    }

    /// Writes an image of the whole state.
    fn images(&self, write: &mut dyn FnMut(&Record<'_>)) -> u32 {
        for topic in self.topics() {
            let (id, name, options) = (topic.id, topic.name.clone(), topic.options.clone());
            match &topic.mounting {
                Some(mounting) => {
                    let epochs = mounting.epochs.clone();
                    write(&Record::Mounted { id, name, epochs, end: u64::MAX });
                }
                None => {
                    write(&Record::Topic { id, name, options });
                    self.images_of_own(&topic, write);
                }
            }
            for group in topic.groups().clone() {
                let progress = if self.keeps(&topic) { group.image() } else { Progress::default() };
                write(&Record::GroupWith {
                    topic: topic.id,
                    id: group.id,
                    name: group.name.clone(),
                    options: Json(group.options()),
                    floors: progress.floors.clone(),
                });
                for progress in progress.pieces() {
                    write(&Record::Progress { topic: topic.id, group: group.id, progress });
                }
            }
        }
        for last in self.transaction_numbers().image().chunks(TOLD_PRODUCERS) {
            write(&Record::TransactionNumbers { last: last.to_vec() });
        }
        self.next_id.load(Ordering::Relaxed)
    }

    /// Writes the image of a topic that has its own log.
    fn images_of_own(&self, topic: &Topic, write: &mut dyn FnMut(&Record<'_>)) {
        write_numbers(topic, write);
        if self.keeps(topic) {
            write(&Record::Dropped { topic: topic.id, below: topic.firsts() });
        }
        let delayed = topic.delayed().image(DELAYED_LANE);
        for progress in delayed.pieces() {
            write(&Record::Delayed { topic: topic.id, progress });
        }
    }

    /// Records numbers of producers, if files that are otherwise unneeded wait for that.
    pub(super) fn record_numbers(&self, topic: &Topic) -> Result<(), QueueError> {
        let Some(control) = &self.control else { return Ok(()) };
        if !topic.has_numbers_to_record(control.safe_rounds()) {
            return Ok(());
        }
        let _changing = control.changing();
        let mut noted = Ok(0);
        let upto = write_numbers(topic, &mut |record| {
            if noted.is_ok() {
                noted = control.note(record);
            }
        });
        noted?;
        topic.recording_numbers(control.hurry(true), upto);
        Ok(())
    }

    /// Records durably what groups have acknowledged, if files wait for that.
    pub(super) fn record_acknowledged(&self, topic: &Topic) {
        let Some(control) = &self.control else { return };
        if !topic.has_acknowledged_to_record(control.safe_rounds()) {
            return;
        }
        // A message counts as acknowledged after its record was noted, or its group was changed. A
        // later round includes both.
        let firsts = topic.firsts();
        for group in topic.groups().clone() {
            self.mark_if_changed(&group);
        }
        topic.recording_acknowledged(control.hurry(true), firsts);
    }

    /// Writes a checkpoint and drops the records before it.
    pub(crate) fn checkpoint(&self) -> Result<(), QueueError> {
        match &self.control {
            Some(control) => control.checkpoint(self),
            None => Ok(()),
        }
    }
}

impl ControlHost for SharedQueue {
    fn secure(&self, finishing: &[(u32, u8, u64)]) {
        for (id, lane, seq) in finishing {
            let Some(topic) = self.topic_of(*id) else { continue };
            // The owner of an external log decides its durability.
            if topic.level() == Level::Memory || topic.mounting.is_some() {
                continue;
            }
            let Some(lane) = topic.lanes.get(usize::from(*lane)) else { continue };
            if lane.mark(Level::Synced) < *seq
                && let Err(error) = lane.sync()
            {
                topic.end(End::Failed(error.to_string()));
            }
        }
    }

    fn deliver(&self, transaction: PastTransaction) -> Result<(), QueueError> {
        SharedQueue::deliver(self, transaction)
    }

    fn images(&self, write: &mut dyn FnMut(&Record<'_>)) -> u32 {
        SharedQueue::images(self, write)
    }

    fn carry(&self, write: &mut dyn FnMut(&Record<'_>) -> u64) {
        SharedQueue::carry(self, write);
    }

    fn safe_below(&self) -> Option<u64> {
        SharedQueue::safe_below(self)
    }
}

/// Records the numbers of a topic's producers, and returns the positions in its lanes up to which
/// they are known.
fn write_numbers(topic: &Topic, write: &mut dyn FnMut(&Record<'_>)) -> Vec<u64> {
    let (upto, last) = topic.producers_image();
    let mut once = Some(upto.clone());
    for last in last.chunks(16_384).map(<[_]>::to_vec).chain([Vec::new()]) {
        let upto = once.take().unwrap_or_default();
        write(&Record::Producers { topic: topic.id, upto, last });
    }
    upto
}

/// The producer number of a transaction's message by its index. These numbers ascend in the order
/// of delivery.
fn transaction_number(id: u64, place: u64) -> u64 {
    (id << 16) | (place + 1).min(0xffff)
}
