//! The volumes of a pool, as its history records them.

use super::record::Record;
use crate::volume::{BucketSpec, VolumeIdentity, VolumeNumber, VolumePlace, VolumeSpec};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A volume in a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DirectoryVolume {
    pub(crate) name: String,
    pub(crate) dir: String,
    pub(crate) weight: u32,
    pub(crate) identity: VolumeIdentity,
    pub(crate) draining: bool,
}

/// A volume in a bucket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BucketVolume {
    pub(crate) name: String,
    pub(crate) bucket: BucketSpec,
    pub(crate) weight: u32,
    pub(crate) identity: VolumeIdentity,
    pub(crate) draining: bool,
}

/// A volume of the pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum VolumeSettings {
    Directory(DirectoryVolume),
    Bucket(BucketVolume),
}

impl VolumeSettings {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Directory(volume) => &volume.name,
            Self::Bucket(volume) => &volume.name,
        }
    }

    pub(crate) fn identity(&self) -> VolumeIdentity {
        match self {
            Self::Directory(volume) => volume.identity,
            Self::Bucket(volume) => volume.identity,
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        match self {
            Self::Directory(volume) => volume.draining,
            Self::Bucket(volume) => volume.draining,
        }
    }

    pub(crate) fn set_draining(&mut self, draining: bool) {
        match self {
            Self::Directory(volume) => volume.draining = draining,
            Self::Bucket(volume) => volume.draining = draining,
        }
    }

    /// The volume of a pool in this directory.
    pub(crate) fn spec(&self, pool: &Path) -> VolumeSpec {
        let (place, weight, identity) = match self {
            Self::Directory(it) => (pool.join(&it.dir).into(), it.weight, it.identity),
            Self::Bucket(it) => (VolumePlace::Bucket(it.bucket.clone()), it.weight, it.identity),
        };
        VolumeSpec { name: self.name().to_owned(), place, weight, identity: Some(identity) }
    }

    /// The record that says so.
    pub(crate) fn record(&self, number: VolumeNumber) -> Record {
        match self.clone() {
            Self::Directory(settings) => Record::Volume { number, settings },
            Self::Bucket(settings) => Record::Bucket { number, settings },
        }
    }
}
