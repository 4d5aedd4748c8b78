//! The requests of a client.

use crate::{ApiError, json};
use rialto_api::{Str, StreamChannel, StreamOp, StreamRequest};
use rialto_desk::PrivateChannel;
use rialto_model::{AccountId, Seq};

/// A request of a client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    Auth {
        key: String,
        timestamp: String,
        nonce: String,
        signature: String,
        cancel_on_disconnect: bool,
    },
    Subscribe {
        topic: Topic,
        from_seq: Option<Seq>,
        cancel_on_disconnect: bool,
    },
    Unsubscribe(Topic),
    Ping,
}

/// The channel of a subscription, with the client's names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Topic {
    /// A whole book, or this many of its best levels.
    Book {
        instrument: String,
        depth: Option<usize>,
    },
    Trades {
        instrument: String,
    },
    Ticker {
        instrument: String,
    },
    Auction {
        instrument: String,
    },
    Own(PrivateChannel, Option<AccountId>),
}

/// A refused message, with its `op` if that could be read.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) op: Option<StreamOp>,
    pub(super) error: ApiError,
}

impl Request {
    pub(super) fn read(text: &str) -> Result<Request, Refused> {
        let message: StreamRequest<'_> =
            json::read(text.as_bytes()).map_err(|error| Refused { op: None, error })?;
        let op = message.op;
        Request::of(message).map_err(|error| Refused { op: Some(op), error })
    }

    fn of(message: StreamRequest<'_>) -> Result<Request, ApiError> {
        let cancel_on_disconnect = message.cancel_on_disconnect.unwrap_or(false);
        let text = |text: Option<Str<'_>>| text.map(Str::into_owned).unwrap_or_default();
        Ok(match message.op {
            StreamOp::Auth => {
                let fields = ["key", "timestamp", "nonce", "signature", "cancel_on_disconnect"];
                allow(&message, &fields)?;
                Request::Auth {
                    key: text(message.key),
                    timestamp: text(message.timestamp),
                    nonce: text(message.nonce),
                    signature: text(message.signature),
                    cancel_on_disconnect,
                }
            }
            StreamOp::Subscribe => {
                let from_seq = message.from_seq;
                let topic = Topic::of(message, true)?;
                Request::Subscribe { topic, from_seq, cancel_on_disconnect }
            }
            StreamOp::Unsubscribe => Request::Unsubscribe(Topic::of(message, false)?),
            StreamOp::Ping => {
                allow(&message, &[])?;
                Request::Ping
            }
        })
    }
}

impl Topic {
    fn of(message: StreamRequest<'_>, subscribes: bool) -> Result<Topic, ApiError> {
        let channel = message.channel.ok_or_else(|| ApiError::missing("channel"))?;
        let fields: &[&str] = match (channel, subscribes) {
            (StreamChannel::Book, _) => &["channel", "instrument", "depth"],
            (StreamChannel::Trades | StreamChannel::Ticker | StreamChannel::Auction, _) => {
                &["channel", "instrument"]
            }
            (StreamChannel::Orders, true) => {
                &["channel", "account", "from_seq", "cancel_on_disconnect"]
            }
            (StreamChannel::Fills, true) => &["channel", "account", "from_seq"],
            _ => &["channel", "account"],
        };
        allow(&message, fields)?;
        let StreamRequest { account, depth, instrument, .. } = message;
        let named =
            || instrument.map(Str::into_owned).ok_or_else(|| ApiError::missing("instrument"));
        Ok(match channel {
            StreamChannel::Book => Topic::Book { instrument: named()?, depth },
            StreamChannel::Trades => Topic::Trades { instrument: named()? },
            StreamChannel::Ticker => Topic::Ticker { instrument: named()? },
            StreamChannel::Auction => Topic::Auction { instrument: named()? },
            StreamChannel::Orders => Topic::Own(PrivateChannel::Orders, account),
            StreamChannel::Fills => Topic::Own(PrivateChannel::Fills, account),
            StreamChannel::Balances => Topic::Own(PrivateChannel::Balances, account),
        })
    }
}

/// Refuses fields that have no meaning in this request, instead of ignoring them.
fn allow(message: &StreamRequest<'_>, allowed: &[&str]) -> Result<(), ApiError> {
    let given = [
        ("key", message.key.is_some()),
        ("timestamp", message.timestamp.is_some()),
        ("nonce", message.nonce.is_some()),
        ("signature", message.signature.is_some()),
        ("channel", message.channel.is_some()),
        ("instrument", message.instrument.is_some()),
        ("account", message.account.is_some()),
        ("depth", message.depth.is_some()),
        ("from_seq", message.from_seq.is_some()),
        ("cancel_on_disconnect", message.cancel_on_disconnect.is_some()),
    ];
    match given.into_iter().find(|(name, is_given)| *is_given && !allowed.contains(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let message = format!("The field {name} is not allowed in this message.");
            let status = axum::http::StatusCode::BAD_REQUEST;
            Err(ApiError::new(status, "unknown_field", message).of(name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> (&'static str, Option<String>) {
        let error = Request::read(text).unwrap_err().error;
        (error.code, error.field.map(|field| field.into_owned()))
    }

    #[test]
    fn a_subscription_is_read() {
        let text = r#"{"op":"subscribe","channel":"orders","account":7,"from_seq":"12"}"#;
        let topic = Topic::Own(PrivateChannel::Orders, Some(AccountId(7)));
        let from_seq = Some(Seq(12));
        let expected = Request::Subscribe { topic, from_seq, cancel_on_disconnect: false };
        assert_eq!(Request::read(text).unwrap(), expected);
    }

    #[test]
    fn an_invalid_field_is_named() {
        let named = |text, code, field: &str| {
            assert_eq!(refused(text), (code, Some(field.to_owned())), "{text}");
        };
        named(r#"{"op":"dance"}"#, "invalid_field", "op");
        named(r#"{}"#, "missing_field", "op");
        named(r#"{"op":"subscribe"}"#, "missing_field", "channel");
        named(r#"{"op":"subscribe","channel":"news"}"#, "invalid_field", "channel");
        named(r#"{"op":"subscribe","channel":"book"}"#, "missing_field", "instrument");
        named(r#"{"op":"ping","channel":"book"}"#, "unknown_field", "channel");
        named(r#"{"op":"ping","pong":1}"#, "unknown_field", "pong");
        named(
            r#"{"op":"subscribe","channel":"balances","account":7,"from_seq":"1"}"#,
            "unknown_field",
            "from_seq",
        );
        named(r#"{"op":"subscribe","channel":"orders","from_seq":1}"#, "invalid_field", "from_seq");
        assert_eq!(refused("]").0, "malformed_json");
    }
}
