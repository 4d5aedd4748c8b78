//! "One disk sync": the unit for latencies of durable acknowledgements.

use crate::error::{BenchError, broken};
use crate::measure::{Clock, Latencies};
use hdrhistogram::Histogram;
use rialto_disk::{Access, AlignedBuf, BLOCK_BYTES, Disk, File, IoMode, RealDisk};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The length of the file in groups; writes cycle through it, as the journal cycles through its
/// segment.
const GROUPS: u64 = 256;

/// A preallocated file that is overwritten as the journal overwrites its segments. Dropping it
/// removes it.
pub(crate) struct OverwrittenFile {
    path: PathBuf,
    file: Box<dyn File>,
    group: AlignedBuf,
    next: AtomicU64,
}

impl OverwrittenFile {
    /// Creates a file for writes of at most this many bytes.
    pub(crate) fn create(
        case: &str,
        directory: &Path,
        bytes_max: usize,
    ) -> Result<OverwrittenFile, BenchError> {
        let failed = || broken(case, "measure a synchronous write");
        let disk = RealDisk::new();
        let path = directory.join("disk-sync");
        let group = AlignedBuf::zeroed(bytes_max.next_multiple_of(BLOCK_BYTES).max(BLOCK_BYTES));
        let file = disk.create(&path, Access::Direct).map_err(failed())?;
        for write in 0..GROUPS {
            file.write_all_at(write * group.len() as u64, &group).map_err(failed())?;
        }
        file.sync_data().map_err(failed())?;
        let file = disk.open(&path, Access::DirectSync).map_err(failed())?;
        Ok(OverwrittenFile { path, file, group, next: AtomicU64::new(0) })
    }

    /// Writes this many bytes synchronously, at most the file's bound.
    pub(crate) fn write(&self, case: &str, bytes: usize) -> Result<(), BenchError> {
        let failed = || broken(case, "measure a synchronous write");
        let write = self.next.fetch_add(1, Ordering::Relaxed);
        let bytes = bytes.next_multiple_of(BLOCK_BYTES).clamp(BLOCK_BYTES, self.group.len());
        let at = (write % GROUPS) * self.group.len() as u64;
        self.file.write_all_at(at, &self.group[..bytes]).map_err(failed())?;
        if self.file.mode() != IoMode::DirectSync {
            self.file.sync_data().map_err(failed())?;
        }
        Ok(())
    }
}

impl Drop for OverwrittenFile {
    fn drop(&mut self) {
        // It is removed with the directory of its arm at the latest.
        let _ = RealDisk::new().remove(&self.path);
    }
}

/// The median size of groups. A group is a whole number of blocks; a histogram returns the end of the
/// range that it counts together, which would be a block more.
pub(crate) fn median_group_bytes(sizes: &Histogram<u64>) -> u64 {
    sizes.lowest_equivalent(sizes.value_at_quantile(0.5))
}

/// Times consecutive synchronous writes of `bytes` each.
pub(crate) fn disk_sync(
    case: &str,
    directory: &Path,
    bytes: usize,
    writes: u64,
) -> Result<Latencies, BenchError> {
    let file = OverwrittenFile::create(case, directory, bytes)?;
    let clock = Clock::start();
    let mut latencies = Latencies::new();
    for _ in 0..writes {
        let before = clock.now_ns();
        file.write(case, bytes)?;
        latencies.record(clock.now_ns() - before);
    }
    Ok(latencies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_groups_is_a_whole_number_of_blocks() {
        for blocks in [1, 2, 3, 25, 255] {
            let mut sizes = Histogram::<u64>::new(3).expect("three digits");
            let bytes = blocks * BLOCK_BYTES as u64;
            sizes.record(bytes).expect("it resizes itself");
            assert_eq!(median_group_bytes(&sizes), bytes);
        }
    }
}
