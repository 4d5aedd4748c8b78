//! Transactions over topics.

use super::queue::{LeaseRequest, MessageRequest};
use crate::ApiError;
use crate::decimal::whole;
use crate::json::Str;
use crate::queues::{CommitTransaction, LeaseTexts, Seat};
use rialto_queue::Name;
use serde::Deserialize;

/// Body of `POST /v1/queues/transactions`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TransactionRequest<'a> {
    #[serde(borrow)]
    producer: Option<Str<'a>>,
    #[serde(borrow)]
    number: Option<Str<'a>>,
    #[serde(default, borrow)]
    publish: Vec<PublishRequest<'a>>,
    #[serde(default, borrow)]
    ack: Vec<AckRequest<'a>>,
}

/// What is to be published on one topic.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishRequest<'a> {
    #[serde(borrow)]
    topic: Str<'a>,
    messages: Vec<MessageRequest>,
}

/// What one consumer of a group has worked on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AckRequest<'a> {
    #[serde(borrow)]
    topic: Str<'a>,
    #[serde(borrow)]
    group: Str<'a>,
    #[serde(borrow)]
    consumer: Str<'a>,
    #[serde(borrow)]
    messages: Vec<LeaseRequest<'a>>,
}

impl TransactionRequest<'_> {
    /// The transaction, as it is asked of the queue.
    pub(crate) fn transaction(self, texts: LeaseTexts) -> Result<CommitTransaction, ApiError> {
        let number = match (&self.producer, &self.number) {
            (None, None) => None,
            (Some(producer), Some(number)) => {
                Some((name("producer", producer)?, whole("number", number)?))
            }
            (Some(_), None) => return Err(ApiError::missing("number")),
            (None, Some(_)) => return Err(ApiError::missing("producer")),
        };
        let publish = self.publish.into_iter().enumerate().map(|(nth, row)| {
            let at = format!("publish[{nth}].");
            let topic = name("topic", &row.topic).map_err(|error| within(&at, error))?;
            let messages = row.messages.into_iter().enumerate().map(|(place, message)| {
                message.message(place).map_err(|error| within(&format!("{at}messages"), error))
            });
            Ok((topic, messages.collect::<Result<_, ApiError>>()?))
        });
        let ack = self.ack.iter().enumerate().map(|(nth, row)| {
            let read = || {
                let seat = Seat {
                    topic: name("topic", &row.topic)?,
                    group: name("group", &row.group)?,
                    consumer: name("consumer", &row.consumer)?,
                };
                Ok((seat, LeaseRequest::numbers(&row.messages, texts)?))
            };
            read().map_err(|error| within(&format!("ack[{nth}]."), error))
        });
        Ok(CommitTransaction {
            publish: publish.collect::<Result<_, ApiError>>()?,
            ack: ack.collect::<Result<_, ApiError>>()?,
            number,
        })
    }
}

fn name(field: &'static str, text: &str) -> Result<Name, ApiError> {
    Name::new(text).map_err(|error| ApiError::invalid(field, format!("{error}.")))
}

/// The same error, about a field that stands deeper.
fn within(at: &str, error: ApiError) -> ApiError {
    let field = format!("{at}{}", error.field.as_deref().unwrap_or_default());
    error.of(field)
}
