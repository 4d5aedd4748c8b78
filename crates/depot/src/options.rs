//! The configuration of a pool.

use crate::rate::RateOptions;
use crate::upkeep::UpkeepOptions;
use crate::volume::VolumeOptions;
use crate::watcher::WatcherOptions;
use rialto_clock::{Clock, SystemClock};
use rialto_disk::{Disk, RealDisk};
use rialto_log::{Level, fresh_salt};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What becomes of the files of a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DirectoryKind {
    /// Files are claimed, and end when they are completed.
    #[default]
    Work,
    /// Files are kept under their paths until they are deleted.
    Shelf,
}

impl DirectoryKind {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Shelf => "shelf",
        }
    }
}

/// The configuration of a pool.
#[derive(Clone)]
pub struct DepotOptions {
    /// The directory of the pool: its history, its work queues and its lock. Volumes have
    /// directories of their own.
    pub dir: PathBuf,
    /// What an acknowledgement means. It is fixed when the pool is made, and another one is refused.
    pub level: Level,
    /// The disk.
    pub disk: Arc<dyn Disk>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Sixteen random bytes for every log that is opened and every claim.
    pub salt: Arc<dyn Fn() -> [u8; 16] + Send + Sync>,
    /// The directory of the volume that a new pool makes; `None` makes none.
    pub first_volume: Option<PathBuf>,
    /// The settings of volumes.
    pub volumes: VolumeOptions,
    /// Work files of at most this many bytes travel in their message. At most
    /// [`INLINE_BYTES_MAX`].
    pub inline_bytes_max: usize,
    /// The largest file, in bytes.
    pub file_bytes_max: u64,
    /// Whether the first file for an unknown tenant creates it.
    pub create_tenants: bool,
    /// The most tenants.
    pub tenants_max: usize,
    /// The most tenants with a work queue.
    pub working_tenants_max: usize,
    /// How long a claim lasts, unless the worker says otherwise.
    pub claim_duration: Duration,
    /// How often a file is handed out before it becomes a dead letter; 0 is no limit.
    pub attempts_max: u16,
    /// The delay before a failed file is handed out again. It doubles with every attempt.
    pub retry_delay: Duration,
    /// The largest such delay.
    pub retry_delay_max: Duration,
    /// The most priorities of files, 1 to 16.
    pub priorities: u8,
    /// The most descriptors that the work queues keep open.
    pub descriptors_max: usize,
    /// The most claimed files of a tenant.
    pub claimed_max: usize,
    /// The largest segment of the history and of a work queue in bytes; a multiple of 4096, at least
    /// 2 MiB. A work queue keeps the size that it was made with.
    pub segment_bytes: u64,
    /// The bytes of the control segments of the work queues; a multiple of 4096.
    pub control_segment_bytes: u64,
    /// The history is rewritten when it has grown by this many bytes since the last checkpoint, and
    /// by four times what it holds.
    pub checkpoint_bytes: u64,
    /// How many bytes may be stored in a second.
    pub rates: RateOptions,
    /// The settings of what happens in the background with the bytes of files.
    pub upkeep: UpkeepOptions,
    /// The settings of watched folders.
    pub watcher: WatcherOptions,
}

/// The most bytes of a file that travels in its message.
pub const INLINE_BYTES_MAX: usize = 512 << 10;

impl DepotOptions {
    /// The default options of a pool in a directory of the real disk.
    #[must_use]
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        Self {
            first_volume: Some(dir.join("volume")),
            dir,
            level: Level::Synced,
            disk: Arc::new(RealDisk),
            clock: Arc::new(SystemClock),
            salt: Arc::new(fresh_salt),
            volumes: VolumeOptions::default(),
            inline_bytes_max: 16 << 10,
            file_bytes_max: 64 << 30,
            create_tenants: true,
            tenants_max: 65_536,
            working_tenants_max: 4_096,
            claim_duration: Duration::from_secs(60),
            attempts_max: 5,
            retry_delay: Duration::from_secs(5),
            retry_delay_max: Duration::from_secs(300),
            priorities: 4,
            descriptors_max: 512,
            claimed_max: 65_536,
            segment_bytes: 64 << 20,
            control_segment_bytes: 4 << 20,
            checkpoint_bytes: 256 << 20,
            rates: RateOptions::default(),
            upkeep: UpkeepOptions::default(),
            watcher: WatcherOptions::default(),
        }
    }

    /// Sets the level.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }
}
