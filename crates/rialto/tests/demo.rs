//! `rialto demo` for a first-time user.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic")]

mod running;

use running::{Running, rialto, text};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn start(data: &str, more: &[&str]) -> Running {
    let mut arguments = vec!["demo", "--data", data, "--listen", "127.0.0.1:0", "--plain"];
    arguments.extend(more);
    let mut running = Running::start(&arguments);
    running.wait_for("Look at the book");
    running.wait_for("rialto book");
    running
}

/// Runs a printed line in a shell.
fn shell(line: &str) -> String {
    let output = Command::new("sh").args(["-c", line]).output().expect("there is a shell");
    assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok() || {
        println!("{program} is not there: a part of this test was left out");
        false
    }
}

#[test]
fn the_printed_lines_work_and_a_restart_continues() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("demo");
    let data = data.to_str().unwrap();
    let mut first = start(data, &["--rate", "300"]);
    assert!(first.line("recovery:").contains("began an empty venue"));
    let order_line = first.line(" order buy ").trim().to_string();
    let told = shell(&order_line);
    assert!(told.contains(": buy ") && told.contains("BTC-USD"), "{told}");
    assert!(told.contains("; order ") && told.contains(", seq "), "{told}");
    if has("curl") && has("openssl") {
        let answer: Value = serde_json::from_str(&shell(first.line("curl -s"))).unwrap();
        assert!(answer["order_id"].is_string(), "{answer}");
    }
    let book = shell(first.line(" book BTC-USD"));
    assert!(book.contains("ask ") && book.contains("bid "), "{book}");

    // The simulated members trade in all three markets, and the view shows it.
    let line = first.wait_for(" orders/s ");
    assert!(line.contains("level synced") && line.contains("ETH-BTC 0.0"), "{line}");
    let url = first.url();
    let mut trades = Vec::new();
    while trades.is_empty() || trades.contains(&0) {
        trades = ["BTC-USD", "ETH-USD", "ETH-BTC"]
            .map(|symbol| {
                let output = rialto(&["trades", symbol, "--json", "--url", &url]);
                let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
                answer["trades"].as_array().unwrap().len()
            })
            .to_vec();
    }

    first.terminate();
    assert!(first.line("snapshot at").starts_with("stopped at sequence"));
    first.line("verify");

    // Everything is still there, and the same lines work with the new port.
    let mut second = start(data, &["--rate", "300"]);
    let recovery = second.line("recovery:");
    assert!(recovery.contains("restored the snapshot"), "{recovery}");
    assert!(!second.said.iter().any(|line| line.contains("admin key:")), "it was shown twice");
    assert_eq!(second.line(" order buy ").trim(), order_line);
    assert_eq!(api_key(&first), api_key(&second));
    let fills = shell(&order_line.replace(" order buy 0.01 BTC-USD --price 64000", " orders"));
    assert!(!fills.is_empty());
    second.terminate();
}

fn api_key(running: &Running) -> String {
    running.line("Your API key").to_string()
}

#[test]
fn it_ends_when_its_time_is_over() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("demo");
    let mut running = start(data.to_str().unwrap(), &["--seconds", "3", "--rate", "500"]);
    assert!(running.wait().success(), "{}", running.said.join("\n"));
    running.line("orders/s");
    let stopped = running.line("stopped at sequence");
    let sequence: u64 = stopped
        .split("sequence ")
        .nth(1)
        .and_then(|rest| rest.split(',').next())
        .and_then(|number| number.parse().ok())
        .unwrap();
    assert!(sequence > 500, "hardly anything happened: {stopped}");
}

#[test]
fn it_stays_away_from_venues_of_others() {
    let dir = tempfile::tempdir().unwrap();
    let mut venue = Running::serve(dir.path(), "buffered");
    let (url, key) = (venue.url(), venue.admin_key());
    let made = rialto(&["admin", "member", "somebody", "--url", &url, "--admin-key", &key]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    venue.terminate();
    let data = dir.path().join("data");
    let demo = rialto(&["demo", "--data", data.to_str().unwrap(), "--listen", "127.0.0.1:0"]);
    assert_eq!(demo.status.code(), Some(2), "{}", text(&demo.stdout));
    assert!(text(&demo.stderr).contains("not the demo's"), "{}", text(&demo.stderr));
    assert!(!data.join("demo-key.toml").exists());
    assert!(Path::new(&data).exists());
}
