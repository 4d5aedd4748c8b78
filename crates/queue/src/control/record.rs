//! The records of the control log.

use super::versioned::{Json, first_options};
use crate::group::{GroupOptions, Progress, Range};
use crate::mount::Epoch;
use crate::name::Name;
use crate::topic::TopicOptions;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The version of the records, which the first record of every checkpoint names.
// format: docs/formats/control.md
pub(crate) const FORMAT_VERSION: u32 = 1;

/// A message of a transaction, ready to be appended to a lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Moved<'a> {
    pub(crate) topic: u32,
    /// The index of the lane in the topic.
    pub(crate) nth: u8,
    #[serde(borrow)]
    pub(crate) record: Cow<'a, [u8]>,
}

impl Moved<'_> {
    pub(crate) fn into_owned(self) -> Moved<'static> {
        let Self { topic, nth, record } = self;
        Moved { topic, nth, record: Cow::Owned(record.into_owned()) }
    }
}

/// The messages that a transaction acknowledges in a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Finished {
    pub(crate) topic: u32,
    /// The group, or 0 for delayed messages of the topic.
    pub(crate) group: u32,
    pub(crate) done: Vec<(u8, Range)>,
}

/// A record of the control log. Names of variants are never reused, and new ones come last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Record<'a> {
    /// The records up to the matching [`Record::CheckpointEnd`] repeat the state.
    CheckpointBegin { version: u32 },
    /// The records before the matching [`Record::CheckpointBegin`] may be dropped.
    CheckpointEnd { next_id: u32, next_transaction: u64 },
    /// A topic was created or, in a checkpoint, exists.
    Topic { id: u32, name: Name, options: TopicOptions },
    /// A topic was deleted.
    TopicDeleted { id: u32 },
    /// As [`Record::GroupWith`], with the options that groups had first. It is only read.
    Group {
        topic: u32,
        id: u32,
        name: Name,
        #[serde(deserialize_with = "first_options")]
        options: GroupOptions,
        floors: Vec<u64>,
    },
    /// A group was deleted.
    GroupDeleted { topic: u32, id: u32 },
    /// The progress of a group: all of it if floors are given, otherwise the changes.
    Progress { topic: u32, group: u32, progress: Progress },
    /// The last numbers of producers when a topic's lanes reached these numbers. Without lane
    /// numbers it continues the record before.
    Producers { topic: u32, upto: Vec<u64>, last: Vec<(u8, u64, u64)> },
    /// Messages that are published, and messages that groups acknowledge, together or not at all.
    Transaction {
        id: u64,
        #[serde(borrow)]
        messages: Vec<Moved<'a>>,
        finished: Vec<Finished>,
    },
    /// The delayed messages that a topic has delivered, as [`Progress`] of a group.
    Delayed { topic: u32, progress: Progress },
    /// A topic is an external log, whose last epochs are these. The progress of groups from message
    /// `end` on refers to records that have been lost.
    Mounted { id: u32, name: Name, epochs: Vec<Epoch>, end: u64 },
    /// A topic has dropped all messages below these numbers, one for each priority, even if its
    /// files still hold them.
    Dropped { topic: u32, below: Vec<u64> },
    /// As [`Record::Transaction`], with the number that its producer gave it.
    Numbered {
        producer: String,
        number: u64,
        id: u64,
        #[serde(borrow)]
        messages: Vec<Moved<'a>>,
        finished: Vec<Finished>,
    },
    /// The last numbers of producers of transactions, the most recent at the end.
    TransactionNumbers { last: Vec<(String, u64)> },
    /// A group was created or, in a checkpoint, exists. It has acknowledged nothing above these
    /// numbers. Its options are an object of JSON, so that later versions can add some.
    GroupWith { topic: u32, id: u32, name: Name, options: Json<GroupOptions>, floors: Vec<u64> },
}

impl Record<'_> {
    /// The same record with memory of its own.
    pub(crate) fn into_owned(self) -> Record<'static> {
        match self {
            Record::CheckpointBegin { version } => Record::CheckpointBegin { version },
            Record::CheckpointEnd { next_id, next_transaction } => {
                Record::CheckpointEnd { next_id, next_transaction }
            }
            Record::Topic { id, name, options } => Record::Topic { id, name, options },
            Record::TopicDeleted { id } => Record::TopicDeleted { id },
            Record::Group { topic, id, name, options, floors } => {
                Record::Group { topic, id, name, options, floors }
            }
            Record::GroupWith { topic, id, name, options, floors } => {
                Record::GroupWith { topic, id, name, options, floors }
            }
            Record::GroupDeleted { topic, id } => Record::GroupDeleted { topic, id },
            Record::Progress { topic, group, progress } => {
                Record::Progress { topic, group, progress }
            }
            Record::Producers { topic, upto, last } => Record::Producers { topic, upto, last },
            Record::Transaction { id, messages, finished } => {
                let messages = messages.into_iter().map(Moved::into_owned).collect();
                Record::Transaction { id, messages, finished }
            }
            Record::Delayed { topic, progress } => Record::Delayed { topic, progress },
            Record::Mounted { id, name, epochs, end } => Record::Mounted { id, name, epochs, end },
            Record::Dropped { topic, below } => Record::Dropped { topic, below },
            Record::Numbered { producer, number, id, messages, finished } => {
                let messages = messages.into_iter().map(Moved::into_owned).collect();
                Record::Numbered { producer, number, id, messages, finished }
            }
            Record::TransactionNumbers { last } => Record::TransactionNumbers { last },
        }
    }
}
