//! Topics, groups and messages.

use crate::limits::{HEADERS_MAX, MESSAGES_MAX};
use crate::text::{Rows, Str, U64Text};
use rialto_model::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::SerializeMap};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

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
    /// It gets the last message of each key among those that it is too far behind in.
    Conflated {
        /// How many messages of a lane a reader may be behind.
        behind: u64,
    },
}

/// A group to create. A field that is left out has its default.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupRequest<'a> {
    /// Its name.
    #[serde(borrow)]
    pub name: Str<'a>,
    /// The first message of the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<GroupStart>,
    /// The order of deliveries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<GroupOrder>,
    /// Which consumers get messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharing: Option<GroupSharing>,
    /// The delivery guarantee.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<GroupDelivery>,
    /// How long a lease lasts, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_wait_ms: Option<u64>,
    /// The most attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts_max: Option<u16>,
    /// How long a message waits before it is delivered again, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_delay_ms: Option<u64>,
    /// If given, the delay doubles with every attempt, from `retry_delay_ms` up to this, in
    /// milliseconds. A delay that a consumer gives with its nack is not changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_delay_max_ms: Option<u64>,
    /// What happens to a message after the last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead_letter: Option<DeadLetterChoice>,
    /// Most messages that are delivered and not yet acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outstanding_max: Option<usize>,
    /// Which messages it takes, by their headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<Str<'a>>,
}

/// The first message of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroupStart {
    /// With the oldest message that the topic holds.
    Oldest,
    /// With the next message that is published.
    Next,
    /// With the first message that was published at this time, in nanoseconds since 1970, or later.
    At(u64),
    /// With this message of every lane.
    Seq(u64),
}

/// The order of a group's deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroupOrder {
    /// Messages are delivered in order, several at a time.
    None,
    /// Messages of one key are delivered one at a time.
    PerKey,
}

/// Which consumers get messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroupSharing {
    /// Every consumer that asks.
    Competing,
    /// The consumer that joined first; when it leaves, the next.
    SingleActive,
}

/// The delivery guarantee of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroupDelivery {
    /// It is delivered again until a consumer acknowledges it.
    AtLeastOnce,
    /// It counts as acknowledged before it is delivered.
    AtMostOnce,
}

/// What happens to a message after the last attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeadLetterChoice {
    /// It goes to the topic with the same name and `.dead` appended.
    Own,
    /// It goes to this topic.
    Topic(String),
    /// It is dropped, and counted.
    Drop,
}

/// Bytes as base64 with padding (RFC 4648, section 4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base64<'a>(pub Cow<'a, [u8]>);

impl Base64<'_> {
    /// The base64 text.
    #[must_use]
    pub fn text(&self) -> String {
        use base64::{Engine, engine::general_purpose::STANDARD};
        STANDARD.encode(&self.0)
    }
}

impl Serialize for Base64<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use base64::display::Base64Display;
        use base64::engine::general_purpose::STANDARD;
        serializer.collect_str(&Base64Display::new(&self.0, &STANDARD))
    }
}

impl<'de> Deserialize<'de> for Base64<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use base64::{Engine, engine::general_purpose::STANDARD};
        let text = Str::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text.as_bytes()).map_err(|_| {
            de::Error::custom("the payload is not base64 with padding (RFC 4648, section 4)")
        })?;
        Ok(Base64(Cow::Owned(bytes)))
    }
}

impl JsonSchema for Base64<'_> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Base64".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string", "contentEncoding": "base64",
            "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?$",
        })
    }
}

/// The headers of a message to publish, at most [`HEADERS_MAX`]. Decoding stops at the first one
/// too many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct MessageHeaders(pub BTreeMap<String, String>);

impl<'de> Deserialize<'de> for MessageHeaders {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = MessageHeaders;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of texts")
            }
            fn visit_map<A: de::MapAccess<'de>>(
                self,
                mut from: A,
            ) -> Result<MessageHeaders, A::Error> {
                let mut headers = BTreeMap::new();
                while let Some((name, value)) = from.next_entry()? {
                    if headers.len() == HEADERS_MAX {
                        let message = format_args!("a message has at most {HEADERS_MAX} headers");
                        return Err(de::Error::custom(message));
                    }
                    headers.insert(name, value);
                }
                Ok(MessageHeaders(headers))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

impl JsonSchema for MessageHeaders {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "MessageHeaders".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object", "additionalProperties": { "type": "string" },
            "maxProperties": HEADERS_MAX,
        })
    }
}

