//! The report of a recovery.

use rialto_model::Seq;
use std::fmt;
use std::time::Duration;

/// A skipped snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedSnapshot {
    /// Its sequence.
    pub seq: Seq,
    /// The reason.
    pub reason: String,
}

/// The result of a recovery. It displays as one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Whether the data directory was empty and has been created.
    pub created: bool,
    /// The snapshot at the start of the replay; `None` for an empty core.
    pub snapshot: Option<Seq>,
    /// Damaged snapshots that were skipped.
    pub skipped: Vec<SkippedSnapshot>,
    /// The last sequence of the journal.
    pub last: Seq,
    /// Commands replayed.
    pub replayed: u64,
    /// The duration, including the comparison and completion of the event log.
    pub took: Duration,
    /// Event records that were missing in the event log and have been appended.
    pub events_appended: u64,
    /// The part of the journal's tail that was cut, which nothing proves to have been acknowledged.
    pub journal_cut: Option<String>,
    /// The part of the event log's tail that was cut.
    pub events_cut: Option<String>,
    /// The first sequence that was cut from the event log, because the journal had lost its
    /// unsynced tail.
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
            write!(f, "; skipped the snapshot at {}: {}", skipped.seq, skipped.reason)?;
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
