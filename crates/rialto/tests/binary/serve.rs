//! `rialto serve` and its clients, with and without failures.

use crate::running::{Running, rialto, text};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn json(arguments: &[&str]) -> Value {
    let output = rialto(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("--json prints JSON")
}

/// Runs an operator's command and returns the venue's answer.
fn admin(venue: &Running, key: &str, arguments: &[&str]) -> Value {
    let url = venue.url();
    let mut all = vec!["admin"];
    all.extend(arguments);
    all.extend(["--json", "--url", &url, "--admin-key", key]);
    json(&all)
}

/// A market with one funded member; returns the member's key file.
fn create_market(venue: &Running, key: &str, dir: &Path) -> String {
    let admin = |arguments: &[&str]| admin(venue, key, arguments);
    admin(&["currency", "BTC", "--scale", "8"]);
    admin(&["currency", "USD", "--scale", "8"]);
    let scales =
        ["--price-scale", "2", "--quantity-scale", "6", "--tick", "0.5", "--lot", "0.0001"];
    let mut instrument = vec!["instrument", "BTC-USD", "--base", "BTC", "--quote", "USD"];
    instrument.extend(scales);
    assert_eq!(admin(&instrument)["instrument"], 1);
    assert_eq!(admin(&["member", "first", "--number", "5"])["member"], 5);
    assert_eq!(admin(&["account", "5", "main"])["account"], 1);
    for _ in 0..2 {
        admin(&["deposit", "1", "1000.5", "USD", "--reference", "wire-1"]);
    }
    let made = admin(&["key", "create", "5", "--scopes", "read,trade"]);
    let file = dir.join("member.toml");
    let content = format!(
        "url = \"{}\"\nkey = {}\nsecret = {}\naccount = 1\n",
        venue.url(),
        made["id"],
        made["secret"]
    );
    fs::write(&file, content).unwrap();
    set_mode(&file, 0o600);
    file.to_str().unwrap().to_string()
}

fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_venue_is_set_up_traded_on_and_operated_from_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let mut venue = Running::serve(dir.path(), "synced");
    let admin_key = venue.admin_key();
    let key_file = create_market(&venue, &admin_key, dir.path());
    let member = |arguments: &[&str]| {
        let mut all = arguments.to_vec();
        all.extend(["--json", "--key-file", &key_file]);
        json(&all)
    };

    let balances = member(&["balances"]);
    assert_eq!(balances["balances"][0]["available"], "1000.50000000", "the deposit counts once");
    let order =
        member(&["order", "buy", "0.01", "BTC-USD", "--price", "30000", "--client-id", "a"]);
    assert_eq!(
        (order["status"].as_str(), order["filled"].as_str()),
        (Some("open"), Some("0.000000"))
    );
    let amended = member(&["amend", "client:a", "--quantity", "0.005"]);
    assert_eq!(amended["remaining"], "0.005000");
    assert_eq!(member(&["orders"])["orders"][0]["client_order_id"], "a");
    let book = json(&["book", "BTC-USD", "--json", "--url", &venue.url()]);
    assert_eq!(book["bids"][0][0], "30000.00");
    assert_eq!(member(&["cancel", "client:a"])["status"], "cancelled");
    assert_eq!(member(&["orders", "--ended"])["orders"][0]["status"], "cancelled");

    admin(&venue, &admin_key, &["halt", "BTC-USD"]);
    let refused =
        rialto(&["order", "buy", "0.01", "BTC-USD", "--price", "30000", "--key-file", &key_file]);
    assert_eq!(refused.status.code(), Some(6));
    assert!(text(&refused.stderr).contains("(instrument_halted)"), "{}", text(&refused.stderr));
    admin(&venue, &admin_key, &["resume", "BTC-USD"]);

    let url = venue.url();
    let operator = ["--url", &url, "--admin-key", &admin_key, "--json"];
    let snapshot = json(&[&["snapshot"], &operator[..]].concat());
    assert!(snapshot["seq"].is_string());
    let backup = json(&[&["backup", "monday"], &operator[..]].concat());
    assert_eq!(backup["directory"], dir.path().join("backups/monday").to_str().unwrap());
    let keys = admin(&venue, &admin_key, &["key", "ls"]);
    let id = keys["keys"][0]["id"].as_str().unwrap().to_string();
    admin(&venue, &admin_key, &["key", "revoke", &id]);
    let refused = rialto(&["balances", "--key-file", &key_file]);
    assert_eq!(refused.status.code(), Some(6), "{}", text(&refused.stdout));

    venue.terminate();
    let unreachable = rialto(&["instruments", "--url", &url]);
    assert_eq!(unreachable.status.code(), Some(7), "{}", text(&unreachable.stderr));
}

