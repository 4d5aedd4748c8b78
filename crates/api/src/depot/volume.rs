//! Volumes.

use crate::text::{Str, U64Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A prefix of a bucket of an S3-compatible object store.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotBucketRequest<'a> {
    /// The name of the bucket: 3 to 63 of `a` to `z`, `0` to `9`, `-`, `_` and `.`.
    #[serde(borrow)]
    pub bucket: Str<'a>,
    /// What the keys of the volume begin with, without a slash at its ends; left out, nothing. At most
    /// 512 letters, digits, `-`, `_`, `.` and `/`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Str<'a>>,
    /// The address of the object store: `https://HOST`, or `https://HOST:PORT`.
    pub endpoint: Str<'a>,
    /// The region.
    pub region: Str<'a>,
    /// Whether the address may begin with `http://`; left out, no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_http: Option<bool>,
}

/// The bucket of a volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DepotBucket {
    /// Its name.
    pub bucket: String,
    /// What the keys of the volume begin with; empty for nothing.
    pub prefix: String,
    /// The address of the object store.
    pub endpoint: String,
    /// The region.
    pub region: String,
    /// Whether the address may begin with `http://`.
    pub allow_http: bool,
}

/// A volume to mount: in a directory or in a bucket.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotVolumeRequest<'a> {
    /// A name: 1 to 64 of `a` to `z`, `0` to `9`, `-`, `_` and `.`.
    #[serde(borrow)]
    pub name: Str<'a>,
    /// Its directory, as an absolute path on the machine of the venue; left out for a bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<Str<'a>>,
    /// Its bucket; left out for a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<DepotBucketRequest<'a>>,
    /// Its share of new files beside volumes with as much free space; left out, 1. 0 is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
    /// The identity of a volume that was unmounted. Without it, the directory must not hold files of
    /// a volume, and the prefix of a bucket must not be a volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Str<'a>>,
}

/// Whether a volume takes new files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DepotVolumeState {
    /// It takes new files.
    Up,
    /// It keeps its files and takes no new ones.
    Draining,
    /// An operation failed on it. It takes no new files until a probe succeeds.
    Failed,
}

/// A volume.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotVolume {
    /// Its name.
    pub name: String,
    /// Its directory; `s3://BUCKET/PREFIX` for a bucket.
    pub dir: String,
    /// Its bucket, if it is in one.
    pub bucket: Option<DepotBucket>,
    /// Its identity.
    pub identity: String,
    /// Its share of new files.
    pub weight: u32,
    /// Whether it takes new files.
    pub state: DepotVolumeState,
    /// The free space of its file system; null for a bucket, which has no limit.
    pub free_bytes: Option<U64Text>,
    /// The size of its file system, 0 if it is unknown; null for a bucket.
    pub total_bytes: Option<U64Text>,
    /// Files that were written since the start of the venue.
    pub files_written: U64Text,
    /// Their bytes.
    pub bytes_written: U64Text,
    /// Bytes that are not durable yet.
    pub unsynced_bytes: U64Text,
    /// The last failure.
    pub last_error: Option<String>,
}

/// All volumes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotVolumesAnswer {
    /// The volumes.
    pub volumes: Vec<DepotVolume>,
    /// The free space; volumes that share a file system count once, and buckets do not.
    pub free_bytes: U64Text,
    /// The size.
    pub total_bytes: U64Text,
}
