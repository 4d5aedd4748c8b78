//! Transactions on their way into topics, and what the control log must remember of them.

use super::{Core, Delivering, lock};
use crate::control::{PastTransaction, Record};
use crate::error::QueueError;
use crate::group::Progress;
use crate::topic::{Accepted, DELAYED_LANE, Topic};
use rialto_log::Level;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How many producers of transactions one record tells of, so that it has room for any.
const TOLD_PRODUCERS: usize = 1_024;

impl Core {
    /// Puts the messages of a committed transaction into their topics, as far as they are not there.
    pub(crate) fn deliver(&self, transaction: PastTransaction) -> Result<(), QueueError> {
        let PastTransaction { id, seq, messages, is_new } = transaction;
        let mut delivered = Vec::with_capacity(messages.len());
        for (place, moved) in (0..).zip(messages) {
            // A topic that was deleted meanwhile takes its messages with it.
            let Some(topic) = self.topic_of(moved.topic) else { continue };
            if usize::from(moved.nth) >= topic.lanes.len() {
                continue;
            }
            let nth = usize::from(moved.nth);
            let number = transaction_number(id, place);
            match topic.take_record(nth, &moved.record, number, is_new) {
                Ok(Accepted::At(message)) => delivered.push((topic, nth, message.seq)),
                Ok(Accepted::Duplicate(_)) | Err(QueueError::TopicDeleted(_)) => {}
                // The record stays until the queue is opened again and finds the topic well.
                Err(QueueError::Failed { .. }) => delivered.push((topic, nth, u64::MAX)),
                Err(error) => return Err(error),
            }
        }
        lock(&self.delivering).push_back(Delivering { seq, messages: delivered });
        Ok(())
    }

    /// The record of the oldest transaction whose messages a loss of power could still take.
    pub(super) fn safe_below(&self) -> Option<u64> {
        let mut delivering = lock(&self.delivering);
        let is_safe = |(topic, nth, seq): &(Arc<Topic>, usize, u64)| {
            topic.level() == Level::Memory
                || topic.is_deleted()
                || topic.lanes[*nth].mark(Level::Synced) >= *seq
        };
        while delivering.front().is_some_and(|it| it.messages.iter().all(is_safe)) {
            delivering.pop_front();
        }
        delivering.front().map(|it| it.seq)
    }

    /// Tells everything anew.
    pub(super) fn images(&self, tell: &mut dyn FnMut(&Record<'_>)) -> u32 {
        for topic in self.topics() {
            let (id, name, options) = (topic.id, topic.name.clone(), topic.options.clone());
            match &topic.mounting {
                Some(mounting) => {
                    let epochs = mounting.epochs.clone();
                    tell(&Record::Mounted { id, name, epochs, end: u64::MAX });
                }
                None => {
                    tell(&Record::Topic { id, name, options });
                    self.images_of_own(&topic, tell);
                }
            }
            for group in topic.groups().clone() {
                let progress = if self.keeps(&topic) { group.image() } else { Progress::default() };
                tell(&Record::Group {
                    topic: topic.id,
                    id: group.id,
                    name: group.name.clone(),
                    options: group.options(),
                    floors: progress.floors.clone(),
                });
                for progress in progress.pieces() {
                    tell(&Record::Progress { topic: topic.id, group: group.id, progress });
                }
            }
        }
        for last in self.transaction_numbers().image().chunks(TOLD_PRODUCERS) {
            tell(&Record::TransactionNumbers { last: last.to_vec() });
        }
        self.next_id.load(Ordering::Relaxed)
    }

    /// Tells what is known of the messages of a topic that are its own.
    fn images_of_own(&self, topic: &Topic, tell: &mut dyn FnMut(&Record<'_>)) {
        tell_numbers(topic, tell);
        if self.keeps(topic) {
            tell(&Record::Dropped { topic: topic.id, below: topic.firsts() });
        }
        let delayed = topic.delayed().image(DELAYED_LANE);
        for progress in delayed.pieces() {
            tell(&Record::Delayed { topic: topic.id, progress });
        }
    }

    /// Tells the control log of numbers of producers, where files wait for that which nobody needs
    /// otherwise.
    pub(super) fn tell_numbers(&self, topic: &Topic) -> Result<(), QueueError> {
        let Some(control) = &self.control else { return Ok(()) };
        if !topic.has_numbers_to_tell(control.safe_rounds()) {
            return Ok(());
        }
        let _changing = control.changing();
        let mut noted = Ok(0);
        let upto = tell_numbers(topic, &mut |record| {
            if noted.is_ok() {
                noted = control.note(record);
            }
        });
        noted?;
        topic.telling_numbers(control.hurry(true), upto);
        Ok(())
    }

    /// Has the control log say, durably, what groups are done with, where files wait for that.
    pub(super) fn tell_done(&self, topic: &Topic) {
        let Some(control) = &self.control else { return };
        if !topic.has_done_to_tell(control.safe_rounds()) {
            return;
        }
        // A message counts as done with after its record was noted, or its group was changed: a round
        // that is yet to begin has both.
        let firsts = topic.firsts();
        for group in topic.groups().clone() {
            self.mark_if_changed(&group);
        }
        topic.telling_done(control.hurry(true), firsts);
    }

    /// Has everything written anew and drops what stood before.
    pub(crate) fn checkpoint(&self) -> Result<(), QueueError> {
        match &self.control {
            Some(control) => control.checkpoint(|tell| self.images(tell), || self.safe_below()),
            None => Ok(()),
        }
    }
}

/// Tells of the numbers of a topic's producers, and returns up to where in its lanes they are known.
fn tell_numbers(topic: &Topic, tell: &mut dyn FnMut(&Record<'_>)) -> Vec<u64> {
    let (upto, last) = topic.producers_image();
    let mut once = Some(upto.clone());
    for last in last.chunks(16_384).map(<[_]>::to_vec).chain([Vec::new()]) {
        let upto = once.take().unwrap_or_default();
        tell(&Record::Producers { topic: topic.id, upto, last });
    }
    upto
}

/// The number that the message in a place of a transaction counts under: they ascend in the order in
/// which transactions are delivered.
fn transaction_number(id: u64, place: u64) -> u64 {
    (id << 16) | (place + 1).min(0xffff)
}
