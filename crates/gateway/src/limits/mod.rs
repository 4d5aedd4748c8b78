//! Allowances: how often a caller may ask.

mod addresses;
mod bucket;

pub(crate) use addresses::Addresses;
pub(crate) use bucket::{Bucket, Rate};