/// A message to publish.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageRequest {
    /// The payload as text. Either this or `payload_base64`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
    /// The payload as base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_base64: Option<Base64<'static>>,
    /// Messages of one key are kept in order.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// The headers of the message.
    #[serde(default)]
    pub headers: MessageHeaders,
    /// The priority; 0 is the most urgent.
    #[serde(default)]
    pub priority: u8,
    /// It is delivered after this many milliseconds.
    #[serde(default)]
    pub delay_ms: u64,
    /// It is not delivered after this many milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_after_ms: Option<u64>,
    /// The media type of the payload.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub content_type: String,
    /// The version of the payload's schema; 0 is none.
    #[serde(default)]
    pub schema_version: u32,
}

/// Messages to publish.
pub type PublishRequest = Rows<MessageRequest, MESSAGES_MAX>;

/// How messages are published.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishQuery<'a> {
    /// The durability that the answer waits for: `memory`, `buffered` or `synced`.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<Str<'a>>,
    /// The id of a producer that numbers its messages; not 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub producer: Option<u64>,
    /// The number of the first message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
}

/// Where messages were published.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PublishedAnswer {
    /// The id of each message: its lane, a colon and its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<String>>,
    /// The ranges of ids of messages that were sent packed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranges: Option<Vec<IdRange>>,
    /// Messages that were published earlier under the same numbers.
    pub duplicates: usize,
}

/// Messages of one lane with numbers that follow each other.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct IdRange {
    /// The first id.
    pub first: String,
    /// The last id.
    pub last: String,
}

/// The values of headers by name. Values that are not text are base64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderTexts<'a>(pub Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl Serialize for HeaderTexts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for HeaderTexts<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let MessageHeaders(headers) = MessageHeaders::deserialize(deserializer)?;
        Ok(HeaderTexts(
            headers.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        ))
    }
}

impl JsonSchema for HeaderTexts<'_> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "HeaderTexts".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        MessageHeaders::json_schema(generator)
    }
}

/// A message of a topic. Fields that it does not have are left out.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MessageInfo<'a> {
    /// The id: its lane, a colon and its number.
    pub id: String,
    /// The lease of this delivery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
    /// The number of the attempt, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u16>,
    /// The payload, if it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<Cow<'a, str>>,
    /// The payload, if it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_base64: Option<Base64<'a>>,
    /// The events of the venue that the payload holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<serde_json::Value>>")]
    pub events: Option<Vec<rialto_model::Event>>,
    /// Its key, if that is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Cow<'a, str>>,
    /// Its key, if that is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_base64: Option<Base64<'a>>,
    /// Its headers that are text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<HeaderTexts<'a>>,
    /// Its headers that are not text, as base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers_base64: Option<HeaderTexts<'a>>,
    /// The media type of the payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<Cow<'a, str>>,
    /// The version of the payload's schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<u32>,
    /// The priority; 0 is the most urgent.
    pub priority: u8,
    /// When it was published.
    pub published_at: Timestamp,
    /// When it expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// Which messages to read.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadQuery<'a> {
    /// `oldest`, `next`, or the `next` of an answer.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub from: Option<Str<'a>>,
    /// The first message that was published at this time, in nanoseconds since 1970, or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_time: Option<Timestamp>,
    /// The most rows of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub max: Option<usize>,
    /// How long to wait for a message, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

/// Messages that were read.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MessagesAnswer<'a> {
    /// The messages, oldest first.
    pub messages: Vec<MessageInfo<'a>>,
    /// Messages that retention dropped before they were read.
    pub missed: U64Text,
    /// Messages that were left out because a later one of their key is in the answer.
    pub conflated: U64Text,
    /// The `from` of the next request.
    pub next: String,
}

/// Dead letters of a topic.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeadLettersAnswer<'a> {
    /// The messages, oldest first.
    pub messages: Vec<MessageInfo<'a>>,
}

/// How many dead letters to return.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeadLettersQuery {
    /// The most rows of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub max: Option<usize>,
}

/// The dead letters to redrive.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedriveQuery<'a> {
    /// `oldest`, or the `next` of an answer.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub from: Option<Str<'a>>,
    /// The most rows of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub max: Option<usize>,
}

