//! What a consumer group is.

use super::filter::Filter;
use crate::name::Name;
use crate::topic::InvalidOptions;
use rialto_clock::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Where a group, or a reader, begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// With the oldest message that the topic holds.
    #[default]
    Oldest,
    /// With the next message that is published.
    Next,
    /// With the first message that was published at this time or later.
    At(Timestamp),
    /// With this message of every lane.
    Seq(u64),
}

/// What a group promises about order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryOrder {
    /// Messages are delivered in order, and worked on at the same time.
    #[default]
    None,
    /// Of the messages of one key, one at a time is worked on, in order; the next is delivered
    /// when the one before is acknowledged, however often that takes. Messages without a key are free.
    PerKey,
}

/// Who gets messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// Every consumer that asks.
    #[default]
    Competing,
    /// The consumer that joined first; when it leaves, the next.
    SingleActive,
}

/// What the delivery of a message promises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// It is delivered again until a consumer says that it is done.
    #[default]
    AtLeastOnce,
    /// It counts as done before it is delivered, durably if the topic is durable.
    AtMostOnce,
}

/// What becomes of a message after the last try.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeadLetter {
    /// It goes to the topic that is called as this one and `.dead`, which is made when it is needed.
    #[default]
    Own,
    /// It goes to this topic.
    Topic(Name),
    /// It is dropped, and counted.
    Drop,
}

/// What a group is: given when it is created, and kept with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupOptions {
    /// Where it begins.
    pub start: Start,
    /// What it promises about order.
    pub order: DeliveryOrder,
    /// Who gets messages.
    pub sharing: Sharing,
    /// What the delivery of a message promises.
    pub delivery: Delivery,
    /// How long a consumer has for a message before it is delivered again.
    pub ack_wait: Duration,
    /// How often a message is delivered at most; 0 for without end.
    pub attempts_max: u16,
    /// How long a message rests before it is delivered again, unless the consumer says otherwise.
    pub retry_delay: Duration,
    /// What becomes of a message after the last try.
    pub dead_letter: DeadLetter,
    /// The most messages that are out, or in the way of older ones that are, in one lane.
    pub outstanding_max: usize,
    /// Which messages it is about; it acknowledges all others at once.
    pub filter: Option<Filter>,
}

impl Default for GroupOptions {
    fn default() -> Self {
        Self {
            start: Start::Oldest,
            order: DeliveryOrder::None,
            sharing: Sharing::Competing,
            delivery: Delivery::AtLeastOnce,
            ack_wait: Duration::from_secs(30),
            attempts_max: 5,
            retry_delay: Duration::ZERO,
            dead_letter: DeadLetter::Own,
            outstanding_max: 65_536,
            filter: None,
        }
    }
}

impl GroupOptions {
    /// Whether the group covers every message that its topic has held.
    pub(crate) fn covers_all(&self) -> bool {
        self.start == Start::Oldest && self.filter.is_none()
    }

    /// Whether a group can have these.
    pub fn check(&self) -> Result<(), InvalidOptions> {
        if self.filter.as_ref().is_some_and(|filter| !filter.is_bounded()) {
            return Err(InvalidOptions(
                "a filter has at most 256 conditions, and 16,384 bytes of names and values",
            ));
        }
        Ok(())
    }
}
