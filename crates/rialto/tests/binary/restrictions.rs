//! Restrictions on the command line, and after a restart of the real binary.

use crate::asking::{Client, Credentials, secret};
use crate::operated::Operated;
use crate::running::{Running, command, text};
use serde_json::{Value, json};

/// Orders of the account; more than one command cancels.
const ORDERS: usize = 700;

struct Place {
    operated: Operated,
    key: (String, String),
}

impl Place {
    fn operator(&self) -> Client {
        self.operated.client()
    }

    fn member(&self) -> Client {
        let (id, secret) = (self.key.0.clone(), secret(&self.key.1).unwrap());
        Client::new(&self.operated.venue.url(), Credentials::Key { id, secret })
    }

    /// What the binary says as a member, or with the admin key.
    fn says(&self, words: &[&str], is_operator: bool) -> String {
        if is_operator {
            let (done, told) = self.operated.says(words);
            assert!(done, "{words:?}: {told}");
            return told;
        }
        let mut command = command(words);
        command.args(["--url", &self.operated.venue.url(), "--key", &self.key.0]);
        let output = command.env("RIALTO_SECRET", &self.key.1).output().unwrap();
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
            assert!(began.elapsed() < crate::running::PATIENCE, "{open} open orders, not {count}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

fn open(dir: &std::path::Path) -> Place {
    let operated = Operated::with_market(dir, &json!({}));
    operated.post("members", &json!({ "member": 1, "name": "client" }));
    operated.post("accounts", &json!({ "account": 1, "member": 1, "name": "main" }));
    operated.post(
        "deposits",
        &json!({ "account": 1, "currency": "USD", "amount": "1000000", "reference": "begin" }),
    );
    let key = operated.post("keys", &json!({ "member": 1, "scopes": ["read", "trade"] }));
    let part = |name: &str| key[name].as_str().unwrap().to_owned();
    let key = (part("id"), part("secret"));
    Place { operated, key }
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
    place.operated.venue.kill();
    place.operated.venue = Running::serve(dir.path(), "synced");

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
    place.operated.venue.terminate();
}
