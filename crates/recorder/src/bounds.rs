//! The capacities of a recorder.

use crate::live::{FAILURE_BYTES_MAX, Live, LiveStep, StepNotes};
use crate::variables::Entry;
use rialto_spinlock::SpinLock;

/// The capacities of a recorder, fixed when it is created. Data beyond them is dropped and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecorderBounds {
    /// The most records, including unfinished ones; at least one. A new record replaces the one
    /// that finished longest ago. While all are unfinished, new ones are refused.
    pub records_max: u32,
    /// The most steps of a record.
    pub steps_max: u32,
    /// The most bytes of the variables of a record: [`RecorderBounds::VARIABLE_BYTES`] for each,
    /// and its text if it is one. A text that does not fit is cut.
    pub variable_bytes_max: u32,
    /// The number of shards, each with a lock; a power of two, or the next below it. With more than
    /// one, threads rarely contend, and a new record replaces the oldest of its shard, even if
    /// another shard has room.
    pub shards: u32,
}

impl RecorderBounds {
    /// The bytes of a variable besides its text.
    pub const VARIABLE_BYTES: u32 = size_of::<Entry>() as u32;

    /// The most memory of the records, in bytes.
    #[must_use]
    pub fn memory_bytes_max(&self) -> u64 {
        let record = size_of::<SpinLock<Live>>() as u64
            + u64::from(self.steps_max) * (size_of::<LiveStep>() + size_of::<StepNotes>()) as u64
            // Variables and texts each have room of their own, and either may use the bound up.
            + 2 * u64::from(self.variable_bytes_max)
            + FAILURE_BYTES_MAX as u64;
        u64::from(self.records_max.max(1)) * record
    }

    /// The number of shards in use: a power of two, and none is without a record.
    pub(crate) fn shards_used(&self) -> u32 {
        let wanted = self.shards.clamp(1, self.records_max.max(1));
        1 << wanted.ilog2()
    }
}

impl Default for RecorderBounds {
    /// 1,000 records of up to 100 steps and 8 KiB of variables, spread among eight locks.
    fn default() -> RecorderBounds {
        RecorderBounds {
            records_max: 1_000,
            steps_max: 100,
            variable_bytes_max: 8 << 10,
            shards: 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_shard_is_without_a_record() {
        for (shards, records_max, used) in [(8, 1_000, 8), (8, 3, 2), (0, 0, 1), (6, 9, 4)] {
            let bounds = RecorderBounds { shards, records_max, ..RecorderBounds::default() };
            assert_eq!(bounds.shards_used(), used, "{bounds:?}");
        }
    }
}
