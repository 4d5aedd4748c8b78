//! Topics, groups and messages.

use crate::{ApiError, json};
use rialto_api::limits::{FILTER_BYTES_MAX, SEGMENT_BYTES_MAX};
use rialto_api::{
    Base64, GroupInfo, GroupRates, GroupRequest, HeaderTexts, LeaseRequest, MessageHeaders,
    MessageInfo, MessageRequest, PublishRequest, TopicInfo, TopicKind, TopicRates, TopicRequest,
    TransactionRequest, U64Text,
};
use rialto_broker::{
    CommitTransaction, ConsumerId, DeliveredLease, InvalidRequest, LeaseTokens, NewMessage,
    NewMessages,
};
use rialto_model::{EVENTS_CONTENT_TYPE, decode_events};
use rialto_queue::{
    Cipher, Delivered, GroupOptions, GroupStats, Kind, Message, Name, Rate, TopicOptions,
    TopicStats,
};
use std::borrow::Cow;
use std::time::Duration;

const _: () = assert!(rialto_api::limits::HEADERS_MAX == rialto_queue::HEADERS_MAX);

fn name(field: &'static str, text: &str) -> Result<Name, ApiError> {
    Name::new(text).map_err(|error| ApiError::invalid(field, format!("{error}.")))
}

fn invalid(error: InvalidRequest) -> ApiError {
    ApiError::invalid(error.field, format!("{error}."))
}

/// The options of a topic, within the bounds of a request.
pub(crate) fn topic_options(request: &TopicRequest<'_>) -> Result<TopicOptions, ApiError> {
    let options = rialto_broker::topic_options(request).map_err(invalid)?;
    if options.segment_bytes > SEGMENT_BYTES_MAX {
        let message = format!("The files of a topic have at most {SEGMENT_BYTES_MAX} bytes.");
        return Err(ApiError::invalid("segment_bytes", message));
    }
    Ok(options)
}

/// The options of a group, within the bounds of a request.
pub(crate) fn group_options(request: &GroupRequest<'_>) -> Result<GroupOptions, ApiError> {
    if request.filter.as_ref().is_some_and(|text| text.len() > FILTER_BYTES_MAX) {
        let message = format!("A filter has at most {FILTER_BYTES_MAX} bytes.");
        return Err(ApiError::invalid("filter", message));
    }
    rialto_broker::group_options(request).map_err(invalid)
}

/// The message, which is the one with this number in its request.
pub(crate) fn new_message(request: MessageRequest, nth: usize) -> Result<NewMessage, ApiError> {
    let payload = match (request.payload, request.payload_base64) {
        (Some(text), None) => text.into_bytes(),
        (None, Some(Base64(bytes))) => bytes.into_owned(),
        (None, None) => return Err(ApiError::missing(format!("[{nth}].payload"))),
        (Some(_), Some(_)) => {
            let message = "A message has payload or payload_base64, not both.";
            return Err(ApiError::invalid(format!("[{nth}].payload"), message));
        }
    };
    let MessageHeaders(headers) = request.headers;
    Ok(NewMessage {
        payload,
        key: request.key,
        headers: headers.into_iter().collect(),
        priority: request.priority,
        delay: Duration::from_millis(request.delay_ms),
        expires_after: request.expires_after_ms.map(Duration::from_millis),
        content_type: request.content_type,
        schema_version: request.schema_version,
    })
}

pub(crate) fn new_messages(rows: Vec<MessageRequest>) -> Result<NewMessages, ApiError> {
    let messages = rows.into_iter().enumerate().map(|(nth, row)| new_message(row, nth));
    Ok(NewMessages::Listed(messages.collect::<Result<_, _>>()?))
}

