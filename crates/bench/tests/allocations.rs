//! A program that counts allocations gets the rows of them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use rialto_bench::{CountingAllocator, Options, Size, run_with};
use serde_json::Value;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn a_program_that_counts_gets_a_row_for_the_stream_and_one_for_the_mix() {
    let home = tempfile::tempdir().unwrap();
    let options = Options {
        suites: vec!["match".into()],
        json: true,
        report: None,
        markdown: None,
        size: Size::Small,
        data_dir: home.path().to_path_buf(),
    };
    let mut lines = Vec::new();
    run_with(&options, &mut lines, &mut |_| {}).unwrap();
    let rows: Vec<Value> = String::from_utf8(lines)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|row: &Value| row["unit"] == "allocations/order")
        .collect();
    assert_eq!(rows.len(), 2, "the core on a stream, and on the mix");
    for row in rows {
        assert!(row["checks"]["operations"].as_u64().unwrap() > 0, "{row}");
    }
}
