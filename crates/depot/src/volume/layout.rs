//! Where a volume keeps its files.

use crate::FileId;
use std::path::{Path, PathBuf};

/// The name of the identity file.
pub(super) const IDENTITY_FILE: &str = "VOLUME";
/// The name of the file that a probe writes.
pub(super) const PROBE_FILE: &str = "probe";
/// The most levels of shard directories.
pub(super) const SHARD_LEVELS_MAX: u8 = 2;

/// The paths of a volume. They are made of ids alone, so that no name that a client gives reaches
/// a path.
#[derive(Debug)]
pub(super) struct Layout {
    dir: PathBuf,
    files: PathBuf,
    levels: u8,
}

impl Layout {
    pub(super) fn new(dir: &Path, levels: u8) -> Self {
        Self { dir: dir.to_owned(), files: dir.join("files"), levels: levels.min(SHARD_LEVELS_MAX) }
    }

    /// The number of shard directories, which are numbered from 0.
    pub(super) fn shards(&self) -> u32 {
        1 << (8 * u32::from(self.levels))
    }

    /// The shard of a file.
    pub(super) fn shard(&self, id: FileId) -> u32 {
        // The high part of an id is its time; multiplying spreads it evenly over the high bits.
        let [first, second, ..] =
            ((id.0 >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
        match self.levels {
            0 => 0,
            1 => u32::from(first),
            _ => u32::from(first) << 8 | u32::from(second),
        }
    }

    /// The directory of a shard.
    pub(super) fn shard_dir(&self, shard: u32) -> PathBuf {
        match self.levels {
            0 => self.files.clone(),
            1 => self.files.join(format!("{shard:02x}")),
            _ => self.files.join(format!("{:02x}/{:02x}", shard >> 8, shard & 0xff)),
        }
    }

    /// The stored file.
    pub(super) fn path(&self, id: FileId) -> PathBuf {
        self.shard_dir(self.shard(id)).join(id.to_string())
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn files(&self) -> &Path {
        &self.files
    }

    pub(super) fn quarantine(&self) -> PathBuf {
        self.dir.join("quarantine")
    }

    pub(super) fn identity(&self) -> PathBuf {
        self.dir.join(IDENTITY_FILE)
    }

    pub(super) fn probe(&self) -> PathBuf {
        self.dir.join(PROBE_FILE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_of_successive_times_spread_over_all_shards() {
        let layout = Layout::new(Path::new("/v"), 1);
        let id = |time: u64| FileId(u128::from(time) << 64 | 7);
        let shards: BTreeSet<u32> = (0..4096).map(|time| layout.shard(id(time))).collect();
        assert_eq!(shards.len(), 256);
        assert_eq!(layout.shard(id(77)), u32::from(id(77).shard()));
    }

    #[test]
    fn every_path_stays_in_its_volume_whatever_the_id() {
        for levels in 0..=3 {
            let layout = Layout::new(Path::new("/v"), levels);
            for id in [0, u128::MAX, 1 << 64, 0x2e2e_2f2e_2e2f] {
                let path = layout.path(FileId(id));
                let below = path.strip_prefix("/v/files").unwrap();
                let mut parts = below.components();
                assert!(parts.all(|part| matches!(part, std::path::Component::Normal(_))));
                assert_eq!(below.components().count(), 1 + usize::from(levels.min(2)));
                assert!(layout.shard(FileId(id)) < layout.shards());
            }
        }
    }
}
