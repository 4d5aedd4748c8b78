//! The faults that stand until they are changed; single ones are commands on the disk.

/// Standing faults of a simulated disk. Chances are in a thousand, per operation.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    /// The most bytes all files together may hold; writes beyond it fail with `ENOSPC`.
    pub capacity_bytes: Option<u64>,
    /// Whether every change fails with `EROFS`.
    pub read_only: bool,
    /// Whether files opened for direct I/O are buffered instead.
    pub direct_refused: bool,
    /// Whether bytes that were never written durably may read, after a crash, as what a removed
    /// file held at the same offset, instead of as zeros.
    pub stale_bytes: bool,
    /// The chance that a write stores only a part and says so.
    pub short_write_per_mille: u32,
    /// The chance that a write fails with `EIO`, having stored an arbitrary part.
    pub write_error_per_mille: u32,
    /// The chance that a sync fails with `EIO`.
    pub sync_error_per_mille: u32,
    /// The chance that a read fails with `EIO`.
    pub read_error_per_mille: u32,
    /// The chance that a sync reports success without making anything durable.
    pub lying_sync_per_mille: u32,
}
