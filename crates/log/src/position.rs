//! Positions in a log, and their durability.

/// A position in a log that can be stored elsewhere: the record with this sequence, as this epoch
/// wrote it. A lost tail is replaced in a later epoch, so that a stored position of a lost record
/// can be recognised; see [`Segments::holds`](crate::Segments::holds).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Counts the openings of the log, from 1.
    pub epoch: u64,
    /// The record's sequence, from 1; 0 is before the first record.
    pub seq: u64,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "sequence {} of epoch {}", self.seq, self.epoch)
    }
}

/// The durability of a group when its write returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commit {
    /// The write has returned: it survives the death of the process, but perhaps not of the machine.
    Written,
    /// It, and every group before it, survives the loss of power.
    Synced,
}
