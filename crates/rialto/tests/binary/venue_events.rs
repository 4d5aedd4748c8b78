//! The event log as a topic of the venue's queue: consumed by groups, rebuilt, truncated.

use crate::asking::{Client, Credentials, secret};
use crate::running::{PATIENCE, Running, configure, rialto, text};
use rialto_disk::RealDisk;
use rialto_engine::{Engine, EngineConfig};
use rialto_model::{Event, Seq, decode_events};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

const KILLS: u64 = 5;
const TOPIC: &str = "/v1/queues/venue.events";

/// A venue with a queue, members that trade, and a group of its events.
struct TestVenue {
    dir: tempfile::TempDir,
    level: &'static str,
    running: Running,
    admin: String,
    members: Vec<(String, String)>,
    orders: u64,
    /// The sequence of the last order that was answered.
    last: u64,
}

impl TestVenue {
    fn new(level: &'static str) -> TestVenue {
        let dir = tempfile::tempdir().unwrap();
        configure(dir.path(), "[queue]\nenabled = true\n");
        let running = Running::serve(dir.path(), level);
        let admin = running.admin_key();
        let (members, orders, last) = (Vec::new(), 0, 0);
        let mut venue = TestVenue { dir, level, running, admin, members, orders, last };
        venue.create_market();
        venue
    }

    fn create_market(&mut self) {
        let admin = self.operator();
        let post = |what: &str, body| {
            admin.call("POST", &format!("/v1/admin/{what}"), Some(&body)).unwrap()
        };
        for code in ["BTC", "USD"] {
            post("currencies", json!({ "code": code, "scale": 8 }));
        }
        post(
            "instruments",
            json!({
                "symbol": "BTC-USD", "base": "BTC", "quote": "USD", "price_scale": 2,
                "quantity_scale": 6, "tick": "1", "lot": "0.00001",
            }),
        );
        for number in [1, 2] {
            post("members", json!({ "member": number, "name": format!("client-{number}") }));
            post("accounts", json!({ "account": number, "member": number, "name": "main" }));
            for currency in ["BTC", "USD"] {
                let reference = format!("begin-{number}-{currency}");
                let amount = "1000000000";
                let deposit = json!({
                    "account": number, "currency": currency, "amount": amount,
                    "reference": reference,
                });
                post("deposits", deposit);
            }
            // A right to all topics does not include the venue's own.
            let all = json!([{ "topics": "*", "rights": ["produce", "consume", "admin"] }]);
            let key = json!({ "member": number, "scopes": ["read", "trade"], "queues": all });
            let key = post("keys", key);
            let part = |name: &str| key[name].as_str().unwrap().to_owned();
            self.members.push((part("id"), part("secret")));
        }
        // No message becomes a dead letter because of the many kills.
        let group = json!({ "name": "g", "attempts_max": 0 });
        admin.call("POST", &format!("{TOPIC}/groups"), Some(&group)).unwrap();
    }

    fn operator(&self) -> Client {
        Client::new(&self.running.url(), Credentials::Admin(self.admin.clone()))
    }

    fn member(&self, nth: usize) -> Client {
        let (id, key) = &self.members[nth];
        let secret = secret(key).unwrap();
        Client::new(&self.running.url(), Credentials::Key { id: id.clone(), secret })
    }

    /// Orders of both members, which rest and trade.
    fn trade(&mut self, rounds: u64) {
        let members = [self.member(0), self.member(1)];
        for _ in 0..rounds {
            self.orders += 1;
            for (client, (account, side)) in members.iter().zip([(1, "buy"), (2, "sell")]) {
                let answered = place(client, account, side, self.orders);
                self.last = answered.expect("orders are answered");
            }
        }
    }

    fn data(&self) -> std::path::PathBuf {
        self.dir.path().join("data")
    }

    fn delete_events(&self) {
        fs::remove_dir_all(self.data().join("events")).unwrap();
    }

    fn serve_again(&mut self) {
        self.running = Running::serve(self.dir.path(), self.level);
    }
}

/// Enters some orders; returns the sequence of the last, or `None` if the venue is gone.
fn place(client: &Client, account: u32, side: &str, round: u64) -> Option<u64> {
    let rows: Vec<_> = (0..3)
        .map(|row| {
            json!({ "place": {
                "instrument": "BTC-USD", "side": side, "time_in_force": "gtc",
                "price": (60_000 + (round * 7 + row) % 5).to_string(),
                "quantity": format!("0.{:06}", 10 + 10 * row),
            }})
        })
        .collect();
    let body = json!({ "account": account, "rows": rows });
    let answer = client.call("POST", "/v1/orders/batch", Some(&body)).ok()?;
    Some(answer["seq"].as_str().unwrap().parse().unwrap())
}

/// The messages that a consumer of the group received and acknowledged.
#[derive(Default)]
struct Consumed {
    records: BTreeMap<u64, Vec<u8>>,
    done: BTreeSet<u64>,
}

