//! S3 for the depot: a bucket is a tenant, and an object is a file that is kept on a shelf of it.
//!
//! Requests are decoded and their signatures verified by `s3s`. What it leaves open is done here:
//! limits, rates and timeouts ([`S3Options`]), checksums of bodies, and parts of uploads that
//! survive the process. `docs/s3.md` says which operations there are, and what they answer.
//!
//! An [`S3Server`] listens on an address of its own. It knows no keys: [`SigningKeys`] finds them.

#![deny(unsafe_code)]

mod arriving;
mod auth;
mod buckets;
mod chunks;
mod claim;
mod conditions;
mod connections;
mod digests;
mod errors;
mod front;
mod keys;
mod listing;
mod metadata;
mod multipart;
mod names;
mod objects;
mod options;
mod receiving;
mod server;
mod service;
mod session;
#[cfg(feature = "signing")]
pub mod signing;
mod socket;
mod traffic;
mod understood;

pub use chunks::{CHUNK_BYTES_MAX, ChunkFault, ChunkGuard};
pub use keys::{SigningKey, SigningKeys};
pub use multipart::{PART_BYTES_MIN, PARTS_MAX, TENANT_UPLOADS_MAX};
pub use options::S3Options;
pub use server::{S3Server, S3ServerError};
pub use traffic::S3Traffic;
