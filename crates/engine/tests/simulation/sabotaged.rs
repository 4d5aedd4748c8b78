//! Each promise can be broken: an engine that is built to break it is caught.

use crate::coverage::Coverage;
use crate::history;
use rialto_engine::Sabotage;

/// Histories until one is caught; none of these takes more than this.
const SEEDS: std::ops::Range<u64> = 0..600;

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

#[test]
fn releasing_before_writing_is_caught() {
    is_caught(Sabotage::ReleaseBeforeWrite);
}

#[test]
fn skipping_the_sync_is_caught() {
    is_caught(Sabotage::SkipSync);
}

#[test]
fn dropping_a_record_at_recovery_is_caught() {
    is_caught(Sabotage::DropRecordAtRecovery);
}

#[test]
fn applying_without_the_journal_is_caught() {
    is_caught(Sabotage::ApplyWithoutJournal);
}

#[test]
fn publishing_before_release_is_caught() {
    is_caught(Sabotage::PublishBeforeRelease);
}

#[test]
fn answering_something_else_is_caught() {
    is_caught(Sabotage::AnswerSomethingElse);
}
