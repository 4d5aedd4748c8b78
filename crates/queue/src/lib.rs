//! Topics on a durable log.

mod batch;
mod batcher;
mod blocking;
mod conflation;
mod consumer;
mod control;
mod dead_letters;
mod descriptor_pool;
mod error;
mod fetch_options;
mod format;
mod group;
mod message;
mod mount;
mod name;
pub mod packed;
mod producer;
mod publish;
mod queue;
mod rate;
mod reader;
mod recovery;
mod redrive;
mod runtime;
mod sabotage;
mod shared;
mod spares;
mod subscription;
mod survey;
mod topic;
mod transaction;
mod waiting;

pub use batcher::{BatchOptions, Batcher};
pub use conflation::CONFLATED_KEYS_MAX;
pub use consumer::Consumer;
pub use control::TRANSACTION_BYTES_MAX;
pub use dead_letters::{DEAD_SUFFIX, dead_header, dead_topic_of};
pub use descriptor_pool::DESCRIPTORS_MIN;
pub use error::QueueError;
pub use fetch_options::{FetchOptions, LEASE_MAX, LEASE_MIN};
pub use format::{
    CONTENT_TYPE_BYTES_MAX, HEADERS_BYTES_MAX, HEADERS_MAX, Headers, KEY_BYTES_MAX,
    MESSAGE_BYTES_MAX,
};
pub use group::{
    DeadLetter, DeadLetterReason, Delivered, Delivery, DeliveryOrder, FILTER_BYTES_MAX,
    FILTER_CONDITIONS_MAX, Fetched, Filter, GroupCounts, GroupOptions, GroupStats, InvalidFilter,
    InvalidGroupOption, LEASED_MAX, OutstandingMessage, Sharing, Start, Unacknowledged,
};
pub use message::{InvalidMessageId, Message, MessageId};
pub use mount::{Mount, MountedLog};
pub use name::{InvalidName, NAME_BYTES_MAX, Name};
pub use producer::{BatchReceipt, Producer, Receipt, Unwritten};
pub use publish::{InvalidMessage, Publish};
pub use queue::{Queue, QueueOptions, TopicStats};
pub use rate::{RATE_WINDOW, Rate};
pub use reader::{Read, Reader};
pub use recovery::{QueueOpenReport, Rewound};
pub use redrive::{REDRIVE_GROUP, Redriven};
pub use rialto_clock::{Clock, ManualClock, SystemClock, Timestamp};
pub use rialto_log::{Cipher, Compression, KeyRing, Level};
#[cfg(feature = "sabotage")]
pub use sabotage::Sabotage;
pub use shared::{GROUPS_MAX, TOPICS_MAX, TRANSACTION_PRODUCERS_MAX};
pub use subscription::{Settler, Subscription};
pub use survey::topic_dirs;
pub use topic::{
    InvalidOptions, Kind, PRIORITIES_MAX, PRODUCERS_MAX, Retention, SlowReaderPolicy, TopicOptions,
    WhenFull,
};
pub use transaction::{
    Committed, TRANSACTION_PARTS_MAX, TRANSACTION_PRODUCER_BYTES_MAX, Transaction,
};
