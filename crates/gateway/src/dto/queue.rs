//! Topics, groups and messages.

use crate::ApiError;
use crate::json::{JsonOut, Str, base64};
use crate::queues::{LeaseTexts, Leased, NewMessage};
use rialto_model::{EVENTS_CONTENT_TYPE, decode_events};
use rialto_queue::{
    Cipher, DeadLetter, Delivered, Delivery, Filter, GroupOptions, GroupStats, Kind, Message,
    Order, Overtaken, Rate, Sharing, Start, TopicOptions, TopicStats, WhenFull,
};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Body of `POST /v1/queues`. What is left out is as [`TopicOptions`] has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TopicRequest<'a> {
    #[serde(borrow)]
    pub(crate) name: Str<'a>,
    kind: Option<Kind>,
    #[serde(borrow)]
    level: Option<Str<'a>>,
    priorities: Option<u8>,
    messages_max: Option<u64>,
    bytes_max: Option<u64>,
    max_age_ms: Option<u64>,
    block_ms: Option<u64>,
    overtaken: Option<Overtaken>,
    message_bytes_max: Option<usize>,
    segment_bytes: Option<u64>,
    #[serde(borrow)]
    compression: Option<Str<'a>>,
    #[serde(borrow)]
    encryption: Option<Str<'a>>,
}

/// The largest files that a topic may be made of.
const SEGMENT_BYTES_MAX: u64 = 1 << 30;

impl TopicRequest<'_> {
    pub(crate) fn options(&self) -> Result<TopicOptions, ApiError> {
        let wrong = |field: &'static str, why: String| {
            ApiError::invalid(field, format!("The {field}: {why}."))
        };
        let mut options =
            TopicOptions { kind: self.kind.unwrap_or_default(), ..Default::default() };
        if let Some(level) = &self.level {
            options.level =
                level.parse().map_err(|_| wrong("level", "memory, buffered or synced".into()))?;
        }
        if let Some(compression) = &self.compression {
            options.compression = compression.parse().map_err(|why| wrong("compression", why))?;
        }
        if let Some(name) = &self.encryption {
            let known = Cipher::ALL.into_iter().find(|cipher| cipher.name() == &**name);
            let names = || Cipher::ALL.map(Cipher::name).join(", ");
            options.encryption = Some(known.ok_or_else(|| wrong("encryption", names()))?);
        }
        options.priorities = self.priorities.unwrap_or(options.priorities);
        options.bounds.messages = self.messages_max;
        options.bounds.bytes = self.bytes_max;
        options.max_age = self.max_age_ms.map(Duration::from_millis);
        if let Some(wait) = self.block_ms {
            options.when_full = WhenFull::Block(Duration::from_millis(wait));
        }
        options.overtaken = self.overtaken.unwrap_or_default();
        options.message_bytes_max = self.message_bytes_max.unwrap_or(options.message_bytes_max);
        options.segment_bytes = self.segment_bytes.unwrap_or(options.segment_bytes);
        if options.segment_bytes > SEGMENT_BYTES_MAX {
            let message = format!("The files of a topic have at most {SEGMENT_BYTES_MAX} bytes.");
            return Err(ApiError::invalid("segment_bytes", message));
        }
        Ok(options)
    }
}

/// Body of `POST /v1/queues/{topic}/groups`. What is left out is as [`GroupOptions`] has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupRequest<'a> {
    #[serde(borrow)]
    pub(crate) name: Str<'a>,
    start: Option<Start>,
    order: Option<Order>,
    sharing: Option<Sharing>,
    delivery: Option<Delivery>,
    ack_wait_ms: Option<u64>,
    attempts_max: Option<u16>,
    retry_delay_ms: Option<u64>,
    dead_letter: Option<DeadLetter>,
    outstanding_max: Option<usize>,
    #[serde(borrow)]
    filter: Option<Str<'a>>,
}

