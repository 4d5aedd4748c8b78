//! Linked orders on the command line: entered, listed and traded with; and shown as they were.

use crate::asking::{Client, Credentials, secret};
use crate::operated::Operated;
use crate::running::{PATIENCE, command, rialto, text};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

struct Place {
    operated: Operated,
    /// The ids and secrets of the keys of two members.
    keys: [(String, String); 2],
}

impl Place {
    fn open(dir: &std::path::Path) -> Place {
        let operated = Operated::with_market(dir, &json!({}));
        let keys = [1, 2].map(|id| {
            operated.post("members", &json!({ "member": id, "name": "client" }));
            operated.post("accounts", &json!({ "account": id, "member": id, "name": "main" }));
            for currency in ["BTC", "USD"] {
                let reference = format!("begin-{currency}");
                operated.post(
                    "deposits",
                    &json!({
                        "account": id, "currency": currency, "amount": "1000000",
                        "reference": reference,
                    }),
                );
            }
            let key = operated.post("keys", &json!({ "member": id, "scopes": ["read", "trade"] }));
            let part = |name: &str| key[name].as_str().unwrap().to_owned();
            (part("id"), part("secret"))
        });
        Place { operated, keys }
    }

    /// What the command line says to a member.
    fn says(&self, which: usize, words: &[&str]) -> String {
        let mut command = command(words);
        command.args(["--url", &self.operated.venue.url(), "--key", &self.keys[which].0]);
        let output = command.env("RIALTO_SECRET", &self.keys[which].1).output().unwrap();
        text(&output.stdout) + &text(&output.stderr)
    }

    fn trades(&self, price: &str) {
        self.says(1, &["order", "sell", "0.1", "BTC-USD", "--price", price]);
        self.says(0, &["order", "buy", "0.1", "BTC-USD", "--price", price]);
    }

