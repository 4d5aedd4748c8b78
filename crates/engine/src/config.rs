//! The settings of an engine.

use crate::parts::Sources;
use crate::sabotage::SabotageSwitch;
use crate::snapshot::SnapshotCipher;
use crate::{Level, WaitStrategy};
use rialto_core::{Limits, RULES_VERSIONS};
use rialto_log::{KeyRing, Sealing};
use rialto_model::EngineId;
use std::path::PathBuf;
use std::time::Duration;

/// The settings of an engine. The [`Default`] data directory is `rialto-data` in the current
/// directory.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// The directory of journal, event log and snapshots. Created if it does not exist.
    pub data_dir: PathBuf,
    /// The id of this engine: the high bits of its order and trade ids.
    pub engine: EngineId,
    /// The durability of an acknowledgement, and of visible events.
    pub level: Level,
    /// The most bytes of one write to the journal or the event log: 256 KiB to 1 MiB.
    pub group_bytes_max: usize,
    /// Under [`Level::Buffered`], the most time of acknowledgements that a power failure can lose.
    pub flush_every: Duration,
    /// How long the disk may take for one write or sync of the journal or the event log. Beyond it,
    /// the engine is [stalled](crate::Health::Stalled) and accepts no commands until the operation
    /// returns.
    pub io_stalled_after: Duration,
    /// How long the disk may take before the engine [fails](crate::Fault::Hung). Not less than
    /// [`EngineConfig::io_stalled_after`].
    pub io_failed_after: Duration,
    /// The largest step of the wall clock, in either direction, that is followed. Commands are
    /// stamped with the monotonic clock from its last agreement with the wall clock; see
    /// [`Engine::accept_clock`].
    pub clock_step_max: Duration,
    /// Start with any wall clock. By default it must be within [`EngineConfig::CLOCK_GAP_MAX`] of
    /// the last time in the journal.
    ///
    /// [`Engine::accept_clock`]: crate::Engine::accept_clock
    pub accept_clock: bool,
    /// The number of commands between two background snapshots. It limits the work of a restart; a
    /// snapshot costs about as much as replaying its commands.
    pub snapshot_every: u64,
    /// The number of snapshots to keep, besides the first one of the data directory.
    pub snapshots_kept: usize,
    /// The share of the writer's time for background work (see [`rialto_core::rules`]) while commands
    /// wait, in percent: 1 to 90. Without waiting commands, it gets all.
    pub background_share: u8,
    /// The most commands in flight of one producer.
    pub producer_capacity: usize,
    /// How the engine's threads wait for work.
    pub wait: WaitStrategy,
    /// The length of a segment of the journal and the event log.
    pub segment_bytes: u64,
    /// The number of segments of each log whose space is reserved, in case others fill the disk.
    pub reserve_segments: usize,
    /// The compression and encryption of journal and event log. Snapshots use the same cipher.
    pub sealing: Sealing,
    /// The keys for encryption and decryption.
    pub keys: KeyRing,
    /// The number of event groups in memory, for readers that keep up; others read the event log.
    pub event_ring_blocks: usize,
    /// The bounds of the core. They apply when the data directory is created, and stay.
    pub limits: Limits,
    /// The rules version of a new data directory; an existing one keeps its own.
    pub rules_version: u32,
    /// A deliberate defect.
    #[cfg(feature = "sabotage")]
    pub sabotage: Option<crate::Sabotage>,
}

impl EngineConfig {
    /// The least [`EngineConfig::group_bytes_max`]: a group must have room for the most events of
    /// one command.
    pub const GROUP_BYTES_MIN: usize = 256 << 10;

    /// The most by which the wall clock may differ from the last time in the journal at a start, in
    /// either direction. Wrong times in a journal cannot be corrected later, so that a clock that
    /// is weeks off is refused.
    pub const CLOCK_GAP_MAX: Duration = Duration::from_secs(7 * 24 * 3_600);

    pub(crate) fn snapshot_cipher(&self, sources: &Sources) -> SnapshotCipher {
        SnapshotCipher::new(self.sealing.encryption, self.keys.clone(), &sources.random)
    }

    pub(crate) fn switch(&self) -> SabotageSwitch {
        SabotageSwitch {
            #[cfg(feature = "sabotage")]
            thrown: self.sabotage,
        }
    }
}

impl Default for EngineConfig {
    fn default() -> Self {
        EngineConfig {
            data_dir: PathBuf::from("rialto-data"),
            engine: EngineId(1),
            level: Level::Synced,
            group_bytes_max: rialto_log::GROUP_BYTES_MAX,
            flush_every: Duration::from_millis(100),
            io_stalled_after: Duration::from_secs(1),
            io_failed_after: Duration::from_secs(30),
            clock_step_max: Duration::from_secs(60),
            accept_clock: false,
            snapshot_every: 20_000_000,
            snapshots_kept: 3,
            background_share: 20,
            producer_capacity: 4_096,
            wait: WaitStrategy::default(),
            segment_bytes: 64 << 20,
            reserve_segments: 0,
            sealing: Sealing::NONE,
            keys: KeyRing::empty(),
            event_ring_blocks: 64,
            limits: Limits::default(),
            rules_version: *RULES_VERSIONS.end(),
            #[cfg(feature = "sabotage")]
            sabotage: None,
        }
    }
}
