//! A running venue changes from the first rules version to the second.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod running;

use rialto_disk::RealDisk;
use rialto_engine::{Engine, EngineConfig};
use running::{PATIENCE, Running, rialto, text};
use std::path::Path;
use std::sync::Arc;

/// Rewrites the journal as an old binary with only the first rules version left it. The keys stay.
fn begin_with_first_rules(data: &Path) {
    for part in ["journal", "events", "snapshots"] {
        std::fs::remove_dir_all(data.join(part)).unwrap();
    }
    let (data_dir, segment_bytes) = (data.to_owned(), 4 << 20);
    let config =
        EngineConfig { data_dir, segment_bytes, rules_version: 1, ..EngineConfig::default() };
    let (engine, _) = Engine::start(config, Arc::new(RealDisk::new())).unwrap();
    engine.shutdown(PATIENCE);
}

fn admin(running: &Running, key: &str, arguments: &[&str]) -> std::process::Output {
    let url = running.url();
    let mut command = running::command(&[&["admin"], arguments, &["--url", &url]].concat());
    command.env("RIALTO_ADMIN_KEY", key).output().unwrap()
}

#[test]
fn a_venue_is_switched_to_later_rules_while_it_runs() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = Running::serve(dir.path(), "synced");
    let key = running.admin_key();
    running.terminate();
    let data = dir.path().join("data");
    begin_with_first_rules(&data);

    let mut running = Running::serve(dir.path(), "synced");
    let currency = |running: &Running, code: &str| {
        let made = admin(running, &key, &["currency", code, "--scale", "2"]);
        assert!(made.status.success(), "{}", text(&made.stderr));
    };
    currency(&running, "BTC");
    let switched = admin(&running, &key, &["rules-version", "2"]);
    assert!(switched.status.success(), "{}", text(&switched.stderr));
    assert!(text(&switched.stdout).contains("version 2"), "{}", text(&switched.stdout));
    currency(&running, "USD");
    // An earlier version is refused, and so is an unknown one.
    for (version, code) in [("1", "rules_version_older"), ("99", "rules_version_unknown")] {
        let refused = admin(&running, &key, &["rules-version", version]);
        assert!(!refused.status.success());
        assert!(text(&refused.stderr).contains(code), "{}", text(&refused.stderr));
    }
    running.kill();

    let mut running = Running::serve(dir.path(), "synced");
    currency(&running, "EUR");
    running.terminate();
    let verified = rialto(&["verify", data.to_str().unwrap()]);
    assert!(verified.status.success(), "{}{}", text(&verified.stdout), text(&verified.stderr));
}
