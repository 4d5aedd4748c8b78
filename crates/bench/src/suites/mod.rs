//! The suites.

mod durability;
mod matching;
mod recovery;

pub(crate) use durability::Durability;
pub(crate) use matching::Matching;
pub(crate) use recovery::Recovery;
