//! The suite `markets` at its small size: every part has its rows, and each was checked.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_bench::{Options, Size, run_with};
use serde_json::Value;

#[test]
fn every_part_has_its_rows_and_each_was_checked() {
    let home = tempfile::tempdir().unwrap();
    let options = Options {
        suites: vec!["markets".into()],
        json: true,
        report: None,
        markdown: None,
        size: Size::Small,
        data_dir: home.path().to_path_buf(),
        attacker: None,
    };
    let mut lines = Vec::new();
    let summary = run_with(&options, &mut lines, &mut |_| {}).unwrap();
    let failed: Vec<&str> = summary.failed().collect();
    assert!(failed.is_empty(), "{failed:?}");
    let text = String::from_utf8(lines).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |case: &str, metric: &str| {
        let found = rows.iter().filter(|row| {
            let has =
                |field: &str, part: &str| row[field].as_str().is_some_and(|it| it.contains(part));
            has("case", case) && has("metric", metric)
        });
        found.collect::<Vec<_>>()
    };
    for levels in [10, 100, 1_000, 10_000] {
        let case = format!("two orders at one price, {levels} levels");
        assert_eq!(of(&case, "latency p99.9").len(), 1, "{text}");
    }
    assert_eq!(of("QAExchange's orders", "throughput").len(), 2, "core and engine: {text}");
    for submitters in ["1 submitter ", "10 submitters", "100 submitters", "1000 submitters"] {
        let case = format!("engine, {submitters}");
        assert_eq!(of(&case, "throughput").len(), 2, "at two levels: {text}");
        assert_eq!(of(&case, "latency p99.9 in disk syncs").len(), 1, "at synced: {text}");
    }
    for members in ["1 member,", "64 members"] {
        let fills = of(members, "latency p99 in disk syncs");
        assert_eq!(fills.len(), 1, "{text}");
        assert_eq!(fills[0]["checks"]["trades"], 150);
        assert_eq!(fills[0]["checks"]["fills_measured"], 125);
    }
    assert_eq!(of("orders in bounded books", "acknowledgement p99, tenth").len(), 10, "{text}");
    assert_eq!(of("orders in bounded books", "over that of the first").len(), 1, "{text}");
    assert_eq!(of("core, kill switch", "longest command, each at its shortest").len(), 1, "{text}");
    let beside = of("during a kill switch", "longest, each at its shortest");
    assert_eq!(beside.len(), 1, "{text}");
    assert!(beside[0]["checks"]["commands_meanwhile"].as_u64().unwrap() > 0);
    for book in ["2000 orders that cross on 40 levels", "2000 orders that cross on 200 levels"] {
        let (uncrossing, longest) =
            (format!("core, uncrossing of {book}"), "longest command, each");
        assert_eq!(of(&uncrossing, "time").len(), 1, "{text}");
        let longest = of(&uncrossing, longest);
        assert_eq!(longest.len(), 1, "{text}");
        let checks = &longest[0]["checks"];
        assert!(checks["commands"].as_u64().unwrap() > 10, "in slices: {checks}");
        assert!(checks["trades"].as_u64().unwrap() > 1_000, "{checks}");
        let beside =
            of(&format!("during the uncrossing of {book}"), "longest, each at its shortest");
        assert_eq!(beside.len(), 1, "{text}");
        assert!(beside[0]["checks"]["commands_meanwhile"].as_u64().unwrap() > 10);
        assert_eq!(of(&format!("feed, indicative price of {book}"), "time").len(), 2, "{text}");
    }
}
