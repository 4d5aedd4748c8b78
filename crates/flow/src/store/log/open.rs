//! Opening a store on a log.

use super::LogStore;
use crate::store::record::FORMAT_VERSION;
use crate::store::state::{State, StoreLimits};
use crate::store::types::{StoreError, Ticket};
use rialto_disk::{Disk, RealDisk};
use rialto_log::{KeyRing, Level, Sealing};
use rialto_statelog::{StateLog, StateLogError, StateLogOptions};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The options of a store on a log.
#[derive(Clone, Debug)]
pub struct LogOptions {
    /// The durability of a confirmed write.
    pub level: Level,
    /// The limits of the store.
    pub limits: StoreLimits,
    /// The size of a segment of the log in bytes; a multiple of 4096, at least 2 MiB.
    pub segment_bytes: u64,
    /// A checkpoint is written when the log has grown by this much since the last one, and by four
    /// times the state.
    pub checkpoint_bytes: u64,
    /// The number of segments whose space is reserved, in case the disk fills up.
    pub reserve_segments: usize,
    /// The longest time, below [`Level::Synced`], from a write to its sync. It happens in
    /// [`Store::maintain`](crate::store::Store::maintain).
    pub flush_every: Duration,
    /// Sixteen random bytes, fresh for every opening.
    pub salt: [u8; 16],
    /// Compression and encryption.
    pub sealing: Sealing,
    /// The keys for encryption and decryption.
    pub keys: KeyRing,
}

impl LogOptions {
    /// The default options at a level.
    #[must_use]
    pub fn new(level: Level) -> Self {
        Self {
            level,
            limits: StoreLimits::default(),
            segment_bytes: 64 << 20,
            checkpoint_bytes: 256 << 20,
            reserve_segments: 0,
            flush_every: Duration::from_millis(100),
            salt: rialto_log::fresh_salt(),
            sealing: Sealing::NONE,
            keys: KeyRing::empty(),
        }
    }
}

impl LogStore {
    /// Opens the store in a directory of this machine, creating it when there is none.
    pub fn open(dir: &Path, options: LogOptions) -> Result<Self, StoreError> {
        Self::open_on(Arc::new(RealDisk::new()), dir, options)
    }

    /// Opens the store in a directory of a disk.
    pub fn open_on(
        disk: Arc<dyn Disk>,
        dir: &Path,
        options: LogOptions,
    ) -> Result<Self, StoreError> {
        let log_options = StateLogOptions {
            segment_bytes: options.segment_bytes,
            checkpoint_bytes: options.checkpoint_bytes,
            reserve_segments: options.reserve_segments,
            flush_every: options.flush_every,
            salt: options.salt,
            sealing: options.sealing,
            keys: options.keys,
            ..StateLogOptions::new(options.level, FORMAT_VERSION)
        };
        // The fencing tokens of earlier processes are smaller, because their epochs are.
        let empty = |epoch| State::new(options.limits, epoch << 32);
        let log = StateLog::open_with(disk, dir, log_options, empty).map_err(failed_to_open)?;
        Ok(Self { log })
    }
}

fn failed_to_open(error: StateLogError) -> StoreError {
    match error {
        StateLogError::InvalidRecord { seq, reason, .. } => {
            StoreError::Corrupt { ticket: Ticket(seq), reason }
        }
        StateLogError::Version { found, known, .. } => StoreError::Version { found, known },
        other => StoreError::Open { reason: other.to_string() },
    }
}

impl From<StateLogError> for StoreError {
    fn from(error: StateLogError) -> Self {
        match error {
            StateLogError::Failed { reason, .. } => Self::Failed { reason },
            other => Self::Failed { reason: other.to_string() },
        }
    }
}
