//! The real binary under load, killed at random times and checked against its answers.

use crate::asking::{Client, Credentials, secret};
use crate::running::chance::{Random, seed};
use crate::running::{PATIENCE, Running, command, configure, text};
use rialto_disk::RealDisk;
use rialto_engine::{Engine, EngineConfig, KeyRing};
use rialto_model::{DoneReason, Event, OrderId, Scale, Seq};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Members that trade, each on its own connections.
const CLIENTS: u32 = 3;
const KILLS: u32 = 20;
/// The rows of a batch.
const ROWS: u64 = 12;
/// The most answered batches in a round before the venue is killed.
const BATCHES_MAX: u64 = 150;

/// A sent row with its answer, if there is one.
#[derive(Clone)]
struct Sent {
    client_order_id: String,
    is_cancel: bool,
    row: Value,
    answer: Option<Value>,
}

struct Member {
    account: u32,
    key: String,
    secret: String,
    next: u64,
    random: Random,
    sent: Vec<Sent>,
}

impl Member {
    fn client(&self, url: &str) -> Client {
        let secret = secret(&self.secret).unwrap();
        Client::new(url, Credentials::Key { id: self.key.clone(), secret })
    }

    /// Orders that cross, rest, are cancelled or refused.
    fn batch(&mut self) -> Vec<Sent> {
        let mut rows: Vec<Sent> = Vec::new();
        for _ in 0..ROWS {
            let cancelled = match self.random.below(6) {
                0 => rows.iter().rev().find(|row| !row.is_cancel).cloned(),
                _ => None,
            };
            rows.push(match cancelled {
                Some(target) => Sent {
                    row: json!({ "cancel": { "id": format!("client:{}", target.client_order_id) } }),
                    is_cancel: true,
                    ..target
                },
                None => self.order(),
            });
        }
        rows
    }

    fn order(&mut self) -> Sent {
        self.next += 1;
        let client_order_id = format!("{}-{}", self.account, self.next);
        let side = if self.random.below(2) == 0 { "buy" } else { "sell" };
        let price = 60_000 + self.random.below(40);
        // Some are off the lot, which is refused.
        let quantity = if self.random.below(20) == 0 { 15 } else { 10 + 10 * self.random.below(9) };
        let time_in_force = ["gtc", "gtc", "ioc"][self.random.below(3) as usize];
        let row = json!({ "place": {
            "instrument": "BTC-USD",
            "side": side,
            "price": price.to_string(),
            "quantity": format!("0.{quantity:06}"),
            "time_in_force": time_in_force,
            "client_order_id": client_order_id,
        }});
        Sent { client_order_id, is_cancel: false, row, answer: None }
    }

    /// Sends batches until the venue is gone, and reports each answered one.
    fn trade(mut self, url: &str, told: &Sender<()>) -> Member {
        let client = self.client(url);
        loop {
            let mut rows = self.batch();
            let answered = send(&client, self.account, &mut rows);
            self.sent.append(&mut rows);
            if !answered {
                return self;
            }
            let _ = told.send(());
        }
    }
}

/// Sends rows as one batch and stores the answers; `false` if there is none.
fn send(client: &Client, account: u32, rows: &mut [Sent]) -> bool {
    let body: Vec<&Value> = rows.iter().map(|row| &row.row).collect();
    let body = json!({ "account": account, "rows": body });
    let Ok(answer) = client.call("POST", "/v1/orders/batch", Some(&body)) else { return false };
    let results = answer["results"].as_array().expect("a batch answers with results");
    assert_eq!(results.len(), rows.len());
    for (row, result) in rows.iter_mut().zip(results) {
        let code = result["error"]["code"].as_str();
        if !matches!(code, Some("busy" | "stopped" | "outcome_unknown")) {
            row.answer = Some(result.clone());
        }
    }
    true
}

/// A market and funded members, made by the operator.
fn create_market(url: &str, admin_key: String, seed: u64) -> Vec<Member> {
    let admin = Client::new(url, Credentials::Admin(admin_key));
    let post = |what: &str, body: Value| {
        admin.call("POST", &format!("/v1/admin/{what}"), Some(&body)).expect(what)
    };
    post("currencies", json!({ "code": "BTC", "scale": 8 }));
    post("currencies", json!({ "code": "USD", "scale": 8 }));
    post(
        "instruments",
        json!({
            "symbol": "BTC-USD", "base": "BTC", "quote": "USD", "price_scale": 2,
            "quantity_scale": 6, "tick": "1", "lot": "0.00001", "open_orders_max": 1_000_000,
        }),
    );
    let member = |number: u32| {
        post("members", json!({ "member": number, "name": format!("client-{number}") }));
        let account = json!({ "account": number, "member": number, "name": "main" });
        post("accounts", account);
        for currency in ["BTC", "USD"] {
            post(
                "deposits",
                json!({
                    "account": number, "currency": currency, "amount": "1000000000",
                    "reference": format!("begin-{number}-{currency}"),
                }),
            );
        }
        let key = post("keys", json!({ "member": number, "scopes": ["read", "trade"] }));
        Member {
            account: number,
            key: key["id"].as_str().unwrap().to_string(),
            secret: key["secret"].as_str().unwrap().to_string(),
            next: 0,
            random: Random::new(seed ^ u64::from(number) << 32),
            sent: Vec::new(),
        }
    };
    (1..=CLIENTS).map(member).collect()
}

