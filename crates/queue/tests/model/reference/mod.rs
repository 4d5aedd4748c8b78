//! The guarantees of a queue in a naive form: lists that are searched from their beginning, without
//! a disk.

mod group;
mod topic;

pub(crate) use group::{FailedMessage, Group};
pub(crate) use topic::{Lane, Message, Topic};

use crate::operation::Shape;
use rialto_queue::{
    DEAD_SUFFIX, DeadLetter, GroupOptions, Kind, Level, MessageId, QueueError, SlowReaderPolicy,
    Start, TopicOptions, WhenFull, dead_header,
};
use std::collections::BTreeMap;
use std::time::Duration;

const SECOND_NS: u64 = 1_000_000_000;

/// The lane of delayed messages.
const DELAYED: u8 = u8::MAX;

/// The reason of a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    Message,
    Full { messages: u64 },
    LeaseLost(MessageId),
    GroupExists,
    UnknownGroup,
    CutOff(u64),
    Other(String),
}

impl From<QueueError> for Problem {
    fn from(error: QueueError) -> Self {
        match error {
            QueueError::Message(_) => Self::Message,
            QueueError::Full { messages, .. } => Self::Full { messages },
            QueueError::LeaseLost(id) => Self::LeaseLost(id),
            QueueError::GroupExists { .. } => Self::GroupExists,
            QueueError::UnknownGroup { .. } => Self::UnknownGroup,
            QueueError::CutOff { messages, .. } => Self::CutOff(messages),
            other => Self::Other(other.to_string()),
        }
    }
}

/// A delivered message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FetchResult {
    pub(crate) messages: Vec<(MessageId, u16, Message)>,
    pub(crate) leases: Vec<u64>,
    pub(crate) missed: u64,
}

/// An item of a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReadItem {
    Message(MessageId, Message),
    Missed { lane: u8, messages: u64 },
    Conflated { lane: u8, messages: u64 },
    End,
}

/// The position of a reader.
#[derive(Clone, Debug)]
pub(crate) struct ReaderPosition {
    pub(crate) topic: String,
    pub(crate) next: Vec<u64>,
    pub(crate) cut_off: Option<u64>,
    /// For each lane, the numbers that are left out, and the number after the last one that was
    /// decided.
    pub(crate) left_out: BTreeMap<usize, (Vec<u64>, u64)>,
}

impl ReaderPosition {
    pub(crate) fn at(topic: &str, next: Vec<u64>) -> Self {
        Self { topic: topic.to_owned(), next, cut_off: None, left_out: BTreeMap::new() }
    }
}

/// A queue.
#[derive(Default)]
pub(crate) struct Queue {
    pub(crate) now: u64,
    pub(crate) topics: BTreeMap<String, Topic>,
    last_retained: u64,
    /// Dead letters that came since this was last emptied: in what order those of one moment lie is
    /// not promised.
    pub(crate) new_letters: BTreeMap<String, Vec<u64>>,
}

impl Queue {
    pub(crate) fn new(now: u64) -> Self {
        Self { now, ..Self::default() }
    }

    pub(crate) fn create_topic(&mut self, name: &str, options: &TopicOptions) {
        self.topics.insert(name.to_owned(), Topic::new(name, options.clone()));
    }

    pub(crate) fn topic(&mut self, name: &str) -> &mut Topic {
        self.topics.get_mut(name).unwrap()
    }

    pub(crate) fn group(&mut self, topic: &str, group: &str) -> &mut Group {
        self.topic(topic).groups.iter_mut().find(|it| it.name == group).unwrap()
    }

    /// Publishes a message. `None` for one that was published earlier.
    pub(crate) fn publish(
        &mut self,
        topic: &str,
        shape: &Shape,
        payload: &str,
        producer: Option<(u64, u64)>,
    ) -> Result<Option<MessageId>, Problem> {
        let now = self.now;
        let topic = self.topic(topic);
        if shape.priority >= topic.options.priorities {
            return Err(Problem::Message);
        }
        let message = Message::new(shape, payload, producer, now);
        let is_delayed = message.deliver_at.is_some_and(|at| at > now);
        let lane = if is_delayed { DELAYED } else { shape.priority };
        if let Some((id, number)) = producer {
            let lanes = [Some(lane), message.deliver_at.map(|_| DELAYED)];
            let was_sent = |lane: u8| topic.numbers.get(&(lane, id)).is_some_and(|n| *n >= number);
            if lanes.into_iter().flatten().any(was_sent) {
                return Ok(None);
            }
        }
        if topic.options.kind == Kind::WorkQueue {
            let messages = topic.messages();
            if topic.options.bounds.messages.is_some_and(|max| messages >= max) {
                assert_eq!(topic.options.when_full, WhenFull::Reject);
                return Err(Problem::Full { messages });
            }
        }
        if let Some((id, number)) = producer {
            topic.numbers.insert((lane, id), number);
        }
        Ok(Some(topic.put(message, is_delayed)))
    }

