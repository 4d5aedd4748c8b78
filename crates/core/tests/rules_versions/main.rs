//! What every version of the rules decided once, it decides for ever: recorded journals are decided
//! again, and every event and state hash must be the recorded one.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]
#[path = "../reference/mod.rs"]
mod reference;

mod recorded;
mod script;

use recorded::{Journal, Recorded};
use reference::generator::Profile;
use reference::lockstep::Case;
use rialto_core::Limits;
use rialto_model::CommandKind as Kind;
use std::collections::BTreeSet;

/// The journals of a version of the rules, by name.
type Fixtures = [(&'static str, &'static [u8]); 4];

/// Journals as their version of the rules decided them when it was new. Never written again.
const RULES_1: Fixtures = [
    ("script", include_bytes!("../fixtures/rules-1-script.lz4")),
    ("general", include_bytes!("../fixtures/rules-1-general.lz4")),
    ("tight", include_bytes!("../fixtures/rules-1-tight.lz4")),
    ("deep", include_bytes!("../fixtures/rules-1-deep.lz4")),
];

/// The same of version 2. Its script continues with what only version 2 knows.
const RULES_2: Fixtures = [
    ("script", include_bytes!("../fixtures/rules-2-script.lz4")),
    ("general", include_bytes!("../fixtures/rules-2-general.lz4")),
    ("tight", include_bytes!("../fixtures/rules-2-tight.lz4")),
    ("deep", include_bytes!("../fixtures/rules-2-deep.lz4")),
];

/// The same of version 3.
const RULES_3: Fixtures = [
    ("script", include_bytes!("../fixtures/rules-3-script.lz4")),
    ("general", include_bytes!("../fixtures/rules-3-general.lz4")),
    ("tight", include_bytes!("../fixtures/rules-3-tight.lz4")),
    ("deep", include_bytes!("../fixtures/rules-3-deep.lz4")),
];

/// The same of version 4.
const RULES_4: Fixtures = [
    ("script", include_bytes!("../fixtures/rules-4-script.lz4")),
    ("general", include_bytes!("../fixtures/rules-4-general.lz4")),
    ("tight", include_bytes!("../fixtures/rules-4-tight.lz4")),
    ("deep", include_bytes!("../fixtures/rules-4-deep.lz4")),
];

/// The same of version 5.
const RULES_5: Fixtures = [
    ("script", include_bytes!("../fixtures/rules-5-script.lz4")),
    ("general", include_bytes!("../fixtures/rules-5-general.lz4")),
    ("tight", include_bytes!("../fixtures/rules-5-tight.lz4")),
    ("deep", include_bytes!("../fixtures/rules-5-deep.lz4")),
];

/// The same of version 6.
const RULES_6: Fixtures = [
    ("script", include_bytes!("../fixtures/rules-6-script.lz4")),
    ("general", include_bytes!("../fixtures/rules-6-general.lz4")),
    ("tight", include_bytes!("../fixtures/rules-6-tight.lz4")),
    ("deep", include_bytes!("../fixtures/rules-6-deep.lz4")),
];

/// The same of version 7.
const RULES_7: Fixtures = [
    ("script", include_bytes!("../fixtures/rules-7-script.lz4")),
    ("general", include_bytes!("../fixtures/rules-7-general.lz4")),
    ("tight", include_bytes!("../fixtures/rules-7-tight.lz4")),
    ("deep", include_bytes!("../fixtures/rules-7-deep.lz4")),
];

/// The same of version 8.
const RULES_8: Fixtures = [
    ("script", include_bytes!("../fixtures/rules-8-script.lz4")),
    ("general", include_bytes!("../fixtures/rules-8-general.lz4")),
    ("tight", include_bytes!("../fixtures/rules-8-tight.lz4")),
    ("deep", include_bytes!("../fixtures/rules-8-deep.lz4")),
];

/// The same of version 9.
const RULES_9: Fixtures = [
    ("script", include_bytes!("../fixtures/rules-9-script.lz4")),
    ("general", include_bytes!("../fixtures/rules-9-general.lz4")),
    ("tight", include_bytes!("../fixtures/rules-9-tight.lz4")),
    ("deep", include_bytes!("../fixtures/rules-9-deep.lz4")),
];