/// Rotates the members' secrets after the start, so that the venue accepts their signatures at once
/// and not a second later.
fn renew(members: &mut [Member], url: &str, admin_key: &str) {
    let admin = Client::new(url, Credentials::Admin(admin_key.to_owned()));
    for member in members {
        let path = format!("/v1/admin/keys/{}/rotate", member.key);
        let key = admin.call("POST", &path, Some(&json!({ "overlap_s": 0 }))).unwrap();
        member.secret = key["secret"].as_str().unwrap().to_owned();
    }
}

/// Waits for some answers and a little longer, so that the kill is at a random time.
fn moment(answered: &Receiver<()>, random: &mut Random) {
    for _ in 0..random.below(BATCHES_MAX) + 1 {
        answered.recv_timeout(PATIENCE).expect("batches are answered");
    }
    random.pause(Duration::from_millis(4));
}

/// After a restart: acknowledged rows of the last round get the same answer again, and others get
/// one now.
fn repeat(member: &mut Member, url: &str, from: usize) {
    let client = member.client(url);
    let account = member.account;
    // Cancels are not repeated: a second one finds no order.
    for rows in member.sent[from..].chunks_mut(ROWS as usize) {
        let mut orders: Vec<Sent> = rows.iter().filter(|row| !row.is_cancel).cloned().collect();
        if orders.is_empty() {
            continue;
        }
        let before: Vec<Option<Value>> = orders.iter().map(|row| row.answer.clone()).collect();
        assert!(send(&client, account, &mut orders), "the venue does not answer after a restart");
        for (order, before) in orders.iter().zip(before) {
            let now = order.answer.as_ref().expect("every row is answered");
            if let Some(before) = before {
                assert_same(&before, now);
            }
        }
        let known: HashMap<String, Value> = orders
            .into_iter()
            .filter_map(|order| Some((order.client_order_id, order.answer?)))
            .collect();
        for row in rows.iter_mut().filter(|row| !row.is_cancel && row.answer.is_none()) {
            row.answer = known.get(&row.client_order_id).cloned();
        }
    }
}

fn assert_same(before: &Value, now: &Value) {
    if before["error"].is_object() {
        assert_eq!(before["error"]["code"], now["error"]["code"], "{before}\n{now}");
        return;
    }
    assert_eq!(now["order"]["repeated"], true, "told {before}\nnow {now}");
    for field in ["order_id", "status", "price", "filled", "remaining", "client_order_id"] {
        assert_eq!(before["order"][field], now["order"][field], "told {before}\nnow {now}");
    }
}

/// The events of orders in the event log, by sequence.
#[derive(Default)]
struct History {
    accepted: HashMap<(u64, u64), String>,
    cancelled: HashMap<(u64, u64), ()>,
    filled: HashMap<(u64, u64), i64>,
    rejected: HashMap<u64, &'static str>,
}

impl History {
    /// Reads all events of the data directory.
    fn read(data: &Path, keys: KeyRing) -> History {
        let config = EngineConfig {
            data_dir: data.to_path_buf(),
            segment_bytes: 4 << 20,
            keys,
            ..EngineConfig::default()
        };
        let (engine, _) = Engine::start(config, Arc::new(RealDisk::new())).expect("it recovers");
        let last = engine.released();
        let mut history = History::default();
        let mut reader = engine.events(Seq(1));
        while reader.next_seq() <= last {
            let batch = reader.next_timeout(PATIENCE).expect("readable").expect("there are more");
            for record in batch.iter() {
                let (_, events) = record.decode().expect("decodable");
                for event in events {
                    history.note(record.seq, &event.expect("decodable"));
                }
            }
        }
        engine.shutdown(PATIENCE);
        history
    }

    fn note(&mut self, seq: Seq, event: &Event) {
        let at = |order: OrderId| (seq.0, order.0);
        match event {
            Event::Accepted(it) => {
                let name = it.terms.client_order_id.to_string();
                let before = self.accepted.insert(at(it.order), name);
                assert!(before.is_none(), "order {} was accepted twice", it.order);
            }
            Event::Done(it) if it.reason == DoneReason::Cancelled => {
                self.cancelled.insert(at(it.order), ());
            }
            Event::Trade(it) => {
                *self.filled.entry(at(it.taker_order)).or_default() += it.quantity.0;
            }
            Event::Rejected(it) => {
                self.rejected.insert(seq.0, it.reason.code());
            }
            Event::Repeated { reject: Some(reason), .. } => {
                self.rejected.insert(seq.0, reason.code());
            }
            _ => {}
        }
    }