/// The longest filter of a group.
const FILTER_BYTES_MAX: usize = 1_000;

impl GroupRequest<'_> {
    pub(crate) fn options(self) -> Result<GroupOptions, ApiError> {
        let usual = GroupOptions::default();
        if self.filter.as_ref().is_some_and(|text| text.len() > FILTER_BYTES_MAX) {
            let message = format!("A filter has at most {FILTER_BYTES_MAX} bytes.");
            return Err(ApiError::invalid("filter", message));
        }
        let filter = self.filter.as_deref().map(str::parse::<Filter>).transpose();
        Ok(GroupOptions {
            start: self.start.unwrap_or_default(),
            order: self.order.unwrap_or_default(),
            sharing: self.sharing.unwrap_or_default(),
            delivery: self.delivery.unwrap_or_default(),
            ack_wait: self.ack_wait_ms.map_or(usual.ack_wait, Duration::from_millis),
            attempts_max: self.attempts_max.unwrap_or(usual.attempts_max),
            retry_delay: self.retry_delay_ms.map_or(usual.retry_delay, Duration::from_millis),
            dead_letter: self.dead_letter.unwrap_or_default(),
            outstanding_max: self.outstanding_max.unwrap_or(usual.outstanding_max),
            filter: filter.map_err(|error| ApiError::invalid("filter", format!("{error}.")))?,
        })
    }
}

/// A message in the body of `POST /v1/queues/{topic}/messages`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessageRequest {
    payload: Option<String>,
    payload_base64: Option<String>,
    #[serde(default)]
    key: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    priority: u8,
    #[serde(default)]
    delay_ms: u64,
    expires_after_ms: Option<u64>,
    #[serde(default)]
    content_type: String,
    #[serde(default)]
    schema_version: u32,
}

impl MessageRequest {
    /// The message, which is the one with this number in its request.
    pub(crate) fn message(self, nth: usize) -> Result<NewMessage, ApiError> {
        let payload = match (self.payload, self.payload_base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(text)) => base64::decode(&text).ok_or_else(|| {
                let message = "The payload is not base64 with padding (RFC 4648, section 4).";
                ApiError::invalid(format!("[{nth}].payload_base64"), message)
            })?,
            (None, None) => return Err(ApiError::missing(format!("[{nth}].payload"))),
            (Some(_), Some(_)) => {
                let message = "A message has payload or payload_base64, not both.";
                return Err(ApiError::invalid(format!("[{nth}].payload"), message));
            }
        };
        Ok(NewMessage {
            payload,
            key: self.key,
            headers: self.headers.into_iter().collect(),
            priority: self.priority,
            delay: Duration::from_millis(self.delay_ms),
            expires_after: self.expires_after_ms.map(Duration::from_millis),
            content_type: self.content_type,
            schema_version: self.schema_version,
        })
    }
}

/// Body of `…/fetch`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FetchRequest<'a> {
    #[serde(borrow)]
    pub(crate) consumer: Str<'a>,
    pub(crate) max: Option<usize>,
    #[serde(default)]
    pub(crate) wait_ms: u64,
}

/// A message that was handed out, as it is named in `…/ack`, `…/nack` and `…/extend`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LeaseRequest<'a> {
    #[serde(borrow)]
    pub(crate) id: Str<'a>,
    #[serde(borrow)]
    pub(crate) lease: Str<'a>,
}

impl LeaseRequest<'_> {
    /// What is named, by the numbers that the queue knows.
    pub(crate) fn numbers(
        messages: &[LeaseRequest<'_>],
        texts: LeaseTexts,
    ) -> Result<Vec<Leased>, ApiError> {
        let read = |(nth, message): (usize, &LeaseRequest<'_>)| {
            let id = message.id.parse().map_err(|_| {
                let message = "A message is named by its lane and number, such as 0:17.";
                ApiError::invalid(format!("messages[{nth}].id"), message)
            })?;
            let lease = texts.number(&message.lease).ok_or_else(|| {
                let message = "This is no lease; send it as it was told.";
                ApiError::invalid(format!("messages[{nth}].lease"), message)
            })?;
            Ok((id, lease))
        };
        messages.iter().enumerate().map(read).collect()
    }
}

