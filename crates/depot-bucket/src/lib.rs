//! S3-compatible buckets as volumes of the depot.
//!
//! [`S3Buckets`] opens them through `object_store`, with path-style addresses. The depot calls a bucket
//! as it calls a disk, and waits; the requests run on a small runtime that belongs to [`S3Buckets`], so
//! that a call may come from any thread. Every call ends within [`CALL_TIME_MAX`], and a completion of
//! parts within [`COMPLETION_TIME_MAX`].
//!
//! ```
//! use rialto_depot::DepotOptions;
//! use rialto_depot_bucket::S3Buckets;
//! use std::sync::Arc;
//!
//! let mut options = DepotOptions::at("pool");
//! options.volumes.buckets = Some(Arc::new(S3Buckets::from_env()));
//! ```

#![deny(unsafe_code)]

mod answers;
mod bucket;
mod credentials;
mod listing;
mod parts;
mod running;

pub use bucket::{CALL_TIME_MAX, COMPLETION_TIME_MAX, S3Buckets};
