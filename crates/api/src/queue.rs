//! Topics, groups and messages.

use crate::limits::{HEADERS_MAX, MESSAGES_MAX};
use crate::text::{Rows, Str, Whole};
use rialto_model::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::SerializeMap};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// A topic to create. What is left out has its usual value.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopicRequest<'a> {
    /// Its name.
    #[serde(borrow)]
    pub name: Str<'a>,
    /// What becomes of messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<TopicKind>,
    /// `memory`, `buffered` or `synced`: how safe a message is when it is confirmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Str<'a>>,
    /// Number of priorities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priorities: Option<u8>,
    /// Most messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages_max: Option<u64>,
    /// Most bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_max: Option<u64>,
    /// Longest age of a message, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_age_ms: Option<u64>,
    /// How long a producer waits for room in a full work queue, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_ms: Option<u64>,
    /// What becomes of a reader that retention has overtaken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overtaken: Option<OvertakenChoice>,
    /// Largest payload of a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_bytes_max: Option<usize>,
    /// Size of the files that the topic is kept in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment_bytes: Option<u64>,
    /// `none`, `lz4`, `zstd` or `zstd:` and a level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<Str<'a>>,
    /// The cipher that its files are encrypted with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption: Option<Str<'a>>,
}

/// What becomes of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TopicKind {
    /// Messages stay until retention takes them, read or not.
    Stream,
    /// Messages stay until every group of the topic has acknowledged them.
    WorkQueue,
}

/// What becomes of a reader that retention has overtaken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OvertakenChoice {
    /// It goes on with the oldest message there is.
    Oldest,
    /// It goes on with the newest.
    Newest,
    /// It is cut off: every later call is an error.
    CutOff,
    /// Of what it is too far behind in, it gets the last message of each key.
    Conflated {
        /// How many messages of a lane a reader may be behind.
        behind: u64,
    },
}

/// A group to create. What is left out has its usual value.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupRequest<'a> {
    /// Its name.
    #[serde(borrow)]
    pub name: Str<'a>,
    /// Where it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<GroupStart>,
    /// What it promises about order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<GroupOrder>,
    /// Which consumers get messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharing: Option<GroupSharing>,
    /// What a delivery promises.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<GroupDelivery>,
    /// How long a consumer has for a message, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_wait_ms: Option<u64>,
    /// Most attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts_max: Option<u16>,
    /// How long a message waits before it is delivered again, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_delay_ms: Option<u64>,
    /// What becomes of a message after the last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead_letter: Option<DeadLetterChoice>,
    /// Most messages that are delivered and not yet acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outstanding_max: Option<usize>,
    /// Which messages it takes, by their headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<Str<'a>>,
}

/// Where a group begins.
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

/// What a group promises about order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroupOrder {
    /// Messages are delivered in order and worked on at the same time.
    None,
    /// Of the messages of one key, one at a time is worked on.
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

/// What the delivery of a message promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroupDelivery {
    /// It is delivered again until a consumer acknowledges it.
    AtLeastOnce,
    /// It counts as acknowledged before it is delivered.
    AtMostOnce,
}

/// What becomes of a message after the last attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeadLetterChoice {
    /// It goes to the topic of the same name and `.dead`.
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
    /// The text.
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

/// MessageHeaders of a message to publish: at most [`HEADERS_MAX`]; reading stops at the first one too many.
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
    /// Texts beside the payload.
    #[serde(default)]
    pub headers: MessageHeaders,
    /// 0 is the most urgent.
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
    /// `memory`, `buffered` or `synced`: what the answer waits for.
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
    /// Of each message, its lane, a colon and its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<String>>,
    /// Of messages that were sent packed: the first and the last of each row of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranges: Option<Vec<IdRange>>,
    /// Messages that had been published before under the same numbers.
    pub duplicates: usize,
}

/// Messages of one lane with numbers that follow each other.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct IdRange {
    /// The first.
    pub first: String,
    /// The last.
    pub last: String,
}

/// Text values and others, each under the same names: headers that are no text are base64.
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

/// A message of a topic. What it does not have is left out.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MessageInfo<'a> {
    /// Its lane, a colon and its number.
    pub id: String,
    /// What an acknowledgement of this delivery names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
    /// Which attempt it is; the first is 1.
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
    /// 0 is the most urgent.
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
    /// `oldest`, `next`, or what an answer called `next`.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub from: Option<Str<'a>>,
    /// The first message that was published at this time, in nanoseconds since 1970, or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_time: Option<Timestamp>,
    /// At most this many.
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
    pub missed: Whole,
    /// Messages that were left out because a later one of their key is here.
    pub conflated: Whole,
    /// What to give as `from` to go on.
    pub next: String,
}

/// Dead letters of a topic.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeadLettersAnswer<'a> {
    /// The messages, oldest first.
    pub messages: Vec<MessageInfo<'a>>,
}

/// How many dead letters.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeadLettersQuery {
    /// At most this many.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub max: Option<usize>,
}

/// Which dead letters to send back.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedriveQuery<'a> {
    /// `oldest`, or what an answer called `next`.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub from: Option<Str<'a>>,
    /// At most this many.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub max: Option<usize>,
}

