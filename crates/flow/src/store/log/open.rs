//! Opening a store on a log.

use super::groups::Groups;
use super::{Files, Inner, LogStore};
use crate::Timestamp;
use crate::store::record::{FORMAT_VERSION, Record};
use crate::store::state::{State, StoreLimits};
use crate::store::types::{StoreError, Ticket};
use rialto_disk::{Disk, RealDisk};
use rialto_log::{GROUP_BYTES_MAX, KeyRing, Level, Options, Reader, Sealing, Segments, SpareFiles};
use std::fmt::Display;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};
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
        let segment_bytes = options.segment_bytes.max(2 * GROUP_BYTES_MAX as u64);
        let log_options = Options {
            segment_bytes,
            rules_version: FORMAT_VERSION,
            sealing: options.sealing,
            keys: options.keys,
            // The records after a checkpoint recycle the files that it drops.
            spares: SpareFiles::up_to(2 * segment_bytes),
            reserve_segments: options.reserve_segments,
            ..Options::new(options.salt)
        };
        let recovered = rialto_log::recover(disk, dir, log_options).map_err(failed_to_open)?;
        let epoch = recovered.report().epoch;
        // Every opening begins an epoch, so that the fencing tokens of earlier processes are
        // smaller.
        let mut state = State::new(options.limits, (epoch + 1) << 32);
        read_all(&recovered.segments(), &mut state)?;
        let (writer, _) = recovered.start().map_err(failed_to_open)?;
        let next_seq = writer.next_seq();
        Ok(Self {
            level: options.level,
            inner: Mutex::new(Inner { state, groups: Groups::new(next_seq) }),
            files: Mutex::new(Files {
                grown_bytes: segment_bytes * writer.segments().count() as u64,
                writer,
                checkpoint: None,
                checkpoint_bytes: options.checkpoint_bytes,
                flush_every: options.flush_every,
                flushed: Timestamp(0),
            }),
            confirmed: AtomicU64::new(next_seq - 1),
            failed: OnceLock::new(),
        })
    }
}

fn failed_to_open(error: impl Display) -> StoreError {
    StoreError::Open { reason: error.to_string() }
}

fn read_all(segments: &Segments, state: &mut State) -> Result<(), StoreError> {
    if segments.count() == 0 {
        return Ok(());
    }
    let mut reader = Reader::open(segments, segments.first_seq()).map_err(failed_to_open)?;
    while let Some(group) = reader.next_group().map_err(failed_to_open)? {
        let found = segments.rules_version_of(group.first_seq()).unwrap_or(0);
        if found > FORMAT_VERSION {
            return Err(StoreError::Version { found, known: FORMAT_VERSION });
        }
        for (seq, bytes) in group.records() {
            let ticket = Ticket(seq);
            let record = postcard::from_bytes::<Record<'_>>(bytes)
                .map_err(|error| StoreError::Corrupt { ticket, reason: error.to_string() })?;
            state.read(ticket, record);
        }
    }
    state.finish_reading()
}
