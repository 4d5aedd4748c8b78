//! Icebergs on the command line: entered, listed, traded with and amended; and shown as they were.

use crate::asking::{Client, Credentials, secret};
use crate::operated::Operated;
use crate::running::{command, rialto, text};
use serde_json::{Value, json};

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

    /// The first member's open orders.
    fn open_orders(&self) -> Vec<Value> {
        let (id, secret) = (self.keys[0].0.clone(), secret(&self.keys[0].1).unwrap());
        let client = Client::new(&self.operated.venue.url(), Credentials::Key { id, secret });
        client.get("/v1/orders").unwrap()["orders"].as_array().unwrap().clone()
    }

    /// Waits until what remains of the first member's order is this: lists follow the answers.
    fn until_left(&self, remaining: &str) {
        let began = std::time::Instant::now();
        loop {
            let open = self.open_orders();
            if open.first().is_some_and(|order| order["remaining"] == remaining) {
                return;
            }
            assert!(began.elapsed() < crate::running::PATIENCE, "{open:?}, not {remaining}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// The cells of the first row of `rialto orders` by heading.
    fn listed(&self) -> std::collections::BTreeMap<String, String> {
        let said = self.says(0, &["orders"]);
        let mut lines = said.lines();
        let headings = lines.next().unwrap().replace("CLIENT ID", "CLIENT-ID");
        let row = lines.next().unwrap().split_whitespace().map(str::to_owned);
        headings.split_whitespace().map(str::to_owned).zip(row).collect()
    }
}

#[test]
fn the_command_line_enters_and_shows_icebergs() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::open(dir.path());
    let entered =
        place.says(0, &["order", "sell", "2", "BTC-USD", "--price", "100", "--display", "0.5"]);
    assert!(entered.starts_with("open: sell BTC-USD at 100.00"), "{entered}");
    place.until_left("2.0000");
    let listed = place.listed();
    assert_eq!((&listed["QUANTITY"][..], &listed["DISPLAYED"][..]), ("2.0000", "0.5000"));
    let book = place.operated.client().get("/v1/book/BTC-USD").unwrap();
    assert_eq!(book["asks"], json!([["100.00", "0.5000", 1]]));

    place.says(1, &["order", "buy", "0.7", "BTC-USD", "--price", "100"]);
    place.until_left("1.3000");
    let listed = place.listed();
    assert_eq!((&listed["FILLED"][..], &listed["DISPLAYED"][..]), ("0.7000", "0.3000"));
    let (_, book) = place.operated.says(&["book", "BTC-USD"]);
    let ask = book.lines().find(|line| line.starts_with("ask")).unwrap();
    let cells: Vec<_> = ask.split_whitespace().collect();
    assert_eq!(cells, ["ask", "100.00", "0.3000", "1"]);

    let id = place.open_orders()[0]["order_id"].as_str().unwrap().to_owned();
    place.says(0, &["amend", &id, "--quantity", "5"]);
    place.until_left("4.3000");
    assert_eq!(place.listed()["DISPLAYED"], "0.3000");
    let refused = place.says(0, &["amend", &id, "--quantity", "60"]);
    assert!(refused.contains("display_quantity_invalid"), "{refused}");

    let order = ["order", "sell", "2", "BTC-USD", "--price", "100", "--display"];
    let refused = place.says(0, &[&order[..], &["2"]].concat());
    let reason = "The display_quantity 2.0000 is not below the quantity 2.0000.";
    assert!(refused.contains(reason), "{refused}");
    for wrong in [["--stop", "95"], ["--take-profit", "95"], ["--trail", "1%"]] {
        let said = place.says(0, &[&order[..], &["0.5"], &wrong].concat());
        assert!(said.contains("cannot be used with"), "{said}");
    }
}

#[test]
fn a_past_iceberg_is_shown_with_what_it_displayed() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = Place::open(dir.path());
    place.says(0, &["order", "sell", "2", "BTC-USD", "--price", "100", "--display", "0.5"]);
    place.says(1, &["order", "buy", "0.7", "BTC-USD", "--price", "100"]);
    place.until_left("1.3000");
    let id = place.open_orders()[0]["order_id"].as_str().unwrap().to_owned();
    place.operated.venue.terminate();

    let data = dir.path().join("data");
    let data = data.to_str().unwrap();
    let journal = rialto(&["journal", data, "--json"]);
    let lines = text(&journal.stdout);
    let line = |word: &str| lines.lines().find(|line| line.contains(word)).unwrap_or(&lines);
    let placed: Value = serde_json::from_str(line("place_iceberg")).unwrap();
    assert!(placed.to_string().contains("display_quantity"), "{placed}");
    assert!(line("iceberg_refreshed").contains(&id), "{lines}");
    let shown = rialto(&["at", "--data", data, "--json", "order", &id]);
    let order: Value = serde_json::from_str(&text(&shown.stdout)).unwrap();
    assert_eq!(
        (&order["display_quantity"], &order["displayed"], &order["remaining"]),
        (&json!("0.5000"), &json!("0.3000"), &json!("1.3000"))
    );
}
