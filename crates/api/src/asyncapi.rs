//! The description of the streams as AsyncAPI 3.0.

use crate::openapi::generator;
use crate::stream::{GroupStreamMessage, SettleMessage, StreamMessage, StreamRequest};
use serde_json::{Value, json};

/// The description of the streams as AsyncAPI 3.0, made of the types of their messages.
#[must_use]
pub fn asyncapi() -> Value {
    let mut generator = generator();
    let (request, message) = (
        generator.subschema_for::<StreamRequest<'_>>(),
        generator.subschema_for::<StreamMessage<'_>>(),
    );
    let (settle, delivered) = (
        generator.subschema_for::<SettleMessage<'_>>(),
        generator.subschema_for::<GroupStreamMessage<'_>>(),
    );
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "Rialto",
            "version": "1",
            "description": "Market data and an account's own events, and messages of a group of a \
                            topic, each over a WebSocket.",
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "channels": {
            "venue": {
                "address": "/v1/stream",
                "messages": { "request": { "payload": request }, "message": { "payload": message } },
            },
            "group": {
                "address": "/v1/queues/{topic}/groups/{group}/stream",
                "parameters": {
                    "topic": { "description": "The name of a topic." },
                    "group": { "description": "The name of a group." },
                },
                "messages": { "request": { "payload": settle }, "message": { "payload": delivered } },
            },
        },
        "operations": {
            "ask": operation("receive", "venue", "request", "What a client asks of the venue."),
            "tell": operation("send", "venue", "message", "What the venue sends."),
            "settle": operation("receive", "group", "request", "What a consumer says of messages."),
            "deliver": operation("send", "group", "message", "Messages, and what became of them."),
        },
        "components": { "schemas": generator.take_definitions(true) },
    })
}

fn operation(action: &str, channel: &str, message: &str, summary: &str) -> Value {
    json!({
        "action": action,
        "summary": summary,
        "channel": { "$ref": format!("#/channels/{channel}") },
        "messages": [{ "$ref": format!("#/channels/{channel}/messages/{message}") }],
    })
}
