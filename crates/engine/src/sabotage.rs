//! Deliberate defects, so that tests can show that they would be caught.

/// A promise that the engine is made to break. Exists with the `sabotage` feature alone, which only
/// this crate's own tests switch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "sabotage"), allow(dead_code, unreachable_pub))]
pub enum Sabotage {
    /// The marks move before the journal is written.
    ReleaseBeforeWrite,
    /// Groups are only written where they should be synced.
    SkipSync,
    /// The marks move though the journal could not be written.
    ReleaseAfterFailure,
    /// Recovery cuts the tails of logs without asking whether what it cuts was acknowledged.
    CutWithoutProof,
    /// Submissions that were not sequenced when the engine ended are forgotten.
    LeaveUnanswered,
    /// Stamped time follows the wall clock wherever it goes.
    FollowEveryStep,
    /// Segments of the journal say nothing of a change of the rules.
    MislabelSegments,
    /// The rules change without a snapshot of what was before.
    ChangeRulesWithoutSnapshot,
    /// Commands are taken while the disk hangs.
    IgnoreStall,
    /// Recovery takes the last command for a tick.
    DropRecordAtRecovery,
    /// Recovery does not compare the chained hash.
    IgnoreChain,
    /// Cancels are applied, but the journal gets a tick instead.
    ApplyWithoutJournal,
    /// Events are visible before the journal has them.
    PublishBeforeRelease,
    /// Replies tell of success whatever happened.
    AnswerSomethingElse,
    /// Under buffered, groups are released however long others have waited for their flush.
    ReleaseBeforeFlush,
    /// The sequencer panics when it comes to a cancel.
    PanicAtCancel,
}

/// Whether something is sabotaged; never, in a build without the feature.
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
