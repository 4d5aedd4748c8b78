//! Queues: topics over HTTP, for callers with keys.
//!
//! The queue itself is [`rialto_queue`]; here stand the requests that can be made of it, who may
//! make them, and the consumers that it knows by names between their calls.

mod bus;
mod consumers;
mod dead_letters;
mod error;
mod grant;
mod keeper;
mod lease;
mod policy;
mod quota;
mod readings;
mod request;
mod transaction;

pub(crate) use bus::QueueBus;
pub(crate) use dead_letters::{ListDeadLetters, PurgeTopic, RedriveDeadLetters};
pub(crate) use error::{AtMessage, AtPlace, told as queue_error};
pub use grant::{InvalidPattern, QueueGrant, QueueRight, TopicPattern, VENUE_TOPICS, is_of_venue};
pub(crate) use lease::LeaseTexts;
pub(crate) use policy::{may_produce, may_something};
pub use quota::QueueLimits;
pub(crate) use request::{
    AckMessages, CreateGroup, CreateTopic, DeleteGroup, DeleteTopic, ExtendLeases, FetchMessages,
    GetTopic, GivenBack, Leased, LeaveGroup, ListTopics, MESSAGES_MAX, NackMessages, NewMessage,
    NewMessages, PublishMessages, Published, ReadFrom, ReadMessages, Seat, SubscribeMessages,
    settle_limits,
};
pub(crate) use transaction::CommitTransaction;
