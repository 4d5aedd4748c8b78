//! Measurements of the engine.

use hdrhistogram::Histogram;
use rialto_log::Volume;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Measurements of an engine since its start. Times are in nanoseconds.
#[derive(Clone, Debug)]
pub struct Stats {
    /// Commands journaled.
    pub commands: u64,
    /// Groups written to the journal.
    pub groups: u64,
    /// Bytes written to the journal, padding included.
    pub journal_bytes: u64,
    /// The same without compression and encryption.
    pub journal_plain_bytes: u64,
    /// Bytes written to the event log, padding included.
    pub event_bytes: u64,
    /// The same without compression and encryption.
    pub event_plain_bytes: u64,
    /// Submissions refused because their producer was full.
    pub busy: u64,
    /// Snapshots made.
    pub snapshots: u64,
    /// Snapshots that could not be made.
    pub snapshots_failed: u64,
    /// Sizes of the journal's groups in bytes, padding included.
    pub group_bytes: Histogram<u64>,
    /// Durations of writes to the journal.
    pub write_ns: Histogram<u64>,
    /// Times from the stamp of a command to its release at the venue's level.
    pub acknowledge_ns: Histogram<u64>,
}

/// Counters that the engine's threads update once per group, never per command.
pub(crate) struct Counters {
    commands: AtomicU64,
    groups: AtomicU64,
    journal_bytes: AtomicU64,
    journal_plain_bytes: AtomicU64,
    event_bytes: AtomicU64,
    event_plain_bytes: AtomicU64,
    busy: AtomicU64,
    snapshots: AtomicU64,
    snapshots_failed: AtomicU64,
    histograms: Mutex<Histograms>,
}

struct Histograms {
    group_bytes: Histogram<u64>,
    write_ns: Histogram<u64>,
    acknowledge_ns: Histogram<u64>,
}

/// Three significant digits up to a minute in nanoseconds; longer times count as a minute.
fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 60_000_000_000, 3).expect("the bounds are constants in range")
}

impl Counters {
    pub(crate) fn new() -> Self {
        Self {
            commands: AtomicU64::new(0),
            groups: AtomicU64::new(0),
            journal_bytes: AtomicU64::new(0),
            journal_plain_bytes: AtomicU64::new(0),
            event_bytes: AtomicU64::new(0),
            event_plain_bytes: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            snapshots: AtomicU64::new(0),
            snapshots_failed: AtomicU64::new(0),
            histograms: Mutex::new(Histograms {
                group_bytes: histogram(),
                write_ns: histogram(),
                acknowledge_ns: histogram(),
            }),
        }
    }

    pub(crate) fn count_busy(&self) {
        self.busy.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_snapshot(&self, made: bool) {
        let counter = if made { &self.snapshots } else { &self.snapshots_failed };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_event_group(&self, written: Volume) {
        self.event_bytes.fetch_add(written.stored_bytes, Ordering::Relaxed);
        self.event_plain_bytes.fetch_add(written.plain_bytes, Ordering::Relaxed);
    }

    /// Counts a journal group; `waited` are the times from stamp to release with their numbers of
    /// commands.
    pub(crate) fn count_group(
        &self,
        commands: u64,
        written: Volume,
        write_ns: u64,
        waited: impl Iterator<Item = (u64, u64)>,
    ) {
        self.commands.fetch_add(commands, Ordering::Relaxed);
        self.groups.fetch_add(1, Ordering::Relaxed);
        self.journal_bytes.fetch_add(written.stored_bytes, Ordering::Relaxed);
        self.journal_plain_bytes.fetch_add(written.plain_bytes, Ordering::Relaxed);
        if let Ok(mut histograms) = self.histograms.lock() {
            histograms.group_bytes.saturating_record(written.stored_bytes);
            histograms.write_ns.saturating_record(write_ns);
            for (ns, commands) in waited {
                histograms.acknowledge_ns.saturating_record_n(ns, commands);
            }
        }
    }

    pub(crate) fn read(&self) -> Stats {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        // No code panics while it holds the lock, so that a poisoned one is consistent.
        let histograms = self.histograms.lock().unwrap_or_else(|poison| poison.into_inner());
        Stats {
            commands: get(&self.commands),
            groups: get(&self.groups),
            journal_bytes: get(&self.journal_bytes),
            journal_plain_bytes: get(&self.journal_plain_bytes),
            event_bytes: get(&self.event_bytes),
            event_plain_bytes: get(&self.event_plain_bytes),
            busy: get(&self.busy),
            snapshots: get(&self.snapshots),
            snapshots_failed: get(&self.snapshots_failed),
            group_bytes: histograms.group_bytes.clone(),
            write_ns: histograms.write_ns.clone(),
            acknowledge_ns: histograms.acknowledge_ns.clone(),
        }
    }
}
