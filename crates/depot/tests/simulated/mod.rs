//! A pool on a simulated disk, with a clock that stands until it is moved. Everything happens on one
//! thread and follows from a seed.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

pub mod world;

use rialto_clock::{Clock, ManualClock, Timestamp};
use rialto_depot::{
    Depot, DepotError, DepotOptions, Directory, FileName, Level, NewFile, TenantName,
};
use rialto_disk::SimDisk;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// When every history begins.
pub const BEGIN_NS: u64 = 1_800_000_000_000_000_000;

/// The greatest segments; a simulated disk keeps its files in memory.
const SEGMENT_BYTES: u64 = 2 << 20;

pub struct Stage {
    pub disk: SimDisk,
    pub clock: ManualClock,
    pub level: Level,
    random: Arc<AtomicU64>,
}

impl Stage {
    pub fn new(seed: u64, level: Level) -> Self {
        let disk = SimDisk::new(seed);
        let clock = ManualClock::new(Timestamp(BEGIN_NS));
        Self { disk, clock, level, random: Arc::new(AtomicU64::new(seed << 20)) }
    }

    pub fn options(&self) -> DepotOptions {
        let random = self.random.clone();
        let mut options = DepotOptions::at("/pool");
        options.level = self.level;
        options.disk = Arc::new(self.disk.clone());
        options.clock = Arc::new(self.clock.clone());
        options.salt = Arc::new(move || {
            let count = random.fetch_add(1, Ordering::Relaxed) + 1;
            let mixed = u128::from(count).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
            mixed.to_le_bytes()
        });
        options.volumes.free_bytes_min = 0;
        options.inline_bytes_max = 1_000;
        options.attempts_max = 2;
        options.priorities = 2;
        options.segment_bytes = SEGMENT_BYTES;
        options.control_segment_bytes = 128 << 10;
        // A checkpoint begins with every round of housekeeping that finds none.
        options.checkpoint_bytes = 0;
        options
    }

    pub fn open(&self) -> Result<Depot, DepotError> {
        Depot::open_stepped(self.options())
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The names of the files that are stored on volumes.
    pub fn stored(&self) -> Vec<String> {
        let paths = self.disk.paths();
        let stored = paths.iter().filter(|path| is_stored(path));
        stored.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect()
    }
}

fn is_stored(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "files")
}

/// The housekeeping that is due, and what it makes due.
pub fn settle(depot: &Depot) -> Result<(), DepotError> {
    (0..4).try_for_each(|_| depot.step())
}

/// Lets time pass in steps, so that deadlines, delays and dead letters follow each other.
pub fn pass(stage: &Stage, depot: &Depot, time: Duration) -> Result<(), DepotError> {
    for _ in 0..4 {
        stage.clock.advance(time / 4);
        settle(depot)?;
    }
    Ok(())
}

pub fn tenant(name: &str) -> TenantName {
    TenantName::new(name).unwrap()
}

pub fn dir(path: &str) -> Directory {
    Directory::new(path).unwrap()
}

/// A file of this path, such as `in/a`.
pub fn at(path: &str) -> NewFile {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    NewFile::new(dir(directory), FileName::new(name).unwrap())
}

/// The same content for the same length and number.
pub fn content(bytes: usize, nth: u64) -> Vec<u8> {
    let mut state = nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut content = Vec::with_capacity(bytes + 8);
    while content.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        content.extend_from_slice(&state.to_le_bytes());
    }
    content.truncate(bytes);
    content
}
