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

/// The settings of an engine. [`Default`] has a value for everything but the directory, which is
/// `rialto-data` in the current one.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Where journal, event log and snapshots live. Made if it does not exist.
    pub data_dir: PathBuf,
    /// Which engine this is: the high bits of its order and trade ids.
    pub engine: EngineId,
    /// What an acknowledgement promises, and what must hold before events are visible.
    pub level: Level,
    /// The most that is written to the journal or the event log at once, in bytes: at least
    /// 256 KiB, at most 1 MiB.
    pub group_bytes_max: usize,
    /// Under [`Level::Buffered`], how much time a power failure can take away.
    pub flush_every: Duration,
    /// How long the disk may take for one write or sync of the journal or the event log before the
    /// engine is [stalled](crate::Health::Stalled): it takes no more commands until the disk goes on.
    pub io_stalled_after: Duration,
    /// How long it may take before the engine gives up and [fails](crate::Fault::Hung). Not less than
    /// [`EngineConfig::io_stalled_after`].
    pub io_failed_after: Duration,
    /// How far the wall clock may step, in either direction, and be followed. Commands are stamped with
    /// the monotonic clock from its last agreement with the wall clock; see [`Engine::accept_clock`].
    pub clock_step_max: Duration,
    /// Start with whatever the wall clock shows. Otherwise it must be within
    /// [`EngineConfig::CLOCK_GAP_MAX`] of the last time in the journal.
    ///
    /// [`Engine::accept_clock`]: crate::Engine::accept_clock
    pub accept_clock: bool,
    /// A snapshot is made in the background each time this many commands were journaled. It bounds
    /// the work of a restart; making it costs about as much as replaying them.
    pub snapshot_every: u64,
    /// How many snapshots are kept, beside the one that the data directory began with.
    pub snapshots_kept: usize,
    /// How much of the writer's time background work (mass cancels, closings, expiry) gets while
    /// commands wait, in percent: 1 to 90. While none wait, it gets all.
    pub background_share: u8,
    /// How many commands one producer may have in flight.
    pub producer_capacity: usize,
    /// How the engine's threads wait.
    pub wait: WaitStrategy,
    /// The length of the files of the journal and the event log.
    pub segment_bytes: u64,
    /// How many segments of each of them have their space in reserve, for when others have filled the
    /// disk.
    pub reserve_segments: usize,
    /// How the groups of journal and event log are compressed and encrypted. Snapshots are encrypted
    /// with the same cipher.
    pub sealing: Sealing,
    /// The keys to encrypt with, and to read what was encrypted.
    pub keys: KeyRing,
    /// How many groups of events are kept in memory for readers that keep up; the others read the
    /// event log.
    pub event_ring_blocks: usize,
    /// The bounds of the core. They count when the data directory is made, and stay with it.
    pub limits: Limits,
    /// The version of the rules that a data directory begins with; one that is there keeps its own.
    pub rules_version: u32,
    /// A promise to break.
    #[cfg(feature = "sabotage")]
    pub sabotage: Option<crate::Sabotage>,
}

impl EngineConfig {
    /// The least that [`EngineConfig::group_bytes_max`] may be: a group must hold all events of
    /// the command that causes the most.
    pub const GROUP_BYTES_MIN: usize = 256 << 10;

    /// How far the wall clock may be from the last time in the journal, in either direction, when an
    /// engine starts. A journal cannot be told to have been stamped wrongly, so that a clock which is
    /// weeks off must be noticed before it stamps.
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