/// The leases that are named, by the numbers that the queue knows.
pub(crate) fn lease_numbers(
    messages: &[LeaseRequest<'_>],
    tokens: LeaseTokens,
) -> Result<Vec<DeliveredLease>, ApiError> {
    let read = |(nth, message): (usize, &LeaseRequest<'_>)| {
        let id = message.id.parse().map_err(|_| {
            let message = "A message is named by its lane and number, such as 0:17.";
            ApiError::invalid(format!("messages[{nth}].id"), message)
        })?;
        let lease = tokens.number(&message.lease).ok_or_else(|| {
            let message = "A lease is sent as the delivery showed it.";
            ApiError::invalid(format!("messages[{nth}].lease"), message)
        })?;
        Ok((id, lease))
    };
    messages.iter().enumerate().map(read).collect()
}

/// The transaction, as it is asked of the queue.
pub(crate) fn transaction(
    request: TransactionRequest<'_>,
    tokens: LeaseTokens,
) -> Result<CommitTransaction, ApiError> {
    let number = match (&request.producer, request.number) {
        (None, None) => None,
        (Some(producer), Some(U64Text(number))) => Some((name("producer", producer)?, number)),
        (Some(_), None) => return Err(ApiError::missing("number")),
        (None, Some(_)) => return Err(ApiError::missing("producer")),
    };
    let publish = request.publish.0.into_iter().enumerate().map(|(nth, row)| {
        let at = format!("publish[{nth}]");
        let topic = name("topic", &row.topic).map_err(|error| error.within(&at))?;
        let PublishRequest { 0: rows } = row.messages;
        let messages = rows.into_iter().enumerate().map(|(place, message)| {
            new_message(message, place).map_err(|error| error.within(&format!("{at}.messages")))
        });
        Ok((topic, messages.collect::<Result<_, ApiError>>()?))
    });
    let ack = request.ack.0.iter().enumerate().map(|(nth, row)| {
        let read = || {
            let consumer = ConsumerId {
                topic: name("topic", &row.topic)?,
                group: name("group", &row.group)?,
                name: name("consumer", &row.consumer)?,
            };
            Ok((consumer, lease_numbers(&row.messages.0, tokens)?))
        };
        read().map_err(|error: ApiError| error.within(&format!("ack[{nth}]")))
    });
    Ok(CommitTransaction {
        publish: publish.collect::<Result<_, ApiError>>()?,
        ack: ack.collect::<Result<_, ApiError>>()?,
        number,
    })
}

/// A message that was delivered.
pub(crate) fn delivered_info(delivered: &Delivered, leases: LeaseTokens) -> MessageInfo<'_> {
    MessageInfo {
        lease: Some(leases.token(delivered.lease())),
        attempt: Some(delivered.attempt()),
        ..message_info(delivered)
    }
}

/// Bytes as text, or as base64 if they are not text.
fn text_or_bytes(bytes: &[u8]) -> (Option<Cow<'_, str>>, Option<Base64<'_>>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Some(text.into()), None),
        Err(_) => (None, Some(Base64(bytes.into()))),
    }
}

/// A message. What it does not have is left out.
pub(crate) fn message_info(message: &Message) -> MessageInfo<'_> {
    let (payload, payload_base64) = text_or_bytes(message.payload());
    let (key, key_base64) = match message.key() {
        [] => (None, None),
        key => text_or_bytes(key),
    };
    let (mut headers, mut headers_base64) = (HeaderTexts::default(), HeaderTexts::default());
    for (name, value) in message.headers() {
        match std::str::from_utf8(value) {
            Ok(text) => headers.0.push((name.into(), text.into())),
            Err(_) => headers_base64.0.push((name.into(), Base64(value.into()).text().into())),
        }
    }
    fn some(headers: HeaderTexts<'_>) -> Option<HeaderTexts<'_>> {
        (!headers.0.is_empty()).then_some(headers)
    }
    MessageInfo {
        id: message.id().to_string(),
        lease: None,
        attempt: None,
        payload,
        payload_base64,
        events: events(message),
        key,
        key_base64,
        headers: some(headers),
        headers_base64: some(headers_base64),
        content_type: Some(message.content_type())
            .filter(|kind| !kind.is_empty())
            .map(Cow::Borrowed),
        schema_version: Some(message.schema_version()).filter(|version| *version != 0),
        priority: message.priority(),
        published_at: message.published_at(),
        expires_at: message.expires_at(),
    }
}

