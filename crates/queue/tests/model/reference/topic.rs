//! The reference of topics.

use super::{DELAYED, Group};
use crate::operation::Shape;
use rialto_queue::{Kind, Level, MessageId, Start, TopicOptions};
use std::collections::BTreeMap;

/// All attributes of a message but its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) payload: String,
    pub(crate) key: String,
    pub(crate) content_type: String,
    pub(crate) schema_version: u32,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) priority: u8,
    pub(crate) published_at: u64,
    pub(crate) expires_at: Option<u64>,
    pub(crate) deliver_at: Option<u64>,
    pub(crate) producer: Option<(u64, u64)>,
}

impl Message {
    pub(crate) fn new(
        shape: &Shape,
        payload: &str,
        producer: Option<(u64, u64)>,
        now: u64,
    ) -> Self {
        let headers = shape.kind.map(|kind| ("kind".to_owned(), kind.to_owned()));
        Self {
            payload: payload.to_owned(),
            key: shape.key.to_owned(),
            content_type: shape.content_type.to_owned(),
            schema_version: shape.schema_version,
            headers: headers.into_iter().collect(),
            priority: shape.priority,
            published_at: now,
            expires_at: shape.expires_after.map(|after| now + after.as_nanos() as u64),
            deliver_at: shape.delay.map(|delay| now + delay.as_nanos() as u64),
            producer,
        }
    }

    /// The attributes of a message of the queue under test.
    pub(crate) fn of(message: &rialto_queue::Message) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self {
            payload: text(message.payload()),
            key: text(message.key()),
            content_type: message.content_type().to_owned(),
            schema_version: message.schema_version(),
            headers: message.headers().map(|(name, it)| (name.to_owned(), text(it))).collect(),
            priority: message.priority(),
            published_at: message.published_at().0,
            expires_at: message.expires_at().map(|at| at.0),
            deliver_at: message.deliver_at().map(|at| at.0),
            producer: message.producer(),
        }
    }

    pub(crate) fn is_expired(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

/// The messages of one priority, numbered from 1.
#[derive(Debug)]
pub(crate) struct Lane {
    /// The oldest number that is left.
    pub(crate) first: u64,
    pub(crate) messages: Vec<Message>,
}

impl Lane {
    pub(crate) fn last(&self) -> u64 {
        self.messages.len() as u64
    }

    pub(crate) fn get(&self, seq: u64) -> Option<&Message> {
        if seq < self.first { None } else { self.messages.get(seq as usize - 1) }
    }

    /// The first number for a start option.
    pub(crate) fn start(&self, start: Start) -> u64 {
        let end = self.last() + 1;
        match start {
            Start::Oldest => self.first,
            Start::Next => end,
            Start::Seq(seq) => seq.min(end).max(self.first),
            Start::At(time) => (self.first..end)
                .find(|seq| self.get(*seq).unwrap().published_at >= time.0)
                .unwrap_or(end),
        }
    }
}

/// A topic.
#[derive(Debug)]
pub(crate) struct Topic {
    pub(crate) name: String,
    pub(crate) options: TopicOptions,
    pub(crate) lanes: Vec<Lane>,
    /// Delayed messages; `None` for moved ones.
    delayed: Vec<Option<Message>>,
    pub(crate) groups: Vec<Group>,
    /// The last number of each producer in each lane.
    pub(crate) numbers: BTreeMap<(u8, u64), u64>,
}

impl Topic {
    /// The delayed messages that were not moved to their lanes.
    pub(crate) fn still_delayed(&self) -> impl Iterator<Item = (MessageId, Message)> {
        let numbered = (1..).zip(&self.delayed);
        numbered
            .filter_map(|(seq, message)| Some((MessageId { lane: DELAYED, seq }, message.clone()?)))
    }

    pub(crate) fn new(name: &str, options: TopicOptions) -> Self {
        let lane = || Lane { first: 1, messages: Vec::new() };
        Self {
            name: name.to_owned(),
            lanes: std::iter::repeat_with(lane).take(options.priorities.into()).collect(),
            delayed: Vec::new(),
            groups: Vec::new(),
            numbers: BTreeMap::new(),
            options,
        }
    }

    /// Appends a message.
    pub(crate) fn put(&mut self, message: Message, is_delayed: bool) -> MessageId {
        if is_delayed {
            self.delayed.push(Some(message));
            return MessageId { lane: DELAYED, seq: self.delayed.len() as u64 };
        }
        let lane = message.priority;
        let messages = &mut self.lanes[usize::from(lane)].messages;
        messages.push(message);
        MessageId { lane, seq: messages.len() as u64 }
    }

    /// The messages that are due, in due order.
    pub(crate) fn take_due(&mut self, now: u64) -> Vec<Message> {
        let is_due = |message: &&mut Option<Message>| {
            message.as_ref().is_some_and(|it| it.deliver_at.is_some_and(|at| at <= now))
        };
        let mut due: Vec<_> =
            self.delayed.iter_mut().filter(is_due).filter_map(Option::take).collect();
        due.sort_by_key(|message| message.deliver_at);
        due.into_iter().map(|message| Message { published_at: now, ..message }).collect()
    }

    pub(crate) fn delayed(&self) -> u64 {
        self.delayed.iter().flatten().count() as u64
    }

    pub(crate) fn messages(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.last() + 1 - lane.first).sum()
    }

    pub(crate) fn retain(&mut self) {
        if let (Kind::Stream, Some(max)) = (self.options.kind, self.options.bounds.messages) {
            for lane in &mut self.lanes {
                lane.first = lane.first.max((lane.last() + 1).saturating_sub(max));
            }
        }
    }

    /// Drops all messages except delayed ones. Returns their number.
    pub(crate) fn purge(&mut self) -> u64 {
        let messages = self.messages();
        for lane in &mut self.lanes {
            lane.first = lane.last() + 1;
        }
        messages
    }

    /// Drops messages in memory.
    pub(crate) fn restart(&mut self) {
        if self.options.level == Level::Memory {
            let groups = std::mem::take(&mut self.groups);
            *self = Self::new(&self.name, self.options.clone());
            let begins = vec![1; self.lanes.len()];
            self.groups =
                groups.into_iter().map(|it| Group::new(&it.name, it.options, &begins)).collect();
        } else {
            self.groups.iter_mut().for_each(Group::restart);
            self.retain();
        }
    }
}