    /// Waits until the first member has this many open orders, and returns them.
    fn until_open(&self, count: usize) -> Vec<Value> {
        let (id, secret) = (self.keys[0].0.clone(), secret(&self.keys[0].1).unwrap());
        let client = Client::new(&self.operated.venue.url(), Credentials::Key { id, secret });
        let began = Instant::now();
        loop {
            let open = client.get("/v1/orders").unwrap()["orders"].as_array().unwrap().clone();
            if open.len() == count {
                return open;
            }
            assert!(began.elapsed() < PATIENCE, "{open:?}, not {count}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn id(order: &Value) -> &str {
    order["order_id"].as_str().unwrap()
}

#[test]
fn the_command_line_enters_and_shows_linked_orders() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::open(dir.path());
    place.trades("100");
    let buy = ["order", "buy", "1", "BTC-USD", "--price", "100"];
    let exits = ["--exit-profit", "110", "--exit-stop", "90", "--exit-stop-limit", "89"];
    let entered = place.says(0, &[&buy[..], &exits].concat());
    assert!(entered.starts_with("open: buy BTC-USD at 100.00"), "{entered}");
    assert!(entered.contains("exits: take-profit at 110, stop from 90 at 89"), "{entered}");
    place.until_open(1);
    let listed = place.says(0, &["orders"]);
    assert!(listed.contains("exits 110.00, 90.00"), "{listed}");

    place.says(1, &["order", "sell", "0.4", "BTC-USD", "--price", "100"]);
    let open = place.until_open(3);
    let listed = place.says(0, &["orders"]);
    let row = |id: &str| listed.lines().find(|line| line.starts_with(id)).unwrap().to_owned();
    let (profit, loss) = (id(&open[1]), id(&open[2]));
    assert!(row(profit).contains(loss) && row(loss).contains(profit), "{listed}");
    let refused = place.says(0, &["amend", profit, "--quantity", "2"]);
    assert!(refused.contains("order_linked"), "{refused}");
    let moved = place.says(0, &["amend", profit, "--price", "111"]);
    assert!(moved.starts_with("open: sell BTC-USD at 111.00"), "{moved}");
    let moved = place.says(0, &["amend", loss, "--trigger-price", "92"]);
    assert!(moved.starts_with("waiting: sell BTC-USD at 89.00"), "{moved}");
    let began = Instant::now();
    // Lists follow the answers.
    while !place.says(0, &["orders"]).contains("exits 111.00, 92.00") {
        assert!(began.elapsed() < PATIENCE, "{}", place.says(0, &["orders"]));
        std::thread::sleep(Duration::from_millis(20));
    }
    place.says(0, &["cancel", profit]);
    place.until_open(0);
    let ended = place.says(0, &["orders", "--ended"]);
    assert!(ended.contains("cancelled (linked)"), "{ended}");
    let list = format!("list {}", id(&open[0]));
    assert_eq!(ended.lines().filter(|line| line.contains(&list)).count(), 3, "{ended}");

    let sell = ["order", "sell", "1", "BTC-USD", "--price", "110"];
    let paired = place.says(0, &[&sell[..], &["--oco-trail", "1.5%"]].concat());
    assert!(paired.contains("paired with a stop: trails 1.5%"), "{paired}");
    assert_eq!(place.until_open(2)[1]["trail_ppm"], 15_000);
    let from = [&sell[..], &["--oco-trail", "5", "--oco-activation", "108"]].concat();
    let paired = place.says(0, &from);
    assert!(paired.contains("paired with a stop: trails 5 from 108"), "{paired}");
    assert_eq!(place.until_open(4)[3]["activation_price"], "108.00");
    let from = ["--exit-stop-trail", "5", "--exit-stop-activation", "108"];
    let entered = place.says(0, &[&buy[..], &from].concat());
    assert!(entered.contains("exits: stop trails 5 from 108"), "{entered}");
    let entry = place.until_open(5);
    let exits: Vec<_> = entry.iter().map(|order| &order["stop_loss"]["activation_price"]).collect();
    assert!(exits.contains(&&json!("108.00")), "{entry:?}");
    for wrong in [["--display", "0.5"], ["--stop", "95"], ["--trail", "1%"], ["--oco-stop", "90"]] {
        let said = place.says(0, &[&buy[..], &["--exit-stop", "90"], &wrong].concat());
        assert!(said.contains("cannot be used with"), "{said}");
    }
    for (alone, needed) in
        [("--exit-stop-activation", "--exit-stop-trail"), ("--oco-activation", "--oco-trail")]
    {
        let said = place.says(0, &[&buy[..], &[alone, "108"]].concat());
        assert!(said.contains("required arguments") && said.contains(needed), "{said}");
    }
    for (limit, needed) in [
        ("--exit-stop-limit", "needs --exit-stop or --exit-stop-trail"),
        ("--oco-limit", "needs --oco-stop or --oco-trail"),
    ] {
        let said = place.says(0, &[&buy[..], &[limit, "90"]].concat());
        assert!(said.contains(needed), "{said}");
    }
    // The venue refuses them, with the field.
    for (below_zero, code, field) in [
        (["--exit-stop", "-90"], "trigger_price_invalid", "stop_loss.trigger"),
        (["--exit-profit", "-1"], "price_not_positive", "take_profit.price"),
    ] {
        let said = place.says(0, &[&buy[..], &below_zero].concat());
        assert!(said.contains(code) && said.contains(field), "{said}");
    }
    let said = place.says(0, &["order", "buy", "1", "BTC-USD", "--price", "-5"]);
    assert!(said.contains("price_not_positive"), "{said}");
    let said = place.says(0, &["order", "buy", "-1", "BTC-USD", "--price", "5"]);
    assert!(said.contains("quantity_not_positive"), "{said}");
}

#[test]
fn past_linked_orders_are_shown_with_their_links() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = Place::open(dir.path());
    place.trades("100");
    let entry = ["order", "buy", "1", "BTC-USD", "--price", "100"];
    let exits = ["--exit-profit", "110", "--exit-stop-trail", "5"];
    place.says(0, &[&entry[..], &exits].concat());
    place.says(1, &["order", "sell", "0.4", "BTC-USD", "--price", "100"]);
    let open = place.until_open(3);
    let [entry, profit, loss] = &open[..] else { panic!("{open:?}") };
    place.operated.venue.terminate();

    let data = dir.path().join("data");
    let data = data.to_str().unwrap();
    let journal = rialto(&["journal", data, "--json"]);
    let lines = text(&journal.stdout);
    let line = |word: &str| lines.lines().find(|line| line.contains(word)).unwrap_or(&lines);
    let placed: Value = serde_json::from_str(line("place_list")).unwrap();
    assert!(placed.to_string().contains("take_profit"), "{placed}");
    assert!(line("exits_set").contains(id(entry)) && line("orders_linked").contains(id(loss)));
    let shown = |order: &Value| -> Value {
        let shown = rialto(&["at", "--data", data, "--json", "order", id(order)]);
        serde_json::from_str(&text(&shown.stdout)).unwrap()
    };
    let first = shown(entry);
    assert_eq!(
        (&first["list"], &first["take_profit"]["price"], &first["stop_loss"]["trail_distance"]),
        (&entry["order_id"], &json!("110.00"), &json!("5.00"))
    );
    let (one, other) = (shown(profit), shown(loss));
    assert_eq!((&one["list"], &one["linked_to"]), (&entry["order_id"], &loss["order_id"]));
    assert_eq!((&other["list"], &other["linked_to"]), (&entry["order_id"], &profit["order_id"]));
}
