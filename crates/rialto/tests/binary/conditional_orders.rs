//! Conditional orders: on the command line, and after a kill of the real binary between the
//! trigger and the entry.

use crate::asking::{Client, Credentials, secret};
use crate::operated::Operated;
use crate::running::chance::{Random, seed};
use crate::running::{PATIENCE, Running, command, configure, rialto, text};
use crate::stopped::{has_work_left, state_of};
use rialto_model::OrderId;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Orders that one trade triggers; several commands enter them.
const ORDERS: usize = 10_000;
/// The rows of a batch.
const ROWS: usize = 500;
/// The least number of kills, and the most until one was between the trigger and the last entry.
const KILLS: [usize; 2] = [3, 32];

struct Place {
    operated: Operated,
    /// Of a member that has base currency, and of one that has quote currency.
    keys: [(String, String); 2],
}

impl Place {
    fn member(&self, which: usize) -> Client {
        let (id, secret) = (self.keys[which].0.clone(), secret(&self.keys[which].1).unwrap());
        Client::new(&self.operated.venue.url(), Credentials::Key { id, secret })
    }

    fn says(&self, words: &[&str]) -> String {
        let mut command = command(words);
        command.args(["--url", &self.operated.venue.url(), "--key", &self.keys[0].0]);
        let output = command.env("RIALTO_SECRET", &self.keys[0].1).output().unwrap();
        text(&output.stdout) + &text(&output.stderr)
    }

    fn trade_at(&self, price: &str) {
        for (which, side) in [(0, "sell"), (1, "buy")] {
            self.place(which, &limit(side, price));
        }
    }

    /// Enters an order of a member, and returns its id.
    fn place(&self, which: usize, order: &Value) -> OrderId {
        let placed = self.member(which).call("POST", "/v1/orders", Some(order)).unwrap();
        OrderId(placed["order_id"].as_str().unwrap().parse().unwrap())
    }

    /// Enters orders that wait for a trade at 95, and returns the first one.
    fn place_stops(&self) -> String {
        let row = json!({
            "instrument": "BTC-USD", "side": "sell", "quantity": "0.01", "price": "96",
            "trigger": "stop", "trigger_price": "95",
        });
        let rows: Vec<Value> = (0..ROWS).map(|_| json!({ "place": row })).collect();
        let rows = json!({ "rows": rows });
        let member = self.member(0);
        let enter = || member.call("POST", "/v1/orders/batch", Some(&rows)).unwrap();
        let answers: Vec<Value> = (0..ORDERS / ROWS).map(|_| enter()).collect();
        answers[0]["results"][0]["order"]["order_id"].as_str().unwrap().to_owned()
    }

