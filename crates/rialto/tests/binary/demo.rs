//! `rialto demo` for a first-time user.

use crate::asking::{Client, Credentials, secret};
use crate::pty::Terminal;
use crate::running::{PATIENCE, Running, command, rialto, text};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

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
    // The makers begin when the lines have been printed.
    let end = Instant::now() + PATIENCE;
    loop {
        let book = shell(first.line(" book BTC-USD"));
        if book.contains("ask ") && book.contains("bid ") {
            break;
        }
        assert!(Instant::now() < end, "{book}");
    }

    // The simulated members trade in all three markets, and the view shows it.
    let line = first.wait_for("ETH-BTC 0.0");
    assert!(line.contains("level synced") && line.contains(" orders/s "), "{line}");
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

/// The simulated members, by number: makers, the crowd and takers.
const SIMULATED: [u32; 10] = [11, 12, 13, 21, 22, 23, 24, 31, 32, 33];

/// The member whose account sells through the bids in the price shock.
const SELLER_OF_THE_SHOCK: u32 = 31;

/// A client with a new key of a member.
fn member(url: &str, admin_key: &str, number: u32, scopes: &[&str]) -> Client {
    let operator = Client::new(url, Credentials::Admin(admin_key.to_owned()));
    let key = json!({ "member": number, "scopes": scopes });
    let key = operator.call("POST", "/v1/admin/keys", Some(&key)).unwrap();
    let part = |name: &str| key[name].as_str().unwrap().to_owned();
    let secret = secret(&part("secret")).unwrap();
    Client::new(url, Credentials::Key { id: part("id"), secret })
}

/// The kinds of orders that an order in a list of open ones shows.
fn kinds(order: &Value) -> Vec<&'static str> {
    let is = |field: &str| !order[field].is_null();
    let (is_linked, list) = (is("linked_to"), &order["list"]);
    let is_of_pair = *list == order["order_id"] || *list == order["linked_to"];
    let shows = [
        (is("display_quantity"), "iceberg"),
        (order["trigger"] == "stop" && !is("trail_ppm"), "stop"),
        (order["trigger"] == "take_profit", "take-profit order"),
        (is("trail_ppm"), "trailing stop"),
        (is_linked && is_of_pair, "pair"),
        (is_linked && !is_of_pair, "exits"),
    ];
    shows.into_iter().filter(|(shows, _)| *shows).map(|(_, kind)| kind).collect()
}

#[test]
fn its_members_enter_every_kind_of_order() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("demo");
    let mut running = start(data.to_str().unwrap(), &["--rate", "1000"]);
    let url = running.url();
    let admin_key = running.admin_key();
    let members = SIMULATED.map(|number| member(&url, &admin_key, number, &["read"]));
    let mut missing: BTreeSet<_> =
        ["iceberg", "stop", "take-profit order", "trailing stop", "pair", "exits"].into();
    let end = Instant::now() + PATIENCE;
    while !missing.is_empty() {
        assert!(Instant::now() < end, "no member has entered: {missing:?}");
        for member in &members {
            let answer = member.get("/v1/orders?limit=1000").unwrap();
            for kind in answer["orders"].as_array().unwrap().iter().flat_map(kinds) {
                missing.remove(kind);
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    running.terminate();
}

/// The kind of an accepted order that members use less often, by the command that entered it.
fn rare_kind(line: &Value) -> Option<&'static str> {
    let command = &line["command"];
    let is_accepted = line["events"].as_array()?.iter().any(|event| event["event"] == "accepted");
    let rests = command["time_in_force"] == "gtd";
    let exits = [&command["take_profit"], &command["stop_loss"]].map(|exit| !exit.is_null());
    let trails = !command["stop_loss"]["condition"]["trail"].is_null();
    let of_order = || match command["kind"].as_str()? {
        "best_price" if rests => Some("market-to-limit"),
        "best_price" => Some("best price"),
        "five_levels" if rests => Some("five levels with a rest that stands"),
        "five_levels" => Some("five levels"),
        "market" if rests => Some("market order with a rest that stands"),
        _ => (!command["minimum_quantity"].is_null()).then_some("minimum quantity"),
    };
    let of_list = || match (command["link"].as_str()?, exits, trails) {
        ("oco", _, true) => Some("pair that trails"),
        ("oto", [false, true], _) => Some("stop alone"),
        ("oto", [true, false], _) => Some("take-profit alone"),
        ("oto", [true, true], true) => Some("bracket that trails"),
        _ => None,
    };
    match command["command"].as_str().filter(|_| is_accepted)? {
        "place" => of_order(),
        "place_list" => of_list(),
        _ => None,
    }
}

#[test]
fn its_takers_enter_the_kinds_that_are_used_less() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("demo");
    let data = data.to_str().unwrap();
    let kinds = [
        "best price",
        "market-to-limit",
        "five levels",
        "five levels with a rest that stands",
        "market order with a rest that stands",
        "minimum quantity",
        "take-profit alone",
        "stop alone",
        "bracket that trails",
        "pair that trails",
    ];
    let mut missing: BTreeSet<_> = kinds.into();
    let end = Instant::now() + PATIENCE;
    while !missing.is_empty() {
        assert!(Instant::now() < end, "no member has entered: {missing:?}");
        let mut running = start(data, &["--rate", "2000"]);
        std::thread::sleep(Duration::from_secs(4));
        running.terminate();
        let journal = rialto(&["journal", data, "--json"]);
        for line in text(&journal.stdout).lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            rare_kind(&line).map(|kind| missing.remove(kind));
        }
    }
}