impl Consumed {
    /// Fetches some and acknowledges them; returns their number, or `None` if the venue is gone.
    fn step(&mut self, client: &Client, max: usize) -> Option<usize> {
        let body = json!({ "consumer": "one", "max": max });
        let fetched = client.call("POST", &format!("{TOPIC}/groups/g/fetch"), Some(&body)).ok()?;
        let messages = fetched["messages"].as_array().unwrap();
        assert_eq!(fetched["missed"], "0", "{fetched}");
        let mut leases = Vec::new();
        let mut seqs = Vec::new();
        for message in messages {
            let seq = message["id"].as_str().unwrap().strip_prefix("0:").unwrap();
            let seq: u64 = seq.parse().unwrap();
            assert!(!self.done.contains(&seq), "{seq} was acknowledged before");
            let record = decode_base64(message["payload_base64"].as_str().unwrap());
            let (time, events) = decode_events(&record).unwrap();
            let events: Vec<Event> = events.map(Result::unwrap).collect();
            assert_eq!(message["events"], serde_json::to_value(&events).unwrap());
            assert_eq!(message["published_at"], time.0.to_string());
            if let Some(before) = self.records.insert(seq, record) {
                assert_eq!(Some(&before), self.records.get(&seq), "{seq} is another");
            }
            leases.push(json!({ "id": message["id"], "lease": message["lease"] }));
            seqs.push(seq);
        }
        if leases.is_empty() {
            return Some(0);
        }
        let body = json!({ "consumer": "one", "messages": leases });
        let told = client.call("POST", &format!("{TOPIC}/groups/g/ack"), Some(&body)).ok()?;
        assert_eq!(told["lost"], json!([]));
        self.done.extend(&seqs);
        Some(seqs.len())
    }

    /// Takes all up to the last order that was answered, which may be published after its answer.
    fn rest(&mut self, venue: &TestVenue) {
        let (client, end) = (venue.operator(), Instant::now() + PATIENCE);
        while self.step(&client, 100).unwrap() > 0 || self.done.last() < Some(&venue.last) {
            assert!(Instant::now() < end, "{:?} of {}", self.done.last(), venue.last);
        }
    }

    /// Compares all with the journal's replay.
    #[track_caller]
    fn check(&self, replayed: &BTreeMap<u64, Vec<u8>>) {
        assert_eq!(self.records.keys().max(), replayed.keys().max());
        for (seq, record) in replayed {
            assert_eq!(self.records.get(seq), Some(record), "the record of sequence {seq}");
        }
        assert_eq!(self.records.len(), replayed.len());
    }
}