    /// Checks one answer against the history. The answer to a repeated order has the sequence of
    /// the repetition after a crash; those are checked by their ids only.
    fn check(&self, sent: &Sent, by_name: &HashMap<&str, (u64, u64)>) {
        let Some(answer) = &sent.answer else { return };
        let number = |value: &Value| value.as_str().map(|text| text.parse::<u64>().unwrap());
        if let Some(seq) = number(&answer["error"]["seq"]) {
            let code = answer["error"]["code"].as_str().unwrap();
            if !sent.is_cancel {
                assert_eq!(self.rejected.get(&seq), Some(&code), "{answer}");
            }
            return;
        }
        let Some(order) = number(&answer["order"]["order_id"]) else { return };
        let seq = number(&answer["order"]["seq"]).unwrap();
        if sent.is_cancel {
            assert!(self.cancelled.contains_key(&(seq, order)), "the cancel is lost: {answer}");
            return;
        }
        let entered = by_name.get(sent.client_order_id.as_str());
        let (accepted_at, id) = *entered.unwrap_or_else(|| panic!("the order is lost: {answer}"));
        assert_eq!(id, order, "the order has another id: {answer}");
        let repeated = answer["order"]["repeated"] == true;
        assert!(repeated || accepted_at == seq, "entered at {accepted_at}: {answer}");
        let six = Scale::new(6).unwrap();
        let told = answer["order"]["filled"].as_str().unwrap();
        let told = rialto_model::Quantity::parse(told, six).unwrap().0;
        let filled = self.filled.get(&(accepted_at, order)).copied().unwrap_or_default();
        assert_eq!(told, filled, "it traded otherwise: {answer}");
    }
}

/// The keys of an encrypted venue for `RIALTO_LOG_KEYS`.
fn keys() -> String {
    format!("1:{}", "5a".repeat(32))
}

/// The settings of an encrypted venue.
fn sealing(dir: &Path) -> String {
    let file = dir.join("log.keys");
    std::fs::write(&file, keys()).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    format!(
        "[journal]\ncompression = \"lz4\"\nencryption = \"aes-256-gcm\"\nkeys_file = {file:?}\n"
    )
}

fn survive(level: &str, sealed: bool) {
    let seed = seed();
    let mut random = Random::new(seed);
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), &if sealed { sealing(dir.path()) } else { String::new() });
    let mut venue = Running::serve(dir.path(), level);
    let admin_key = venue.admin_key();
    let mut members = create_market(&venue.url(), admin_key.clone(), seed);
    for _ in 0..KILLS {
        let url = venue.url();
        let from: Vec<usize> = members.iter().map(|member| member.sent.len()).collect();
        let (told, answered) = channel();
        let trading: Vec<JoinHandle<Member>> = members
            .into_iter()
            .map(|member| {
                let (url, told) = (url.clone(), told.clone());
                std::thread::spawn(move || member.trade(&url, &told))
            })
            .collect();
        moment(&answered, &mut random);
        venue.kill();
        members = trading.into_iter().map(|thread| thread.join().expect("a client")).collect();
        venue = Running::serve(dir.path(), level);
        renew(&mut members, &venue.url(), &admin_key);
        for (member, from) in members.iter_mut().zip(from) {
            repeat(member, &venue.url(), from);
        }
    }
    venue.terminate();

    let data = dir.path().join("data");
    let history = History::read(&data, KeyRing::parse(&keys(), "the test").unwrap());
    let mut by_name = HashMap::new();
    for (at, name) in &history.accepted {
        assert!(by_name.insert(name.as_str(), *at).is_none(), "{name} was entered twice");
    }
    let sent = members.iter().flat_map(|member| &member.sent);
    let acknowledged = sent.filter(|sent| sent.answer.is_some());
    let count = acknowledged.inspect(|sent| history.check(sent, &by_name)).count();
    let sealed = if sealed { ", sealed" } else { "" };
    println!("{level}{sealed}: {KILLS} kills, {count} acknowledged rows found again");
    assert!(count > 50 * KILLS as usize, "hardly anything was acknowledged: {count}");

    let mut verify = command(&["verify", data.to_str().unwrap()]);
    let verified = verify.env("RIALTO_LOG_KEYS", keys()).output().unwrap();
    assert!(verified.status.success(), "{}{}", text(&verified.stdout), text(&verified.stderr));
}

#[test]
fn nothing_acknowledged_under_synced_is_lost_to_a_kill() {
    survive("synced", false);
}

#[test]
fn nothing_acknowledged_under_buffered_is_lost_to_a_kill() {
    survive("buffered", false);
}

#[test]
fn nothing_acknowledged_by_a_sealed_venue_is_lost_to_a_kill() {
    survive("buffered", true);
}
