//! Counts of events in histories, so that a simulation without any does not pass.

use super::extremes::Met;
use super::oracle::{Auction, Oracle};
use rialto_engine::RecoveryReport;

#[derive(Debug, Default)]
pub(crate) struct Coverage {
    starts: u64,
    snapshots_used: u64,
    journals_cut: u64,
    event_logs_cut: u64,
    event_logs_completed: u64,
    /// The journal lost a tail whose events had been visible below the synced level.
    tails_lost: u64,
    pub(crate) refusals: u64,
    pub(crate) failures: u64,
    pub(crate) shutdowns: u64,
    pub(crate) lies: u64,
    pub(crate) flips: u64,
    pub(crate) flips_while_running: u64,
    pub(crate) misdirected: u64,
    pub(crate) stale_reads: u64,
    pub(crate) hangs: u64,
    pub(crate) steps_of_the_clock: u64,
    pub(crate) two_faults: u64,
    /// Damage that was noticed only because acknowledged commands were missing.
    pub(crate) unproven_lost: u64,
    /// A journal that ended with a command that had suspended an order.
    takers_suspended: u64,
    /// A journal that ended while triggered orders were being entered.
    entries: u64,
    /// A snapshot that was used and was taken meanwhile.
    entries_in_snapshots: u64,
    /// A journal that ended while the auctioned instrument looked for its price.
    searches: u64,
    /// A journal that ended while its orders traded.
    uncrossings: u64,
    /// A journal that ended while it was halted for a time.
    halts: u64,
    /// A snapshot that was used and was taken while it looked for its price.
    searches_in_snapshots: u64,
    /// A snapshot that was used and was taken while its orders traded.
    uncrossings_in_snapshots: u64,
    /// Starts whose journal has such calls.
    interrupted: u64,
    extended: u64,
    until_command: u64,
    timed: u64,
    reopened: u64,
    planned: u64,
    tripped: u64,
    pub(crate) extremes: Met,
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

    /// Counts work that recovery had to continue, and what came before it.
    pub(crate) fn found_in_work(&mut self, oracle: &Oracle, report: &RecoveryReport) {
        let last = oracle.at(report.last);
        self.takers_suspended += u64::from(last.is_some_and(|decided| decided.suspends));
        let enters = |seq| oracle.at(seq).is_some_and(|decided| decided.enters);
        self.entries += u64::from(enters(report.last));
        self.entries_in_snapshots += u64::from(report.snapshot.is_some_and(enters));
        let auction = |seq| oracle.at(seq).map(|decided| decided.auction);
        let (ended_in, snapshot_in) = (auction(report.last), report.snapshot.and_then(auction));
        self.searches += u64::from(ended_in == Some(Auction::Searches));
        self.uncrossings += u64::from(ended_in == Some(Auction::Trades));
        self.halts += u64::from(ended_in == Some(Auction::Halted));
        self.searches_in_snapshots += u64::from(snapshot_in == Some(Auction::Searches));
        self.uncrossings_in_snapshots += u64::from(snapshot_in == Some(Auction::Trades));
        self.interrupted += u64::from(oracle.calls.interrupted > 0);
        self.extended += u64::from(oracle.calls.extended > 0);
        self.until_command += u64::from(oracle.calls.until_command > 0);
        self.timed += u64::from(oracle.calls.timed > 0);
        self.reopened += u64::from(oracle.calls.reopened > 0);
        self.planned += u64::from(oracle.calls.planned > 0);
        self.tripped += u64::from(oracle.calls.tripped > 0);
    }

    /// The names of events that never happened.
    pub(crate) fn missing(&self) -> Vec<String> {
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
            ("a bit was flipped", self.flips),
            ("a bit was flipped while the engine ran", self.flips_while_running),
            ("a write was misdirected", self.misdirected),
            ("a read was stale", self.stale_reads),
            ("the disk hung", self.hangs),
            ("the wall clock stepped", self.steps_of_the_clock),
            ("two faults came together", self.two_faults),
            ("a damaged group was lost that nothing proved", self.unproven_lost),
            ("recovery found a suspended taker", self.takers_suspended),
            ("recovery found triggered orders that were being entered", self.entries),
            ("a snapshot was used that held triggered orders", self.entries_in_snapshots),
            ("recovery found an instrument that searched for its price", self.searches),
            ("recovery found an instrument whose auction traded", self.uncrossings),
            ("recovery found an instrument that was halted for a time", self.halts),
            ("a snapshot was used that held a search", self.searches_in_snapshots),
            ("a snapshot was used that held an uncrossing", self.uncrossings_in_snapshots),
            ("trading was interrupted", self.interrupted),
            ("a call was extended", self.extended),
            ("a call was extended until a command", self.until_command),
            ("a call ended by itself", self.timed),
            ("a halt ended by itself", self.reopened),
            ("a transition of a timetable began", self.planned),
            ("a circuit breaker halted trading", self.tripped),
            ("a span of the chain was completed", self.longest / 4_096),
        ];
        let missing = met.into_iter().filter(|(_, count)| *count == 0);
        let limits = self.extremes.missing().into_iter().map(|(extreme, is_accepted)| {
            let how = if is_accepted { "accepted" } else { "refused" };
            format!("a limit at its extreme was {how}: {extreme:?}")
        });
        missing.map(|(name, _)| name.to_owned()).chain(limits).collect()
    }
}