/// The result of a redrive.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RedriveAnswer {
    /// Dead letters that were published again on their topics.
    pub sent: U64Text,
    /// Dead letters that stay.
    pub kept: U64Text,
    /// The `from` of the next request.
    pub next: String,
}

/// The result of a purge.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PurgeAnswer {
    /// The number of messages that were dropped.
    pub dropped: U64Text,
}

/// Messages that a consumer asks for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FetchRequest<'a> {
    /// The consumer's name.
    #[serde(borrow)]
    pub consumer: Str<'a>,
    /// The most rows of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub max: Option<usize>,
    /// How long to wait for a message, in milliseconds.
    #[serde(default)]
    pub wait_ms: u64,
}

/// Messages that were delivered.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FetchedAnswer<'a> {
    /// The messages, each with its lease.
    pub messages: Vec<MessageInfo<'a>>,
    /// Messages that retention dropped before they were delivered.
    pub missed: U64Text,
}

/// A message that was delivered.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaseRequest<'a> {
    /// The message.
    #[serde(borrow)]
    pub id: Str<'a>,
    /// The lease of the delivery.
    #[serde(borrow)]
    pub lease: Str<'a>,
}

/// Messages to acknowledge, or whose leases are extended.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettleRequest<'a> {
    /// The consumer's name.
    #[serde(borrow)]
    pub consumer: Str<'a>,
    /// The messages.
    #[serde(borrow)]
    pub messages: Rows<LeaseRequest<'a>, MESSAGES_MAX>,
}

/// Messages to nack.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NackRequest<'a> {
    /// The consumer's name.
    #[serde(borrow)]
    pub consumer: Str<'a>,
    /// The messages.
    #[serde(borrow)]
    pub messages: Rows<LeaseRequest<'a>, MESSAGES_MAX>,
    /// The delay before the messages are delivered again, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// Whether the messages become dead letters now, without further attempts.
    #[serde(default)]
    pub refuse: bool,
    /// Whether the attempt does not count, because the messages were not worked on.
    #[serde(default)]
    pub unseen: bool,
    /// The reason, kept with the dead letter.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Str<'a>>,
}

/// The parameters of an acknowledgement whose leases are packed.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackedSettleQuery<'a> {
    /// The consumer's name.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub consumer: Option<Str<'a>>,
}

/// The parameters of a nack whose leases are packed.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackedNackQuery<'a> {
    /// The consumer's name.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub consumer: Option<Str<'a>>,
    /// The delay before the messages are delivered again, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// Whether the messages become dead letters now, without further attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuse: Option<bool>,
    /// Whether the attempt does not count, because the messages were not worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<bool>,
    /// The reason, kept with the dead letter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Str<'a>>,
}

/// The result of an acknowledgement, nack or extension.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SettledAnswer {
    /// Messages whose leases the consumer no longer held.
    pub lost: Vec<String>,
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

/// Messages and bytes a second that a group gets.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GroupRates {
    /// The window.
    pub window_ms: U64Text,
    /// Messages delivered a second.
    pub delivered_per_s: f64,
    /// Bytes delivered a second.
    pub delivered_bytes_per_s: f64,
}

/// The state of a group.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GroupInfo {
    /// Its name.
    pub name: String,
    /// The number of consumers.
    pub consumers: U64Text,
    /// Messages that it has not acknowledged yet.
    pub lag: U64Text,
    /// Messages that are delivered and not yet acknowledged.
    pub outstanding: U64Text,
    /// Failed messages that wait for their dead-letter topic.
    pub dead_letters_pending: U64Text,
    /// Deliveries.
    pub delivered: U64Text,
    /// The bytes of these deliveries.
    pub delivered_bytes: U64Text,
    /// Deliveries after the first.
    pub redelivered: U64Text,
    /// Acknowledgements.
    pub acked: U64Text,
    /// Nacks.
    pub nacked: U64Text,
    /// Leases that expired.
    pub unanswered: U64Text,
    /// Messages that its filter left out.
    pub filtered: U64Text,
    /// Messages that expired before they were delivered.
    pub expired: U64Text,
    /// Messages that became dead letters or were dropped after the last attempt.
    pub dead: U64Text,
    /// Messages and bytes a second.
    pub rates: GroupRates,
    /// For each lane, the number below which everything is acknowledged.
    pub done_below: Vec<U64Text>,
}
