//! Queues: topics and groups, publishing, reading.

use super::{Handled, packed, respond};
use crate::ApiError;
use crate::auth::Caller;
use crate::call::Call;
use crate::dto::{GroupRequest, MessageRequest, TopicRequest, write_message, write_topic};
use crate::gate::Gate;
use crate::json::{JsonOut, SizeMax};
use crate::query::unescape;
use crate::queues::{
    CreateGroup, CreateTopic, DeleteGroup, DeleteTopic, GetTopic, ListTopics, MESSAGES_MAX,
    NewMessages, PublishMessages, QueueBus, ReadFrom, ReadMessages, may_produce, queue_error,
};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use rialto_bus::Dispatch;
use rialto_queue::packed::pack_messages;
use rialto_queue::{Level, Message, Name, Start, Timestamp};
use std::time::Duration;

/// Most JSON of messages: each of them may have headers, in an object of their own.
const MESSAGES_SIZE_MAX: SizeMax = SizeMax {
    objects: 2 * MESSAGES_MAX,
    values: 2 * MESSAGES_MAX * (MESSAGE_FIELDS_MAX + rialto_queue::HEADERS_MAX),
};
/// Most fields of a message, and a few.
pub(super) const MESSAGE_FIELDS_MAX: usize = 16;

/// Where to go on reading, in an answer that has no other place for it.
pub const HEADER_NEXT: &str = "x-rialto-next";

/// How many messages were left out of what was read.
pub const HEADER_CONFLATED: &str = "x-rialto-conflated";

/// The bus to the queue, if this venue has one.
pub(crate) fn bus(gate: &Gate) -> Result<&QueueBus, ApiError> {
    gate.queues.as_ref().ok_or_else(|| {
        let message = "This venue keeps no queues; its operator may set enabled under [queue].";
        ApiError::new(StatusCode::NOT_FOUND, "no_queues", message)
    })
}

/// The parts of the path behind `/v1/queues/`, by what they name.
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
    // Between the names stands what is named: topic, "groups", group, "fetch".
    let mut parts = path.split('/').step_by(2);
    let mut names = Vec::with_capacity(N);
    for field in fields {
        let part = unescape(parts.next().unwrap_or_default());
        names.push(name(field, part.as_deref().unwrap_or_default())?);
    }
    Ok(<[Name; N]>::try_from(names).expect("there is one name for each field"))
}

pub(super) fn name(field: &'static str, text: &str) -> Result<Name, ApiError> {
    Name::new(text).map_err(|error| ApiError::invalid(field, format!("{error}.")))
}

/// `POST /v1/queues`
pub(super) async fn create(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    call.query()?.finish()?;
    let body: TopicRequest<'_> = call.json()?;
    let topic = name("name", &body.name)?;
    let options = body.options()?;
    bus(gate)?.send(CreateTopic { topic: topic.clone(), options }, &call.queue_cx()).await?;
    show(gate, &call, StatusCode::CREATED, topic).await
}

