//! The settings of the exchange of order files.

use rialto_clock::{Clock, SystemClock};
use rialto_disk::{Disk, RealDisk};
use rialto_log::{KeyRing, Sealing};
use std::path::PathBuf;
use std::sync::Arc;

/// The greatest `file_bytes_max`.
pub(crate) const FILE_BYTES_MAX: u64 = 256 << 20;

/// The most orders that are sent to the engine together.
pub const BATCH_ROWS_MAX: usize = 256;
/// The most contents of a member that were begun and have not ended. Beyond it no other content is
/// begun; a waiting file is handed out again later.
pub const UNFINISHED_MAX: usize = 4;
/// The most rows that `rows_max` may be.
pub const ROWS_MAX: usize = 200_000;

/// Limits of order files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderFileLimits {
    /// The largest file, in bytes.
    pub file_bytes_max: u64,
    /// The most rows of a file, at most [`ROWS_MAX`].
    pub rows_max: usize,
    /// The files in work at a time; of a member one. Each has a thread.
    pub files_max: usize,
    /// The most orders that are sent in a second, over all files.
    pub orders_per_second: u32,
    /// The last contents of a member whose answers are remembered.
    pub remembered_max: usize,
}

impl Default for OrderFileLimits {
    fn default() -> OrderFileLimits {
        OrderFileLimits {
            file_bytes_max: 16 << 20,
            rows_max: 100_000,
            files_max: 4,
            orders_per_second: 10_000,
            remembered_max: 10_000,
        }
    }
}

/// What an exchange of order files is opened with.
#[derive(Clone)]
pub struct OrderFileOptions {
    /// The directory of its history.
    pub dir: PathBuf,
    /// The disk of the history.
    pub disk: Arc<dyn Disk>,
    /// The clock of the housekeeping.
    pub clock: Arc<dyn Clock>,
    /// Compression and encryption of the history.
    pub sealing: Sealing,
    /// The keys for it.
    pub keys: KeyRing,
    /// Sixteen random bytes, fresh for every opening.
    pub salt: [u8; 16],
    /// The limits.
    pub limits: OrderFileLimits,
    /// Called at each step of a file. For tests that end a venue between two steps.
    #[doc(hidden)]
    pub on_step: Option<Arc<dyn Fn(FileStep) + Send + Sync>>,
}

impl OrderFileOptions {
    /// The default options of a history in a directory of the real disk.
    #[must_use]
    pub fn at(dir: impl Into<PathBuf>) -> OrderFileOptions {
        OrderFileOptions {
            dir: dir.into(),
            disk: Arc::new(RealDisk),
            clock: Arc::new(SystemClock),
            sealing: Sealing::NONE,
            keys: KeyRing::empty(),
            salt: rialto_log::fresh_salt(),
            limits: OrderFileLimits::default(),
            on_step: None,
        }
    }
}

/// The steps of a file: each is named after what has just happened.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileStep {
    Claimed,
    Checked,
    /// The errors of a bad file are on the shelf; the file is not refused yet.
    FaultsKept,
    /// A batch is recorded as going to be sent.
    Intended,
    /// The engine has answered a batch, and the answers are not recorded.
    Sent,
    /// The answers are recorded.
    Answered,
    /// The bytes of the answer are written, and the file is not completed.
    ResultWritten,
    /// The file is completed, and its end is not recorded in the history.
    Completed,
    Ended,
}
