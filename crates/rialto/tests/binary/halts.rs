//! A halt for a time of the real binary: it ends by itself, also when the venue is killed meanwhile.

use crate::operated::Operated;
use crate::running::{PATIENCE, Running, command, rialto, text};
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};

fn auction(place: &Operated) -> String {
    let output = command(&["auction", "BTC-USD", "--url", &place.venue.url()]).output().unwrap();
    text(&output.stdout)
}

fn wait_for(place: &Operated, what: &str) -> String {
    let began = Instant::now();
    loop {
        let told = auction(place);
        if told.contains(what) {
            return told;
        }
        assert!(began.elapsed() < PATIENCE, "{told}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// The states that the journal of a stopped venue led to, in order.
fn states(data: &str) -> Vec<String> {
    let journal = text(&rialto(&["journal", data, "--json"]).stdout);
    let lines = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let events = lines.flat_map(|line| line["events"].as_array().unwrap().clone());
    let set = events.filter(|event| event["event"] == "instrument_state_set");
    set.map(|event| event["state"].as_str().unwrap().to_owned()).collect()
}

fn open(dir: &std::path::Path) -> Operated {
    let place = Operated::with_market(dir, &json!({}));
    place.post("auction-rules", &json!({ "instrument": "BTC-USD", "call_ms": 1_000 }));
    place
}

#[test]
fn a_halt_ends_by_itself_after_the_venue_was_killed() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = open(dir.path());
    let (done, told) = place.admin(&["halt", "BTC-USD", "--for", "6s", "--audit-reason", "news"]);
    assert!(done && told.contains("instrument BTC-USD, state halted, until "), "{told}");
    place.venue.kill();
    let data = dir.path().join("data");
    let book = ["at", "--data", data.to_str().unwrap(), "--json", "book", "BTC-USD"];
    let output = rialto(&book);
    let book: Value = serde_json::from_slice(&output.stdout).unwrap();
    let until = book["halted_until"].as_str().unwrap();
    let (_, nanoseconds) = until.trim_end_matches('Z').rsplit_once('.').unwrap();
    assert!(told.contains(&format!("{nanoseconds}, seq")), "{told} but {book}");
    place.venue = Running::serve(dir.path(), "synced");
    wait_for(&place, "is open");
    let (_, audit) = place.admin(&["audit"]);
    let entry = audit.lines().find(|line| line.contains("halt_trading")).unwrap();
    assert!(entry.contains("BTC-USD until ") && entry.contains("news"), "{audit}");
    place.venue.terminate();
    assert_eq!(states(data.to_str().unwrap()), ["halted", "call", "uncrossing", "open"]);
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
        let (done, said) = place.admin(words);
        assert!(!done && said.contains(told), "{words:?}: {said}");
    }
    wait_for(&place, "is open");
    let (done, told) = place.admin(&["halt", "BTC-USD", "--for", "1h"]);
    assert!(done, "{told}");
    place.venue.kill();
    place.venue = Running::serve(dir.path(), "synced");
    assert!(wait_for(&place, "is halted").contains("halted until  "));
    place.venue.terminate();
}
