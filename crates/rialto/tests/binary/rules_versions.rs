//! A running venue changes to later rules versions.

use crate::asking::{Client, Credentials, secret};
use crate::running::{PATIENCE, Running, configure, rialto, text};
use rialto_disk::RealDisk;
use rialto_engine::{Engine, EngineConfig};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Rewrites the journal as an old binary left it whose newest rules had this version. The keys stay.
fn begin_with_rules(data: &Path, rules_version: u32) {
    for part in ["journal", "events", "snapshots"] {
        std::fs::remove_dir_all(data.join(part)).unwrap();
    }
    let (data_dir, segment_bytes) = (data.to_owned(), 4 << 20);
    let config = EngineConfig { data_dir, segment_bytes, rules_version, ..EngineConfig::default() };
    let (engine, _) = Engine::start(config, Arc::new(RealDisk::new())).unwrap();
    engine.shutdown(PATIENCE);
}

fn admin(running: &Running, key: &str, arguments: &[&str]) -> std::process::Output {
    let url = running.url();
    let mut command = crate::running::command(&[&["admin"], arguments, &["--url", &url]].concat());
    command.env("RIALTO_ADMIN_KEY", key).output().unwrap()
}

#[test]
fn a_venue_is_switched_to_later_rules_while_it_runs() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = Running::serve(dir.path(), "synced");
    let key = running.admin_key();
    running.terminate();
    let data = dir.path().join("data");
    begin_with_rules(&data, 1);

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

#[test]
fn calendars_are_followed_from_version_4_on() {
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), "[[calendars]]\nname = \"equities\"\nfile = \"equities.toml\"\n");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/calendars/equities.toml");
    // Its holidays are not of interest here, and may be past.
    let text_of = std::fs::read_to_string(file).unwrap();
    let end = text_of.find("[[half_day]]").unwrap();
    std::fs::write(dir.path().join("equities.toml"), &text_of[..end]).unwrap();
    let calendars = |running: &Running| {
        let shown = rialto(&["calendars", "--url", &running.url()]);
        assert!(shown.status.success(), "{}", text(&shown.stderr));
        text(&shown.stdout)
    };
    let mut running = Running::serve(dir.path(), "synced");
    let key = running.admin_key();
    assert!(calendars(&running).contains("equities"));
    running.terminate();
    begin_with_rules(&dir.path().join("data"), 3);

    let mut running = Running::serve(dir.path(), "synced");
    running.heard("no calendar is followed: the rules in force know none");
    assert_eq!(calendars(&running), "no calendars\n");
    let switched = admin(&running, &key, &["rules-version", "4"]);
    assert!(switched.status.success(), "{}", text(&switched.stderr));
    running.terminate();
    let mut running = Running::serve(dir.path(), "synced");
    assert!(calendars(&running).contains("equities"));
    running.terminate();
}

/// The answer of a command about a stopped venue.
fn told(arguments: &[&str]) -> Value {
    let output = rialto(arguments);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Sets up a market with two members, and returns a client of each.
fn create_market(url: &str, key: &str) -> Vec<Client> {
    let operator = Client::new(url, Credentials::Admin(key.to_owned()));
    let post = |what: &str, body: Value| {
        operator.call("POST", &format!("/v1/admin/{what}"), Some(&body)).expect(what)
    };
    post("currencies", json!({ "code": "BTC", "scale": 8 }));
    post("currencies", json!({ "code": "USD", "scale": 8 }));
    let instrument = json!({
        "symbol": "BTC-USD", "base": "BTC", "quote": "USD", "price_scale": 2, "quantity_scale": 6,
        "tick": "1", "lot": "0.000001",
    });
    post("instruments", instrument);
    let member = |number: u32| {
        post("members", json!({ "member": number, "name": format!("member-{number}") }));
        post("accounts", json!({ "account": number, "member": number, "name": "main" }));
        for currency in ["BTC", "USD"] {
            let deposit = json!({
                "account": number, "currency": currency, "amount": "1000000", "reference": currency,
            });
            post("deposits", deposit);
        }
        let key = post("keys", json!({ "member": number, "scopes": ["read", "trade"] }));
        let secret = secret(key["secret"].as_str().unwrap()).unwrap();
        Client::new(url, Credentials::Key { id: key["id"].as_str().unwrap().to_owned(), secret })
    };
    (1..=2).map(member).collect()
}

/// Enters an order of a member, and returns its sequence.
fn enter(members: &[Client], account: usize, side: &str, price: u64) -> u64 {
    let order = json!({
        "account": account, "instrument": "BTC-USD", "side": side, "price": price.to_string(),
        "quantity": "1",
    });
    let entered = members[account - 1].call("POST", "/v1/orders", Some(&order)).unwrap();
    entered["seq"].as_str().unwrap().parse().unwrap()
}

#[test]
fn a_venue_that_began_without_auctions_is_verified_and_shown_with_one_behind_it() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let path = data.to_str().unwrap();
    let mut running = Running::serve(dir.path(), "synced");
    let key = running.admin_key();
    running.terminate();
    begin_with_rules(&data, 3);

    let mut running = Running::serve(dir.path(), "synced");
    let members = create_market(&running.url(), &key);
    let state = |name: &str| admin(&running, &key, &["state", "BTC-USD", name]);
    let refused = state("call");
    assert!(text(&refused.stderr).contains("state_unknown"), "{}", text(&refused.stderr));
    // Orders that rested under the old rules take part in the auction.
    enter(&members, 1, "buy", 90);
    let under_third = enter(&members, 2, "sell", 110);
    for arguments in [&["rules-version", "4"][..], &["state", "BTC-USD", "call"]] {
        let done = admin(&running, &key, arguments);
        assert!(done.status.success(), "{}", text(&done.stderr));
    }
    enter(&members, 1, "buy", 110);
    enter(&members, 1, "buy", 105);
    let in_call = enter(&members, 2, "sell", 95);
    let opened = state("open");
    assert!(opened.status.success(), "{}", text(&opened.stderr));
    running.kill();

    let check = || {
        let verified = told(&["verify", path, "--json"]);
        assert_eq!(verified["ok"], true, "{verified}");
        let at = |seq: u64| {
            let seq = seq.to_string();
            let book = told(&["at", "--data", path, "--json", "--seq", &seq, "book", "BTC-USD"]);
            let prices = |side: &str| -> Vec<String> {
                let levels = book[side].as_array().unwrap().iter();
                levels.map(|level| level["price"].as_str().unwrap().to_owned()).collect()
            };
            (book["state"].as_str().unwrap().to_owned(), prices("bids"), prices("asks"))
        };
        let is = |state: &str, bids: &[&str], asks: &[&str]| {
            let prices = |prices: &[&str]| prices.iter().map(|it| format!("{it}.00")).collect();
            (state.to_owned(), prices(bids), prices(asks))
        };
        assert_eq!(at(under_third), is("open", &["90"], &["110"]));
        assert_eq!(at(in_call), is("call", &["110", "105", "90"], &["95", "110"]));
        // The best buy and the best sell traded with each other.
        assert_eq!(at(in_call + 1), is("open", &["105", "90"], &["110"]));
    };
    check();
    let mut running = Running::serve(dir.path(), "synced");
    running.terminate();
    check();
    // From the state before the change alone.
    let files = std::fs::read_dir(data.join("snapshots")).unwrap();
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 2, "the start, the change of the rules, the end: {files:?}");
    files.drain(..1);
    files.iter().for_each(|file| std::fs::remove_file(file).unwrap());
    check();
}
