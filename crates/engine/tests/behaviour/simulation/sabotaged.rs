//! Every deliberate defect of an engine is detected.

use super::coverage::Coverage;
use super::history;
use rialto_engine::Sabotage;

/// Histories until a defect is detected; each takes fewer than these.
const SEEDS: std::ops::Range<u64> = 0..3_000;

/// One test for each defect, so that they run in parallel.
macro_rules! caught {
    ($($test:ident: $sabotage:ident,)*) => { $(
        #[test]
        fn $test() {
            is_caught(Sabotage::$sabotage);
        }
    )* };
}

caught! {
    releasing_before_writing_is_caught: ReleaseBeforeWrite,
    skipping_the_sync_is_caught: SkipSync,
    releasing_past_a_flush_that_is_due_is_caught: ReleaseBeforeFlush,
    releasing_what_could_not_be_written_is_caught: ReleaseAfterFailure,
    dropping_a_record_at_recovery_is_caught: DropRecordAtRecovery,
    cutting_what_was_acknowledged_is_caught: CutWithoutProof,
    applying_without_the_journal_is_caught: ApplyWithoutJournal,
    journaling_without_the_attribution_is_caught: JournalWithoutAttribution,
    publishing_before_release_is_caught: PublishBeforeRelease,
    answering_something_else_is_caught: AnswerSomethingElse,
    leaving_submissions_without_an_answer_is_caught: LeaveUnanswered,
    following_every_step_of_the_clock_is_caught: FollowEveryStep,
    changing_the_rules_without_a_snapshot_is_caught: ChangeRulesWithoutSnapshot,
    segments_that_name_other_rules_are_caught: MislabelSegments,
    taking_commands_while_the_disk_hangs_is_caught: IgnoreStall,
}

fn is_caught(sabotage: Sabotage) {
    let caught = SEEDS
        .into_iter()
        .find(|seed| history::live(*seed, Some(sabotage), &mut Coverage::default()).is_err());
    let seed = caught.unwrap_or_else(|| panic!("{sabotage:?} went unnoticed"));
    assert_eq!(
        history::live(seed, None, &mut Coverage::default()),
        Ok(()),
        "seed {seed} fails without it, too"
    );
}
