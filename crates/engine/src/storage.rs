//! The free space of the disk, and the requests that are refused to reserve it for the engine.
//!
//! The owner of the engine measures the disk and updates [`Storage`]; gateways read it. It is not
//! journaled: the same journal gives the same state with any disk.

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The level of free space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum StorageLevel {
    /// Enough for everything.
    #[default]
    Enough,
    /// Too little for messages of topics and recordings, which the engine does not need.
    Low,
    /// Reserved for cancels, kill switches, withdrawals and operators.
    Reserved,
}

impl StorageLevel {
    /// All levels.
    pub const ALL: [StorageLevel; 3] =
        [StorageLevel::Enough, StorageLevel::Low, StorageLevel::Reserved];

    /// Its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            StorageLevel::Enough => "enough",
            StorageLevel::Low => "low",
            StorageLevel::Reserved => "reserved",
        }
    }
}

impl fmt::Display for StorageLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The thresholds of free bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageLimits {
    /// Below this, order entry is refused. Zero disables it.
    pub entry_bytes: u64,
    /// Below this, messages of topics and recordings are refused. Zero disables it.
    pub topics_bytes: u64,
}

impl StorageLimits {
    /// The level at these free bytes, if it was `before`. A level ends at a twentieth above its
    /// threshold, so that it does not flap with every file.
    #[must_use]
    pub fn level(&self, before: StorageLevel, free_bytes: u64) -> StorageLevel {
        let is_at = |level: StorageLevel, limit: u64| match before >= level {
            true => limit > 0 && free_bytes < limit.saturating_add(limit / 20),
            false => free_bytes < limit,
        };
        if is_at(StorageLevel::Reserved, self.entry_bytes) {
            StorageLevel::Reserved
        } else if is_at(StorageLevel::Low, self.topics_bytes) {
            StorageLevel::Low
        } else {
            StorageLevel::Enough
        }
    }
}

/// A measurement of the disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorageReading {
    /// The free bytes.
    pub free_bytes: u64,
    /// The length of the file system, if it is known.
    pub total_bytes: Option<u64>,
    /// The used bytes by part.
    pub parts: Vec<(&'static str, u64)>,
}

impl StorageReading {
    /// The bytes used by others than the venue, if the length of the file system is known.
    #[must_use]
    pub fn other_bytes(&self) -> Option<u64> {
        let ours: u64 = self.parts.iter().map(|(_, bytes)| bytes).sum();
        Some(self.total_bytes?.saturating_sub(self.free_bytes).saturating_sub(ours))
    }
}

/// The last measurement of the disk. Reading the level is one load.
#[derive(Debug, Default)]
pub struct Storage {
    level: AtomicU8,
    entries_refused: AtomicU64,
    reading: Mutex<StorageReading>,
}

impl Storage {
    /// The level at the last measurement.
    #[must_use]
    pub fn level(&self) -> StorageLevel {
        match self.level.load(Ordering::Relaxed) {
            0 => StorageLevel::Enough,
            1 => StorageLevel::Low,
            _ => StorageLevel::Reserved,
        }
    }

    /// Sets the measurement; returns the level before.
    pub fn tell(&self, level: StorageLevel, reading: StorageReading) -> StorageLevel {
        let before = self.level();
        *self.reading.lock().unwrap_or_else(PoisonError::into_inner) = reading;
        self.level.store(level as u8, Ordering::Relaxed);
        before
    }

    /// The last measurement.
    #[must_use]
    pub fn reading(&self) -> StorageReading {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether an order may be entered; refused ones are counted.
    #[must_use]
    pub fn admits_entry(&self) -> bool {
        let is_admitted = self.level() < StorageLevel::Reserved;
        if !is_admitted {
            self.entries_refused.fetch_add(1, Ordering::Relaxed);
        }
        is_admitted
    }

    /// The number of refused orders and amendments since the start.
    #[must_use]
    pub fn entries_refused(&self) -> u64 {
        self.entries_refused.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::StorageLevel::{Enough, Low, Reserved};
    use super::*;

    #[test]
    fn a_level_begins_below_its_threshold_and_ends_a_twentieth_above_it() {
        let limits = StorageLimits { entry_bytes: 1_000, topics_bytes: 2_000 };
        for (before, free, after) in [
            (Enough, 2_000, Enough),
            (Enough, 1_999, Low),
            (Enough, 999, Reserved),
            (Low, 2_099, Low),
            (Low, 2_100, Enough),
            (Low, 1_000, Low),
            (Low, 999, Reserved),
            (Reserved, 1_049, Reserved),
            (Reserved, 1_050, Low),
            (Reserved, 2_099, Low),
            (Reserved, 2_100, Enough),
        ] {
            assert_eq!(limits.level(before, free), after, "{before} with {free} bytes");
        }
    }

    #[test]
    fn a_threshold_of_zero_refuses_nothing() {
        let limits = StorageLimits { entry_bytes: 0, topics_bytes: 0 };
        for before in StorageLevel::ALL {
            assert_eq!(limits.level(before, 0), Enough);
        }
    }

    #[test]
    fn other_bytes_are_the_remainder() {
        let parts = vec![("journal", 30), ("queue", 20)];
        let reading = StorageReading { free_bytes: 40, total_bytes: Some(100), parts };
        assert_eq!(reading.other_bytes(), Some(10));
    }
}
