//! Deliberate defects, so that tests can show that they are detected.

/// A deliberate defect. It exists only with the `sabotage` feature, which only this crate's tests
/// enable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "sabotage"), allow(dead_code, unreachable_pub))]
pub enum Sabotage {
    /// The marks advance before the journal is written.
    ReleaseBeforeWrite,
    /// Groups are written without the required sync.
    SkipSync,
    /// The marks advance after a failed write of the journal.
    ReleaseAfterFailure,
    /// Recovery cuts the tails of logs without a proof that they were not acknowledged.
    CutWithoutProof,
    /// Submissions that were not sequenced at the end are forgotten.
    LeaveUnanswered,
    /// Stamped time follows every step of the wall clock.
    FollowEveryStep,
    /// Segments of the journal do not record a change of the rules version.
    MislabelSegments,
    /// The rules version changes without a snapshot before it.
    ChangeRulesWithoutSnapshot,
    /// Commands are accepted while the disk hangs.
    IgnoreStall,
    /// Recovery replaces the last command by a tick.
    DropRecordAtRecovery,
    /// Recovery does not compare the chained hash.
    IgnoreChain,
    /// Cancels are applied, but a tick is journaled instead.
    ApplyWithoutJournal,
    /// Events are visible before the journal has them.
    PublishBeforeRelease,
    /// The journal has commands without their attributions.
    JournalWithoutAttribution,
    /// Replies always report success.
    AnswerSomethingElse,
    /// Under buffered, groups are released without regard to flushes that are due.
    ReleaseBeforeFlush,
    /// The sequencer panics at a cancel.
    PanicAtCancel,
}

/// The switch of a deliberate defect; always off in a build without the feature.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SabotageSwitch {
    #[cfg(feature = "sabotage")]
    pub(crate) thrown: Option<Sabotage>,
}

impl SabotageSwitch {
    #[inline]
    pub(crate) fn is(self, sabotage: Sabotage) -> bool {
        #[cfg(feature = "sabotage")]
        return self.thrown == Some(sabotage);
        #[cfg(not(feature = "sabotage"))]
        {
            let _ = sabotage;
            false
        }
    }
}
