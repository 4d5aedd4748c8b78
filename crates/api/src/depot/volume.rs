//! Volumes.

use crate::text::{Str, U64Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A volume to mount.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotVolumeRequest<'a> {
    /// A name: 1 to 64 of `a` to `z`, `0` to `9`, `-`, `_` and `.`.
    #[serde(borrow)]
    pub name: Str<'a>,
    /// Its directory, as an absolute path on the machine of the venue.
    pub dir: Str<'a>,
    /// Its share of new files beside volumes with as much free space; left out, 1. 0 is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
    /// The identity of a volume that was unmounted. Without it, the directory must not hold files of
    /// a volume.
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
    /// Its directory.
    pub dir: String,
    /// Its identity.
    pub identity: String,
    /// Its share of new files.
    pub weight: u32,
    /// Whether it takes new files.
    pub state: DepotVolumeState,
    /// The free space of its file system.
    pub free_bytes: U64Text,
    /// The size of its file system; 0 if it is unknown.
    pub total_bytes: U64Text,
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
    /// The free space; volumes that share a file system count once.
    pub free_bytes: U64Text,
    /// The size.
    pub total_bytes: U64Text,
}
