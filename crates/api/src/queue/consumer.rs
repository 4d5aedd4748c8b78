//! What consumers ask for and return.

use super::MessageInfo;
use crate::limits::MESSAGES_MAX;
use crate::text::{Rows, Str, U64Text};
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
