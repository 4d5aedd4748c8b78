//! What a client says.

use crate::{ApiError, json};
use rialto_desk::PrivateChannel;
use rialto_model::{AccountId, Seq};
use serde::Deserialize;

/// Any message of a client. Which fields belong to which `op` is checked after reading, so that a
/// message that is wrong is told why in the words of its own fields.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    op: String,
    key: Option<String>,
    timestamp: Option<String>,
    nonce: Option<String>,
    signature: Option<String>,
    channel: Option<String>,
    instrument: Option<String>,
    account: Option<AccountId>,
    depth: Option<usize>,
    from_seq: Option<Seq>,
    cancel_on_disconnect: Option<bool>,
}

/// What a client asks for.
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

/// What a subscription is about, as the client names it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Topic {
    /// The whole book, or so many of its best levels.
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
    Own(PrivateChannel, Option<AccountId>),
}

/// A message that is refused, with its `op` if that could be read.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) op: Option<String>,
    pub(super) error: ApiError,
}

impl Request {
    pub(super) fn read(text: &str) -> Result<Request, Refused> {
        let message: Message =
            json::read(text.as_bytes()).map_err(|error| Refused { op: None, error })?;
        let op = message.op.clone();
        message.request().map_err(|error| Refused { op: Some(op), error })
    }
}

impl Message {
    fn request(self) -> Result<Request, ApiError> {
        let request = match self.op.as_str() {
            "auth" => {
                self.allow(&["key", "timestamp", "nonce", "signature", "cancel_on_disconnect"])?;
                Request::Auth {
                    key: self.key.unwrap_or_default(),
                    timestamp: self.timestamp.unwrap_or_default(),
                    nonce: self.nonce.unwrap_or_default(),
                    signature: self.signature.unwrap_or_default(),
                    cancel_on_disconnect: self.cancel_on_disconnect.unwrap_or(false),
                }
            }
            "subscribe" => {
                let from_seq = self.from_seq;
                let cancel_on_disconnect = self.cancel_on_disconnect.unwrap_or(false);
                let topic = self.topic(true)?;
                Request::Subscribe { topic, from_seq, cancel_on_disconnect }
            }
            "unsubscribe" => Request::Unsubscribe(self.topic(false)?),
            "ping" => {
                self.allow(&[])?;
                Request::Ping
            }
            _ => {
                let message = "An op is auth, subscribe, unsubscribe or ping.";
                return Err(ApiError::invalid("op", message));
            }
        };
        Ok(request)
    }

    fn topic(self, subscribes: bool) -> Result<Topic, ApiError> {
        let channel = self.channel.as_deref().ok_or_else(|| ApiError::missing("channel"))?;
        let depth: &[_] = if channel == "book" { &["channel", "instrument", "depth"] } else { &[] };
        let own: &[_] = match (channel, subscribes) {
            ("orders", true) => &["channel", "account", "from_seq", "cancel_on_disconnect"],
            ("fills", true) => &["channel", "account", "from_seq"],
            _ => &["channel", "account"],
        };
        match channel {
            "book" => self.allow(depth)?,
            "trades" | "ticker" => self.allow(&["channel", "instrument"])?,
            _ => self.allow(own)?,
        }
        let account = self.account;
        let instrument = self.instrument;
        let named = || instrument.ok_or_else(|| ApiError::missing("instrument"));
        Ok(match channel {
            "book" => Topic::Book { instrument: named()?, depth: self.depth },
            "trades" => Topic::Trades { instrument: named()? },
            "ticker" => Topic::Ticker { instrument: named()? },
            "orders" => Topic::Own(PrivateChannel::Orders, account),
            "fills" => Topic::Own(PrivateChannel::Fills, account),
            "balances" => Topic::Own(PrivateChannel::Balances, account),
            _ => {
                let message = "A channel is book, trades, ticker, orders, fills or balances.";
                return Err(ApiError::invalid("channel", message));
            }
        })
    }

    /// Refuses fields that have no meaning here, rather than to ignore what a client asked for.
    fn allow(&self, allowed: &[&str]) -> Result<(), ApiError> {
        let given = [
            ("key", self.key.is_some()),
            ("timestamp", self.timestamp.is_some()),
            ("nonce", self.nonce.is_some()),
            ("signature", self.signature.is_some()),
            ("channel", self.channel.is_some()),
            ("instrument", self.instrument.is_some()),
            ("account", self.account.is_some()),
            ("depth", self.depth.is_some()),
            ("from_seq", self.from_seq.is_some()),
            ("cancel_on_disconnect", self.cancel_on_disconnect.is_some()),
        ];
        match given.into_iter().find(|(name, is_given)| *is_given && !allowed.contains(name)) {
            None => Ok(()),
            Some((name, _)) => {
                let message = format!("The field {name} has no meaning in this message.");
                let status = axum::http::StatusCode::BAD_REQUEST;
                Err(ApiError::new(status, "unknown_field", message).of(name))
            }
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
    fn what_is_wrong_is_named() {
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
