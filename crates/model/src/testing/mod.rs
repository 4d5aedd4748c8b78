//! Strategies for property tests, behind the feature `testing`.
//!
//! [`wild`] makes every value that the types can hold, valid or not: for decoders, for JSON, and
//! for tests that a core refuses without panicking. [`plausible`] makes commands whose attributes
//! go together and whose numbers are in range, from few accounts and few prices, so that orders
//! meet.

pub mod plausible;
pub mod wild;
