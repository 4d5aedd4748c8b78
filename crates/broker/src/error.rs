//! Errors of the queue as errors on the bus.

use rialto_bus::{Error, ErrorKind};
use rialto_desk::AtField;
use rialto_queue::QueueError;

/// The index of the invalid message. The messages before it have been published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("message {0} is invalid")]
pub struct AtMessage(pub usize);

/// The path of the invalid field, such as `ack[0].messages[2]`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is invalid")]
pub struct AtPath(pub String);

/// An error of the queue as an error on the bus.
#[must_use]
pub fn bus_error(error: QueueError) -> Error {
    let message = format!("{error}.");
    let as_kind = |kind, code| Error::new(kind, code, message.clone());
    match error {
        QueueError::Name(_) => AtField("name").invalid(message),
        QueueError::Options(invalid) => AtField(invalid.option).invalid(message),
        QueueError::GroupOptions(invalid) => match invalid.option {
            "retry_delay_max" => AtField("retry_delay_max_ms").invalid(message),
            option => AtField(option).invalid(message),
        },
        QueueError::ProducerNumber { .. } => AtField("first").invalid(message),
        QueueError::Level { .. } => AtField("confirm").invalid(message),
        QueueError::Message(_) => as_kind(ErrorKind::Invalid, "invalid_message"),
        QueueError::NoKey(_) => as_kind(ErrorKind::Conflict, "no_key"),
        QueueError::UnknownTopic(_) | QueueError::TopicDeleted(_) => {
            as_kind(ErrorKind::NotFound, "unknown_topic").with_source(AtField("topic"))
        }
        QueueError::UnknownGroup { .. } => {
            as_kind(ErrorKind::NotFound, "unknown_group").with_source(AtField("group"))
        }
        QueueError::TopicExists(_) => as_kind(ErrorKind::Conflict, "topic_exists"),
        QueueError::GroupExists { .. } => as_kind(ErrorKind::Conflict, "group_exists"),
        QueueError::Sequence { .. } => {
            as_kind(ErrorKind::Conflict, "out_of_sequence").with_source(AtField("first"))
        }
        QueueError::CutOff { .. } => {
            as_kind(ErrorKind::Conflict, "cut_off").with_source(AtField("from"))
        }
        QueueError::ReadOnly(_) => as_kind(ErrorKind::Conflict, "read_only"),
        QueueError::NoDeadLetters(_) => as_kind(ErrorKind::Conflict, "no_dead_letters"),
        QueueError::NotMounted(_) => {
            as_kind(ErrorKind::Unavailable, "not_mounted").retryable(false)
        }
        QueueError::LeaseLost(_) => as_kind(ErrorKind::Conflict, "lease_lost"),
        QueueError::LeaseLength { .. } => AtField("ack_wait_ms").invalid(message),
        QueueError::TransactionTooLarge { .. } => {
            as_kind(ErrorKind::Invalid, "transaction_too_large")
        }
        QueueError::TransactionProducer { .. } => AtField("producer").invalid(message),
        QueueError::TooMany { .. } => as_kind(ErrorKind::Busy, "too_many").retryable(false),
        QueueError::Full { .. } => as_kind(ErrorKind::Busy, "topic_full"),
        QueueError::StorageLow => as_kind(ErrorKind::Unavailable, "storage_low"),
        QueueError::Busy { .. } => as_kind(ErrorKind::Busy, "busy"),
        // The queue retries by itself. Whether the change took effect is unknown.
        QueueError::ControlFailed(_) => as_kind(ErrorKind::Unavailable, "queue_failed"),
        QueueError::Closed => as_kind(ErrorKind::Unavailable, "stopped"),
        _ => as_kind(ErrorKind::Internal, "queue_failed"),
    }
}
