//! How long the disk takes to make a write durable.

use crate::Error;
use rialto_disk::{Access, AlignedBuf, Disk, DiskError, IoMode, RealDisk};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The sizes to measure: a single command, a usual group, the largest group.
const SIZES: [usize; 3] = [4 << 10, 64 << 10, 1 << 20];
/// The duration of each measurement.
const TIME_EACH: Duration = Duration::from_millis(900);
const WRITES_MAX: usize = 500;
/// The length of the file in bytes. It is written in full first, as segments are.
const FILE_BYTES: usize = 16 << 20;

/// The measurement of one size.
pub(super) struct Measured {
    pub(super) bytes: usize,
    pub(super) writes: usize,
    pub(super) p50: Duration,
    pub(super) p99: Duration,
}

/// The mode of writes, and their duration.
pub(super) struct SyncRate {
    pub(super) mode: IoMode,
    pub(super) sizes: Vec<Measured>,
}

/// Removes the file on drop.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

/// Writes a file in `dir`, several seconds at most, and removes it.
pub(super) fn measure(dir: &Path) -> Result<SyncRate, Error> {
    let path = dir.join(format!(".rialto-doctor-{}", std::process::id()));
    let scratch = Scratch(path);
    measure_file(&scratch.0).map_err(|error| Error::Failed(error.to_string()))
}

fn measure_file(path: &Path) -> Result<SyncRate, DiskError> {
    let disk = RealDisk::new();
    let mut block = AlignedBuf::zeroed(1 << 20);
    block[..8].copy_from_slice(b"rialto\0\0");
    let file = disk.create(path, Access::Direct)?;
    for at in 0..FILE_BYTES / block.len() {
        file.write_all_at((at * block.len()) as u64, &block)?;
    }
    file.sync_data()?;
    drop(file);
    let file = disk.open(path, Access::DirectSync)?;
    let mut sizes = Vec::new();
    for bytes in SIZES {
        let (began, mut times, mut offset) = (Instant::now(), Vec::new(), 0);
        while times.len() < WRITES_MAX && (times.len() < 3 || began.elapsed() < TIME_EACH) {
            let started = Instant::now();
            file.write_all_at(offset as u64, &block[..bytes])?;
            if file.mode() != IoMode::DirectSync {
                file.sync_data()?;
            }
            times.push(started.elapsed());
            offset = (offset + bytes) % FILE_BYTES;
        }
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        sizes.push(Measured { bytes, writes: times.len(), p50: at(50), p99: at(99) });
    }
    Ok(SyncRate { mode: file.mode(), sizes })
}
