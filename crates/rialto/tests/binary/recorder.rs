//! The recorder of a venue, from an order to the later inspection of its fill, in the real binary.

use crate::pty::Terminal;
use crate::running::{PATIENCE, Running, rialto, text};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tempfile::TempDir;

/// A venue that records everything, with a maker and a taker.
struct Stage {
    venue: Running,
    dir: TempDir,
    admin_key: String,
    key_files: Vec<String>,
    /// Secrets that must not be found anywhere.
    secrets: Vec<String>,
}

impl Stage {
    fn new(recorder: &str) -> Stage {
        let dir = tempfile::tempdir().unwrap();
        let config = format!(
            "[venue]\ndata_dir = {:?}\n[engine]\nsegment_bytes = 4_194_304\n\
             io_stalled_after_ms = 30_000\n\
             [gateway]\nlisten = \"127.0.0.1:0\"\n[recorder]\n{recorder}\n",
            dir.path().join("data"),
        );
        fs::write(dir.path().join("rialto.toml"), config).unwrap();
        let venue = Running::serve(dir.path(), "buffered");
        let admin_key = venue.admin_key();
        let secrets = vec![admin_key.clone()];
        let mut stage = Stage { venue, dir, admin_key, key_files: Vec::new(), secrets };
        stage.admin(&["currency", "BTC", "--scale", "8"]);
        stage.admin(&["currency", "USD", "--scale", "8"]);
        let scales =
            ["--price-scale", "2", "--quantity-scale", "4", "--tick", "0.5", "--lot", "0.0001"];
        let instrument = ["instrument", "BTC-USD", "--base", "BTC", "--quote", "USD"];
        stage.admin(&[&instrument[..], &scales[..]].concat());
        for (member, amount, currency) in [("maker", "2", "BTC"), ("taker", "50000", "USD")] {
            let number = stage.admin(&["member", member])["member"].to_string();
            let account = stage.admin(&["account", &number, "main"])["account"].to_string();
            stage.admin(&["deposit", &account, amount, currency, "--reference", member]);
            let made = stage.admin(&["key", "create", &number, "--scopes", "read,trade,transfer"]);
            let file = stage.dir.path().join(format!("{member}.toml"));
            let (id, secret) = (&made["id"], &made["secret"]);
            let url = stage.venue.url();
            let content =
                format!("url = \"{url}\"\nkey = {id}\nsecret = {secret}\naccount = {account}\n");
            fs::write(&file, content).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            stage.key_files.push(file.to_str().unwrap().to_owned());
            stage.secrets.push(secret.as_str().unwrap().to_owned());
        }
        stage
    }

    fn admin(&self, arguments: &[&str]) -> Value {
        let url = self.venue.url();
        let operator = ["--json", "--url", &url, "--admin-key", &self.admin_key];
        json(&[&["admin"], arguments, &operator[..]].concat())
    }

