//! The state that the control log describes, read from its beginning.

use super::record::{Finished, Moved, Record};
use super::versioned::Json;
use crate::group::{GroupOptions, Progress, Range};
use crate::mount::Epoch;
use crate::name::Name;
use crate::topic::TopicOptions;
use std::collections::BTreeMap;

/// A group as the control log has it.
#[derive(Clone, Debug)]
pub(crate) struct GroupRecord {
    pub(crate) name: Name,
    pub(crate) options: GroupOptions,
    pub(crate) progress: Progress,
}

/// A topic as the control log has it.
#[derive(Clone, Debug)]
pub(crate) struct TopicRecord {
    pub(crate) name: Name,
    pub(crate) options: TopicOptions,
    /// The epochs that the log had when it was mounted last, if it is external.
    pub(crate) mounted: Option<Vec<Epoch>>,
    pub(crate) groups: BTreeMap<u32, GroupRecord>,
    pub(crate) delayed: Progress,
    /// The number below which each lane was dropped.
    pub(crate) below: Vec<u64>,
    /// The numbers of its lanes up to which `last` is known.
    pub(crate) upto: Vec<u64>,
    pub(crate) last: Vec<(u8, u64, u64)>,
}

impl TopicRecord {
    fn new(name: Name, options: TopicOptions) -> Self {
        Self {
            name,
            options,
            mounted: None,
            groups: BTreeMap::new(),
            delayed: Progress::default(),
            below: Vec::new(),
            upto: Vec::new(),
            last: Vec::new(),
        }
    }
}

/// A transaction that may not have reached its topics.
#[derive(Clone, Debug)]
pub(crate) struct PastTransaction {
    pub(crate) id: u64,
    /// The number of its record in the control log.
    pub(crate) seq: u64,
    pub(crate) messages: Vec<Moved<'static>>,
    /// Whether its messages count as published now: delayed messages and those of an earlier
    /// process do not.
    pub(crate) is_new: bool,
}

#[derive(Debug, Default)]
pub(crate) struct ControlState {
    pub(crate) topics: BTreeMap<u32, TopicRecord>,
    pub(crate) deleted: Vec<u32>,
    pub(crate) transactions: Vec<PastTransaction>,
    /// Numbers that producers of transactions gave them, in the order in which they were recorded.
    pub(crate) numbers: Vec<(String, u64)>,
    pub(crate) next_id: u32,
    pub(crate) next_transaction: u64,
    /// The records of a checkpoint that has begun and not ended.
    checkpoint: Option<Vec<(u64, Record<'static>)>>,
}

/// Adds changes to the progress of a group.
fn join(whole: &mut Progress, news: Progress) {
    if !news.floors.is_empty() {
        *whole = news;
        return;
    }
    whole.done.extend(news.done);
    // The seen numbers only grow.
    for (lane, end) in news.seen {
        match whole.seen.iter_mut().find(|(other, _)| *other == lane) {
            Some((_, seen)) => *seen = end.max(*seen),
            None => whole.seen.push((lane, end)),
        }
    }
    whole.tried.extend(news.tried);
    if whole.done.len() > 4096 {
        condense(&mut whole.done);
    }
}

/// Joins ranges that touch.
fn condense(done: &mut Vec<(u8, Range)>) {
    done.sort_unstable_by_key(|(lane, range)| (*lane, range.first));
    done.dedup_by(|(lane, range), (before_lane, before)| {
        let touches = lane == before_lane && range.first <= before.last + 1;
        if touches {
            before.last = before.last.max(range.last);
        }
        touches
    });
}

impl ControlState {
    /// The state of an empty log.
    pub(crate) fn new() -> Self {
        Self { next_id: 1, next_transaction: 1, ..Self::default() }
    }

    /// The log continues in another epoch. A checkpoint that did not end before is ignored: the
    /// records before it hold all that it would have repeated.
    pub(crate) fn begin_epoch(&mut self) {
        self.checkpoint = None;
    }

    /// Applies one record. Returns the fault if it contradicts the state.
    ///
    /// A checkpoint applies as a whole or not at all: a group in it begins without
    /// acknowledgements, and an incomplete one would cause redelivery.
    pub(crate) fn apply(&mut self, seq: u64, record: Record<'_>) -> Result<(), String> {
        match record {
            Record::CheckpointBegin { version } => {
                if version != super::record::FORMAT_VERSION {
                    return Err(format!("it is of version {version}"));
                }
                self.checkpoint = Some(Vec::new());
                Ok(())
            }
            Record::CheckpointEnd { next_id, next_transaction } => {
                for (seq, record) in self.checkpoint.take().unwrap_or_default() {
                    self.take_in(seq, record)?;
                }
                self.next_id = self.next_id.max(next_id);
                self.next_transaction = self.next_transaction.max(next_transaction);
                Ok(())
            }
            record => match &mut self.checkpoint {
                Some(records) => {
                    records.push((seq, record.into_owned()));
                    Ok(())
                }
                None => self.take_in(seq, record),
            },
        }
    }

