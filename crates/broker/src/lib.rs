//! The queue's requests on a bus: rights, quotas, and the consumers of clients.
//!
//! The queue itself is [`rialto_queue`], which has no clients. A gateway decodes a client's request
//! into one of these, sends it on the [`QueueBus`] with a [`Principal`] in its context, and encodes
//! the answer. This crate has no protocol and no keys.
//!
//! ```
//! use rialto_api::{QueueGrant, QueueRight, TopicPattern};
//! use rialto_broker::{
//!     CreateTopic, NewMessage, NewMessages, Principal, PublishMessages, QueueBus, QueueLimits,
//! };
//! use rialto_bus::{Context, Dispatch};
//! use rialto_queue::{Name, Queue, QueueOptions, TopicOptions};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let queue = Queue::open(QueueOptions::in_memory())?;
//! let (_stop, stopped) = tokio::sync::watch::channel(false);
//! let bus = QueueBus::open(queue.clone(), QueueLimits::default(), stopped, None);
//!
//! let operator = Principal::operator("ops");
//! let topic = Name::new("jobs")?;
//! let create = CreateTopic { topic: topic.clone(), options: TopicOptions::default() };
//! bus.send(create, &Context::new().with_principal(&operator)).await?;
//!
//! let consume = QueueGrant {
//!     topics: TopicPattern::new("jobs")?,
//!     rights: vec![QueueRight::Consume],
//!     topics_max: None,
//!     groups_max: None,
//!     bytes_max: None,
//! };
//! let worker = Principal::new("worker", [consume]);
//! let messages = NewMessages::Listed(vec![NewMessage::default()]);
//! let publish = PublishMessages { topic, messages, numbers: (0, 0), confirm: None };
//! let refused = bus.send(publish, &Context::new().with_principal(&worker)).await;
//! assert!(refused.is_err_and(|error| error.code() == "forbidden"));
//! # queue.close()?;
//! # Ok(())
//! # }
//! ```

mod bus;
mod consumers;
mod dead_letters;
mod error;
mod group_leases;
mod idle_readers;
mod lease;
mod options;
mod policy;
mod principal;
mod quota;
mod request;
mod service;
mod transaction;

pub use bus::QueueBus;
pub use dead_letters::{ListDeadLetters, PurgeTopic, RedriveDeadLetters};
pub use error::{AtMessage, AtPath, bus_error};
pub use group_leases::{GroupLease, ListLeases};
pub use lease::LeaseTokens;
pub use options::{InvalidRequest, group_options, topic_options};
pub use policy::{NeedsRight, QueuePolicy, Requirement, may_produce, may_use_any_topic};
pub use principal::Principal;
pub use quota::QueueLimits;
pub use request::{
    AckMessages, ConsumerId, CreateGroup, CreateTopic, DeleteGroup, DeleteTopic, DeliveredLease,
    ExtendLeases, FetchMessages, GetTopic, LeaveGroup, ListTopics, MESSAGES_MAX, NackMessages,
    NackOptions, NewMessage, NewMessages, PublishMessages, Published, ReadFrom, ReadMessages,
    ReadPage, SubscribeMessages, check_ack_wait, check_settlement,
};
pub use service::QueueService;
pub use transaction::CommitTransaction;
