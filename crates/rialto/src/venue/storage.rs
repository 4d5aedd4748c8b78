//! The watch over the disk as a component: it measures the free space, updates [`Storage`], which
//! request handlers read, and has the queue refuse messages and the depot refuse files.

use super::made::Made;
use super::{DEPOT_DIR, FLOWS_DIR, QUEUE_DIR};
use crate::config::Config;
use crate::inspect::{EVENTS_DIR, JOURNAL_DIR, RECORDINGS_DIR};
use crate::tell_all;
use rialto_depot::Depot;
use rialto_disk::Disk;
use rialto_engine::{Engine, Storage, StorageLevel, StorageLimits, StorageReading};
use rialto_lifecycle::{Component, Failure, Health};
use rialto_queue::Queue;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the free bytes are asked for.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How often the files are added up.
const ADD_UP_EVERY: Duration = Duration::from_secs(10);
/// The most files to add up; further ones count as other use of the disk.
const FILES_MAX: usize = 200_000;
/// The unit of a file's block count, independent of the file system.
const BLOCK_BYTES: u64 = 512;
/// What takes the disk up: the name in `/v1/health`, and the directory.
const PARTS: [(&str, &str); 7] = [
    ("journal", JOURNAL_DIR),
    ("event_log", EVENTS_DIR),
    ("snapshots", "snapshots"),
    ("flows", FLOWS_DIR),
    ("queue", QUEUE_DIR),
    ("depot", DEPOT_DIR),
    ("recordings", RECORDINGS_DIR),
];

pub(super) struct Part {
    limits: StorageLimits,
    disk: Arc<dyn Disk>,
    data_dir: PathBuf,
    engine: Made<Engine>,
    queue: Option<Made<Queue>>,
    depot: Option<Made<Depot>>,
    /// Dropping the sender ends the thread.
    running: Option<(SyncSender<()>, JoinHandle<()>)>,
}

impl Part {
    pub(super) fn new(
        config: &Config,
        disk: Arc<dyn Disk>,
        engine: Made<Engine>,
        queue: Option<Made<Queue>>,
        depot: Option<Made<Depot>>,
    ) -> Part {
        let mut limits = config.storage;
        if limits.entry_bytes > 0 {
            // Journal and event log can each begin a segment and make the next one.
            limits.entry_bytes = limits.entry_bytes.max(4 * config.engine.segment_bytes);
        }
        let data_dir = config.data_dir().to_path_buf();
        Part { limits, disk, data_dir, engine, queue, depot, running: None }
    }
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        let mut watch = Watch {
            limits: self.limits,
            disk: Arc::clone(&self.disk),
            data_dir: self.data_dir.clone(),
            storage: Arc::clone(self.engine.get()?.storage()),
            queue: self.queue.clone(),
            depot: self.depot.clone(),
            reading: StorageReading::default(),
            add_up_at: Instant::now(),
            is_blind: false,
        };
        // Nothing is taken before it is known whether there is room for it.
        watch.look();
        let (stop, stopped) = sync_channel::<()>(0);
        let thread = std::thread::Builder::new().name("storage".to_string());
        let thread = thread.spawn(move || {
            while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                watch.look();
            }
        })?;
        self.running = Some((stop, thread));
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        if let Some((stop, thread)) = self.running.take() {
            drop(stop);
            thread.join().map_err(|_| Failure::from("the watch over the disk panicked"))?;
        }
        Ok(())
    }

    fn health(&mut self) -> Health {
        // A disk that fills up refuses orders and says so; cancels are served, so that the venue is
        // ready.
        match &self.running {
            Some((_, thread)) if !thread.is_finished() => Health::Up,
            _ => Health::Failed("the watch over the disk has ended".to_string()),
        }
    }
}

struct Watch {
    limits: StorageLimits,
    disk: Arc<dyn Disk>,
    data_dir: PathBuf,
    storage: Arc<Storage>,
    queue: Option<Made<Queue>>,
    depot: Option<Made<Depot>>,
    reading: StorageReading,
    add_up_at: Instant,
    /// Whether the last query of the free bytes failed.
    is_blind: bool,
}

impl Watch {
    fn look(&mut self) {
        match self.disk.free_bytes(&self.data_dir) {
            Ok(free_bytes) => {
                self.reading.free_bytes = free_bytes;
                self.is_blind = false;
            }
            Err(error) => {
                if !std::mem::replace(&mut self.is_blind, true) {
                    tracing::warn!("the free space of the disk is unknown: {}", tell_all(&error));
                }
                return;
            }
        }
        if Instant::now() >= self.add_up_at {
            self.reading.total_bytes = total_bytes(&self.data_dir);
            self.reading.parts =
                PARTS.map(|(name, dir)| (name, used(&self.data_dir.join(dir)))).into();
            self.add_up_at = Instant::now() + ADD_UP_EVERY;
        }
        let level = self.limits.level(self.storage.level(), self.reading.free_bytes);
        let before = self.storage.tell(level, self.reading.clone());
        if level != before {
            log(before, level, self.reading.free_bytes);
        }
        if let Some(Ok(queue)) = self.queue.as_ref().map(Made::get) {
            queue.set_refusing(level > StorageLevel::Enough);
        }
        if let Some(Ok(depot)) = self.depot.as_ref().map(Made::get) {
            depot.set_refusing(level > StorageLevel::Enough);
        }
    }
}

fn log(before: StorageLevel, level: StorageLevel, free_bytes: u64) {
    match level {
        StorageLevel::Reserved => tracing::error!(
            free_bytes,
            "the disk is nearly full: orders are refused, cancels, withdrawals and operators pass"
        ),
        StorageLevel::Low if before < level => {
            tracing::warn!(
                free_bytes,
                "the disk is filling up: topics, files and recordings are refused"
            );
        }
        StorageLevel::Low => tracing::warn!(
            free_bytes,
            "there is room for orders again; topics, files and recordings are still refused"
        ),
        StorageLevel::Enough => tracing::info!(free_bytes, "there is room for everything again"),
    }
}

/// The length of the file system; none of a disk that is simulated.
fn total_bytes(dir: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(dir).ok()?;
    Some(stat.f_blocks.saturating_mul(stat.f_frsize))
}

/// What the files under a directory take of the disk. Some may come or go meanwhile.
fn used(dir: &Path) -> u64 {
    let (mut bytes, mut files) = (0, 0);
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            files += 1;
            if files > FILES_MAX {
                return bytes;
            }
            // Links are not followed: their targets are not part of this directory.
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => dirs.push(entry.path()),
                Ok(metadata) => bytes += metadata.blocks() * BLOCK_BYTES,
                Err(_) => {}
            }
        }
    }
    bytes
}
