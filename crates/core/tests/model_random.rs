//! The core against the naive reference, on random command sequences.

#[allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]
mod reference;

use reference::coverage::Coverage;
use reference::coverage::names::{DONE_REASONS, EVENT_KINDS, SITUATIONS};
use reference::generator::Profile;
use reference::lockstep::Case;
use rialto_model::RejectReason;
use std::sync::LazyLock;

/// How many sequences to run: `RIALTO_MODEL_CASES` if it is set.
#[allow(clippy::disallowed_methods, reason = "the tests may look around, the core may not")]
fn many(cases: u64) -> u64 {
    let asked = std::env::var("RIALTO_MODEL_CASES").ok().and_then(|cases| cases.parse().ok());
    asked.unwrap_or(cases)
}

/// One in this many sequences starts with the first version of the rules.
const FIRST_RULES_EVERY: u64 = 3;

/// One in this many starts with the version before the newest, which amends fewer orders.
const EARLIER_RULES_EVERY: u64 = 7;

/// Runs `cases` sequences and returns their coverage.
fn run(profile: Profile, first: u64, cases: u64) -> Coverage {
    let mut all = Coverage::default();
    for seed in first..first + cases {
        let mut case = Case::new(seed, profile);
        if seed.is_multiple_of(FIRST_RULES_EVERY) {
            case = case.under(1);
        } else if seed.is_multiple_of(EARLIER_RULES_EVERY) {
            case = case.under(9);
        }
        all.add(&case.must_pass());
    }
    all
}

static SHALLOW: LazyLock<Coverage> = LazyLock::new(|| run(Profile::General, 0, many(1_100)));
static TIGHT: LazyLock<Coverage> = LazyLock::new(|| run(Profile::Tight, 10_000, many(1_000)));
static DEEP: LazyLock<Coverage> = LazyLock::new(|| run(Profile::Deep, 20_000, many(130)));

#[test]
fn shallow_books_agree() {
    LazyLock::force(&SHALLOW);
}

#[test]
fn small_limits_agree() {
    LazyLock::force(&TIGHT);
}

#[test]
fn deep_books_agree() {
    LazyLock::force(&DEEP);
}

/// Memories that fill up and numbers that grow show their bounds after thousands of commands only.
#[test]
fn long_sequences_agree() {
    for profile in [Profile::General, Profile::Tight] {
        Case::new(30_000, profile).lasting(3_000).must_pass();
    }
}

/// The sequences must come across everything that can happen, or they test less than they say.
#[test]
fn the_sequences_come_across_everything() {
    let mut all = SHALLOW.clone();
    all.add(&TIGHT);
    all.add(&DEEP);
    let mut seldom = Vec::new();
    let mut demand = |what: String, times: u64, least: u64| {
        if times < least {
            seldom.push(format!("{what}: {times} times, not {least}"));
        }
    };
    for reason in RejectReason::ALL {
        // It takes more than 4,096 orders: see `model_boundaries`.
        if *reason != RejectReason::TooDeep {
            demand(format!("reject {reason:?}"), all.reject(*reason), 15);
        }
    }
    for reason in DONE_REASONS {
        demand(format!("done {reason:?}"), all.done(reason), 100);
    }
    for kind in EVENT_KINDS {
        demand(format!("event {kind}"), all.times(kind), 50);
    }
    for (situation, least) in SITUATIONS {
        demand(situation.to_owned(), all.times(situation), least);
    }
    assert!(seldom.is_empty(), "{seldom:#?}\nof all this:\n{}", all.report());
}
