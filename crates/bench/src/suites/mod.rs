//! The suites.

mod durability;
mod matching;

pub(crate) use durability::Durability;
pub(crate) use matching::Matching;
