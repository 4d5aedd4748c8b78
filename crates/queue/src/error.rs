//! What can go wrong, grouped by what the caller has to do about it.

use crate::name::{InvalidName, Name};
use crate::publish::InvalidMessage;
use crate::topic::InvalidOptions;
use rialto_disk::DiskError;
use rialto_log::{OpenError, ReadError, WriteError};
use std::path::PathBuf;

/// Why a call on a queue came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// The text is no name.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// No topic can be made of these options.
    #[error("the options of the topic contradict themselves: {0}")]
    Options(#[from] InvalidOptions),
    /// The message itself is wrong; publishing it again cannot help.
    #[error(transparent)]
    Message(#[from] InvalidMessage),
    /// A topic is to be encrypted, and the queue was opened without keys.
    #[error("the topic {0:?} is to be encrypted, but the queue was opened without a key for that")]
    NoKey(Name),
    /// There is no such topic.
    #[error("there is no topic {0:?}")]
    UnknownTopic(String),
    /// There is a topic of that name, and it is another one.
    #[error("there is a topic {0:?} already, with other options")]
    TopicExists(Name),
    /// The topic is an external log.
    #[error(
        "the topic {0:?} is read-only: nothing can be published on it, and neither it nor its \
         messages can be deleted"
    )]
    ReadOnly(Name),
    /// The topic is an external log, and it is not mounted in this process.
    #[error("the topic {0:?} is a log of somebody else's, which is not mounted here")]
    NotMounted(Name),
    /// Dead letters were to be sent back from a topic that holds others.
    #[error("the topic {0:?} does not hold dead letters")]
    NoDeadLetters(Name),
    /// The topic was deleted.
    #[error("the topic {0:?} was deleted")]
    TopicDeleted(Name),
    /// There is a group of that name, and it is another one.
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
    /// There are as many as there may be.
    #[error("there are {limit} {what} already, as many as there may be")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// The work queue has no room; nothing was published.
    #[error("the work queue {topic:?} is full: it holds {messages} messages of {bytes} bytes")]
    Full {
        /// The topic.
        topic: Name,
        /// How many messages it holds.
        messages: u64,
        /// How many bytes they take.
        bytes: u64,
    },
    /// The disk has little room left, and its owner wants nothing new taken in
    /// ([`Queue::set_refusing`](crate::Queue::set_refusing)); nothing was published or created.
    #[error("the disk has little room left; nothing new is taken in until it has more")]
    StorageLow,
    /// Too much waits to be written; nothing was published.
    #[error("{bytes} bytes wait to be written to the topic {topic:?}; try again")]
    Busy {
        /// The topic.
        topic: Name,
        /// How many bytes wait.
        bytes: usize,
    },
    /// The producer sends with numbers, and this one lies below what it has sent.
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
    /// A producer cannot have this id or give this number.
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
    /// No group can have these options.
    #[error("no group can have these options: {0}")]
    GroupOptions(#[source] InvalidOptions),
    /// The message is no longer the caller's: its deadline passed, or it was taken back.
    #[error("the message {0} is no longer leased to this consumer")]
    LeaseLost(crate::MessageId),
    /// The transaction is more than one record can hold.
    #[error(
        "the transaction has {parts} parts of {bytes} bytes in all; it may have {} of {} bytes",
        crate::TRANSACTION_PARTS_MAX,
        crate::TRANSACTION_BYTES_MAX
    )]
    TransactionTooLarge {
        /// Its bytes.
        bytes: usize,
        /// Its messages and acknowledgements.
        parts: usize,
    },
    /// Transactions cannot be numbered under this name.
    #[error(
        "the producer of the transaction has a name of {bytes} bytes; it may have 1 to {}",
        crate::TRANSACTION_PRODUCER_BYTES_MAX
    )]
    TransactionProducer {
        /// How long its name is.
        bytes: usize,
    },
    /// Retention has overtaken the reader, and the topic cuts such readers off.
    #[error("the reader of topic {topic:?} was cut off: it missed {messages} messages")]
    CutOff {
        /// The topic.
        topic: Name,
        /// How many it missed.
        messages: u64,
    },
    /// The topic's level cannot promise what was asked for.
    #[error("a topic at level {level} cannot confirm at level {asked}")]
    Level {
        /// The topic's level.
        level: rialto_log::Level,
        /// What was asked for.
        asked: rialto_log::Level,
    },
    /// The topic can no longer be written: the disk failed. Open the queue again.
    #[error("the topic {topic:?} cannot be written any more: {reason}")]
    Failed {
        /// The topic.
        topic: Name,
        /// What the disk said.
        reason: String,
    },
    /// The control log cannot be written: the disk failed. Whether what was asked for happened is not
    /// known. The queue tries every second to begin the log anew; try again.
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
    /// The control log says something that makes no sense.
    #[error("record {seq} of the control log in {dir:?} is damaged or of a later version: {why}")]
    Control {
        /// Where it lies.
        dir: PathBuf,
        /// Which record.
        seq: u64,
        /// What is wrong.
        why: String,
    },
}
