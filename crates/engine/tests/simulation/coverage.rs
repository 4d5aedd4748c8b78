//! What histories have met, so that a simulation in which nothing happens does not pass.

use rialto_engine::RecoveryReport;

#[derive(Debug, Default)]
pub(crate) struct Coverage {
    starts: u64,
    snapshots_used: u64,
    journals_cut: u64,
    event_logs_cut: u64,
    event_logs_completed: u64,
    /// The journal lost a tail whose events had been shown below the synced level.
    tails_lost: u64,
    pub(crate) refusals: u64,
    pub(crate) failures: u64,
    pub(crate) shutdowns: u64,
    pub(crate) lies: u64,
    longest: u64,
}

impl Coverage {
    pub(crate) fn started(&mut self, report: &RecoveryReport) {
        self.starts += 1;
        self.snapshots_used += u64::from(report.snapshot.is_some_and(|seq| seq.0 > 0));
        self.journals_cut += u64::from(report.journal_cut.is_some());
        self.event_logs_cut += u64::from(report.events_cut.is_some());
        self.event_logs_completed += u64::from(report.events_appended > 0);
        self.tails_lost += u64::from(report.events_lost_from.is_some());
        self.longest = self.longest.max(report.last.0);
    }

    /// The names of what never happened.
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        let met = [
            ("a snapshot was used", self.snapshots_used),
            ("a journal was cut", self.journals_cut),
            ("an event log was cut", self.event_logs_cut),
            ("an event log was completed", self.event_logs_completed),
            ("an unsynced tail was lost", self.tails_lost),
            ("a start was refused", self.refusals),
            ("an engine failed", self.failures),
            ("an engine was shut down", self.shutdowns),
            ("a sync lied", self.lies),
            ("a span of the chain was completed", self.longest / 4_096),
        ];
        met.into_iter().filter(|(_, count)| *count == 0).map(|(name, _)| name).collect()
    }
}
