//! Topics.

use super::GroupInfo;
use crate::text::{Str, U64Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A topic to create. A field that is left out has its default.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopicRequest<'a> {
    /// Its name.
    #[serde(borrow)]
    pub name: Str<'a>,
    /// How long messages stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<TopicKind>,
    /// The durability of a confirmed message: `memory`, `buffered` or `synced`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Str<'a>>,
    /// The number of priorities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priorities: Option<u8>,
    /// The most messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages_max: Option<u64>,
    /// The most bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_max: Option<u64>,
    /// Longest age of a message, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_age_ms: Option<u64>,
    /// How long a producer waits for room in a full work queue, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_ms: Option<u64>,
    /// What happens to a reader that retention has overtaken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overtaken: Option<OvertakenChoice>,
    /// Largest payload of a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_bytes_max: Option<usize>,
    /// The size of the topic's files, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment_bytes: Option<u64>,
    /// `none`, `lz4`, `zstd` or `zstd:` and a level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<Str<'a>>,
    /// The cipher that its files are encrypted with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption: Option<Str<'a>>,
}

/// How long messages stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TopicKind {
    /// Messages stay until retention drops them, read or not.
    Stream,
    /// Messages stay until every group of the topic has acknowledged them.
    WorkQueue,
}

/// What happens to a reader that retention has overtaken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OvertakenChoice {
    /// It continues with the oldest message.
    Oldest,
    /// It continues with the newest message.
    Newest,
    /// It is closed: every later call is an error.
    CutOff,
    /// It gets the last message of each key among the messages that it is too far behind.
    Conflated {
        /// How many messages of a lane a reader may be behind.
        behind: u64,
    },
}

/// The result of a purge.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PurgeAnswer {
    /// The number of messages that were dropped.
    pub dropped: U64Text,
}

/// The names of topics.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TopicsAnswer {
    /// The topics that the key may see.
    pub topics: Vec<String>,
}

/// The options and the state of a topic.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TopicInfo {
    /// Its name.
    pub name: String,
    /// Whether the topic is read-only.
    pub read_only: bool,
    /// How long messages stay.
    pub kind: TopicKind,
    /// The durability of a confirmed message.
    pub level: Cow<'static, str>,
    /// The number of priorities.
    pub priorities: u8,
    /// The most messages.
    pub messages_max: Option<U64Text>,
    /// The most bytes.
    pub bytes_max: Option<U64Text>,
    /// Longest age of a message, in milliseconds.
    pub max_age_ms: Option<U64Text>,
    /// What happens to a reader that retention has overtaken.
    pub overtaken: String,
    /// How its files are compressed.
    pub compression: String,
    /// How its files are encrypted.
    pub encryption: Cow<'static, str>,
    /// Messages that it holds.
    pub messages: U64Text,
    /// Bytes that count against `bytes_max`.
    pub bytes: U64Text,
    /// Messages that are not due yet.
    pub delayed: U64Text,
    /// Messages that were published since the start.
    pub published_messages: U64Text,
    /// The bytes of these messages.
    pub published_bytes: U64Text,
    /// Bytes written, before compression.
    pub plain_bytes: U64Text,
    /// Bytes written, after compression.
    pub stored_bytes: U64Text,
    /// Messages that were refused because it was full.
    pub refused: U64Text,
    /// Messages that were published earlier under the same numbers.
    pub duplicates: U64Text,
    /// Bytes that are not written yet.
    pub pending_bytes: U64Text,
    /// Age of its oldest message, in milliseconds.
    pub oldest_age_ms: Option<U64Text>,
    /// Messages and bytes a second.
    pub rates: TopicRates,
    /// The reason that the topic takes no more messages.
    pub failed: Option<String>,
    /// For each lane, the numbers of its oldest message and of the next one.
    pub lanes: Vec<(U64Text, U64Text)>,
    /// Its groups.
    pub groups: Vec<GroupInfo>,
}

/// Messages and bytes a second, over a window.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TopicRates {
    /// The window.
    pub window_ms: U64Text,
    /// Messages published a second.
    pub published_per_s: f64,
    /// Bytes published a second.
    pub published_bytes_per_s: f64,
    /// Messages delivered a second, to all groups.
    pub delivered_per_s: f64,
    /// Bytes delivered a second, to all groups.
    pub delivered_bytes_per_s: f64,
}
