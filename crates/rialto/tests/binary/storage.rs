//! A disk that fills up: refused and accepted requests, and recovery.

use crate::asking::{Answer, Client, Credentials, secret};
use crate::running::{Running, configure};
use rialto::config::Config;
use rialto::venue::Venue;
use rialto_disk::{Disk, Faults, SimDisk};
use rialto_engine::Health;
use rialto_model::Command;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A timeout that fails the test on any machine.
const LONG: Duration = Duration::from_secs(120);
const MIB: u64 = 1 << 20;
/// More than a simulated disk ever has.
const LARGE: u64 = 1 << 50;

/// A venue with a market, and keys of the operator and a member.
struct Market {
    admin: String,
    key: (String, String),
    operator: Client,
    member: Client,
}

impl Market {
    fn found(url: &str, admin: &str) -> Market {
        let operator = Client::new(url, Credentials::Admin(admin.to_owned()));
        let post = |what: &str, body: Value| {
            operator.call("POST", &format!("/v1/admin/{what}"), Some(&body)).expect(what)
        };
        for code in ["BTC", "USD"] {
            post("currencies", json!({"code": code, "scale": 8}));
        }
        post(
            "instruments",
            json!({"symbol": "BTC-USD", "base": "BTC", "quote": "USD", "price_scale": 2,
                "quantity_scale": 6, "tick": "0.5", "lot": "0.0001"}),
        );
        post("members", json!({"member": 1, "name": "acme"}));
        post("accounts", json!({"account": 1, "member": 1, "name": "main"}));
        post("deposits", deposit("first"));
        let scopes = json!({"member": 1, "scopes": ["read", "trade", "transfer"]});
        let key = post("keys", scopes);
        let part = |name: &str| key[name].as_str().unwrap().to_owned();
        Market::at(url, admin, (part("id"), part("secret")))
    }

    fn at(url: &str, admin: &str, key: (String, String)) -> Market {
        let (id, secret) = (key.0.clone(), secret(&key.1).unwrap());
        Market {
            admin: admin.to_owned(),
            key,
            operator: Client::new(url, Credentials::Admin(admin.to_owned())),
            member: Client::new(url, Credentials::Key { id, secret }),
        }
    }

    /// The same market of the restarted venue.
    fn again(&self, venue: &Running) -> Market {
        Market::at(&venue.url(), &self.admin, self.key.clone())
    }

    fn order(&self, id: &str) -> Answer {
        let body = json!({"instrument": "BTC-USD", "side": "buy",
            "price": "100", "quantity": "0.01", "client_order_id": id});
        self.member.send("POST", "/v1/orders", Some(&body)).unwrap()
    }

    fn publish(&self) -> Answer {
        let body = json!([{"payload": "a message"}]);
        self.operator.send("POST", "/v1/queues/jobs/messages", Some(&body)).unwrap()
    }

    fn health(&self) -> Value {
        self.operator.send("GET", "/v1/health", None).unwrap().body
    }

    fn metrics(&self) -> String {
        self.operator.metrics()
    }

    /// Waits until the venue reports this level.
    fn wait_for(&self, level: &str) -> Value {
        let end = Instant::now() + LONG;
        loop {
            let health = self.health();
            if health["storage"]["level"] == level {
                return health;
            }
            assert!(Instant::now() < end, "it is never {level}: {health}");
            std::thread::yield_now();
        }
    }

    /// Requests that reduce risk, and requests of operators.
    fn everything_else_passes(&self, round: &str) {
        let cancel = self.member.send("DELETE", "/v1/orders?instrument=BTC-USD", None).unwrap();
        assert_eq!(cancel.status, 200, "{}", cancel.body);
        let timer = json!({"timeout_ms": 60_000});
        assert_eq!(self.member.send("PUT", "/v1/dead-man", Some(&timer)).unwrap().status, 200);
        let withdraw = json!({"currency": "USD", "amount": "1", "reference": round});
        let held = self.member.call("POST", "/v1/withdrawals", Some(&withdraw)).unwrap();
        let id = held["withdrawal"]["id"].as_str().unwrap();
        let approve = format!("/v1/admin/withdrawals/{id}/approve");
        self.operator.call("POST", &approve, Some(&json!({"receipt": "tx"}))).unwrap();
        self.operator
            .call("POST", "/v1/admin/deposits", Some(&deposit(&format!("in-{round}"))))
            .unwrap();
        let halt = json!({"instrument": "BTC-USD"});
        self.operator.call("POST", "/v1/admin/halt", Some(&halt)).unwrap();
        self.operator.call("POST", "/v1/admin/resume", Some(&halt)).unwrap();
    }
}

