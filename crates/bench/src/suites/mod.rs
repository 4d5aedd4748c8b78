//! The suites.

pub(crate) mod cqrs;
pub(crate) mod depot;
pub(crate) mod durability;
pub(crate) mod flow;
pub(crate) mod http;
pub(crate) mod ident;
pub(crate) mod lifecycle;
pub(crate) mod markets;
pub(crate) mod matching;
pub(crate) mod queue;
pub(crate) mod recovery;
pub(crate) mod serialization;
