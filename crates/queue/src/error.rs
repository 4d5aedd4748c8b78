//! Errors, grouped by what the caller can do about them.

use crate::group::InvalidGroupOption;
use crate::name::{InvalidName, Name};
use crate::publish::InvalidMessage;
use crate::topic::InvalidOptions;
use rialto_disk::DiskError;
use rialto_log::{OpenError, ReadError, WriteError};
use std::path::PathBuf;

/// The reason that a call on a queue failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// The text is not a valid name.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// An option of a topic is invalid.
    #[error("the options of the topic are invalid: {0}")]
    Options(#[from] InvalidOptions),
    /// The message itself is wrong; publishing it again cannot help.
    #[error(transparent)]
    Message(#[from] InvalidMessage),
    /// A topic is to be encrypted, and the queue was opened without keys.
    #[error("the topic {0:?} is to be encrypted, but the queue was opened without keys")]
    NoKey(Name),
    /// There is no such topic.
    #[error("there is no topic {0:?}")]
    UnknownTopic(String),
    /// A topic with this name and other options exists.
    #[error("there is a topic {0:?} already, with other options")]
    TopicExists(Name),
    /// The topic is an external log.
    #[error(
        "the topic {0:?} is read-only: nothing can be published on it, and neither it nor its \
         messages can be deleted"
    )]
    ReadOnly(Name),
    /// The topic is an external log, and it is not mounted in this process.
    #[error("the topic {0:?} reads an external log, which is not mounted in this process")]
    NotMounted(Name),
    /// The topic to redrive is not a dead-letter topic.
    #[error("the topic {0:?} does not hold dead letters")]
    NoDeadLetters(Name),
    /// The topic was deleted.
    #[error("the topic {0:?} was deleted")]
    TopicDeleted(Name),
    /// A group with this name and other options exists.
    #[error("the topic {topic:?} has a group {group:?} already, with other options")]
    GroupExists {
        /// The topic.
        topic: Name,
        /// The group.
        group: Name,
    },
    /// The topic has no such group.
    #[error("the topic {topic:?} has no group {group:?}")]
    UnknownGroup {
        /// The topic.
        topic: Name,
        /// The group.
        group: String,
    },
    /// A limit is reached.
    #[error("the limit of {limit} {what} is reached")]
    TooMany {
        /// The kind of object that is limited.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The work queue has no room; nothing was published.
    #[error("the work queue {topic:?} is full: it holds {messages} messages of {bytes} bytes")]
    Full {
        /// The topic.
        topic: Name,
        /// The number of messages in it.
        messages: u64,
        /// The bytes of these messages.
        bytes: u64,
    },
    /// The disk has little room left, and its owner refuses new data
    /// ([`Queue::set_refusing`](crate::Queue::set_refusing)); nothing was published or created.
    #[error(
        "the disk has little room left; new messages, topics and groups are refused until it has more"
    )]
    StorageLow,
    /// Too many bytes wait to be written; nothing was published.
    #[error("{bytes} bytes wait to be written to the topic {topic:?}; try again")]
    Busy {
        /// The topic.
        topic: Name,
        /// The number of bytes that wait.
        bytes: usize,
    },
    /// The number is not above the last number of the producer.
    #[error(
        "producer {producer} has already sent number {last}, so that {got} is a duplicate or out of \
         order"
    )]
    Sequence {
        /// The producer's id.
        producer: u64,
        /// The last number that was accepted.
        last: u64,
        /// The number of this message.
        got: u64,
    },
    /// The producer's id or the number is out of range.
    #[error(
        "producer {producer} cannot send number {number}: ids and numbers of producers are less than \
         2^64 - 1"
    )]
    ProducerNumber {
        /// The producer's id.
        producer: u64,
        /// The number of the message.
        number: u64,
    },
    /// The options of a group are invalid.
    #[error("the options of the group are invalid: {0}")]
    GroupOptions(#[source] InvalidGroupOption),
    /// The consumer no longer holds the message: its lease ended.
    #[error("the message {0} is no longer leased to this consumer")]
    LeaseLost(crate::MessageId),
    /// A lease cannot have this length.
    #[error(
        "a lease cannot last {asked:?}; it lasts at least {:?} and at most {} days",
        crate::LEASE_MIN,
        crate::LEASE_MAX.as_secs() / 86_400
    )]
    LeaseLength {
        /// The length asked for.
        asked: std::time::Duration,
    },
    /// The transaction is larger than one record.
    #[error(
        "the transaction has {parts} parts of {bytes} bytes in all; it may have {} of {} bytes",
        crate::TRANSACTION_PARTS_MAX,
        crate::TRANSACTION_BYTES_MAX
    )]
    TransactionTooLarge {
        /// Its bytes.
        bytes: usize,
        /// The number of its messages and acknowledgements.
        parts: usize,
    },
    /// The name of a transaction's producer is empty or too long.
    #[error(
        "the producer of the transaction has a name of {bytes} bytes; it may have 1 to {}",
        crate::TRANSACTION_PRODUCER_BYTES_MAX
    )]
    TransactionProducer {
        /// The length of the name.
        bytes: usize,
    },
    /// Retention has overtaken the reader, and the topic closes such readers.
    #[error("the reader of topic {topic:?} was closed: it missed {messages} messages")]
    CutOff {
        /// The topic.
        topic: Name,
        /// The number of messages that it missed.
        messages: u64,
    },
    /// The topic's level is below the level asked for.
    #[error("a topic at level {level} cannot confirm at level {asked}")]
    Level {
        /// The topic's level.
        level: rialto_log::Level,
        /// The level asked for.
        asked: rialto_log::Level,
    },
    /// The topic can no longer be written: the disk failed. Open the queue again.
    #[error("the topic {topic:?} cannot be written any more: {reason}")]
    Failed {
        /// The topic.
        topic: Name,
        /// The disk's error.
        reason: String,
    },
    /// The control log cannot be written: the disk failed. The outcome of the call is unknown. The
    /// queue tries every second to restart the log; try again.
    #[error("the control log cannot be written now: {0}")]
    ControlFailed(String),
    /// A thread could not be started.
    #[error("a thread could not be started: {0}")]
    Thread(std::io::Error),
    /// The queue is shutting down.
    #[error("the queue is closed")]
    Closed,
    /// A log could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A log could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The control log holds an invalid record.
    #[error("record {seq} of the control log in {dir:?} is damaged or of a later version: {why}")]
    Control {
        /// The directory of the control log.
        dir: PathBuf,
        /// The number of the record.
        seq: u64,
        /// The fault.
        why: String,
    },
}