fn deposit(reference: &str) -> Value {
    json!({"account": 1, "currency": "USD", "amount": "1000", "reference": reference})
}

fn free_bytes(health: &Value) -> u64 {
    health["storage"]["free_bytes"].as_str().unwrap().parse().unwrap()
}

fn code(answer: &Answer) -> (u16, Option<&str>) {
    (answer.status, answer.body["error"]["code"].as_str())
}

fn config(dir: &Path) -> Config {
    let mut config = Config::default();
    config.engine.data_dir = dir.join("venue");
    config.engine.segment_bytes = 4 << 20;
    config.gateway.listen = "127.0.0.1:0".parse().unwrap();
    config.gateway.address_rate = 1_000_000;
    config.gateway.address_burst = 1_000_000;
    config
}

/// Leaves this many bytes of the disk free, as if other processes had used the rest.
fn leave_free(disk: &SimDisk, bytes: u64) {
    let free = |capacity| {
        disk.set_faults(Faults { capacity_bytes: Some(capacity), ..Faults::default() });
        disk.free_bytes(Path::new("/")).unwrap()
    };
    let used = LARGE - free(LARGE);
    free(used + bytes);
}

#[test]
fn topics_are_refused_first_then_orders_and_each_ends_a_twentieth_above_its_threshold() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = config(dir.path());
    config.queue_enabled = true;
    (config.storage.entry_bytes, config.storage.topics_bytes) = (200 * MIB, 400 * MIB);
    let disk = SimDisk::new(1);
    let (venue, opening) = Venue::open(&config, Arc::new(disk.clone())).unwrap();
    let admin = opening.new_admin_key.unwrap().reveal().to_string();
    let market = Market::found(&format!("http://{}", venue.local_addr()), &admin);
    let topic = json!({"name": "jobs", "segment_bytes": 2 << 20});
    market.operator.call("POST", "/v1/queues", Some(&topic)).unwrap();
    assert_eq!(market.publish().status, 201);
    assert_eq!(market.order("a").status, 201);

    leave_free(&disk, 300 * MIB);
    let health = market.wait_for("low");
    assert!((290 * MIB..=300 * MIB).contains(&free_bytes(&health)), "{health}");
    assert_eq!(code(&market.publish()), (503, Some("storage_low")));
    let another = json!({"name": "more", "segment_bytes": 2 << 20});
    let another = market.operator.send("POST", "/v1/queues", Some(&another)).unwrap();
    assert_eq!(code(&another), (503, Some("storage_low")));
    assert_eq!(market.order("b").status, 201, "there is room for orders");

    leave_free(&disk, 100 * MIB);
    market.wait_for("reserved");
    let before = venue.engine().released();
    assert_eq!(code(&market.order("c")), (503, Some("storage_low")));
    let price = json!({"price": "101"});
    let amended = market.member.send("PATCH", "/v1/orders/client:b", Some(&price)).unwrap();
    assert_eq!(code(&amended), (503, Some("storage_low")));
    let row = json!({"rows": [{"cancel": {"id": "client:a"}}, {"place": {"instrument": "BTC-USD",
        "side": "buy", "price": "100", "quantity": "0.01"}}]});
    let batch = market.member.call("POST", "/v1/orders/batch", Some(&row)).unwrap();
    assert_eq!(batch["results"][0]["status"], 200, "{batch}");
    assert_eq!(batch["results"][1]["error"]["code"], "storage_low", "{batch}");
    // Only the cancel was journaled.
    assert_eq!(venue.engine().released().0, before.0 + 1);
    market.everything_else_passes("reserved");
    let ready = market.operator.send("GET", "/v1/ready", None).unwrap();
    assert_eq!(ready.status, 200, "cancels are served: {}", ready.body);
    let metrics = market.metrics();
    for line in ["rialto_storage_level 2", "rialto_storage_entries_refused_total 3"] {
        assert!(metrics.lines().any(|it| it == line), "{line}:\n{metrics}");
    }

    leave_free(&disk, 205 * MIB);
    // The check has run again when it reports this many free bytes.
    let end = Instant::now() + LONG;
    while free_bytes(&market.health()) < 190 * MIB {
        assert!(Instant::now() < end, "{}", market.health());
    }
    assert_eq!(code(&market.order("c")), (503, Some("storage_low")), "it is not a twentieth more");
    leave_free(&disk, 220 * MIB);
    market.wait_for("low");
    assert_eq!(market.order("c").status, 201);
    leave_free(&disk, 500 * MIB);
    market.wait_for("enough");
    assert_eq!(market.publish().status, 201);
    venue.close(LONG).unwrap();
}