    /// Publishes and acknowledges messages, if all leases are still held.
    pub(crate) fn transact(
        &mut self,
        acks: &[(String, String, MessageId, u64, u32)],
        messages: &[(String, Shape, String)],
    ) -> Result<(), Problem> {
        let mut seen = Vec::new();
        for ack in acks {
            let (topic, group, id, lease, by) = ack;
            if seen.contains(&ack) || !self.group(topic, group).is_of(*id, *lease, *by) {
                return Err(Problem::LeaseLost(*id));
            }
            seen.push(ack);
        }
        for (topic, group, id, ..) in acks {
            let now = self.now;
            let group = self.group(topic, group);
            group.counts.acked += 1;
            group.finish(*id, now);
        }
        for (topic, shape, payload) in messages {
            let message = Message::new(shape, payload, None, self.now);
            let is_delayed = message.deliver_at.is_some_and(|at| at > self.now);
            self.topic(topic).put(message, is_delayed);
        }
        Ok(())
    }

    pub(crate) fn create_group(
        &mut self,
        topic: &str,
        name: &str,
        options: &GroupOptions,
    ) -> Result<(), Problem> {
        let topic = self.topic(topic);
        let mut options = options.clone();
        if topic.name.ends_with(DEAD_SUFFIX) && options.dead_letter == DeadLetter::Own {
            options.attempts_max = 0;
        }
        if let Some(group) = topic.groups.iter().find(|it| it.name == name) {
            return if group.options == options { Ok(()) } else { Err(Problem::GroupExists) };
        }
        let begins: Vec<_> = topic.lanes.iter().map(|lane| lane.start(options.start)).collect();
        topic.groups.push(Group::new(name, options, &begins));
        Ok(())
    }

    pub(crate) fn delete_group(&mut self, topic: &str, name: &str) -> Result<(), Problem> {
        let groups = &mut self.topic(topic).groups;
        let nth = groups.iter().position(|it| it.name == name).ok_or(Problem::UnknownGroup)?;
        groups.remove(nth);
        Ok(())
    }

    pub(crate) fn fetch(
        &mut self,
        topic: &str,
        group: &str,
        consumer: u32,
        messages_max: usize,
        length: Option<Duration>,
    ) -> FetchResult {
        let now = self.now;
        let topic = self.topics.get_mut(topic).unwrap();
        let nth = topic.groups.iter().position(|it| it.name == group).unwrap();
        let (group, lanes) = (&mut topic.groups[nth], &topic.lanes);
        let (handed, deaths) = group.fetch(lanes, consumer, messages_max, length, now);
        let topic = topic.name.clone();
        self.move_failed(&topic, nth, deaths);
        handed
    }

    /// Leases one message out of turn. Returns it with its lease.
    pub(crate) fn claim(
        &mut self,
        topic: &str,
        group: &str,
        consumer: u32,
        id: MessageId,
        length: Option<Duration>,
    ) -> Option<((MessageId, u16, Message), u64)> {
        let now = self.now;
        let topic = self.topics.get_mut(topic).unwrap();
        let nth = topic.groups.iter().position(|it| it.name == group).unwrap();
        let message = topic.lanes.get(usize::from(id.lane))?.get(id.seq)?;
        let (mut claimed, deaths) = topic.groups[nth].claim(id, message, consumer, length, now);
        let topic = topic.name.clone();
        self.move_failed(&topic, nth, deaths);
        Some((claimed.messages.pop()?, claimed.leases.pop()?))
    }

    /// Moves the failed messages of a group as its options say.
    pub(crate) fn move_failed(&mut self, name: &str, nth: usize, deaths: Vec<FailedMessage>) {
        for death in deaths {
            let now = self.now;
            let topic = self.topic(name);
            let MessageId { lane, seq } = death.id;
            let message = topic.lanes[usize::from(lane)].get(seq).cloned();
            let level = topic.options.level;
            let group = &mut topic.groups[nth];
            let (group_name, to) = (group.name.clone(), group.options.dead_letter.clone());
            group.dead_lettered(death.id, now);
            let Some(message) = message else { continue };
            let to = match to {
                DeadLetter::Drop => continue,
                DeadLetter::Topic(to) => to.to_string(),
                DeadLetter::Own => format!("{name}{DEAD_SUFFIX}"),
            };
            if !self.topics.contains_key(&to) {
                self.create_topic(&to, &TopicOptions::stream().level(level));
            }
            let letter = letter(message, name, &group_name, &death);
            let letter = Message { published_at: now, ..letter };
            let id = self.topic(&to).put(letter, false);
            self.new_letters.entry(to).or_default().push(id.seq);
        }
    }

