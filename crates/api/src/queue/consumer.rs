//! What consumers ask for and return.

use super::MessageInfo;
use crate::limits::MESSAGES_MAX;
use crate::text::{Rows, Str, U64Text};
use rialto_model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// How long the leases last, in milliseconds, instead of the group's `ack_wait_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 604_800_000))]
    pub ack_wait_ms: Option<u64>,
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

/// Messages to acknowledge.
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

/// Messages whose leases are extended.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtendRequest<'a> {
    /// The consumer's name.
    #[serde(borrow)]
    pub consumer: Str<'a>,
    /// The messages.
    #[serde(borrow)]
    pub messages: Rows<LeaseRequest<'a>, MESSAGES_MAX>,
    /// How long the leases last from now, in milliseconds, instead of the group's `ack_wait_ms`. A
    /// lease that ends later anyway stays as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 604_800_000))]
    pub ack_wait_ms: Option<u64>,
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

/// The parameters of an extension whose leases are packed.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackedExtendQuery<'a> {
    /// The consumer's name.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub consumer: Option<Str<'a>>,
    /// How long the leases last from now, in milliseconds, instead of the group's `ack_wait_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_wait_ms: Option<u64>,
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

/// The page of leased messages to return.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeasesQuery<'a> {
    /// The last message of the page before; without it, the first page.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub after: Option<Str<'a>>,
    /// The most rows of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub max: Option<usize>,
}

/// The leased messages of a group.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeasesAnswer {
    /// The messages, by priority and number. No message is leased behind an empty page.
    pub leases: Vec<LeaseInfo>,
}

/// A leased message.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeaseInfo {
    /// The message.
    pub id: String,
    /// When the lease ends, unless it is extended.
    pub deadline: Timestamp,
    /// The number of this delivery, from 1.
    pub attempt: u16,
    /// The name of the consumer; absent if messages are pushed to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consumer: Option<String>,
    /// When the message was published; absent if the topic has dropped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_at: Option<Timestamp>,
}
