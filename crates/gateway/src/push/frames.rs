//! The gateway's frames.

use crate::convert::delivered_info;
use crate::{ApiError, json};
use axum::extract::ws::{Message, Utf8Bytes};
use rialto_api::{GroupStreamMessage, MessageFormat, SettleOp};
use rialto_broker::LeaseTokens;
use rialto_queue::packed::pack_fetched;
use rialto_queue::{Fetched, MessageId};

fn text(message: &GroupStreamMessage<'_>, capacity: usize) -> Message {
    let text = Utf8Bytes::try_from(json::write(message, capacity));
    Message::Text(text.expect("what is written as JSON is text"))
}

/// Delivered messages.
pub(super) fn messages(fetched: &Fetched, format: MessageFormat, leases: LeaseTokens) -> Message {
    if format == MessageFormat::Packed {
        let pieces = pack_fetched(fetched, leases.epoch());
        let bytes = pieces.iter().map(|piece| piece.as_ref().len()).sum();
        let mut frame = Vec::with_capacity(bytes);
        pieces.iter().for_each(|piece| frame.extend_from_slice(piece.as_ref()));
        return Message::Binary(frame.into());
    }
    let messages = fetched.messages.iter().map(|message| delivered_info(message, leases));
    let message = GroupStreamMessage::Messages {
        messages: messages.collect(),
        missed: fetched.missed.into(),
    };
    text(&message, 256 + 512 * fetched.messages.len())
}

/// A settlement took effect, at the topic's durability level; the leases of these messages were
/// lost.
pub(super) fn settled(op: SettleOp, lost: &[MessageId]) -> Message {
    let lost: Vec<_> = lost.iter().map(ToString::to_string).collect();
    let capacity = 64 + 16 * lost.len();
    text(&GroupStreamMessage::Settled { op, lost }, capacity)
}

/// A frame of the client was refused.
pub(super) fn refused(error: &ApiError) -> Message {
    text(&GroupStreamMessage::Error { error: error.detail() }, 256)
}
