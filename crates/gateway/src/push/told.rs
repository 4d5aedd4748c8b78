//! What a client is told on its connection.

use super::Form;
use super::said::Op;
use crate::ApiError;
use crate::dto::write_delivered;
use crate::json::JsonOut;
use crate::queues::LeaseTexts;
use axum::extract::ws::{Message, Utf8Bytes};
use rialto_queue::packed::pack_fetched;
use rialto_queue::{Fetched, MessageId};

fn text(out: JsonOut) -> Message {
    let text = Utf8Bytes::try_from(out.into_bytes());
    Message::Text(text.expect("what is written as JSON is text"))
}

/// Messages that are handed out.
pub(super) fn messages(fetched: &Fetched, form: Form, leases: LeaseTexts) -> Message {
    if form == Form::Packed {
        let pieces = pack_fetched(fetched, leases.epoch());
        let bytes = pieces.iter().map(|piece| piece.as_ref().len()).sum();
        let mut frame = Vec::with_capacity(bytes);
        pieces.iter().for_each(|piece| frame.extend_from_slice(piece.as_ref()));
        return Message::Binary(frame.into());
    }
    let mut out = JsonOut::with_capacity(256 + 512 * fetched.messages.len());
    out.open_object();
    out.key("type").text("messages");
    out.key("messages").open_array();
    for delivered in &fetched.messages {
        write_delivered(&mut out, delivered, leases);
    }
    out.close_array();
    out.key("missed").quoted(fetched.missed);
    out.close_object();
    text(out)
}

/// What the client said is so, as safely as the topic keeps messages; but these messages were no
/// longer its own.
pub(super) fn settled(op: Op, lost: &[MessageId]) -> Message {
    let mut out = JsonOut::with_capacity(64 + 16 * lost.len());
    out.open_object();
    out.key("type").text("settled");
    out.key("op").text(op.name());
    out.key("lost").open_array();
    for id in lost {
        out.text(&id.to_string());
    }
    out.close_array();
    out.close_object();
    text(out)
}

/// Nothing was done of what the client said.
pub(super) fn refused(error: &ApiError) -> Message {
    let mut out = JsonOut::with_capacity(256);
    out.open_object();
    out.key("type").text("error");
    out.key("error");
    error.write(&mut out);
    out.close_object();
    text(out)
}