    fn order(&self, member: usize, arguments: &[&str]) -> std::process::Output {
        let with = ["--json", "--key-file", &self.key_files[member]];
        rialto(&[&["order"], arguments, &with[..]].concat())
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    fn flow(&self, arguments: &[&str]) -> String {
        let data = self.data();
        let output = rialto(&[&["flow"], arguments, &["--data", data.to_str().unwrap()]].concat());
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    fn list(&self, arguments: &[&str]) -> Vec<Value> {
        let listed = self.flow(&[&["ls", "--json"], arguments].concat());
        listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Waits until this many orders are stored and returns their records.
    fn orders(&self, count: usize) -> Vec<Value> {
        self.orders_that(count, |_| true)
    }

    /// The same for accepted orders: a client retries at a restarted venue that accepts no earlier
    /// timestamps, and the refusals are recorded too.
    fn entered(&self, count: usize) -> Vec<Value> {
        self.orders_that(count, |record| record["ending"] == "succeeded")
    }

    fn orders_that(&self, count: usize, is_wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let end = Instant::now() + PATIENCE;
        loop {
            let mut listed = self.list(&["--name", "POST /v1/orders"]);
            listed.retain(&is_wanted);
            if listed.len() >= count {
                return listed;
            }
            assert!(Instant::now() < end, "{} of {count} orders are stored", listed.len());
        }
    }
}

fn json(arguments: &[&str]) -> Value {
    let output = rialto(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("--json prints JSON")
}

fn id(record: &Value) -> &str {
    record["id"].as_str().unwrap()
}

/// Every file below a directory.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn the_path_of_an_order_is_recorded_and_can_be_replayed_with_the_venue_around_it() {
    let mut stage = Stage::new("per_second = 1_000_000");
    let sold = stage.order(0, &["sell", "0.5", "BTC-USD", "--price", "30000"]);
    assert!(sold.status.success(), "{}", text(&sold.stderr));
    let bought = stage.order(1, &["buy", "0.2", "BTC-USD", "--price", "30000"]);
    assert!(bought.status.success(), "{}", text(&bought.stderr));
    let refused = stage.order(1, &["buy", "100", "BTC-USD", "--price", "30000"]);
    assert_eq!(refused.status.code(), Some(6));

    // While the venue runs.
    let orders = stage.orders(3);
    let (buy, too_much) = (&orders[1], &orders[2]);
    let shown = stage.flow(&["show", id(buy)]);
    println!("{shown}");
    for part in ["POST /v1/orders #", "authenticate  +", "decode  +", "place_order #", "engine  +"]
    {
        assert!(shown.contains(part), "no {part:?} in\n{shown}");
    }
    assert!(shown.contains("side = Buy") && shown.contains("status = 201"), "{shown}");
    let by_request = stage.flow(&["show", buy["request_id"].as_str().unwrap()]);
    assert_eq!(by_request, shown);

    let replayed = stage.flow(&["replay", id(buy), "--plain"]);
    println!("{replayed}");
    for part in [
        "fill: 0.2000 at 30000.00",
        "which has 0.3000 left",
        "account 2, BTC: - → 0.20000000 available",
        "account 2, USD: 50000.00000000 available, 0.00000000 reserved → 44000.00000000 available",
        "BTC-USD, best ask: 30000.00 × 0.5000 → 30000.00 × 0.3000",
        "POST /v1/orders #",
    ] {
        assert!(replayed.contains(part), "no {part:?} in\n{replayed}");
    }

    let failed = stage.list(&["--failed"]);
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0]["id"], too_much["id"]);
    assert_eq!(failed[0]["code"], "insufficient_balance");
    let replayed_refusal = stage.flow(&["replay", id(too_much), "--plain"]);
    assert!(replayed_refusal.contains("refused: insufficient balance"), "{replayed_refusal}");

    // After its end.
    stage.venue.terminate();
    assert_eq!(stage.flow(&["replay", id(buy)]), replayed, "where there is no terminal");
    let tree: Value = serde_json::from_str(&stage.flow(&["show", id(buy), "--json"])).unwrap();
    assert_eq!(tree["asked"][0]["name"], "place_order");
    assert_eq!(tree["asked"][0]["request_id"], tree["request_id"]);
    assert!(stage.list(&["--since", "2020-01-01T00:00:00Z"]).len() >= 3);
    assert_eq!(stage.list(&["--since", "2100-01-01T00:00:00Z"]), Vec::<Value>::new());
    assert_eq!(stage.list(&["--limit", "1"]).len(), 1);

    let data = stage.data();
    let nothing = rialto(&["flow", "show", "999999", "--data", data.to_str().unwrap()]);
    assert_eq!(nothing.status.code(), Some(2), "{}", text(&nothing.stderr));
    assert!(text(&nothing.stderr).contains("no record 999999"));
}

/// In a terminal, with the keys of a user.
#[test]
fn a_person_at_a_terminal_steps_through_a_record_forward_and_back() {
    let mut stage = Stage::new("per_second = 1_000_000");
    assert!(stage.order(0, &["sell", "0.5", "BTC-USD", "--price", "30000"]).status.success());
    assert!(stage.order(1, &["buy", "0.2", "BTC-USD", "--price", "30000"]).status.success());
    stage.venue.terminate();
    let orders = stage.entered(2);
    let data = stage.data();
    let look = ["flow", "replay", id(&orders[1]), "--data", data.to_str().unwrap()];
    let mut terminal = Terminal::run(60, &look);
    // The current entry is marked; the last line explains the keys.
    terminal.wait_for(&["▸", "+0ns", "POST /v1/orders begins"]);
    terminal.wait_for(&["q: leave"]);
    let (forward, back) = ("\x1b[C", "\x1b[D");
    terminal.press(forward);
    terminal.wait_for(&["▸", "authenticate"]);
    terminal.press("n");
    terminal.wait_for(&["▸", "read"]);
    terminal.wait_for(&["body_bytes: "]);
    terminal.press(back);
    terminal.wait_for(&["▸", "authenticate"]);
    terminal.press("9");
    terminal.wait_for(&["▸", "POST /v1/orders ends: ok"]);
    // The order traded at once: the engine's answer says what, and nothing is looked up.
    for step in ["answer", "place_order ends: ok", "answered"] {
        terminal.press("p");
        terminal.wait_for(&["▸", step]);
    }
    // The venue's state around the command.
    terminal.wait_for(&["account 2, USD: ", "→ 44000.00000000 available"]);
    terminal.wait_for(&["fill: 0.2000 at 30000.00"]);
    terminal.wait_for(&["status = Filled"]);
    terminal.press("0");
    terminal.wait_for(&["▸", "POST /v1/orders begins"]);
    // The state of the other entry is gone.
    terminal.wait_for_none(&["fill: "]);
    terminal.press("q");
    let (status, is_back) = terminal.wait_for_end();
    assert!(status.success() && is_back, "{status}, terminal as before: {is_back}");

    // A terminal that is too low for all lines, left by Control-C.
    let mut terminal = Terminal::run(24, &look);
    terminal.press("9ppp");
    terminal.wait_for(&["▸", "answered"]);
    terminal.wait_for(&["more lines: use a taller terminal, or --plain"]);
    terminal.wait_for(&["q: leave"]);
    terminal.press("\x03");
    let (status, is_back) = terminal.wait_for_end();
    assert!(status.success() && is_back, "{status}, terminal as before: {is_back}");
}

#[test]
fn a_withdrawal_is_recorded_as_the_run_of_its_flow_and_as_what_was_asked() {
    let mut stage = Stage::new("per_second = 1_000_000");
    let key_file = stage.key_files[1].clone();
    let asked =
        json(&["withdraw", "250", "USD", "--reference", "rent", "--json", "--key-file", &key_file]);
    assert_eq!(asked["withdrawal"]["state"], "pending");
    stage.admin(&["withdrawals", "approve", "2-rent", "--receipt", "bank-4711"]);
    stage.venue.terminate();

    let runs = stage.list(&["--name", "withdrawal", "--all"]);
    let names: Vec<&str> = runs.iter().map(|record| record["name"].as_str().unwrap()).collect();
    println!("{names:?}");
    for name in [
        "withdrawal",
        "request_withdrawal",
        "hold_withdrawal",
        "approve_withdrawal",
        "settle_withdrawal",
    ] {
        assert_eq!(names.iter().filter(|other| **other == name).count(), 1, "{name} in {names:?}");
    }
    let run = runs.iter().find(|record| record["name"] == "withdrawal").unwrap();
    assert_eq!((&run["flow"], &run["ending"]), (&"w-2-rent".into(), &"succeeded".into()));

    let shown = stage.flow(&["show", "w-2-rent"]);
    println!("{shown}");
    assert_eq!(shown, stage.flow(&["show", id(run)]));
    for part in ["hold  +", "decision  +", "settle  +", "kind = wait"] {
        assert!(shown.contains(part), "no {part:?} in\n{shown}");
    }

    let approved = runs.iter().find(|record| record["name"] == "approve_withdrawal").unwrap();
    let replayed = stage.flow(&["replay", approved["request_id"].as_str().unwrap(), "--plain"]);
    println!("{replayed}");
    for part in [
        "POST /v1/admin/withdrawals/{id}/approve #",
        "reference: \"rent\"",
        "state: Settled",
        "account 2, USD: 49750.00000000 available, 250.00000000 reserved → \
         49750.00000000 available, 0.00000000 reserved",
    ] {
        assert!(replayed.contains(part), "no {part:?} in\n{replayed}");
    }
    assert!(!replayed.contains("bank-4711"), "what is paid outside is not recorded");
}

#[test]
fn a_withdrawal_that_outlives_the_venue_is_recorded_in_each_life() {
    let mut stage = Stage::new("per_second = 1_000_000");
    let key_file = stage.key_files[1].clone();
    let withdraw = ["withdraw", "250", "USD", "--reference", "rent", "--key-file", &key_file];
    let asked = rialto(&withdraw);
    assert!(asked.status.success(), "{}", text(&asked.stderr));
    stage.venue.terminate();
    let runs = stage.list(&["--name", "withdrawal"]);
    let first = runs.iter().find(|record| record["flow"] == "w-2-rent").unwrap();
    assert_eq!(first["ending"], "abandoned");

    stage.venue = Running::serve(stage.dir.path(), "buffered");
    stage.admin(&["withdrawals", "reject", "2-rent", "--reason", "no such bank"]);
    stage.venue.terminate();
    let newest: Value = serde_json::from_str(&stage.flow(&["show", "w-2-rent", "--json"])).unwrap();
    assert_ne!(newest["id"], first["id"]);
    assert_eq!(newest["ending"], "succeeded");
    let variables = newest["variables"].as_array().unwrap();
    assert!(variables.contains(&serde_json::json!({"name": "resumed", "value": true})));
    let steps: Vec<&Value> =
        newest["steps"].as_array().unwrap().iter().map(|step| &step["name"]).collect();
    assert_eq!(steps, ["release"], "what began before is not told again");
}

#[test]
fn no_secret_is_in_any_record() {
    let mut stage = Stage::new("per_second = 1_000_000");
    assert!(stage.order(0, &["sell", "0.5", "BTC-USD", "--price", "30000"]).status.success());
    let all = stage.orders(1);
    let mut seen = stage.flow(&["ls", "--all"]);
    seen.push_str(&stage.flow(&["show", id(&all[0])]));
    seen.push_str(&stage.flow(&["replay", id(&all[0])]));
    let keys = stage.list(&["--name", "keys"]);
    assert_eq!(keys.len(), 2, "making a key is recorded too: {keys:?}");
    for key in &keys {
        seen.push_str(&stage.flow(&["show", id(key), "--json"]));
    }
    stage.venue.terminate();
    for file in files(&stage.data().join("recordings")) {
        seen.push_str(&String::from_utf8_lossy(&fs::read(file).unwrap()));
    }
    assert!(seen.contains("place_order"));
    for secret in &stage.secrets {
        // Even a part of one would be a failure.
        for part in [secret.as_str(), &secret[..secret.len() / 2], &secret[secret.len() / 2..]] {
            assert!(!seen.contains(part), "a secret was recorded");
        }
    }
    let signature = "signature";
    assert!(!seen.to_lowercase().contains(signature), "headers were recorded");
}

#[test]
fn records_survive_a_killed_venue_and_the_next_one_appends() {
    let mut stage = Stage::new("per_second = 1_000_000");
    assert!(stage.order(0, &["sell", "0.5", "BTC-USD", "--price", "30000"]).status.success());
    let before = stage.entered(1);
    stage.venue.kill();
    assert_eq!(stage.entered(1), before);
    stage.venue = Running::serve(stage.dir.path(), "buffered");
    // The key files have the venue's old port.
    let url = stage.venue.url();
    let again = ["buy", "0.5", "BTC-USD", "--price", "30000", "--url", &url];
    let bought = stage.order(1, &again);
    assert!(bought.status.success(), "{}", text(&bought.stderr));
    let after = stage.entered(2);
    assert_eq!(after[0], before[0]);
    let number = |record: &Value| id(record).parse::<u64>().unwrap();
    assert!(number(&after[1]) > number(&after[0]));
    let replayed = stage.flow(&["replay", id(&after[1])]);
    assert!(replayed.contains("fill: 0.5000 at 30000.00"), "{replayed}");
}

#[test]
fn a_recorder_that_is_off_leaves_nothing_and_one_of_failures_only_these() {
    let mut stage = Stage::new("per_second = 0");
    stage.venue.terminate();
    assert_eq!(stage.flow(&["ls"]), "no records\n");
    assert!(!stage.data().join("recordings").exists());

    let mut stage = Stage::new("only_failures = true");
    assert_eq!(stage.order(1, &["buy", "9", "BTC-USD", "--price", "30000"]).status.code(), Some(6));
    stage.venue.terminate();
    let all = stage.list(&["--all"]);
    let names: Vec<&str> = all.iter().map(|record| record["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["POST /v1/orders", "place_order"]);
}
