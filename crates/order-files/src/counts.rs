//! What the exchange did since it was opened.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counts of files and rows since the start of the venue.
#[derive(Debug, Default)]
pub struct OrderFileCounts {
    pub(crate) has_failed: AtomicBool,
    pub(crate) files_answered: AtomicU64,
    pub(crate) files_refused: AtomicU64,
    pub(crate) files_repeated: AtomicU64,
    pub(crate) files_failed: AtomicU64,
    pub(crate) files_in_work: AtomicU64,
    pub(crate) rows_entered: AtomicU64,
    pub(crate) rows_rejected: AtomicU64,
    pub(crate) rows_repeated: AtomicU64,
    pub(crate) rows_unknown: AtomicU64,
    pub(crate) batches_retried: AtomicU64,
}

impl OrderFileCounts {
    /// Whether files are worked on: false after a failure of the history.
    #[must_use]
    pub fn is_up(&self) -> bool {
        !self.has_failed.load(Ordering::Relaxed)
    }
}

pub(crate) fn add(count: &AtomicU64, more: u64) {
    count.fetch_add(more, Ordering::Relaxed);
}

macro_rules! reads {
    ($($(#[$about:meta])* $name:ident;)*) => {
        impl OrderFileCounts {
            $($(#[$about])*
            #[must_use]
            pub fn $name(&self) -> u64 {
                self.$name.load(Ordering::Relaxed)
            })*
        }
    };
}

reads! {
    /// Files whose rows were all answered.
    files_answered;
    /// Bad files: dead letters.
    files_refused;
    /// Files with a content that had been answered.
    files_repeated;
    /// Files that were given back because of a failure.
    files_failed;
    /// Files in work now.
    files_in_work;
    /// Rows that became orders.
    rows_entered;
    /// Rows that the engine rejected.
    rows_rejected;
    /// Rows that had been answered with an earlier file, or whose client order ids had orders.
    rows_repeated;
    /// Rows whose outcome could not be found.
    rows_unknown;
    /// Batches that were sent again because the engine was busy, the disk low or the member's rate used
    /// up.
    batches_retried;
}