/// The same of version 10.
const RULES_10: Fixtures = [
    ("script", include_bytes!("../fixtures/rules-10-script.lz4")),
    ("general", include_bytes!("../fixtures/rules-10-general.lz4")),
    ("tight", include_bytes!("../fixtures/rules-10-tight.lz4")),
    ("deep", include_bytes!("../fixtures/rules-10-deep.lz4")),
];

fn must_decide_as_recorded(version: u32, fixtures: Fixtures) {
    for (name, bytes) in fixtures {
        for run in Recorded::from_bytes(bytes).runs {
            assert_eq!(run.start().rules_version(), version, "{name}");
            assert_eq!(run.must_be_decided_again(name).rules_version(), version, "{name}");
        }
    }
}

#[test]
fn version_1_decides_as_it_was_recorded() {
    must_decide_as_recorded(1, RULES_1);
}

#[test]
fn version_2_decides_as_it_was_recorded() {
    must_decide_as_recorded(2, RULES_2);
}

#[test]
fn version_3_decides_as_it_was_recorded() {
    must_decide_as_recorded(3, RULES_3);
}

#[test]
fn version_4_decides_as_it_was_recorded() {
    must_decide_as_recorded(4, RULES_4);
}

#[test]
fn version_5_decides_as_it_was_recorded() {
    must_decide_as_recorded(5, RULES_5);
}

#[test]
fn version_6_decides_as_it_was_recorded() {
    must_decide_as_recorded(6, RULES_6);
}

#[test]
fn version_7_decides_as_it_was_recorded() {
    must_decide_as_recorded(7, RULES_7);
}

#[test]
fn version_8_decides_as_it_was_recorded() {
    must_decide_as_recorded(8, RULES_8);
}

#[test]
fn version_9_decides_as_it_was_recorded() {
    must_decide_as_recorded(9, RULES_9);
}

#[test]
fn version_10_decides_as_it_was_recorded() {
    must_decide_as_recorded(10, RULES_10);
}

#[test]
fn every_version_has_its_recorded_journals() {
    assert_eq!(rialto_core::RULES_VERSIONS, 1..=10, "record the new version, and test it here");
}

#[test]
fn the_recorded_journals_hold_every_kind_of_command() {
    for (fixtures, last) in [
        (RULES_1, Kind::ReleaseWithdrawal),
        (RULES_2, Kind::ReleaseWithdrawal),
        (RULES_3, Kind::ReleaseWithdrawal),
        (RULES_4, Kind::SetCircuitBreaker),
        (RULES_5, Kind::SetContractTerms),
        (RULES_6, Kind::PlaceConditional),
        (RULES_7, Kind::PlaceTrailing),
        (RULES_8, Kind::PlaceIceberg),
        (RULES_9, Kind::PlaceList),
        (RULES_10, Kind::AmendTrigger),
    ] {
        let recorded = fixtures.map(|(_, bytes)| Recorded::from_bytes(bytes));
        let runs = recorded.iter().flat_map(|recorded| &recorded.runs);
        let kinds: BTreeSet<u8> =
            runs.flat_map(|run| run.journal()).map(|(_, command)| command.kind() as u8).collect();
        // Kinds are numbered densely from zero.
        assert_eq!(kinds, (0..=last as u8).collect());
    }
    assert_eq!(Kind::ALL.last(), Some(&Kind::AmendTrigger), "record the new kind");
}
#[test]
#[ignore = "writes the fixtures of a version of the rules; run it once for a new version"]
fn write_the_fixtures() {
    let version = *rialto_core::RULES_VERSIONS.end();
    let write = |name: &str, journals: &[(Limits, Journal)]| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
        let recorded = Recorded::of(version, journals);
        std::fs::write(format!("{folder}/rules-{version}-{name}.lz4"), recorded.to_bytes())
            .unwrap();
    };
    write("script", &[script::journal()]);
    for (name, profile, steps, cases) in [
        ("general", Profile::General, 120, 16),
        ("tight", Profile::Tight, 120, 16),
        ("deep", Profile::Deep, 12, 3),
    ] {
        let journals: Vec<_> = (0..cases)
            .map(|seed| {
                let mut case = Case::new(seed, profile);
                case.steps.truncate(steps);
                case.journal()
            })
            .collect();
        write(name, &journals);
    }
}