/// The lines of one market and day in the summary.
fn phases<'a>(running: &'a Running, day: &str, symbol: &str) -> Vec<&'a str> {
    let lines = running.said.iter().map(|line| line.as_str());
    let lines = lines.skip_while(|line| *line != day).skip(1);
    let lines = lines.skip_while(|line| line.trim() != symbol).skip(1);
    lines.take_while(|line| line.starts_with("    ")).map(str::trim).collect()
}

/// The price and the volume of an auction that traded, as in `…: 0.41 at 64012.50, no surplus`.
fn price_and_volume(line: &str) -> (f64, f64) {
    let numbers = line.split(": ").nth(1).and_then(|rest| rest.split(',').next());
    let (volume, price) = numbers.and_then(|numbers| numbers.split_once(" at ")).expect(line);
    (price.parse().unwrap(), volume.parse().unwrap())
}

#[test]
fn a_day_goes_through_every_phase() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("demo");
    let data = data.to_str().unwrap();
    let mut running = start(data, &["--rate", "1000", "--day", "16s"]);
    let url = running.url();
    let auction = |symbol: &str| -> Value {
        let output = rialto(&["auction", symbol, "--json", "--url", &url]);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    // In a call, the line shows the price of the auction, and so does the venue.
    running.heard("day 1 ETH-BTC call");
    let mut answer = auction("ETH-BTC");
    while answer["state"] == "call" && answer["indicative"].is_null() {
        answer = auction("ETH-BTC");
    }
    assert!(answer["indicative"]["price"].is_string() || answer["state"] != "call", "{answer}");
    running.heard("(call, ");
    let opening = running.heard("day 1 BTC-USD opening auction: ");
    // The price shock goes on where an order of the account that sells rests among the bids.
    while auction("BTC-USD")["state"] != "open" {
        std::thread::sleep(Duration::from_millis(10));
    }
    let taker = member(&url, &running.admin_key(), SELLER_OF_THE_SHOCK, &["trade"]);
    let (price, _) = price_and_volume(&opening);
    let bid = json!({
        "instrument": "BTC-USD", "side": "buy", "quantity": "0.01",
        "price": format!("{}", (price * 0.996) as u64),
    });
    let bid = taker.call("POST", "/v1/orders", Some(&bid)).unwrap();
    assert_eq!(bid["status"], "open", "{bid}");
    let interruption = running.heard("day 1 BTC-USD call, interruption: ");
    assert!(interruption.contains(" is outside "), "{interruption}");
    running.heard("day 1 BTC-USD auction of the interruption: ");
    running.heard("day 1 BTC-USD open");
    running.heard("day 1 ETH-USD halted");
    running.heard("day 1 ETH-USD auction of the reopening: ");
    let closing = running.heard("day 1 BTC-USD closing auction: ");
    running.wait_for("day 2 BTC-USD pre_open");
    for line in [opening, closing] {
        let (price, volume) = price_and_volume(&line);
        assert!((60_000.0..68_000.0).contains(&price) && volume > 0.0, "{line}");
    }
    running.terminate();

    let all = running.line("1 trading day played to the end; in all ");
    assert!(all.ends_with(" auctions, 1 interruption, 1 halt"), "{all}");
    running.line("day 2, not to its end");
    let states = |symbol| -> Vec<&str> {
        let phases = phases(&running, "day 1", symbol);
        phases.iter().filter_map(|line| line.split_whitespace().next()).collect()
    };
    let opens = ["pre_open", "call", "uncrossing", "open"];
    let breaks = ["call", "uncrossing", "open"];
    let closes = ["closing_call", "uncrossing", "closed"];
    assert_eq!(states("BTC-USD"), [&opens[..], &breaks, &closes].concat());
    assert_eq!(states("ETH-USD"), [&opens[..], &["halted"], &breaks, &closes].concat());
    assert_eq!(states("ETH-BTC"), [&opens[..], &closes].concat());
    for line in phases(&running, "day 1", "BTC-USD") {
        let trades = match line.split_whitespace().next().unwrap() {
            "open" | "uncrossing" => !line.contains("no trades"),
            // An interruption of a second may end before a price is published.
            "call" if line.contains("interruption: ") => line.contains(" is outside "),
            "call" | "closing_call" => line.contains("indicative at last "),
            _ => line.contains("no trades"),
        };
        assert!(trades, "{line}");
    }

    // Without a day every instrument is open again.
    let mut after = start(data, &["--rate", "300"]);
    let url = after.url();
    for symbol in ["BTC-USD", "ETH-USD", "ETH-BTC"] {
        let output = rialto(&["auction", symbol, "--json", "--url", &url]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["state"], "open", "{answer}");
        assert_eq!(answer["rules"]["dynamic_range_ppm"], 0, "{answer}");
    }
    after.terminate();
}

