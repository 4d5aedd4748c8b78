//! Restrictions on the command line, and after a restart of the real binary.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod asking;
mod running;

use asking::{Client, Credentials, secret};
use running::{Running, command, text};
use serde_json::{Value, json};

/// Orders of the account; more than one command cancels.
const ORDERS: usize = 700;

struct Place {
    venue: Running,
    admin_key: String,
    key: (String, String),
}

impl Place {
    fn operator(&self) -> Client {
        Client::new(&self.venue.url(), Credentials::Admin(self.admin_key.clone()))
    }

    fn member(&self) -> Client {
        let (id, secret) = (self.key.0.clone(), secret(&self.key.1).unwrap());
        Client::new(&self.venue.url(), Credentials::Key { id, secret })
    }

    /// What the binary says as a member, or with the admin key.
    fn says(&self, words: &[&str], is_operator: bool) -> String {
        let url = self.venue.url();
        let mut command = command(words);
        command.args(["--url", &url]);
        match is_operator {
            true => command.env("RIALTO_ADMIN_KEY", &self.admin_key),
            false => command.args(["--key", &self.key.0]).env("RIALTO_SECRET", &self.key.1),
        };
        let output = command.output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Waits until the list of open orders has this many: it follows the answers to orders.
    fn until_open(&self, count: usize) {
        let began = std::time::Instant::now();
        loop {
            let orders = self.member().get("/v1/orders?limit=1000").unwrap();
            let open = orders["orders"].as_array().unwrap().len();
            if open == count {
                return;
            }
            assert!(began.elapsed() < running::PATIENCE, "{open} open orders, not {count}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

fn open(dir: &std::path::Path) -> Place {
    let mut venue = Running::serve(dir, "synced");
    venue.heard("admin key: ");
    let admin_key = venue.admin_key();
    let admin = Client::new(&venue.url(), Credentials::Admin(admin_key.clone()));
    let post = |what: &str, body: Value| {
        admin.call("POST", &format!("/v1/admin/{what}"), Some(&body)).expect(what)
    };
    for code in ["BTC", "USD"] {
        post("currencies", json!({ "code": code, "scale": 6 }));
    }
    post("members", json!({ "member": 1, "name": "client" }));
    post("accounts", json!({ "account": 1, "member": 1, "name": "main" }));
    post(
        "deposits",
        json!({ "account": 1, "currency": "USD", "amount": "1000000", "reference": "begin" }),
    );
    post(
        "instruments",
        json!({
            "symbol": "BTC-USD", "kind": "spot", "base": "BTC", "quote": "USD", "price_scale": 2,
            "quantity_scale": 4, "tick": "0.01", "lot": "0.0001",
        }),
    );
    let key = post("keys", json!({ "member": 1, "scopes": ["read", "trade"] }));
    let part = |name: &str| key[name].as_str().unwrap().to_owned();
    let key = (part("id"), part("secret"));
    Place { venue, admin_key, key }
}

#[test]
fn a_kill_of_many_orders_goes_on_after_the_venue_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = open(dir.path());
    let row = json!({ "instrument": "BTC-USD", "side": "buy", "quantity": "0.01", "price": "90" });
    let rows: Vec<Value> = (0..50).map(|_| json!({ "place": row })).collect();
    let rows = json!({ "rows": rows });
    for _ in 0..ORDERS / 50 {
        place.member().call("POST", "/v1/orders/batch", Some(&rows)).unwrap();
    }
    place.until_open(ORDERS);
    let set = place.says(&["admin", "restrict", "frozen", "--member", "1"], true);
    assert!(set.contains("restriction frozen"), "{set}");
    let killed = place.says(&["kill"], false);
    assert!(killed.starts_with("account 1: killed, cancelled 256 orders; more"), "{killed}");
    place.venue.kill();
    place.venue = Running::serve(dir.path(), "synced");

    place.until_open(0);
    let listed = place.says(&["admin", "restrictions"], true);
    let rows: Vec<Vec<&str>> =
        listed.lines().map(|line| line.split_whitespace().collect()).collect();
    let expected = [
        vec!["ON", "RESTRICTION", "BY"],
        vec!["member", "1", "frozen", "operator"],
        vec!["account", "1", "cancel_only", "member"],
    ];
    assert_eq!(rows, expected);
    let status = place.says(&["kill", "--status"], false);
    assert_eq!(status, "account 1: restriction frozen, killed by the member\n");

    let order = |place: &Place| place.member().send("POST", "/v1/orders", Some(&row)).unwrap();
    place.says(&["kill", "--lift"], false);
    assert_eq!(order(&place).body["error"]["code"], "account_restricted");
    place.says(&["admin", "restrict", "none", "--member", "1"], true);
    assert_eq!(order(&place).status, 201);
    assert_eq!(place.operator().get("/v1/admin/restrictions").unwrap()["restrictions"], json!([]));
    place.venue.terminate();
}
