//! The suites.

mod cqrs;
mod durability;
mod http;
mod matching;
mod recovery;

pub(crate) use cqrs::Cqrs;
pub(crate) use durability::Durability;
pub(crate) use http::Http;
pub(crate) use matching::Matching;
pub(crate) use recovery::Recovery;