#[test]
fn the_view_shows_phases_and_what_an_auction_would_be() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("demo");
    let mut demo = command(&["demo", "--rate", "600", "--day", "5s", "--listen", "127.0.0.1:0"]);
    demo.arg("--data").arg(&data);
    let mut terminal = Terminal::run_command(40, demo);
    terminal.wait_for(&["demo venue", "day 1"]);
    terminal.wait_for(&["BTC-USD", "  call  ", " at ", " left to "]);
    terminal.wait_for(&["BTC-USD", "  open  24 h high"]);
    terminal.press("q");
    // The last line of the demo says how to continue.
    terminal.wait_for(&["demo --data"]);
    let (status, is_back) = terminal.wait_for_end();
    assert!(status.success() && is_back);
    let (_, after) = terminal.written();
    assert!(after.contains("    uncrossing    opening auction: "), "{after}");
}

#[test]
fn a_day_that_cannot_be_played_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("demo");
    let data = data.to_str().unwrap();
    for (arguments, told) in [
        (["--day", "4s", "--rate", "200"], "4s is too short for a day with all its phases; give"),
        (["--day", "9d", "--rate", "200"], "9d is too long for a day"),
        (["--day", "10", "--rate", "200"], "\"10\" is not a duration; write"),
        (["--day", "10m", "--rate", "99"], "--rate 99 enters too few orders for the auctions"),
    ] {
        let refused = rialto(&[&["demo", "--data", data][..], &arguments].concat());
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        let error = text(&refused.stderr);
        assert!(error.contains(told), "{error}");
    }
    assert!(!Path::new(data).exists(), "it was refused before anything was made");
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
