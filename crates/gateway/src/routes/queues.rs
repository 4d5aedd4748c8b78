//! Queues: topics and groups, publishing, reading.

use super::{Handled, count, packed, respond};
use crate::ApiError;
use crate::auth::Caller;
use crate::call::{Call, unescape};
use crate::convert::{group_options, message_info, new_messages, topic_info, topic_options};
use crate::gate::Gate;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use rialto_api::limits::MESSAGES_MAX;
use rialto_api::sign::{HEADER_CONFLATED, HEADER_NEXT};
use rialto_api::{
    GroupRequest, MessageRequest, MessagesAnswer, Nothing, PublishQuery, PublishedAnswer,
    ReadQuery, TopicRequest, TopicsAnswer,
};
use rialto_broker::{
    CreateGroup, CreateTopic, DeleteGroup, DeleteTopic, GetTopic, ListTopics, NewMessages,
    PublishMessages, QueueBus, ReadFrom, ReadMessages, bus_error, may_produce,
};
use rialto_bus::Dispatch;
use rialto_queue::packed::pack_messages;
use rialto_queue::{Level, Message, Name, Start, Timestamp};
use std::time::Duration;

/// The queue's bus, if this venue has queues.
pub(crate) fn bus(gate: &Gate) -> Result<&QueueBus, ApiError> {
    gate.queues.as_ref().ok_or_else(|| {
        let message = "This venue has no queues; its operator can set enabled in [queue].";
        ApiError::new(StatusCode::NOT_FOUND, "no_queues", message)
    })
}

