//! Limits: rates of requests, memory of bodies, growth of the journal.

mod addresses;
mod bodies;
mod journal;
mod source;

pub(crate) use addresses::Addresses;
pub(crate) use bodies::{Bodies, BodyLimits, BodyMemory, NoRoom, Owner, Share};
pub(crate) use journal::JournalQuota;
pub(crate) use source::source_of;
