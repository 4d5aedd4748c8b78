//! Buckets as volumes: what the depot asks of one, and how its volumes use it.
//!
//! [`Bucket`] is the interface that a client of an object store implements. [`BucketDisk`] makes a
//! prefix of it a disk, as far as volumes need one, so that writing, reading, scans and probes of
//! volumes are the same code for directories and for buckets.

mod disk;
mod object;
mod spec;

pub(super) use disk::BucketDisk;
pub use spec::BucketSpec;

use rialto_clock::Timestamp;
use std::io;
use std::sync::Arc;

/// The bytes of a part of an object that is stored in parts.
pub const PART_BYTES: usize = 8 << 20;
/// The most parts of an object.
pub const PARTS_MAX: usize = 10_000;

/// A failure of a bucket. Its text has no secrets.
#[derive(Debug, thiserror::Error)]
pub enum BucketError {
    /// There is no such object.
    #[error("the object does not exist")]
    NotFound,
    /// The bucket cannot be reached, is overloaded, or refuses the operation.
    #[error("{0}")]
    Failed(String),
}

impl From<BucketError> for io::Error {
    fn from(error: BucketError) -> Self {
        let kind = match error {
            BucketError::NotFound => io::ErrorKind::NotFound,
            BucketError::Failed(_) => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

/// An object, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    /// Its whole key.
    pub key: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// When it was stored, as the bucket says.
    pub modified: Timestamp,
}

/// A bucket. Every method blocks, and ends within a bounded time also if the bucket does not answer.
/// A change is durable when the method has returned.
pub trait Bucket: Send + Sync {
    /// Stores an object, instead of an earlier one of this key.
    fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), BucketError>;

    /// Stores an object unless there is one of this key. Returns whether it was stored.
    fn create(&self, key: &str, bytes: Vec<u8>) -> Result<bool, BucketError>;

    /// Begins an object that is stored in parts. It exists when it is completed.
    fn begin(&self, key: &str) -> Result<Box<dyn ObjectParts>, BucketError>;

    /// Reads at `offset` until `bytes` is full or the object ends, and returns how many bytes were
    /// read.
    fn read(&self, key: &str, offset: u64, bytes: &mut [u8]) -> Result<usize, BucketError>;

    /// What is known of an object.
    fn head(&self, key: &str) -> Result<ObjectInfo, BucketError>;

    /// Removes an object. It is no failure if there is none.
    fn remove(&self, key: &str) -> Result<(), BucketError>;

    /// Copies an object of at most [`PART_BYTES`].
    fn copy(&self, from: &str, to: &str) -> Result<(), BucketError>;

    /// The first `max` objects whose keys begin with `prefix` and come after `after`, in the order of
    /// the bytes of their keys. Fewer than `max` are the last.
    fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        max: usize,
    ) -> Result<Vec<ObjectInfo>, BucketError>;
}

/// An object that is being stored in parts.
pub trait ObjectParts: Send {
    /// Adds the next part. All but the last have [`PART_BYTES`].
    fn add(&mut self, bytes: Vec<u8>) -> Result<(), BucketError>;

    /// Makes the object of the parts.
    fn complete(&mut self) -> Result<(), BucketError>;

    /// Removes the parts of an object that was not completed.
    fn abort(&mut self) -> Result<(), BucketError>;
}

/// Opens buckets: the place where credentials and connections come from.
pub trait Buckets: Send + Sync {
    /// Opens the bucket of the volume with this name. The bucket need not answer.
    fn open(&self, volume: &str, spec: &BucketSpec) -> Result<Arc<dyn Bucket>, BucketError>;
}