/// Journals until the journal has grown by this many bytes, and returns whether the engine still
/// runs.
fn survives(venue: &Venue, bytes: u64) -> bool {
    let mut producer = venue.engine().producer();
    let before = venue.engine().stats().journal_bytes;
    while venue.engine().stats().journal_bytes < before + bytes {
        // Each command is awaited, so that it has its own group.
        let answered = producer.submit(0, &Command::Tick, None).is_ok()
            && producer.reply_timeout(LONG).is_some_and(|reply| reply.outcome().is_ok());
        if !answered {
            return false;
        }
    }
    matches!(venue.engine().health(), Health::Running)
}

#[test]
fn the_engine_continues_in_its_reserve_when_others_have_filled_the_disk() {
    for (reserve_segments, survived) in [(1, true), (0, false)] {
        let dir = tempfile::tempdir().unwrap();
        let mut config = config(dir.path());
        config.engine.reserve_segments = reserve_segments;
        config.recorder.per_second = 0;
        let disk = SimDisk::new(1);
        let (venue, opening) = Venue::open(&config, Arc::new(disk.clone())).unwrap();
        leave_free(&disk, 0);
        // More than the rest of the first file, and less than the first and the reserve together.
        assert_eq!(survives(&venue, 6 * MIB), survived, "reserve {reserve_segments}");
        if !survived {
            let end = Instant::now() + LONG;
            while venue.check().is_ok() {
                assert!(Instant::now() < end, "it is never given up");
                std::thread::yield_now();
            }
            assert_eq!(venue.check().unwrap_err().exit_code(), 4);
            continue;
        }
        let admin = opening.new_admin_key.unwrap().reveal().to_string();
        let url = format!("http://{}", venue.local_addr());
        let operator = Client::new(&url, Credentials::Admin(admin));
        let member = json!({"member": 1, "name": "acme"});
        operator.call("POST", "/v1/admin/members", Some(&member)).unwrap();
        disk.set_faults(Faults::default());
        venue.close(LONG).unwrap();
    }
}

#[test]
fn a_venue_that_starts_on_a_nearly_full_disk_cancels_and_enters_nothing() {
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), "");
    let mut first = Running::serve(dir.path(), "synced");
    let admin = first.admin_key();
    let market = Market::found(&first.url(), &admin);
    assert_eq!(market.order("rests").status, 201);
    let health = market.health();
    for part in ["journal", "event_log", "snapshots", "flows", "other"] {
        let bytes: u64 = health["storage"]["used_bytes"][part].as_str().unwrap().parse().unwrap();
        assert!(bytes > 0, "{part}: {health}");
    }
    first.terminate();

    // No disk has as much.
    let low = "[storage]\nentry_free_bytes_min = 1_000_000_000_000_000_000\n";
    configure(dir.path(), low);
    let mut second = Running::serve(dir.path(), "synced");
    second.heard("the disk is nearly full: orders are refused");
    let market = market.again(&second);
    assert_eq!(market.health()["storage"]["level"], "reserved");
    assert_eq!(code(&market.order("refused")), (503, Some("storage_low")));
    market.member.call("DELETE", "/v1/orders/client:rests", None).unwrap();
    market.everything_else_passes("second");
    second.kill();

    configure(dir.path(), "");
    let mut third = Running::serve(dir.path(), "synced");
    let market = market.again(&third);
    let refused = market.member.send("GET", "/v1/orders/client:refused", None).unwrap();
    assert_eq!(code(&refused), (404, Some("unknown_order")), "it was never journaled");
    assert_eq!(market.order("refused").status, 201);
    third.terminate();
}