/// `GET /v1/queues`
pub(super) async fn list(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    call.query()?.finish()?;
    let topics = bus(gate)?.query(ListTopics, &call.queue_cx()).await?;
    let mut out = JsonOut::with_capacity(32 + 32 * topics.len());
    out.open_object();
    out.key("topics").open_array();
    for topic in &topics {
        out.text(topic.as_str());
    }
    out.close_array();
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `GET /v1/queues/{topic}`
pub(super) async fn get(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    call.query()?.finish()?;
    let [topic] = names(&call, ["topic"])?;
    show(gate, &call, StatusCode::OK, topic).await
}

async fn show(gate: &Gate, call: &Call, status: StatusCode, topic: Name) -> Handled {
    let (options, stats) = bus(gate)?.query(GetTopic { topic }, &call.queue_cx()).await?;
    let mut out = JsonOut::with_capacity(1_024);
    write_topic(&mut out, &options, &stats);
    Ok(respond(status, out))
}

/// `DELETE /v1/queues/{topic}`
pub(super) async fn delete(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    call.query()?.finish()?;
    let [topic] = names(&call, ["topic"])?;
    bus(gate)?.send(DeleteTopic { topic }, &call.queue_cx()).await?;
    Ok(nothing())
}

/// `POST /v1/queues/{topic}/groups`
pub(super) async fn create_group(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    call.query()?.finish()?;
    let [topic] = names(&call, ["topic"])?;
    let body: GroupRequest<'_> = call.json()?;
    let group = name("name", &body.name)?;
    let create = CreateGroup { topic: topic.clone(), group, options: body.options()? };
    bus(gate)?.send(create, &call.queue_cx()).await?;
    show(gate, &call, StatusCode::CREATED, topic).await
}

/// `DELETE /v1/queues/{topic}/groups/{group}`
pub(super) async fn delete_group(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    call.query()?.finish()?;
    let [topic, group] = names(&call, ["topic", "group"])?;
    bus(gate)?.send(DeleteGroup { topic, group }, &call.queue_cx()).await?;
    Ok(nothing())
}

/// `POST /v1/queues/{topic}/messages`
pub(super) async fn publish(gate: &Gate, request: Request) -> Handled {
    let bus = bus(gate)?;
    // Whoever may not publish there, or where there is no such topic, need not be read.
    let may_publish = |caller: &Caller, head: &Parts| {
        let [topic] = names_in(head, ["topic"])?;
        may_produce(caller, &topic)?;
        bus.queue().options(topic.as_str()).map_err(queue_error)?;
        Ok(())
    };
    let bytes_max = gate.config.queue_body_bytes_max;
    let call = Call::read_if(gate, request, bytes_max, may_publish).await?;
    let [topic] = names(&call, ["topic"])?;
    let mut query = call.query()?;
    let confirm: Option<Level> = query.parse("confirm", "memory, buffered or synced")?;
    let producer = query.parse("producer", "a whole number of 64 bits")?;
    let first = query.parse("first", "a whole number of 64 bits")?;
    query.finish()?;
    let numbers = match (producer, first) {
        (None, None) => (0, 0),
        (Some(0), _) => return Err(ApiError::invalid("producer", "A producer's id is not 0.")),
        (Some(producer), Some(first)) => (producer, first),
        (Some(_), None) => return Err(ApiError::missing("first")),
        (None, Some(_)) => return Err(ApiError::missing("producer")),
    };
    let messages = match packed::messages(&call)? {
        Some(packed) => NewMessages::Packed(packed),
        None => {
            call.bound(MESSAGES_SIZE_MAX)?;
            let rows: Vec<MessageRequest> = call.json_list(MESSAGES_MAX)?;
            let messages = rows.into_iter().enumerate().map(|(nth, row)| row.message(nth));
            NewMessages::Listed(messages.collect::<Result<_, _>>()?)
        }
    };
    let is_packed = matches!(messages, NewMessages::Packed(_));
    let publish = PublishMessages { topic, messages, numbers, confirm };
    let published = bus.send(publish, &call.queue_cx()).await?;
    if is_packed {
        return Ok(packed::respond_published(&published));
    }
    let mut out = JsonOut::with_capacity(64 + 16 * published.ids.len());
    out.open_object();
    out.key("ids").open_array();
    for id in &published.ids {
        out.text(&id.to_string());
    }
    out.close_array();
    out.key("duplicates").number(published.duplicates as u32);
    out.close_object();
    Ok(respond(StatusCode::CREATED, out))
}

/// `GET /v1/queues/{topic}/messages`
pub(super) async fn read(gate: &Gate, request: Request) -> Handled {
    // It counts as nothing that is under way, so that nothing else turns it away at the stop.
    if gate.intake.process.operations().is_stopping() {
        return Err(ApiError::stopped());
    }
    let call = Call::read_bare(gate, request).await?;
    let [topic] = names(&call, ["topic"])?;
    let mut query = call.query()?;
    let from = query.text("from");
    let from_us: Option<u64> = query.parse("from_us", "microseconds since 1970")?;
    let max = query.count("max", 100, MESSAGES_MAX)?;
    let wait_ms: Option<u64> = query.parse("wait_ms", "milliseconds")?;
    query.finish()?;
    let from = match (from.as_deref(), from_us) {
        (Some(_), Some(_)) => {
            let message = "A reading begins at a place or at a time, not at both.";
            return Err(ApiError::invalid("from_us", message));
        }
        (None, Some(us)) => ReadFrom::Start(Start::At(Timestamp(us.saturating_mul(1_000)))),
        (None | Some("oldest"), None) => ReadFrom::Start(Start::Oldest),
        (Some("next"), None) => ReadFrom::Start(Start::Next),
        (Some(told), None) => ReadFrom::Positions(places(told).ok_or_else(|| {
            let message = "The parameter from is oldest, next, or what an answer called next.";
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
    let mut out = JsonOut::with_capacity(1_024);
    out.open_object();
    write_messages(&mut out, &page.messages);
    out.key("missed").quoted(page.missed);
    out.key("conflated").quoted(page.conflated);
    out.key("next").text(&next);
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// The next messages of all lanes, as an answer called them.
pub(super) fn places(told: &str) -> Option<Vec<u64>> {
    told.split(',').map(|place| place.parse().ok()).collect()
}

/// As an answer calls them.
pub(super) fn places_text(places: &[u64]) -> String {
    places.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// Writes messages as the field that holds them.
pub(super) fn write_messages(out: &mut JsonOut, messages: &[Message]) {
    out.key("messages").open_array();
    for message in messages {
        write_message(out, message);
    }
    out.close_array();
}

pub(super) fn nothing() -> Response {
    let mut out = JsonOut::with_capacity(2);
    out.open_object();
    out.close_object();
    respond(StatusCode::OK, out)
}