#[test]
fn orders_of_every_kind_are_entered_from_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let venue = Running::serve(dir.path(), "buffered");
    let admin_key = venue.admin_key();
    let key_file = create_market(&venue, &admin_key, dir.path());
    admin(&venue, &admin_key, &["deposit", "1", "1", "BTC", "--reference", "coins"]);
    let known = ["--self-trade", "allow", "--json", "--key-file", &key_file];
    let order = |arguments: &[&'static str]| [&["order"], arguments, &known[..]].concat();
    for price in ["30000", "30001"] {
        json(&order(&["sell", "0.001", "BTC-USD", "--price", price]));
    }
    let placed = json(&order(&["buy", "0.002", "BTC-USD", "--kind", "best_price", "--tif", "gtc"]));
    let of = |placed: &Value, names: [&str; 3]| names.map(|name| placed[name].to_string());
    let shown = of(&placed, ["status", "price", "remaining"]);
    assert_eq!(shown, ["\"partially_filled\"", "\"30000.00\"", "\"0.001000\""]);
    let placed = json(&order(&["buy", "0.002", "BTC-USD", "--kind", "five_levels"]));
    let shown = of(&placed, ["status", "price", "filled"]);
    assert_eq!(shown, ["\"cancelled\"", "null", "\"0.001000\""]);
    json(&order(&["sell", "0.001", "BTC-USD", "--price", "30100"]));
    let placed = json(&order(&["buy", "0.002", "BTC-USD", "--market", "--tif", "day"]));
    let shown = of(&placed, ["status", "price", "remaining"]);
    assert_eq!(shown, ["\"partially_filled\"", "\"31605.00\"", "\"0.001000\""]);

    // Of the buys only that of the day is within the limit, and no sell is left.
    let least = ["sell", "0.002", "BTC-USD", "--price", "31000", "--minimum", "0.0015"];
    let refused = rialto(&order(&least));
    assert_eq!(refused.status.code(), Some(6));
    assert!(text(&refused.stderr).contains("(unfillable)"), "{}", text(&refused.stderr));
    let refused = rialto(&order(&["buy", "0.001", "BTC-USD", "--kind", "best_price"]));
    assert_eq!(refused.status.code(), Some(6));
    assert!(text(&refused.stderr).contains("(no_liquidity)"), "{}", text(&refused.stderr));
    for wrong in [&["--kind", "best_price", "--market"][..], &["--kind", "stop"], &[]] {
        let arguments = [&["buy", "0.001", "BTC-USD"], wrong].concat();
        let refused = rialto(&order(&arguments));
        assert_eq!(refused.status.code(), Some(2), "{wrong:?}: {}", text(&refused.stderr));
    }
}

#[test]
fn a_backup_opens_as_a_venue() {
    let dir = tempfile::tempdir().unwrap();
    let mut venue = Running::serve(dir.path(), "buffered");
    let admin_key = venue.admin_key();
    create_market(&venue, &admin_key, dir.path());
    let backup = admin(&venue, &admin_key, &["backup", "copy"]);
    venue.terminate();
    let copy = backup["directory"].as_str().unwrap();
    assert!(rialto(&["admin-key", "--new", copy]).status.success());
    let mut second = Running::start(&["serve", "--data", copy, "--listen", "127.0.0.1:0"]);
    second.wait_for("listening on");
    let instruments = json(&["instruments", "--json", "--url", &second.url()]);
    assert_eq!(instruments["instruments"][0]["symbol"], "BTC-USD");
    second.terminate();
}

#[test]
fn a_bad_configuration_is_refused_with_file_and_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rialto.toml");
    fs::write(&file, "[engine]\nlevel = \"synced\"\nsnapshot_evry = 5\n").unwrap();
    let path = file.to_str().unwrap();
    for arguments in [["serve", "--config"], ["config", "--check"], ["config", "--show"]] {
        let output = rialto(&[arguments[0], arguments[1], path]);
        assert_eq!(output.status.code(), Some(2));
        let told = text(&output.stderr);
        assert!(told.contains(&format!("{path}:3:1: there is no setting snapshot_evry")), "{told}");
    }
    assert_eq!(rialto(&["serve", "--config", "/nowhere"]).status.code(), Some(2));
}

