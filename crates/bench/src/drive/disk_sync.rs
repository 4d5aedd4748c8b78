//! "One disk sync": what the latency of a durable acknowledgement is measured in.

use crate::error::{BenchError, broken};
use crate::measure::{Clock, Latencies};
use rialto_disk::{Access, AlignedBuf, BLOCK_BYTES, Disk, IoMode, RealDisk};
use std::path::Path;

/// Writes that go round in a file of this many groups, as the journal goes through its segment.
const GROUPS: u64 = 256;

/// Times synchronous writes of `bytes` each, one after the other, over space that was written
/// before, in the way in which the journal writes.
pub(crate) fn disk_sync(
    case: &str,
    directory: &Path,
    bytes: usize,
    writes: u64,
) -> Result<Latencies, BenchError> {
    let failed = || broken(case, "measure a synchronous write");
    let disk = RealDisk::new();
    let path = directory.join("disk-sync");
    let group = AlignedBuf::zeroed(bytes.next_multiple_of(BLOCK_BYTES).max(BLOCK_BYTES));
    let at = |write: u64| (write % GROUPS) * group.len() as u64;
    let file = disk.create(&path, Access::Direct).map_err(failed())?;
    for write in 0..GROUPS {
        file.write_all_at(at(write), &group).map_err(failed())?;
    }
    file.sync_data().map_err(failed())?;
    let file = disk.open(&path, Access::DirectSync).map_err(failed())?;
    let clock = Clock::start();
    let mut latencies = Latencies::new();
    for write in 0..writes {
        let before = clock.now_ns();
        file.write_all_at(at(write), &group).map_err(failed())?;
        if file.mode() != IoMode::DirectSync {
            file.sync_data().map_err(failed())?;
        }
        latencies.record(clock.now_ns() - before);
    }
    disk.remove(&path).map_err(failed())?;
    Ok(latencies)
}