/// The names in the path after `/v1/queues/`.
pub(crate) fn names<const N: usize>(
    call: &Call,
    fields: [&'static str; N],
) -> Result<[Name; N], ApiError> {
    names_in(&call.head, fields)
}

fn names_in<const N: usize>(
    head: &Parts,
    fields: [&'static str; N],
) -> Result<[Name; N], ApiError> {
    let path = head.uri.path().strip_prefix("/v1/queues/").unwrap_or_default();
    // Names alternate with words: topic, "groups", group, "fetch".
    let mut parts = path.split('/').step_by(2);
    let mut names = Vec::with_capacity(N);
    for field in fields {
        names.push(name(field, &unescape(parts.next().unwrap_or_default())?)?);
    }
    Ok(<[Name; N]>::try_from(names).expect("there is one name for each field"))
}

pub(super) fn name(field: &'static str, text: &str) -> Result<Name, ApiError> {
    Name::new(text).map_err(|error| ApiError::invalid(field, format!("{error}.")))
}

/// `POST /v1/queues`
pub(super) async fn create(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let Nothing {} = call.query()?;
    let body: TopicRequest<'_> = call.json()?;
    let topic = name("name", &body.name)?;
    let options = topic_options(&body)?;
    bus(gate)?.send(CreateTopic { topic: topic.clone(), options }, &call.queue_cx()).await?;
    show(gate, &call, StatusCode::CREATED, topic).await
}

/// `GET /v1/queues`
pub(super) async fn list(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let topics = bus(gate)?.query(ListTopics, &call.queue_cx()).await?;
    let topics: Vec<_> = topics.iter().map(ToString::to_string).collect();
    let capacity = 32 + 32 * topics.len();
    Ok(respond(StatusCode::OK, &TopicsAnswer { topics }, capacity))
}

/// `GET /v1/queues/{topic}`
pub(super) async fn get(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let [topic] = names(&call, ["topic"])?;
    show(gate, &call, StatusCode::OK, topic).await
}

async fn show(gate: &Gate, call: &Call, status: StatusCode, topic: Name) -> Handled {
    let (options, stats) = bus(gate)?.query(GetTopic { topic }, &call.queue_cx()).await?;
    Ok(respond(status, &topic_info(&options, &stats), 1_024))
}

/// `DELETE /v1/queues/{topic}`
pub(super) async fn delete(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let [topic] = names(&call, ["topic"])?;
    bus(gate)?.send(DeleteTopic { topic }, &call.queue_cx()).await?;
    Ok(nothing())
}

/// `POST /v1/queues/{topic}/groups`
pub(super) async fn create_group(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let Nothing {} = call.query()?;
    let [topic] = names(&call, ["topic"])?;
    let body: GroupRequest<'_> = call.json()?;
    let group = name("name", &body.name)?;
    let create = CreateGroup { topic: topic.clone(), group, options: group_options(&body)? };
    bus(gate)?.send(create, &call.queue_cx()).await?;
    show(gate, &call, StatusCode::CREATED, topic).await
}

/// `DELETE /v1/queues/{topic}/groups/{group}`
pub(super) async fn delete_group(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let [topic, group] = names(&call, ["topic", "group"])?;
    bus(gate)?.send(DeleteGroup { topic, group }, &call.queue_cx()).await?;
    Ok(nothing())
}

/// `POST /v1/queues/{topic}/messages`
pub(super) async fn publish(gate: &Gate, request: Request) -> Handled {
    let bus = bus(gate)?;
    // The body is not read if the caller may not publish, or the topic does not exist.
    let may_publish = |caller: &Caller, head: &Parts| {
        let [topic] = names_in(head, ["topic"])?;
        may_produce(caller.queue_principal(), &topic)?;
        bus.queue().options(topic.as_str()).map_err(bus_error)?;
        Ok(())
    };
    let bytes_max = gate.config.queue_body_bytes_max;
    let call = Call::read_if(gate, request, bytes_max, may_publish).await?;
    let [topic] = names(&call, ["topic"])?;
    let PublishQuery { confirm, producer, first } = call.query()?;
    let confirm: Option<Level> = match confirm.as_deref().map(str::parse) {
        None => None,
        Some(Ok(level)) => Some(level),
        Some(Err(_)) => {
            let message = "The parameter confirm must be memory, buffered or synced.";
            return Err(ApiError::invalid("confirm", message));
        }
    };
    let numbers = match (producer, first) {
        (None, None) => (0, 0),
        (Some(0), _) => return Err(ApiError::invalid("producer", "A producer's id is not 0.")),
        (Some(producer), Some(first)) => (producer, first),
        (Some(_), None) => return Err(ApiError::missing("first")),
        (None, Some(_)) => return Err(ApiError::missing("producer")),
    };
    let messages = match packed::messages(&call)? {
        Some(packed) => NewMessages::Packed(packed),
        None => new_messages(call.json_rows::<MessageRequest, MESSAGES_MAX>()?)?,
    };
    let is_packed = matches!(messages, NewMessages::Packed(_));
    let publish = PublishMessages { topic, messages, numbers, confirm };
    let published = bus.send(publish, &call.queue_cx()).await?;
    if is_packed {
        return Ok(packed::respond_published(&published));
    }
    let response = PublishedAnswer {
        ids: Some(published.ids.iter().map(ToString::to_string).collect()),
        ranges: None,
        duplicates: published.duplicates,
    };
    Ok(respond(StatusCode::CREATED, &response, 64 + 16 * published.ids.len()))
}

/// `GET /v1/queues/{topic}/messages`
pub(super) async fn read(gate: &Gate, request: Request) -> Handled {
    // It is not counted as an operation, so that it must check for the stop itself.
    if gate.intake.process.operations().is_stopping() {
        return Err(ApiError::stopped());
    }
    let call = Call::read_bare(gate, request).await?;
    let [topic] = names(&call, ["topic"])?;
    let ReadQuery { from, from_time, max, wait_ms } = call.query()?;
    let max = count("max", max, 100, MESSAGES_MAX)?;
    let from = match (from.as_deref(), from_time) {
        (Some(_), Some(_)) => {
            let message = "A read begins at a position or at a time, not at both.";
            return Err(ApiError::invalid("from_time", message));
        }
        (None, Some(time)) => ReadFrom::Start(Start::At(Timestamp(time.0))),
        (None | Some("oldest"), None) => ReadFrom::Start(Start::Oldest),
        (Some("next"), None) => ReadFrom::Start(Start::Next),
        (Some(from), None) => ReadFrom::Positions(places(from).ok_or_else(|| {
            let message = "The parameter from is oldest, next, or the value of next in an answer.";
            ApiError::invalid("from", message)
        })?),
    };
    let wait = Duration::from_millis(wait_ms.unwrap_or_default());
    let read = ReadMessages { topic, from, max, wait };
    let (bus, cx) = (bus(gate)?, call.queue_cx());
    let page = call.while_valid(gate, bus.query(read, &cx)).await?;
    let next = places_text(&page.next);
    if packed::is_asked_for(&call) {
        let mut response = packed::respond_packed(pack_messages(&page.messages, page.missed));
        let next = HeaderValue::from_str(&next).expect("digits and commas may stand in a header");
        response.headers_mut().insert(HeaderName::from_static(HEADER_NEXT), next);
        response
            .headers_mut()
            .insert(HeaderName::from_static(HEADER_CONFLATED), page.conflated.into());
        return Ok(response);
    }
    let response = MessagesAnswer {
        messages: page.messages.iter().map(message_info).collect(),
        missed: page.missed.into(),
        conflated: page.conflated.into(),
        next,
    };
    Ok(respond(StatusCode::OK, &response, message_bytes(&page.messages)))
}

/// The approximate length of messages in JSON.
pub(super) fn message_bytes(messages: &[Message]) -> usize {
    256 + messages.iter().map(|message| 256 + message.payload().len()).sum::<usize>()
}

/// Parses the positions of all lanes, from the value of `next` in an answer.
pub(super) fn places(text: &str) -> Option<Vec<u64>> {
    text.split(',').map(|place| place.parse().ok()).collect()
}

/// Formats positions for `next`.
pub(super) fn places_text(places: &[u64]) -> String {
    places.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

pub(super) fn nothing() -> Response {
    respond(StatusCode::OK, &Nothing {}, 2)
}
