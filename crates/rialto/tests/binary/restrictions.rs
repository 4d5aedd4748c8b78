//! Restrictions on the command line, and after a restart of the real binary.

use crate::asking::{Client, Credentials, secret};
use crate::operated::Operated;
use crate::running::chance::{Random, seed};
use crate::running::{PATIENCE, Running, command, configure, text};
use crate::stopped::{has_work_left, state_of};
use rialto_model::AccountId;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Orders of the account; more than one command cancels.
const ORDERS: usize = 700;
/// Orders of the account whose kill switch takes so long that the venue is killed meanwhile.
const MANY: usize = 10_000;
/// The rows of a batch.
const ROWS: usize = 100;
/// The least number of kills of a venue, and the most until one was in a kill switch.
const KILLS: [usize; 2] = [3, 32];

const ACCOUNT: AccountId = AccountId(1);

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

    fn place_many(&self, count: usize) {
        let rows: Vec<Value> = (0..ROWS).map(|_| json!({ "place": order() })).collect();
        let rows = json!({ "rows": rows });
        let member = self.member();
        for _ in 0..count / ROWS {
            member.call("POST", "/v1/orders/batch", Some(&rows)).unwrap();
        }
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
            assert!(began.elapsed() < PATIENCE, "{open} open orders, not {count}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

fn order() -> Value {
    json!({ "instrument": "BTC-USD", "side": "buy", "quantity": "0.01", "price": "90" })
}

fn open(dir: &std::path::Path) -> Place {
    configure(dir, &format!("batch_rows_max = {ROWS}\n"));
    let operated = Operated::with_market(dir, &json!({ "open_orders_max": 100_000 }));
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
    place.place_many(ORDERS);
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

    let enter = |place: &Place| place.member().send("POST", "/v1/orders", Some(&order())).unwrap();
    place.says(&["kill", "--lift"], false);
    assert_eq!(enter(&place).body["error"]["code"], "account_restricted");
    place.says(&["admin", "restrict", "none", "--member", "1"], true);
    assert_eq!(enter(&place).status, 201);
    assert_eq!(place.operator().get("/v1/admin/restrictions").unwrap()["restrictions"], json!([]));
    place.operated.venue.terminate();
}

#[test]
fn a_kill_switch_is_carried_out_whenever_the_venue_is_killed() {
    let mut random = Random::new(seed());
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let mut place = open(dir.path());
    // The longest time from the kill switch to a kill, and how many kills were before the last cancel.
    let (mut lasted, mut unfinished) = (Duration::ZERO, 0);
    for kills in 0.. {
        if kills >= KILLS[0] && unfinished > 0 {
            println!("{unfinished} of {kills} kills were before the last cancel, {lasted:?}");
            break;
        }
        assert!(kills < KILLS[1], "none of {kills} kills was before the last order was cancelled");
        place.place_many(MANY);
        let member = place.member();
        if kills == 0 {
            let began = Instant::now();
            member.call("POST", "/v1/kill", Some(&json!({}))).unwrap();
            // The cancels go on after the answer.
            lasted = 2 * began.elapsed();
            let bids = || place.operator().get("/v1/book/BTC-USD").unwrap()["bids"].clone();
            while bids() != json!([]) {
                assert!(began.elapsed() < PATIENCE, "{}", bids());
            }
            place.operated.venue.kill();
        } else {
            let killing = std::thread::spawn(move || {
                drop(member.call("POST", "/v1/kill", Some(&json!({}))));
            });
            // At a random time, or as soon as the kill switch is answered.
            match kills % 2 {
                0 => random.pause(lasted),
                _ => while !killing.is_finished() {},
            }
            place.operated.venue.kill();
            killing.join().unwrap();
        }
        let state = state_of(&data);
        let is_restricted = state.restrictions().any(|it| it.by_member);
        let is_left = is_restricted && state.orders_of(ACCOUNT).next().is_some();
        assert!(!is_left || has_work_left(&state), "the kill switch is forgotten");
        unfinished += usize::from(is_left);
        drop(state);
        place.operated.venue = Running::serve(dir.path(), "synced");
        if !is_restricted {
            place.member().call("POST", "/v1/kill", Some(&json!({}))).unwrap();
        }
        place.until_open(0);
        let refused = place.member().send("POST", "/v1/orders", Some(&order())).unwrap();
        assert_eq!(refused.body["error"]["code"], "account_restricted");
        place.member().call("DELETE", "/v1/kill", None).unwrap();
    }
}
