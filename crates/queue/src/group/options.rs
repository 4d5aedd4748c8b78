//! The options of a consumer group.

use super::filter::Filter;
use crate::name::Name;
use rialto_clock::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The first message of a group or a reader.
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

/// The order of a group's deliveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryOrder {
    /// Messages are delivered in order, several at a time.
    #[default]
    None,
    /// Messages of one key are delivered one at a time, in order: the next one after the one before
    /// is acknowledged. Messages without a key have no order.
    PerKey,
}

/// The consumers that receive messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// Every consumer that asks.
    #[default]
    Competing,
    /// The consumer that joined first; when it leaves, the next.
    SingleActive,
}

/// The delivery guarantee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// It is delivered again until a consumer acknowledges it.
    #[default]
    AtLeastOnce,
    /// It is acknowledged before it is delivered, durably if the topic is durable.
    AtMostOnce,
}

/// What happens to a message after the last attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeadLetter {
    /// It goes to the topic with the name of this one and `.dead` appended, which is created when
    /// needed.
    #[default]
    Own,
    /// It goes to this topic.
    Topic(Name),
    /// It is dropped, and counted.
    Drop,
}

/// An option of a group is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct InvalidGroupOption {
    /// The name of its field in [`GroupOptions`].
    pub option: &'static str,
    reason: &'static str,
}

/// The options of a group, fixed when it is created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupOptions {
    /// The first message.
    pub start: Start,
    /// The order of deliveries.
    pub order: DeliveryOrder,
    /// The consumers that receive messages.
    pub sharing: Sharing,
    /// The delivery guarantee.
    pub delivery: Delivery,
    /// How long a lease lasts.
    pub ack_wait: Duration,
    /// The most deliveries of a message; 0 is no limit.
    pub attempts_max: u16,
    /// The delay before a message is delivered again, unless the consumer gives one.
    pub retry_delay: Duration,
    /// What happens to a message after the last attempt.
    pub dead_letter: DeadLetter,
    /// The most messages of one lane from its oldest outstanding one to its newest.
    pub outstanding_max: usize,
    /// The messages that it receives; it acknowledges all others at once.
    pub filter: Option<Filter>,
    // Options added later come last: old records of the control log end here.
    /// If set, the delay doubles with every attempt, from `retry_delay` up to this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_delay_max: Option<Duration>,
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
            retry_delay_max: None,
        }
    }
}

impl GroupOptions {
    /// Whether the group covers every message that its topic has held.
    pub(crate) fn covers_all(&self) -> bool {
        self.start == Start::Oldest && self.filter.is_none()
    }

    /// How long a message waits after this many attempts, unless its consumer says.
    pub(crate) fn retry_delay_after(&self, attempts: u16) -> Duration {
        let Some(max) = self.retry_delay_max else { return self.retry_delay };
        let doublings = attempts.saturating_sub(1);
        // 128 doublings take a nanosecond past every duration.
        (0..doublings.min(128)).fold(self.retry_delay, |it, _| it.saturating_mul(2)).min(max)
    }

    /// Whether the options are valid.
    pub fn check(&self) -> Result<(), InvalidGroupOption> {
        let refuse = |option, reason| Err(InvalidGroupOption { option, reason });
        if let Some(max) = self.retry_delay_max {
            if self.retry_delay.is_zero() {
                return refuse(
                    "retry_delay_max",
                    "a greatest retry delay needs a retry delay above 0",
                );
            }
            if max < self.retry_delay {
                return refuse(
                    "retry_delay_max",
                    "the greatest retry delay is at least the retry delay",
                );
            }
        }
        if self.filter.as_ref().is_some_and(|filter| !filter.is_bounded()) {
            return refuse(
                "filter",
                "a filter has at most 256 conditions, and 16,384 bytes of names and values",
            );
        }
        Ok(())
    }
}
