//! The suites.

mod matching;

pub(crate) use matching::Matching;
