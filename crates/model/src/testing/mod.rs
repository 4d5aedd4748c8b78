//! Strategies for property tests, behind the feature `testing`.
//!
//! [`wild`] makes every value that the types can hold, whether a venue would take it or not: for
//! decoders, for JSON, and for proving that a core refuses without falling over.
//! [`plausible`] makes commands whose attributes go together and whose numbers are in range, from
//! few accounts and few prices, so that orders meet.

pub mod plausible;
pub mod wild;