#[test]
fn the_printed_defaults_are_a_file_that_passes() {
    let dir = tempfile::tempdir().unwrap();
    let printed = rialto(&["config", "--default"]).stdout;
    let file = dir.path().join("rialto.toml");
    fs::write(&file, &printed).unwrap();
    let path = file.to_str().unwrap();
    assert!(rialto(&["config", "--check", path]).status.success());
    assert_eq!(text(&rialto(&["config", "--show", path]).stdout), text(&printed));
}

#[test]
fn two_processes_on_one_data_directory_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut venue = Running::serve(dir.path(), "buffered");
    let data = dir.path().join("data");
    let data = data.to_str().unwrap();
    let second = rialto(&["serve", "--data", data, "--listen", "127.0.0.1:0"]);
    assert_eq!(second.status.code(), Some(3));
    // A later check would refuse it too, after the damage.
    let told = text(&second.stderr);
    assert!(told.contains(&format!("{data} is in use by process ")), "{told}");
    let reset = rialto(&["admin-key", "--reset", data]);
    assert_eq!(reset.status.code(), Some(1), "{}", text(&reset.stdout));
    // The first one was not affected.
    let answer = json(&["instruments", "--json", "--url", &venue.url()]);
    assert!(answer["instruments"].is_array());
    venue.terminate();
}

#[test]
fn a_taken_port_ends_the_start_and_harms_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut venue = Running::serve(dir.path(), "buffered");
    let address = venue.url().replace("http://", "");
    let other = dir.path().join("other");
    let other = other.to_str().unwrap();
    let second = rialto(&["serve", "--data", other, "--listen", &address]);
    assert_eq!(second.status.code(), Some(3));
    assert!(text(&second.stderr).contains(&address), "{}", text(&second.stderr));
    venue.terminate();
    let mut third = Running::start(&["serve", "--data", other, "--listen", "127.0.0.1:0"]);
    third.wait_for("listening on");
    third.terminate();
}

#[test]
fn a_lost_admin_key_is_replaced_offline() {
    let dir = tempfile::tempdir().unwrap();
    let mut venue = Running::serve(dir.path(), "buffered");
    let old = venue.admin_key();
    venue.terminate();
    let data = dir.path().join("data");
    let reset = rialto(&["admin-key", "--reset", data.to_str().unwrap()]);
    assert!(reset.status.success(), "{}", text(&reset.stderr));
    let told = text(&reset.stdout);
    let new = told.split_whitespace().nth(2).unwrap();
    let mut venue = Running::serve(dir.path(), "buffered");
    admin(&venue, new, &["key", "list"]);
    let refused = rialto(&["admin", "key", "list", "--url", &venue.url(), "--admin-key", &old]);
    assert_eq!(refused.status.code(), Some(6));
    venue.terminate();
}

#[test]
fn errors_of_the_command_line_name_the_valid_form() {
    for (arguments, told) in [
        (&["order", "buy", "BTC-USD", "--price", "1", "--key", "k", "--secret", "s"][..], "64 hex"),
        (&["order", "buy", "0.1", "BTC-USD", "--price", "1"], "--key-file FILE"),
        (&["backup", "/mnt/backup", "--admin-key", "k"], "gateway.backup_dir"),
        (&["admin", "halt", "BTC-USD"], "RIALTO_ADMIN_KEY"),
        (&["admin-key", "--reset", "/nowhere"], "not the data directory"),
        (&["bench", "no-such-suite", "--data", "/tmp"], "no-such-suite"),
        (&["serve", "--listen", "here"], "--listen"),
        (&["demo", "--rate", "fast"], "--rate"),
    ] {
        let output = rialto(arguments);
        assert!(!output.status.success());
        assert!(text(&output.stderr).contains(told), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn completions_and_version_are_printed() {
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&rialto(&["completions", shell]).stdout);
        assert!(script.contains("rialto") && script.contains("balances"), "{shell}");
    }
    let version = text(&rialto(&["--version"]).stdout);
    assert!(version.starts_with(concat!("rialto ", env!("CARGO_PKG_VERSION"))), "{version}");
}
