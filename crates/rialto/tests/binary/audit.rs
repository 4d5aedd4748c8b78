//! `rialto admin audit`: who operated the venue, and why, also after a kill and a restart.

use crate::running::{Running, rialto, text};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

/// What the binary answers, as JSON.
fn json(venue: &Running, key: &[&str], arguments: &[&str]) -> Value {
    let output = run(venue, key, arguments, &["--json"]);
    serde_json::from_str(&output).expect("JSON was asked for")
}

fn run(venue: &Running, key: &[&str], arguments: &[&str], more: &[&str]) -> String {
    let url = venue.url();
    let all = [&["admin"], arguments, &["--url", &url], key, more].concat();
    let output = rialto(&all);
    assert!(output.status.success(), "{all:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn the_trail_names_operators_and_survives_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let mut venue = Running::serve(dir.path(), "synced");
    let admin_key = venue.admin_key();
    let admin = ["--admin-key", &*admin_key];
    json(&venue, &admin, &["currency", "BTC", "--scale", "8"]);
    json(&venue, &admin, &["currency", "USD", "--scale", "8", "--audit-reason", "opening"]);
    json(&venue, &admin, &["member", "staff", "--number", "5"]);
    let listed = ["instrument", "BTC-USD", "--base", "BTC", "--quote", "USD"];
    let scales =
        ["--price-scale", "2", "--quantity-scale", "4", "--tick", "0.01", "--lot", "0.0001"];
    json(&venue, &admin, &[&listed[..], &scales].concat());
    let made = json(&venue, &admin, &["key", "create", "5", "--scopes", "admin"]);
    let (id, secret) = (made["id"].as_str().unwrap(), made["secret"].as_str().unwrap());
    let file = dir.path().join("night-shift.toml");
    std::fs::write(&file, format!("key = {id:?}\nsecret = {secret:?}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let operator = ["--operator-key-file", file.to_str().unwrap()];
    json(&venue, &operator, &["halt", "BTC-USD", "--audit-reason", "ticket 31"]);
    // A refused attempt.
    let url = venue.url();
    let again =
        ["admin", "currency", "USD", "--scale", "8", "--url", &url, "--audit-reason", "twice"];
    assert!(!rialto(&[&again[..], &operator].concat()).status.success());

    let before = json(&venue, &operator, &["audit"]);
    let entries = before["entries"].as_array().unwrap();
    let told: Vec<_> = (entries.iter())
        .map(|it| {
            [&it["by"], &it["command"], &it["outcome"], &it["reason"]]
                .map(|it| it.as_str().unwrap_or("-").to_owned())
        })
        .collect();
    assert_eq!(
        told,
        [
            ["admin", "create_currency", "done", "-"],
            ["admin", "create_currency", "done", "opening"],
            ["admin", "create_member", "done", "-"],
            ["admin", "create_instrument", "done", "-"],
            [id, "set_instrument_state", "done", "ticket 31"],
            [id, "create_currency", "refused", "twice"],
        ]
    );
    assert_eq!(before["more"], false);

    venue.kill();
    let venue = Running::serve(dir.path(), "synced");
    assert_eq!(json(&venue, &admin, &["audit"])["entries"], before["entries"]);
    let shown = run(&venue, &admin, &["audit", "--limit", "5"], &[]);
    let last = shown.lines().nth(5).unwrap();
    for part in [id, "set_instrument_state", "done", "BTC-USD halted", "ticket 31"] {
        assert!(last.contains(part), "{shown}");
    }
    let next = before["entries"][5]["seq"].as_str().unwrap();
    let page = json(&venue, &admin, &["audit", "--from-seq", next]);
    assert_eq!(page["entries"], serde_json::json!([before["entries"][5]]));
    // A reason for what is not in the trail is refused before it is sent.
    let url = venue.url();
    let snapshot =
        ["admin", "snapshot", "--audit-reason", "x", "--url", &url, "--admin-key", &admin_key];
    let refused = rialto(&snapshot);
    assert!(text(&refused.stderr).contains("takes no reason"), "{}", text(&refused.stderr));

    // The tool for stopped venues shows them, too.
    drop(venue);
    let data = dir.path().join("data");
    let journal = rialto(&["journal", data.to_str().unwrap(), "--json"]);
    let journal = text(&journal.stdout);
    assert!(
        journal.contains(r#""attribution":{"by":"#) && journal.contains("ticket 31"),
        "{journal}"
    );
}
