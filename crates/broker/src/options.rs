//! The options of topics and groups from their requests.

use rialto_api::{
    DeadLetterChoice, GroupDelivery, GroupOrder, GroupRequest, GroupSharing, GroupStart,
    OvertakenChoice, TopicKind, TopicRequest,
};
use rialto_queue::{
    Cipher, DeadLetter, Delivery, DeliveryOrder, Filter, GroupOptions, Kind, Name, Sharing,
    SlowReaderPolicy, Start, Timestamp, TopicOptions, WhenFull,
};
use std::time::Duration;

/// A field of a request for a topic or a group holds what it may not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct InvalidRequest {
    /// The name of the field.
    pub field: &'static str,
    /// A sentence without its full stop.
    pub reason: String,
}

impl InvalidRequest {
    fn new(field: &'static str, reason: impl ToString) -> Self {
        Self { field, reason: reason.to_string() }
    }
}

/// The options of a topic that is requested. Fields that are left out have their defaults.
pub fn topic_options(request: &TopicRequest<'_>) -> Result<TopicOptions, InvalidRequest> {
    let wrong = |field: &'static str, why: String| {
        InvalidRequest::new(field, format_args!("The {field}: {why}"))
    };
    let mut options = TopicOptions::default();
    options.kind = match request.kind {
        None => options.kind,
        Some(TopicKind::Stream) => Kind::Stream,
        Some(TopicKind::WorkQueue) => Kind::WorkQueue,
    };
    if let Some(level) = &request.level {
        options.level =
            level.parse().map_err(|_| wrong("level", "memory, buffered or synced".into()))?;
    }
    if let Some(compression) = &request.compression {
        options.compression = compression.parse().map_err(|why| wrong("compression", why))?;
    }
    if let Some(name) = &request.encryption {
        let known = Cipher::ALL.into_iter().find(|cipher| cipher.name() == &**name);
        let names = || Cipher::ALL.map(Cipher::name).join(", ");
        options.encryption = Some(known.ok_or_else(|| wrong("encryption", names()))?);
    }
    options.priorities = request.priorities.unwrap_or(options.priorities);
    options.bounds.messages = request.messages_max;
    options.bounds.bytes = request.bytes_max;
    options.max_age = request.max_age_ms.map(Duration::from_millis);
    if let Some(wait) = request.block_ms {
        options.when_full = WhenFull::Block(Duration::from_millis(wait));
    }
    options.overtaken = match request.overtaken {
        None => options.overtaken,
        Some(OvertakenChoice::Oldest) => SlowReaderPolicy::Oldest,
        Some(OvertakenChoice::Newest) => SlowReaderPolicy::Newest,
        Some(OvertakenChoice::CutOff) => SlowReaderPolicy::CutOff,
        Some(OvertakenChoice::Conflated { behind }) => SlowReaderPolicy::Conflated { behind },
    };
    options.message_bytes_max = request.message_bytes_max.unwrap_or(options.message_bytes_max);
    options.segment_bytes = request.segment_bytes.unwrap_or(options.segment_bytes);
    Ok(options)
}

/// The options of a group that is requested. Fields that are left out have their defaults.
pub fn group_options(request: &GroupRequest<'_>) -> Result<GroupOptions, InvalidRequest> {
    let usual = GroupOptions::default();
    let filter = request.filter.as_deref().map(str::parse::<Filter>).transpose();
    Ok(GroupOptions {
        start: match request.start {
            None => usual.start,
            Some(GroupStart::Oldest) => Start::Oldest,
            Some(GroupStart::Next) => Start::Next,
            Some(GroupStart::At(time)) => Start::At(Timestamp(time.0)),
            Some(GroupStart::Seq(seq)) => Start::Seq(seq.0),
        },
        order: match request.order {
            None => usual.order,
            Some(GroupOrder::None) => DeliveryOrder::None,
            Some(GroupOrder::PerKey) => DeliveryOrder::PerKey,
        },
        sharing: match request.sharing {
            None => usual.sharing,
            Some(GroupSharing::Competing) => Sharing::Competing,
            Some(GroupSharing::SingleActive) => Sharing::SingleActive,
        },
        delivery: match request.delivery {
            None => usual.delivery,
            Some(GroupDelivery::AtLeastOnce) => Delivery::AtLeastOnce,
            Some(GroupDelivery::AtMostOnce) => Delivery::AtMostOnce,
        },
        ack_wait: request.ack_wait_ms.map_or(usual.ack_wait, Duration::from_millis),
        attempts_max: request.attempts_max.unwrap_or(usual.attempts_max),
        retry_delay: request.retry_delay_ms.map_or(usual.retry_delay, Duration::from_millis),
        retry_delay_max: request.retry_delay_max_ms.map(Duration::from_millis),
        dead_letter: match &request.dead_letter {
            None => usual.dead_letter,
            Some(DeadLetterChoice::Own) => DeadLetter::Own,
            Some(DeadLetterChoice::Drop) => DeadLetter::Drop,
            Some(DeadLetterChoice::Topic(topic)) => {
                let name = Name::new(topic);
                let name = name.map_err(|error| InvalidRequest::new("dead_letter", error))?;
                DeadLetter::Topic(name)
            }
        },
        outstanding_max: request.outstanding_max.unwrap_or(usual.outstanding_max),
        filter: filter.map_err(|error| InvalidRequest::new("filter", error))?,
    })
}