/// Body of `…/ack` and `…/extend`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettleRequest<'a> {
    #[serde(borrow)]
    pub(crate) consumer: Str<'a>,
    #[serde(borrow)]
    pub(crate) messages: Vec<LeaseRequest<'a>>,
}

/// Body of `…/nack`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NackRequest<'a> {
    #[serde(borrow)]
    pub(crate) consumer: Str<'a>,
    #[serde(borrow)]
    pub(crate) messages: Vec<LeaseRequest<'a>>,
    pub(crate) delay_ms: Option<u64>,
    #[serde(default)]
    pub(crate) refuse: bool,
    #[serde(default)]
    pub(crate) unseen: bool,
    #[serde(borrow)]
    pub(crate) detail: Option<Str<'a>>,
}

/// Writes a message that was handed out.
pub(crate) fn write_delivered(out: &mut JsonOut, delivered: &Delivered, leases: LeaseTexts) {
    out.open_object();
    out.key("id").text(&delivered.id().to_string());
    out.key("lease").text(&leases.text(delivered.lease()));
    out.key("attempt").number(delivered.attempt());
    write_content(out, delivered);
    out.close_object();
}

/// Writes a message that was read.
pub(crate) fn write_message(out: &mut JsonOut, message: &Message) {
    out.open_object();
    out.key("id").text(&message.id().to_string());
    write_content(out, message);
    out.close_object();
}

/// What is not said of a message is left out.
fn write_content(out: &mut JsonOut, message: &Message) {
    write_bytes(out, ["payload", "payload_base64"], message.payload());
    if message.content_type() == EVENTS_CONTENT_TYPE
        && let Ok((_, events)) = decode_events(message.payload())
        && let Ok(events) = events.collect::<Result<Vec<_>, _>>()
    {
        out.key("events").value(&events);
    }
    if !message.key().is_empty() {
        write_bytes(out, ["key", "key_base64"], message.key());
    }
    // Headers are text or not, each on its own.
    for (key, is_text) in [("headers", true), ("headers_base64", false)] {
        let headers =
            || message.headers().filter(|(_, value)| std::str::from_utf8(value).is_ok() == is_text);
        if headers().next().is_none() {
            continue;
        }
        out.key(key).open_object();
        for (name, value) in headers() {
            out.foreign_key(name);
            match std::str::from_utf8(value) {
                Ok(text) => out.text(text),
                Err(_) => out.text(&base64::encode(value)),
            }
        }
        out.close_object();
    }
    if !message.content_type().is_empty() {
        out.key("content_type").text(message.content_type());
    }
    if message.schema_version() != 0 {
        out.key("schema_version").number(message.schema_version());
    }
    out.key("priority").number(message.priority());
    out.key("published_us").quoted(message.published_at().0 / 1_000);
    if let Some(at) = message.expires_at() {
        out.key("expires_us").quoted(at.0 / 1_000);
    }
}

fn write_bytes(out: &mut JsonOut, [as_text, as_base64]: [&'static str; 2], bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) => out.key(as_text).text(text),
        Err(_) => out.key(as_base64).text(&base64::encode(bytes)),
    }
}

/// What a topic is and how it is doing, as `GET /v1/queues/{topic}` answers it: an object in JSON.
#[must_use]
pub fn topic_json(options: &TopicOptions, stats: &TopicStats) -> Vec<u8> {
    let mut out = JsonOut::with_capacity(1_024);
    write_topic(&mut out, options, stats);
    out.into_bytes()
}

