//! A halt for a time of the real binary: it ends by itself, also when the venue is killed meanwhile.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod asking;
mod running;

use asking::{Client, Credentials};
use running::{PATIENCE, Running, command, text};
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};

struct Place {
    venue: Running,
    admin_key: String,
}

impl Place {
    /// The output of a command of the operator, and whether it succeeded.
    fn says(&self, words: &[&str]) -> (bool, String) {
        let url = self.venue.url();
        let mut command = command(&[&["admin"], words, &["--url", &url]].concat());
        let output = command.env("RIALTO_ADMIN_KEY", &self.admin_key).output().unwrap();
        (output.status.success(), text(&output.stdout) + &text(&output.stderr))
    }

    fn auction(&self) -> String {
        let output = command(&["auction", "BTC-USD", "--url", &self.venue.url()]).output().unwrap();
        text(&output.stdout)
    }

    fn wait_for(&self, what: &str) -> String {
        let began = Instant::now();
        loop {
            let told = self.auction();
            if told.contains(what) {
                return told;
            }
            assert!(began.elapsed() < PATIENCE, "{told}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

fn open(dir: &std::path::Path) -> Place {
    let mut venue = Running::serve(dir, "synced");
    venue.heard("admin key: ");
    let admin_key = venue.admin_key();
    let admin = Client::new(&venue.url(), Credentials::Admin(admin_key.clone()));
    let post = |what: &str, body: Value| {
        admin.call("POST", &format!("/v1/admin/{what}"), Some(&body)).expect(what)
    };
    for code in ["BTC", "USD"] {
        post("currencies", json!({ "code": code, "scale": 6 }));
    }
    post(
        "instruments",
        json!({
            "symbol": "BTC-USD", "kind": "spot", "base": "BTC", "quote": "USD", "price_scale": 2,
            "quantity_scale": 4, "tick": "0.01", "lot": "0.0001",
        }),
    );
    post("auction-rules", json!({ "instrument": "BTC-USD", "call_ms": 1_000 }));
    Place { venue, admin_key }
}

#[test]
fn a_halt_ends_by_itself_after_the_venue_was_killed() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = open(dir.path());
    let (done, told) = place.says(&["halt", "BTC-USD", "--for", "6s", "--audit-reason", "news"]);
    assert!(done && told.contains("instrument BTC-USD, state halted, until "), "{told}");
    assert!(place.wait_for("is halted").contains("halted until  "));
    place.venue.kill();
    let data = dir.path().join("data");
    let book = ["at", "--data", data.to_str().unwrap(), "--json", "book", "BTC-USD"];
    let output = running::rialto(&book);
    let book: Value = serde_json::from_slice(&output.stdout).unwrap();
    let until = book["halted_until"].as_str().unwrap();
    let (_, nanoseconds) = until.trim_end_matches('Z').rsplit_once('.').unwrap();
    assert!(told.contains(&format!("{nanoseconds}, seq")), "{told} but {book}");
    place.venue = Running::serve(dir.path(), "synced");
    assert!(place.wait_for("is halted").contains("halted until  "));
    place.wait_for("is call");
    place.wait_for("is open");
    let (_, audit) = place.says(&["audit"]);
    let entry = audit.lines().find(|line| line.contains("halt_trading")).unwrap();
    assert!(entry.contains("BTC-USD until ") && entry.contains("news"), "{audit}");
    place.venue.terminate();
}

#[test]
fn the_command_line_says_what_a_halt_lacks() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = open(dir.path());
    for (words, told) in [
        (&["halt"][..], "required arguments"),
        (&["halt", "--venue"], "--for"),
        (&["halt", "--calendar", "equities"], "--for"),
        (&["halt", "BTC-USD", "--venue", "--for", "1s"], "cannot be used with"),
        (&["halt", "BTC-USD", "--for", "soon"], "is not a duration"),
        (&["halt", "BTC-USD", "--for", "60d"], "at most a day"),
        (&["halt", "BTC-USD", "--for", "2d"], "halt_invalid"),
        (&["halt", "--calendar", "equities", "--for", "1s"], "unknown_calendar"),
        (&["calendar", "circuit-breaker", "equities"], "required arguments"),
        (&["calendar", "circuit-breaker", "equities", "--instrument", "BTC-USD"], "--range-ppm"),
        (&["calendar", "circuit-breaker", "equities", "--remove"], "unknown_calendar"),
    ] {
        let (done, said) = place.says(words);
        assert!(!done && said.contains(told), "{words:?}: {said}");
    }
    place.wait_for("is open");
    place.venue.terminate();
}
