//! Benchmarks of `rialto bench` with their own processes, which the library alone cannot start.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod running;

use running::{command, text};
use serde_json::Value;

#[test]
fn orders_are_measured_while_a_process_attacks() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().to_str().unwrap();
    let bench = ["bench", "http.hostile", "--small", "--json", "--data", path];
    let output = command(&bench).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for attack in ["idle connections", "silent streams", "not read", "bodies of 2 MiB"] {
        let of_attack = |row: &&Value| row["case"].as_str().is_some_and(|it| it.contains(attack));
        let row = lines.iter().find(of_attack).unwrap_or_else(|| panic!("no row of {attack}"));
        assert!(row["checks"]["attacker_opened"].as_u64().unwrap() > 0, "{row}");
        assert_eq!(row["checks"]["attacker_broken_off"], 0, "{row}");
    }
}