/// Writes what a topic is and how it is doing.
pub(crate) fn write_topic(out: &mut JsonOut, options: &TopicOptions, stats: &TopicStats) {
    out.open_object();
    out.key("name").text(stats.name.as_str());
    out.key("read_only").flag(stats.mounted.is_some());
    out.key("kind").text(match options.kind {
        Kind::Stream => "stream",
        Kind::WorkQueue => "work_queue",
    });
    out.key("level").text(options.level.name());
    out.key("priorities").number(options.priorities);
    for (key, bound) in [
        ("messages_max", options.bounds.messages),
        ("bytes_max", options.bounds.bytes),
        ("max_age_ms", options.max_age.map(|age| age.as_millis() as u64)),
    ] {
        out.key(key);
        match bound {
            Some(bound) => out.quoted(bound),
            None => out.null(),
        }
    }
    out.key("overtaken").text(&options.overtaken.to_string());
    out.key("compression").text(&options.compression.to_string());
    out.key("encryption").text(options.encryption.map_or("none", Cipher::name));
    for (key, value) in [
        ("messages", stats.messages),
        ("bytes", stats.bytes),
        ("delayed", stats.delayed),
        ("published_messages", stats.published_messages),
        ("published_bytes", stats.published_bytes),
        ("plain_bytes", stats.plain_bytes),
        ("stored_bytes", stats.stored_bytes),
        ("refused", stats.refused),
        ("duplicates", stats.duplicates),
        ("pending_bytes", stats.pending_bytes),
    ] {
        out.key(key).quoted(value);
    }
    out.key("oldest_age_ms");
    match stats.oldest_age {
        Some(age) => out.quoted(age.as_millis() as u64),
        None => out.null(),
    }
    write_rates(out, &[("published", stats.published_rate), ("delivered", stats.delivered_rate())]);
    out.key("failed");
    match &stats.failed {
        Some(why) => out.text(why),
        None => out.null(),
    }
    out.key("lanes").open_array();
    for (first, last) in &stats.lanes {
        out.open_array();
        out.quoted(*first);
        out.quoted(*last);
        out.close_array();
    }
    out.close_array();
    out.key("groups").open_array();
    for group in &stats.groups {
        write_group(out, group);
    }
    out.close_array();
    out.close_object();
}

/// Writes what goes in and out a second, to a tenth, and the time that this is about.
fn write_rates(out: &mut JsonOut, rates: &[(&str, Rate)]) {
    let tenths = |rate: f64| (rate * 10.0).round() / 10.0;
    let over = rates.iter().map(|(_, rate)| rate.over).max().unwrap_or_default();
    out.key("rates").open_object();
    out.key("window_ms").quoted(over.as_millis() as u64);
    for (what, rate) in rates {
        out.foreign_key(&format!("{what}_per_s"));
        out.value(&tenths(rate.messages_per_second));
        out.foreign_key(&format!("{what}_bytes_per_s"));
        out.value(&tenths(rate.bytes_per_second));
    }
    out.close_object();
}

fn write_group(out: &mut JsonOut, group: &GroupStats) {
    out.open_object();
    out.key("name").text(group.name.as_str());
    let counts = &group.counts;
    for (key, value) in [
        ("consumers", group.consumers as u64),
        ("lag", group.lag),
        ("outstanding", group.outstanding as u64),
        ("dead_letters_pending", group.dead_letters_pending as u64),
        ("delivered", counts.delivered),
        ("delivered_bytes", group.delivered_bytes),
        ("redelivered", counts.redelivered),
        ("acked", counts.acked),
        ("nacked", counts.nacked),
        ("unanswered", counts.unanswered),
        ("filtered", counts.filtered),
        ("expired", counts.expired),
        ("dead", counts.dead),
    ] {
        out.key(key).quoted(value);
    }
    write_rates(out, &[("delivered", group.delivered_rate)]);
    out.key("done_below").open_array();
    for floor in &group.floors {
        out.quoted(*floor);
    }
    out.close_array();
    out.close_object();
}
