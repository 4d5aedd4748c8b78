//! Messages: published, read, dead letters.

use crate::limits::{HEADERS_MAX, MESSAGES_MAX};
use crate::text::{Rows, Str, U64Text};
use rialto_model::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::SerializeMap};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

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