fn decode_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for digit in text.bytes().filter(|byte| *byte != b'=') {
        let value = DIGITS.iter().position(|other| *other == digit).unwrap();
        bits = bits << 6 | value as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

/// The events of the journal: the rebuilt event log.
fn replayed(venue: &TestVenue) -> BTreeMap<u64, Vec<u8>> {
    venue.delete_events();
    let config =
        EngineConfig { data_dir: venue.data(), segment_bytes: 4 << 20, ..EngineConfig::default() };
    let (engine, _) = Engine::start(config, Arc::new(RealDisk::new())).unwrap();
    let last = engine.released();
    let mut records = BTreeMap::new();
    let mut reader = engine.events(Seq(1));
    while reader.next_seq() <= last {
        let batch = reader.next_timeout(PATIENCE).unwrap().expect("there are more");
        records.extend(batch.iter().map(|record| (record.seq.0, record.bytes.to_vec())));
    }
    engine.shutdown(PATIENCE);
    records
}

#[test]
fn groups_keep_their_positions_after_a_rebuild_of_the_event_log() {
    let mut venue = TestVenue::new("synced");
    venue.trade(40);
    let mut consumed = Consumed::default();
    while consumed.done.len() < 100 {
        consumed.step(&venue.operator(), 7).unwrap();
    }
    venue.running.terminate();
    // The group exists for a local command too.
    let queue = venue.data().join("queue");
    let queue = queue.to_str().unwrap();
    let shown = rialto(&["queue", "--dir", queue, "describe", "venue.events"]);
    let shown = text(&shown.stdout);
    let done = format!("acknowledged below {}", consumed.done.len() + 1);
    assert!(shown.contains("read_only") && shown.contains(&done), "{shown}");
    let file = venue.dir.path().join("rialto.toml");
    for refused in [
        &["produce", "venue.events", file.to_str().unwrap()][..],
        &["create", "venue.other"],
        &["tail", "venue.events"],
    ] {
        let refused = rialto(&[&["queue", "--dir", queue], refused].concat());
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    }

    venue.delete_events();
    venue.serve_again();
    consumed.step(&venue.operator(), 20).unwrap();
    venue.trade(10);
    consumed.rest(&venue);
    venue.running.terminate();
    consumed.check(&replayed(&venue));
}

#[test]
fn only_operators_consume_events_and_none_can_change_them() {
    let mut venue = TestVenue::new("buffered");
    venue.trade(1);
    let status = |client: &Client, method: &str, path: &str, body: Value| {
        let body = (!body.is_null()).then_some(body);
        let answer = client.send(method, path, body.as_ref()).unwrap();
        (answer.status, answer.body["error"]["code"].as_str().unwrap_or_default().to_owned())
    };
    let (operator, member) = (venue.operator(), venue.member(0));
    let forbidden = (403, "forbidden".to_owned());
    assert_eq!(status(&member, "GET", TOPIC, Value::Null), forbidden);
    assert_eq!(status(&member, "GET", &format!("{TOPIC}/messages"), Value::Null), forbidden);
    let listed = member.call("GET", "/v1/queues", None).unwrap();
    assert_eq!(listed["topics"], json!([]));
    let fetch = json!({ "consumer": "one" });
    assert_eq!(status(&member, "POST", &format!("{TOPIC}/groups/g/fetch"), fetch), forbidden);

    let read_only = (409, "read_only".to_owned());
    assert_eq!(status(&operator, "DELETE", TOPIC, Value::Null), read_only);
    let messages = json!([{ "payload": "not an event" }]);
    assert_eq!(status(&operator, "POST", &format!("{TOPIC}/messages"), messages), read_only);
    for name in ["venue.events", "venue.other"] {
        let invalid = (400, "invalid_field".to_owned());
        let create = json!({ "name": name });
        assert_eq!(status(&operator, "POST", "/v1/queues", create), invalid);
    }
    let shown = operator.call("GET", TOPIC, None).unwrap();
    assert_eq!((&shown["read_only"], &shown["level"]), (&json!(true), &json!("buffered")));
    let read = operator.call("GET", &format!("{TOPIC}/messages?max=1"), None).unwrap();
    let events = &read["messages"][0]["events"];
    assert_eq!((&events[0]["event"], &events[0]["by"]), (&json!("attributed"), &json!("admin")));
    assert_eq!(events[1]["event"], "currency_created", "{read}");
    let url = venue.running.url();
    let queue = ["queue", "--url", &url, "--admin-key", &venue.admin];
    let shown = rialto(&[&queue[..], &["tail", "venue.events", "--json", "--count", "1"]].concat());
    let shown: Value = serde_json::from_slice(&shown.stdout).expect("a line of JSON");
    assert_eq!(shown["id"], "0:1");
    assert_eq!(shown["content_type"], "application/vnd.rialto.events");
    venue.running.terminate();
}

#[test]
fn nothing_is_missing_or_redelivered_after_kills() {
    for level in ["synced", "buffered"] {
        let mut venue = TestVenue::new(level);
        let mut consumed = Consumed::default();
        for kill in 0..KILLS {
            let (operator, members) = (venue.operator(), [venue.member(0), venue.member(1)]);
            let is_over = AtomicBool::new(false);
            let enough = consumed.done.len() + 200;
            std::thread::scope(|scope| {
                for (client, (account, side)) in members.into_iter().zip([(1, "buy"), (2, "sell")])
                {
                    let is_over = &is_over;
                    scope.spawn(move || {
                        let mut round = kill;
                        while place(&client, account, side, round).is_some() {
                            round += 1;
                        }
                        assert!(is_over.load(Ordering::SeqCst), "orders are answered");
                    });
                }
                let consumed = &mut consumed;
                let is_over = &is_over;
                let (told, is_enough) = std::sync::mpsc::channel();
                scope.spawn(move || {
                    while consumed.step(&operator, 20).is_some() {
                        if consumed.done.len() >= enough {
                            let _ = told.send(());
                        }
                    }
                    assert!(is_over.load(Ordering::SeqCst), "fetches are answered");
                });
                is_enough.recv_timeout(PATIENCE).expect("messages are consumed");
                is_over.store(true, Ordering::SeqCst);
                venue.running.kill();
            });
            if kill % 2 == 0 {
                venue.delete_events();
            }
            venue.serve_again();
            assert!(!venue.running.said.iter().any(|line| line.contains("lost its")), "{level}");
        }
        venue.trade(1);
        consumed.rest(&venue);
        venue.running.terminate();
        consumed.check(&replayed(&venue));
    }
}

/// Copies a directory without the queue's.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        if path.is_dir() && name != "queue" {
            copy(&path, &to.join(name));
        } else if path.is_file() {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

#[test]
fn groups_go_back_with_a_venue_that_lost_its_tail() {
    let mut venue = TestVenue::new("buffered");
    venue.trade(5);
    venue.running.terminate();
    let copied = venue.dir.path().join("copy");
    copy(&venue.data(), &copied);
    let last = *replayed(&venue).keys().max().unwrap();

    venue.serve_again();
    venue.trade(20);
    let mut consumed = Consumed::default();
    consumed.rest(&venue);
    assert!(consumed.done.len() as u64 > last);
    venue.running.terminate();
    for name in ["journal", "events", "snapshots"] {
        fs::remove_dir_all(venue.data().join(name)).unwrap();
    }
    copy(&copied, &venue.data());

    venue.serve_again();
    let told = venue.running.heard("venue.events lost its unsynced tail");
    assert!(told.ends_with(&format!("goes on with message 0:{}", last + 1)), "{told}");
    consumed.done.retain(|seq| *seq <= last);
    consumed.records.retain(|seq, _| *seq <= last);
    venue.trade(30);
    consumed.rest(&venue);
    venue.running.terminate();
    consumed.check(&replayed(&venue));
}
