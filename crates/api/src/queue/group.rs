//! Consumer groups.

use crate::text::{Str, U64Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    At(U64Text),
    /// With this message of every lane.
    Seq(U64Text),
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