/// What became of dead letters.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RedriveAnswer {
    /// Sent back to where they came from.
    pub sent: Whole,
    /// Left where they are.
    pub kept: Whole,
    /// What to give as `from` to go on.
    pub next: String,
}

/// What was dropped.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PurgeAnswer {
    /// Messages.
    pub dropped: Whole,
}

/// Messages that a consumer asks for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FetchRequest<'a> {
    /// The consumer's name.
    #[serde(borrow)]
    pub consumer: Str<'a>,
    /// At most this many.
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
    pub missed: Whole,
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

/// Messages to give back.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NackRequest<'a> {
    /// The consumer's name.
    #[serde(borrow)]
    pub consumer: Str<'a>,
    /// The messages.
    #[serde(borrow)]
    pub messages: Rows<LeaseRequest<'a>, MESSAGES_MAX>,
    /// How long they wait before they are delivered again, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// Whether no other attempt would help: they become dead letters.
    #[serde(default)]
    pub refuse: bool,
    /// Whether they were not worked on at all: the attempt does not count.
    #[serde(default)]
    pub unseen: bool,
    /// Why, for the reader of the dead letter.
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
    /// How long they wait before they are delivered again, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// Whether no other attempt would help: they become dead letters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuse: Option<bool>,
    /// Whether they were not worked on at all: the attempt does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<bool>,
    /// Why, for the reader of the dead letter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Str<'a>>,
}

/// What became of leases.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SettledAnswer {
    /// Messages whose leases were no longer the consumer's.
    pub lost: Vec<String>,
}

/// The names of topics.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TopicsAnswer {
    /// The topics that the key may see.
    pub topics: Vec<String>,
}

/// What a topic is and how it is doing.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TopicInfo {
    /// Its name.
    pub name: String,
    /// Whether it is a copy that is only read.
    pub read_only: bool,
    /// What becomes of messages.
    pub kind: TopicKind,
    /// How safe a message is when it is confirmed.
    pub level: Cow<'static, str>,
    /// Number of priorities.
    pub priorities: u8,
    /// Most messages.
    pub messages_max: Option<Whole>,
    /// Most bytes.
    pub bytes_max: Option<Whole>,
    /// Longest age of a message, in milliseconds.
    pub max_age_ms: Option<Whole>,
    /// What becomes of a reader that retention has overtaken.
    pub overtaken: String,
    /// How its files are compressed.
    pub compression: String,
    /// How its files are encrypted.
    pub encryption: Cow<'static, str>,
    /// Messages that it holds.
    pub messages: Whole,
    /// Bytes that count against its bound.
    pub bytes: Whole,
    /// Messages that are not due yet.
    pub delayed: Whole,
    /// Messages that were published since the start.
    pub published_messages: Whole,
    /// Their bytes.
    pub published_bytes: Whole,
    /// Bytes of what was written, before compression.
    pub plain_bytes: Whole,
    /// Bytes of what was written, as they are kept.
    pub stored_bytes: Whole,
    /// Messages that were refused because it was full.
    pub refused: Whole,
    /// Messages that had been published before.
    pub duplicates: Whole,
    /// Bytes that are not written yet.
    pub pending_bytes: Whole,
    /// Age of its oldest message, in milliseconds.
    pub oldest_age_ms: Option<Whole>,
    /// Messages and bytes a second.
    pub rates: TopicRates,
    /// Why it takes no more messages.
    pub failed: Option<String>,
    /// Of each lane, the numbers of its oldest message and of the next one.
    pub lanes: Vec<(Whole, Whole)>,
    /// Its groups.
    pub groups: Vec<GroupInfo>,
}

/// Messages and bytes a second, over a window.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TopicRates {
    /// The window.
    pub window_ms: Whole,
    /// Published.
    pub published_per_s: f64,
    /// Published.
    pub published_bytes_per_s: f64,
    /// Delivered to all groups.
    pub delivered_per_s: f64,
    /// Delivered to all groups.
    pub delivered_bytes_per_s: f64,
}

/// Messages and bytes a second that a group gets.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GroupRates {
    /// The window.
    pub window_ms: Whole,
    /// Delivered.
    pub delivered_per_s: f64,
    /// Delivered.
    pub delivered_bytes_per_s: f64,
}

/// How a group is doing.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GroupInfo {
    /// Its name.
    pub name: String,
    /// Consumers.
    pub consumers: Whole,
    /// Messages that it has not acknowledged yet.
    pub lag: Whole,
    /// Messages that are delivered and not yet acknowledged.
    pub outstanding: Whole,
    /// Failed messages that wait for their dead-letter topic.
    pub dead_letters_pending: Whole,
    /// Deliveries.
    pub delivered: Whole,
    /// Their bytes.
    pub delivered_bytes: Whole,
    /// Deliveries after the first.
    pub redelivered: Whole,
    /// Acknowledged.
    pub acked: Whole,
    /// Given back.
    pub nacked: Whole,
    /// Not acknowledged in time.
    pub unanswered: Whole,
    /// Left out by its filter.
    pub filtered: Whole,
    /// Expired before they were delivered.
    pub expired: Whole,
    /// Failed for good.
    pub dead: Whole,
    /// Messages and bytes a second.
    pub rates: GroupRates,
    /// Of each lane, the number below which everything is acknowledged.
    pub done_below: Vec<Whole>,
}
