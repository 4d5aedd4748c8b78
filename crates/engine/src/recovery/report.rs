//! What a recovery did, in one line.

use rialto_model::Seq;
use std::fmt;
use std::time::Duration;

/// A snapshot that was passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedSnapshot {
    /// Its sequence.
    pub seq: Seq,
    /// Why it was.
    pub reason: String,
}

/// What a recovery did. It displays as one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// The data directory was empty and has been made.
    pub created: bool,
    /// The sequence of the snapshot that recovery began with; `None` is an empty core.
    pub snapshot: Option<Seq>,
    /// Damaged snapshots that were passed over.
    pub skipped: Vec<SkippedSnapshot>,
    /// The last sequence of the journal.
    pub last: Seq,
    /// Commands replayed.
    pub replayed: u64,
    /// How long that took, comparing and completing the event log included.
    pub took: Duration,
    /// Records of events that were missing from the event log and have been appended.
    pub events_appended: u64,
    /// What was cut off the journal's tail, which nothing proves to have been acknowledged.
    pub journal_cut: Option<String>,
    /// What was cut off the event log's tail.
    pub events_cut: Option<String>,
    /// The event log was ahead of the journal, which lost an unsynced tail: it was cut back from
    /// this sequence.
    pub events_lost_from: Option<Seq>,
    /// The journal's epoch from now on.
    pub epoch: u64,
}

impl fmt::Display for RecoveryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.created {
            return write!(f, "began an empty venue, epoch {}", self.epoch);
        }
        match self.snapshot {
            Some(seq) => write!(f, "restored the snapshot at sequence {seq}")?,
            None => write!(f, "began with no snapshot")?,
        }
        let seconds = self.took.as_secs_f64();
        write!(
            f,
            ", replayed {} commands to sequence {} in {seconds:.3} s",
            self.replayed, self.last
        )?;
        for skipped in &self.skipped {
            write!(f, "; passed over the snapshot at {}: {}", skipped.seq, skipped.reason)?;
        }
        if self.events_appended > 0 {
            write!(f, "; completed the event log with {} records", self.events_appended)?;
        }
        if let Some(cut) = &self.journal_cut {
            write!(f, "; cut the journal: {cut}")?;
        }
        if let Some(cut) = &self.events_cut {
            write!(f, "; cut the event log: {cut}")?;
        }
        if let Some(last) = self.events_lost_from {
            write!(
                f,
                "; the journal lost an unsynced tail, and events {} to {last} with it",
                self.last.next()
            )?;
        }
        write!(f, "; epoch {}", self.epoch)
    }
}