/// The events of the venue that a message holds. A payload that does not decode is shown as bytes.
fn events(message: &Message) -> Option<Vec<rialto_model::Event>> {
    if message.content_type() != EVENTS_CONTENT_TYPE {
        return None;
    }
    let (_, events) = decode_events(message.payload()).ok()?;
    events.collect::<Result<_, _>>().ok()
}

/// What a topic is and how it is doing, as `GET /v1/queues/{topic}` answers it: an object in JSON.
#[must_use]
pub fn topic_json(options: &TopicOptions, stats: &TopicStats) -> Vec<u8> {
    json::write(&topic_info(options, stats), 1_024)
}

/// What a topic is and how it is doing.
pub(crate) fn topic_info(options: &TopicOptions, stats: &TopicStats) -> TopicInfo {
    let milliseconds = |time: Duration| U64Text(time.as_millis() as u64);
    let (published, delivered) = (stats.published_rate, stats.delivered_rate());
    TopicInfo {
        name: stats.name.to_string(),
        read_only: stats.mounted.is_some(),
        kind: match options.kind {
            Kind::Stream => TopicKind::Stream,
            Kind::WorkQueue => TopicKind::WorkQueue,
        },
        level: options.level.name().into(),
        priorities: options.priorities,
        messages_max: options.bounds.messages.map(U64Text),
        bytes_max: options.bounds.bytes.map(U64Text),
        max_age_ms: options.max_age.map(milliseconds),
        overtaken: options.overtaken.to_string(),
        compression: options.compression.to_string(),
        encryption: options.encryption.map_or("none", Cipher::name).into(),
        messages: stats.messages.into(),
        bytes: stats.bytes.into(),
        delayed: stats.delayed.into(),
        published_messages: stats.published_messages.into(),
        published_bytes: stats.published_bytes.into(),
        plain_bytes: stats.plain_bytes.into(),
        stored_bytes: stats.stored_bytes.into(),
        refused: stats.refused.into(),
        duplicates: stats.duplicates.into(),
        pending_bytes: stats.pending_bytes.into(),
        oldest_age_ms: stats.oldest_age.map(milliseconds),
        rates: TopicRates {
            window_ms: milliseconds(published.over.max(delivered.over)),
            published_per_s: tenths(published.messages_per_second),
            published_bytes_per_s: tenths(published.bytes_per_second),
            delivered_per_s: tenths(delivered.messages_per_second),
            delivered_bytes_per_s: tenths(delivered.bytes_per_second),
        },
        failed: stats.failed.as_ref().map(ToString::to_string),
        lanes: stats.lanes.iter().map(|(first, last)| (U64Text(*first), U64Text(*last))).collect(),
        groups: stats.groups.iter().map(group_info).collect(),
    }
}

fn tenths(rate: f64) -> f64 {
    (rate * 10.0).round() / 10.0
}

fn group_info(group: &GroupStats) -> GroupInfo {
    let (counts, rate): (_, Rate) = (&group.counts, group.delivered_rate);
    GroupInfo {
        name: group.name.to_string(),
        consumers: U64Text(group.consumers as u64),
        lag: group.lag.into(),
        outstanding: U64Text(group.outstanding as u64),
        dead_letters_pending: U64Text(group.dead_letters_pending as u64),
        delivered: counts.delivered.into(),
        delivered_bytes: group.delivered_bytes.into(),
        redelivered: counts.redelivered.into(),
        acked: counts.acked.into(),
        nacked: counts.nacked.into(),
        unanswered: counts.unanswered.into(),
        filtered: counts.filtered.into(),
        expired: counts.expired.into(),
        dead: counts.dead.into(),
        rates: GroupRates {
            window_ms: U64Text(rate.over.as_millis() as u64),
            delivered_per_s: tenths(rate.messages_per_second),
            delivered_bytes_per_s: tenths(rate.bytes_per_second),
        },
        done_below: group.floors.iter().map(|floor| U64Text(*floor)).collect(),
    }
}