    /// Runs deadlines, delays and retention.
    pub(crate) fn tick(&mut self) {
        let now = self.now;
        let retains = now >= self.last_retained + SECOND_NS;
        if retains {
            self.last_retained = now;
        }
        let names: Vec<_> = self.topics.keys().cloned().collect();
        let mut on_their_way = Vec::new();
        for name in names {
            for nth in 0..self.topic(&name).groups.len() {
                let deaths = self.topic(&name).groups[nth].advance(now);
                self.move_failed(&name, nth, deaths);
            }
            let topic = self.topic(&name);
            let due = topic.take_due(now);
            if topic.options.level == Level::Memory {
                for message in due {
                    topic.put(message, false);
                }
            } else {
                on_their_way.extend(due.into_iter().map(|message| (name.clone(), message)));
            }
            if retains {
                self.topic(&name).retain();
            }
        }
        for (name, message) in on_their_way {
            self.topic(&name).put(message, false);
        }
        self.release_done();
    }

    /// Drops messages that every group of a work queue has acknowledged.
    pub(crate) fn release_done(&mut self) {
        for topic in self.topics.values_mut() {
            if topic.options.kind != Kind::WorkQueue {
                continue;
            }
            for (nth, lane) in topic.lanes.iter_mut().enumerate() {
                if let Some(floor) = topic.groups.iter().map(|group| group.floor(nth)).min() {
                    lane.first = lane.first.max(floor);
                }
            }
        }
    }

    /// The process ends, in good order or not, and another begins.
    pub(crate) fn restart(&mut self) {
        self.last_retained = 0;
        for topic in self.topics.values_mut() {
            topic.restart();
        }
        self.tick();
    }

    pub(crate) fn place(&mut self, topic: &str, start: Start) -> ReaderPosition {
        let next = self.topic(topic).lanes.iter().map(|lane| lane.start(start)).collect();
        ReaderPosition::at(topic, next)
    }

    pub(crate) fn read(&mut self, place: &mut ReaderPosition) -> Result<ReadItem, Problem> {
        if let Some(messages) = place.cut_off {
            return Err(Problem::CutOff(messages));
        }
        let topic = &self.topics[&place.topic];
        for (nth, lane) in topic.lanes.iter().enumerate().rev() {
            let next = &mut place.next[nth];
            let from = *next;
            if from < lane.first {
                *next = match topic.options.overtaken {
                    SlowReaderPolicy::Newest => lane.first.max(lane.last()),
                    _ => lane.first,
                };
                let messages = *next - from;
                if topic.options.overtaken == SlowReaderPolicy::CutOff {
                    place.cut_off = Some(messages);
                    return Err(Problem::CutOff(messages));
                }
                return Ok(ReadItem::Missed { lane: nth as u8, messages });
            }
            if let SlowReaderPolicy::Conflated { behind } = topic.options.overtaken
                && place.left_out.get(&nth).is_none_or(|(_, end)| *end <= from)
            {
                let end = lane.last() + 1;
                let has_later = |seq: u64| {
                    let key = &lane.get(seq).unwrap().key;
                    !key.is_empty() && (seq + 1..end).any(|it| lane.get(it).unwrap().key == *key)
                };
                let is_behind = end - from > behind;
                let left_out: Vec<_> =
                    (from..end).filter(|seq| is_behind && has_later(*seq)).collect();
                let messages = left_out.len() as u64;
                place.left_out.insert(nth, (left_out, if is_behind { end } else { from }));
                if messages > 0 {
                    return Ok(ReadItem::Conflated { lane: nth as u8, messages });
                }
            }
            if let Some((left_out, _)) = place.left_out.get(&nth) {
                while *next >= lane.first && left_out.contains(next) {
                    *next += 1;
                }
            }
            let from = *next;
            if let Some(message) = lane.get(from) {
                *next += 1;
                return Ok(ReadItem::Message(
                    MessageId { lane: nth as u8, seq: from },
                    message.clone(),
                ));
            }
        }
        Ok(ReadItem::End)
    }
}

/// The dead letter of a message.
fn letter(message: Message, topic: &str, group: &str, death: &FailedMessage) -> Message {
    let mut headers = vec![
        (dead_header::REASON, death.reason.to_owned()),
        (dead_header::TOPIC, topic.to_owned()),
        (dead_header::GROUP, group.to_owned()),
        (dead_header::ID, death.id.to_string()),
        (dead_header::ATTEMPTS, death.attempts.to_string()),
    ];
    if !death.detail.is_empty() {
        headers.push((dead_header::DETAIL, death.detail.clone()));
    }
    let said = headers.into_iter().map(|(name, value)| (name.to_owned(), value));
    Message {
        headers: said.chain(message.headers).collect(),
        priority: 0,
        expires_at: None,
        deliver_at: None,
        producer: None,
        ..message
    }
}