    /// An earlier record may have deleted the topic or the group that a record is about; there is
    /// nothing to do for it then.
    fn take_in(&mut self, seq: u64, record: Record<'_>) -> Result<(), String> {
        match record {
            Record::CheckpointBegin { .. } | Record::CheckpointEnd { .. } => {}
            Record::Topic { id, name, options } => {
                self.next_id = self.next_id.max(id + 1);
                // A checkpoint repeats it.
                self.topics.entry(id).or_insert_with(|| TopicRecord::new(name, options));
            }
            Record::Mounted { id, name, epochs, end } => {
                self.next_id = self.next_id.max(id + 1);
                let new = || TopicRecord::new(name, TopicOptions::default());
                let topic = self.topics.entry(id).or_insert_with(new);
                topic.mounted = Some(epochs);
                for group in topic.groups.values_mut() {
                    group.progress.forget_from(0, end.max(1));
                }
            }
            Record::TopicDeleted { id } => {
                self.topics.remove(&id);
                self.deleted.push(id);
            }
            Record::Group { topic, id, name, options, floors }
            | Record::GroupWith { topic, id, name, options: Json(options), floors } => {
                self.next_id = self.next_id.max(id + 1);
                let progress = Progress { floors, ..Progress::default() };
                if let Ok(topic) = self.topic(topic) {
                    topic.groups.insert(id, GroupRecord { name, options, progress });
                }
            }
            Record::GroupDeleted { topic, id } => {
                if let Ok(topic) = self.topic(topic) {
                    topic.groups.remove(&id);
                }
            }
            Record::Progress { topic, group, progress } => {
                if let Ok(group) = self.group(topic, group) {
                    join(&mut group.progress, progress);
                }
            }
            Record::Producers { topic, upto, last } => {
                let Ok(topic) = self.topic(topic) else { return Ok(()) };
                if upto.is_empty() {
                    topic.last.extend(last);
                } else {
                    (topic.upto, topic.last) = (upto, last);
                }
            }
            Record::Transaction { id, messages, finished } => {
                self.take_transaction((id, seq), messages, finished);
            }
            Record::Numbered { producer, number, id, messages, finished } => {
                self.numbers.push((producer, number));
                self.take_transaction((id, seq), messages, finished);
            }
            Record::TransactionNumbers { last } => self.numbers.extend(last),
            Record::Delayed { topic, progress } => {
                if let Ok(topic) = self.topic(topic) {
                    join(&mut topic.delayed, progress);
                }
            }
            Record::Dropped { topic, below } => {
                if let Ok(topic) = self.topic(topic) {
                    topic.below = below;
                }
            }
        }
        Ok(())
    }

    fn take_transaction(
        &mut self,
        (id, seq): (u64, u64),
        messages: Vec<Moved<'_>>,
        finished: Vec<Finished>,
    ) {
        self.next_transaction = self.next_transaction.max(id + 1);
        let messages = messages.into_iter().map(Moved::into_owned).collect();
        self.transactions.push(PastTransaction { id, seq, messages, is_new: false });
        for Finished { topic, group, done } in finished {
            // The topic that it acknowledged may have been deleted since.
            let news = Progress { done, ..Progress::default() };
            if group == 0 {
                if let Some(topic) = self.topics.get_mut(&topic) {
                    join(&mut topic.delayed, news);
                }
            } else if let Ok(group) = self.group(topic, group) {
                join(&mut group.progress, news);
            }
        }
    }

    fn topic(&mut self, id: u32) -> Result<&mut TopicRecord, String> {
        self.topics
            .get_mut(&id)
            .ok_or_else(|| format!("it speaks of topic {id}, which is not there"))
    }

    fn group(&mut self, topic: u32, id: u32) -> Result<&mut GroupRecord, String> {
        let group = self.topic(topic)?.groups.get_mut(&id);
        group.ok_or_else(|| format!("it speaks of group {id}, which topic {topic} does not have"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_record_makes_a_reader_stumble(
            records in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..20),
        ) {
            let mut state = ControlState::default();
            for (seq, bytes) in (1..).zip(&records) {
                if let Ok(record) = postcard::from_bytes(bytes) {
                    let _ = state.apply(seq, record);
                }
            }
        }
    }

    /// A topic with a group that has acknowledged some messages, as in a checkpoint.
    fn checkpoint(records: &mut Vec<Record<'static>>, done: Vec<(u8, Range)>) {
        let (name, options) = (Name::new("t").unwrap(), TopicOptions::default());
        records.push(Record::Topic { id: 1, name: name.clone(), options });
        let (topic, id, options) = (1, 2, GroupOptions::default());
        let (options, floors) = (Json(options), vec![1]);
        records.push(Record::GroupWith { topic, id, name, options, floors });
        let progress = Progress { done, ..Progress::default() };
        records.push(Record::Progress { topic, group: id, progress });
    }

    #[test]
    fn an_incomplete_checkpoint_is_ignored() {
        let before = vec![(0, Range { first: 3, last: 5 })];
        let after = vec![(0, Range { first: 3, last: 9 })];
        let mut records = Vec::new();
        checkpoint(&mut records, before.clone());
        records.push(Record::CheckpointBegin { version: super::super::record::FORMAT_VERSION });
        checkpoint(&mut records, after.clone());
        records.push(Record::CheckpointEnd { next_id: 3, next_transaction: 1 });
        for cut in 3..=records.len() {
            let mut state = ControlState::new();
            for (seq, record) in (1..).zip(&records[..cut]) {
                state.apply(seq, record.clone()).unwrap();
            }
            let done = |state: &ControlState| state.topics[&1].groups[&2].progress.done.clone();
            let expected = if cut == records.len() { &after } else { &before };
            assert_eq!(done(&state), *expected, "cut behind record {cut}");
            // Records of the next opening are not a part of it.
            state.begin_epoch();
            let mut more = Vec::new();
            checkpoint(&mut more, after.clone());
            state.apply(99, more.remove(2)).unwrap();
            assert_eq!(done(&state).last(), after.last(), "cut behind record {cut}");
        }
    }

    #[test]
    fn ranges_that_touch_become_one() {
        let range = |first, last| (0, Range { first, last });
        let mut done =
            vec![range(5, 6), range(1, 2), range(3, 4), (1, Range { first: 5, last: 9 })];
        condense(&mut done);
        assert_eq!(done, [range(1, 6), (1, Range { first: 5, last: 9 })]);
    }
}