    /// Waits until the book has these orders to sell.
    fn until_asks(&self, asks: &Value) {
        let (client, began) = (self.operated.client(), Instant::now());
        loop {
            let book = client.get("/v1/book/BTC-USD").unwrap();
            if book["asks"] == *asks {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{asks} are not there, but {book}");
        }
    }

    fn listed(&self, status: &str) -> Vec<Value> {
        let path = format!("/v1/orders?status={status}&limit=1000");
        self.member(0).get(&path).unwrap()["orders"].as_array().unwrap().clone()
    }

    /// Waits until so many orders are listed: the list follows the answers to orders.
    fn until(&self, status: &str, count: usize) {
        let began = std::time::Instant::now();
        loop {
            let listed = self.listed(status).len();
            if listed == count {
                return;
            }
            assert!(
                began.elapsed() < crate::running::PATIENCE,
                "{listed} {status} orders, not {count}"
            );
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

fn limit(side: &str, price: &str) -> Value {
    json!({ "instrument": "BTC-USD", "side": side, "quantity": "0.01", "price": price })
}

fn open(dir: &std::path::Path) -> Place {
    configure(dir, &format!("batch_rows_max = {ROWS}\n"));
    let operated = Operated::with_market(dir, &json!({ "open_orders_max": 100_000 }));
    let keys = [(1, "BTC"), (2, "USD")].map(|(id, currency)| {
        operated.post("members", &json!({ "member": id, "name": "client" }));
        operated.post("accounts", &json!({ "account": id, "member": id, "name": "main" }));
        let deposit = json!({
            "account": id, "currency": currency, "amount": "1000000", "reference": "begin",
        });
        operated.post("deposits", &deposit);
        let key = operated.post("keys", &json!({ "member": id, "scopes": ["read", "trade"] }));
        let part = |name: &str| key[name].as_str().unwrap().to_owned();
        (part("id"), part("secret"))
    });
    Place { operated, keys }
}

#[test]
fn each_triggered_order_is_entered_once_though_the_venue_is_killed() {
    let mut random = Random::new(seed());
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let mut place = open(dir.path());
    // The longest time from the trade to a kill, and how many kills were before the last entry.
    let (mut lasted, mut unfinished) = (Duration::ZERO, 0);
    for kills in 0.. {
        if kills >= KILLS[0] && unfinished > 0 {
            println!("{unfinished} of {kills} kills were before the last entry, {lasted:?}");
            break;
        }
        assert!(kills < KILLS[1], "none of {kills} kills was between the trigger and the entry");
        place.trade_at("100");
        let first = place.place_stops();
        let maker = place.place(0, &limit("sell", "95"));
        if kills == 0 {
            let began = Instant::now();
            place.place(1, &limit("buy", "95"));
            // The entries go on after the answer.
            lasted = 2 * began.elapsed();
            place.until_asks(&all_asks());
            place.operated.venue.kill();
        } else {
            let member = place.member(1);
            let trading = std::thread::spawn(move || {
                drop(member.call("POST", "/v1/orders", Some(&limit("buy", "95"))));
            });
            // At a random time, or as soon as the trade is answered.
            match kills % 2 {
                0 => random.pause(lasted),
                _ => while !trading.is_finished() {},
            }
            place.operated.venue.kill();
            trading.join().unwrap();
        }
        let state = state_of(&data);
        let has_traded = state.order(maker).is_none();
        unfinished += usize::from(has_traded && has_work_left(&state));
        drop(state);
        place.operated.venue = Running::serve(dir.path(), "synced");
        if !has_traded {
            place.place(1, &limit("buy", "95"));
        }
        // The book has each once, and in the order in which they were entered.
        place.until_asks(&all_asks());
        place.until("waiting", 0);
        place.place(1, &limit("buy", "96"));
        place.until_asks(&json!([["96.00", "99.9900", ORDERS - 1]]));
        let order = place.member(0).get(&format!("/v1/orders/{first}")).unwrap();
        assert_eq!(order["order"]["status"], "filled");
        place.member(0).call("DELETE", "/v1/orders", None).unwrap();
        place.until_asks(&json!([]));
    }
}

/// The book when all have been entered.
fn all_asks() -> Value {
    json!([["96.00", "100.0000", ORDERS]])
}

#[test]
fn the_command_line_enters_shows_and_cancels_them() {
    let dir = tempfile::tempdir().unwrap();
    let place = open(dir.path());
    place.trade_at("100");
    let entered = place.says(&["order", "sell", "0.5", "BTC-USD", "--market", "--stop", "95"]);
    assert!(entered.starts_with("waiting: sell BTC-USD, filled 0.00"), "{entered}");
    let touched = ["order", "sell", "0.25", "BTC-USD", "--price", "109", "--take-profit", "110"];
    let entered = place.says(&touched);
    assert!(entered.starts_with("waiting: sell BTC-USD at 109.00"), "{entered}");
    place.until("waiting", 2);
    let listed = place.says(&["orders", "--waiting"]);
    let column = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<_> = listed.lines().map(column).collect();
    assert!(listed.lines().next().unwrap().contains("TRIGGER"), "{listed}");
    assert_eq!((&lines[1][4][..], &lines[1][5][..]), ("stop", "95.00"), "{listed}");
    assert_eq!((&lines[2][4][..], &lines[2][5][..]), ("take_profit", "110.00"), "{listed}");
    assert!(lines.iter().skip(1).all(|line| line.last().unwrap() == "waiting"), "{listed}");

    let refused = place.says(&["order", "sell", "1", "BTC-USD", "--market", "--stop", "100"]);
    assert!(refused.contains("trigger_price") && refused.contains("would_trigger"), "{refused}");
    let both = ["order", "sell", "1", "BTC-USD", "--market", "--stop", "9", "--take-profit", "9"];
    assert!(place.says(&both).contains("cannot be used with"));
    let cancelled = place.says(&["cancel", &lines[2][0]]);
    assert!(cancelled.starts_with("cancelled"), "{cancelled}");
    place.until("waiting", 1);
    place.trade_at("94");
    place.until("open", 0);
    let ended = place.says(&["orders", "--ended"]);
    assert!(ended.contains("cancelled (remainder)"), "{ended}");
    let waited = |what: &str| ended.lines().filter(|line| line.contains(what)).count();
    assert_eq!((waited(" stop 95.00 "), waited(" take_profit 110.00 ")), (1, 1), "{ended}");
}

#[test]
fn the_command_line_moves_a_trigger_price() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = open(dir.path());
    place.trade_at("100");
    place.says(&["order", "sell", "0.5", "BTC-USD", "--market", "--stop", "95"]);
    place.until("waiting", 1);
    let id = place.listed("waiting")[0]["order_id"].as_str().unwrap().to_owned();
    let moved = place.says(&["amend", &id, "--trigger-price", "97"]);
    assert!(moved.starts_with("waiting: sell BTC-USD at 92.15"), "{moved}");
    let words = ["amend", &id, "--trigger-price", "96", "--price", "95", "--quantity", "0.4"];
    let moved = place.says(&words);
    assert!(moved.starts_with("waiting: sell BTC-USD at 95.00"), "{moved}");
    assert!(moved.contains("remaining 0.4000"), "{moved}");
    let began = std::time::Instant::now();
    // The list follows the answers to orders.
    while !place.says(&["orders", "--waiting"]).contains("stop 96.00") {
        assert!(began.elapsed() < crate::running::PATIENCE);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let listed = place.listed("waiting");
    assert_eq!((&listed[0]["price"], &listed[0]["kind"]), (&json!("95.00"), &json!("market")));
    let refused = place.says(&["amend", &id, "--trigger-price", "100"]);
    assert!(refused.contains("would_trigger") && refused.contains("100.00"), "{refused}");
    assert!(place.says(&["amend", &id]).contains("--price"), "something must be amended");
    place.operated.venue.terminate();

    let data = dir.path().join("data");
    let data = data.to_str().unwrap();
    let journal = text(&rialto(&["journal", data, "--json"]).stdout);
    assert!(journal.contains("amend_trigger"), "{journal}");
    let at = rialto(&["at", "--data", data, "--json", "order", &id]);
    let order: Value = serde_json::from_str(&text(&at.stdout)).unwrap();
    assert_eq!((&order["trigger_price"], &order["price"]), (&json!("96.00"), &json!("95.00")));
}

#[test]
fn the_command_line_enters_and_shows_trailing_stops() {
    let dir = tempfile::tempdir().unwrap();
    let place = open(dir.path());
    place.trade_at("100");
    let trail = ["order", "sell", "0.5", "BTC-USD", "--market", "--trail", "2%"];
    let entered = place.says(&trail);
    assert!(entered.starts_with("waiting: sell BTC-USD, filled 0.00"), "{entered}");
    let later = ["--trail", "1.5", "--activation", "120"];
    let entered =
        place.says(&[&["order", "sell", "1", "BTC-USD", "--price", "90"][..], &later].concat());
    assert!(entered.starts_with("waiting: sell BTC-USD at 90.00"), "{entered}");
    place.until("waiting", 2);
    place.trade_at("110");
    let began = std::time::Instant::now();
    loop {
        let listed = place.says(&["orders", "--waiting"]);
        if listed.contains("stop 107.80, trails 2%") {
            assert!(listed.contains("trails 1.50 from 120.00"), "{listed}");
            break;
        }
        assert!(began.elapsed() < crate::running::PATIENCE, "{listed}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    for wrong in [["--trail", "x%"], ["--trail", "1.23456%"], ["--activation", "5"]] {
        let said =
            place.says(&[&["order", "sell", "1", "BTC-USD", "--market"][..], &wrong].concat());
        assert!(said.contains("trail"), "{said}");
    }
    place.trade_at("107");
    place.until("waiting", 1);
}
