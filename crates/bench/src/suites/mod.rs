//! The suites.

mod cqrs;
mod durability;
mod flow;
mod http;
mod ident;
mod lifecycle;
mod matching;
mod queue;
mod recovery;
mod serialization;

pub(crate) use cqrs::Cqrs;
pub(crate) use durability::Durability;
pub(crate) use flow::Flow;
pub(crate) use http::Http;
pub(crate) use ident::Ident;
pub(crate) use lifecycle::Lifecycle;
pub(crate) use matching::Matching;
pub(crate) use queue::Queues;
pub(crate) use recovery::Recovery;
pub(crate) use serialization::Serialization;
