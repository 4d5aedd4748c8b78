//! The example that needs a venue.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../crates/gateway/tests/test_venue/mod.rs"]
mod test_venue;

use rialto_client::KeyFile;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use test_venue::{TestVenue, config, limit};

#[test]
fn order_tracker_follows_its_order_to_the_end() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("key.toml");
    let url = Some(format!("http://{}", venue.address));
    let (key, secret) = (alice.id, alice.secret.reveal());
    KeyFile { url, key, secret, account: None }.write(&path).unwrap();
    let mut tracker = Command::new(env!("CARGO_BIN_EXE_order_tracker"))
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the example was built for this test");
    let mut lines = BufReader::new(tracker.stdout.take().unwrap()).lines();
    let mut line = || lines.next().unwrap().unwrap();
    assert_eq!(line(), "open: sell 0.5000 BTC-USD at 64000.00");
    venue.place(&bob, limit("buy", "0.2", "64000")).expect(201);
    assert_eq!(line(), "traded: 0.2000 at 64000.00, 0.3000 left");
    venue.place(&bob, limit("buy", "0.3", "64000")).expect(201);
    assert_eq!(line(), "traded: 0.3000 at 64000.00, 0.0000 left");
    assert!(tracker.wait().unwrap().success());
}
