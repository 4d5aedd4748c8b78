//! A program that counts allocations gets their rows.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_bench::{Options, Size, run_with};
use rialto_disk::CountingAllocator;
use serde_json::Value;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The rows of a suite at its small size with this unit.
fn rows(suite: &str, unit: &str) -> Vec<Value> {
    let home = tempfile::tempdir().unwrap();
    let options = Options {
        suites: vec![suite.into()],
        json: true,
        report: None,
        markdown: None,
        size: Size::Small,
        data_dir: home.path().to_path_buf(),
        attacker: None,
    };
    let mut lines = Vec::new();
    run_with(&options, &mut lines, &mut |_| {}).unwrap();
    String::from_utf8(lines)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|row: &Value| row["unit"] == unit)
        .collect()
}

#[test]
fn a_program_that_counts_gets_a_row_for_the_stream_and_one_for_the_mix() {
    let rows = rows("match", "allocations/order");
    assert_eq!(rows.len(), 2, "the core on a stream, and on the mix");
    for row in rows {
        assert!(row["checks"]["operations"].as_u64().unwrap() > 0, "{row}");
    }
}

#[test]
fn orders_amendments_cancels_and_trades_allocate_nothing_in_the_second_round() {
    let rows = rows("markets.allocations", "allocations/order");
    let (auctions, rows): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|row| row["case"].as_str().unwrap().contains("uncrossing"));
    assert_eq!((rows.len(), auctions.len()), (1, 4), "two of each book of an auction");
    for row in auctions {
        assert!(row["checks"]["counted_orders"].as_u64().unwrap() > 2_000, "{row}");
        assert!(row["checks"]["counted_trades"].as_u64().unwrap() > 1_000, "{row}");
        assert_eq!(row["value"], 0.0, "{row}");
    }
    let checks = &rows[0]["checks"];
    for counted in ["orders", "amendments", "cancels", "trades"] {
        assert!(checks[format!("counted_{counted}")].as_u64().unwrap() > 100, "{checks}");
    }
    assert_eq!(rows[0]["value"], 0.0, "{}", rows[0]);
}

#[test]
fn calls_on_the_bus_that_do_not_wait_allocate_nothing() {
    let rows = rows("cqrs", "B/call");
    let at_once: Vec<&Value> = rows
        .iter()
        .filter(|row| {
            let case = row["case"].as_str().unwrap();
            ["send", "query", "publish", "batch of"].iter().any(|work| case.contains(work))
                && !case.contains("awaited")
        })
        .collect();
    assert!(at_once.len() >= 10, "{at_once:?}");
    for row in at_once {
        assert_eq!(row["value"], 0.0, "{row}");
    }
    let awaited = rows.iter().find(|row| row["case"].as_str().unwrap().contains("send, awaited"));
    assert_eq!(awaited.unwrap()["value"], 0.0, "a future that is awaited where it is made is free");
}

#[test]
fn allocations_are_counted_in_bytes() {
    let allocated = rialto_disk::allocated_by(|| drop(Vec::<u8>::with_capacity(1_000))).unwrap();
    assert_eq!((allocated.count, allocated.bytes), (1, 1_000));
}
