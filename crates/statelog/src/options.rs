//! The options of a state log.

use rialto_log::{
    GROUP_BYTES_MAX, KeyRing, Level, Options, SEGMENT_BYTES_FOR_ANY_GROUP, Sealing, SpareFiles,
};
use std::time::Duration;

/// The options of a [`StateLog`](crate::StateLog).
#[derive(Clone, Debug)]
pub struct StateLogOptions {
    /// The durability of a confirmed change.
    pub level: Level,
    /// The version of the records, stored in every segment. A log with a greater one is refused.
    pub format_version: u32,
    /// The size of a segment of the log in bytes; a multiple of 4096, at least 2 MiB.
    pub segment_bytes: u64,
    /// The size in bytes of the first segment of each opening, if segments grow up to
    /// `segment_bytes`, each twice as long as the one before; a multiple of 4096. It is raised to
    /// the size of the greatest group, a little more than 1 MiB.
    pub first_segment_bytes: Option<u64>,
    /// A checkpoint is written when the log has grown by this much since the last one, and by four
    /// times the state; in bytes.
    pub checkpoint_bytes: u64,
    /// The number of segments whose space is reserved, in case the disk fills up.
    pub reserve_segments: usize,
    /// The longest time, below [`Level::Synced`], from a write to its sync. It happens in
    /// [`StateLog::maintain`](crate::StateLog::maintain).
    pub flush_every: Duration,
    /// Sixteen random bytes, fresh for every opening.
    pub salt: [u8; 16],
    /// Compression and encryption.
    pub sealing: Sealing,
    /// The keys for encryption and decryption.
    pub keys: KeyRing,
}

impl StateLogOptions {
    /// The usual options: segments of 64 MiB, a checkpoint after 256 MiB, a sync every 100 ms.
    #[must_use]
    pub fn new(level: Level, format_version: u32) -> Self {
        Self {
            level,
            format_version,
            segment_bytes: 64 << 20,
            first_segment_bytes: None,
            checkpoint_bytes: 256 << 20,
            reserve_segments: 0,
            flush_every: Duration::from_millis(100),
            salt: rialto_log::fresh_salt(),
            sealing: Sealing::NONE,
            keys: KeyRing::empty(),
        }
    }

    /// The options of the log below.
    pub(crate) fn of_log(&self) -> Options {
        let segment_bytes = self.segment_bytes.max(2 * GROUP_BYTES_MAX as u64);
        let first = self.first_segment_bytes;
        Options {
            segment_bytes,
            first_segment_bytes: first
                .map(|bytes| bytes.clamp(SEGMENT_BYTES_FOR_ANY_GROUP, segment_bytes)),
            rules_version: self.format_version,
            sealing: self.sealing,
            keys: self.keys.clone(),
            // The records after a checkpoint recycle the files that it drops.
            spares: SpareFiles::up_to(2 * segment_bytes),
            reserve_segments: self.reserve_segments,
            ..Options::new(self.salt)
        }
    }
}
