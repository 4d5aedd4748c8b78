//! Transactions over topics.

use crate::limits::MESSAGES_MAX;
use crate::queue::{LeaseRequest, PublishRequest};
use crate::text::{Rows, Str, U64Text};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;
use std::marker::PhantomData;

/// Messages to publish and messages to acknowledge, together or not at all.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransactionRequest<'a> {
    /// The producer that numbers its transactions.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub producer: Option<Str<'a>>,
    /// The number of the transaction, as text. A transaction that is sent again is not committed
    /// again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<U64Text>,
    /// The messages to publish, by topic.
    #[serde(default, borrow, deserialize_with = "publish_rows")]
    pub publish: Rows<TransactionPublish<'a>, MESSAGES_MAX>,
    /// The messages to acknowledge, by consumer.
    #[serde(default, borrow, deserialize_with = "ack_rows")]
    pub ack: Rows<TransactionAck<'a>, MESSAGES_MAX>,
}

/// The messages that a transaction publishes on one topic.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransactionPublish<'a> {
    /// The topic.
    #[serde(borrow)]
    pub topic: Str<'a>,
    /// The messages.
    pub messages: PublishRequest,
}

/// The messages that a transaction acknowledges for one consumer of a group.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransactionAck<'a> {
    /// The topic.
    #[serde(borrow)]
    pub topic: Str<'a>,
    /// The group.
    #[serde(borrow)]
    pub group: Str<'a>,
    /// The consumer.
    #[serde(borrow)]
    pub consumer: Str<'a>,
    /// The messages.
    #[serde(borrow)]
    pub messages: Rows<LeaseRequest<'a>, MESSAGES_MAX>,
}

/// A transaction is committed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TransactionAnswer {
    /// Whether it was committed earlier under the same number.
    pub duplicate: bool,
}

/// Decodes rows that hold messages. Decoding stops after the row that takes the total above
/// [`MESSAGES_MAX`] messages, which bounds memory by twice as many.
fn bounded_rows<'de, D, T>(
    deserializer: D,
    messages: fn(&T) -> usize,
) -> Result<Rows<T, MESSAGES_MAX>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Visitor<T>(fn(&T) -> usize, PhantomData<T>);
    impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Visitor<T> {
        type Value = Rows<T, MESSAGES_MAX>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "an array of at most {MESSAGES_MAX} messages in all")
        }
        fn visit_seq<A: de::SeqAccess<'de>>(self, mut rows: A) -> Result<Self::Value, A::Error> {
            let (mut read, mut total) = (Vec::new(), 0);
            while let Some(row) = rows.next_element()? {
                total += self.0(&row);
                if total > MESSAGES_MAX || read.len() == MESSAGES_MAX {
                    let message = format_args!("more than {MESSAGES_MAX} messages in all");
                    return Err(de::Error::custom(message));
                }
                read.push(row);
            }
            Ok(Rows(read))
        }
    }
    deserializer.deserialize_seq(Visitor(messages, PhantomData))
}

fn publish_rows<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Rows<TransactionPublish<'a>, MESSAGES_MAX>, D::Error> {
    bounded_rows(deserializer, |row: &TransactionPublish<'_>| row.messages.0.len())
}

fn ack_rows<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Rows<TransactionAck<'a>, MESSAGES_MAX>, D::Error> {
    bounded_rows(deserializer, |row: &TransactionAck<'_>| row.messages.0.len())
}
