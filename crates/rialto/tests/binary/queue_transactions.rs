//! A worker over HTTP that transforms messages in transactions, which it retries until they are
//! answered, at a venue that is killed at random times: every message is processed once.

use crate::asking::{Client, Credentials};
use crate::running::chance::{Random, seed};
use crate::running::{PATIENCE, Running, configure};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const KILLS: u64 = 5;
/// The most kills, until a transaction was under way at one.
const KILLS_MAX: u64 = 40;
/// The messages before each kill: more than the worker processes by then.
const MESSAGES: u64 = 1_000;

/// The venue under test: its address, and a key.
struct Target {
    url: Mutex<String>,
    admin: String,
    /// Whether a transaction was not answered.
    is_unanswered: AtomicBool,
    /// Whether no more messages follow.
    is_over: AtomicBool,
}

impl Target {
    fn client(&self) -> Client {
        Client::new(&self.url.lock().unwrap(), Credentials::Admin(self.admin.clone()))
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        self.client().call(method, path, Some(body)).unwrap()
    }
}

/// The results of a worker.
#[derive(Debug, Default)]
struct Worked {
    committed: u64,
    duplicates: u64,
    lost: u64,
    unanswered: u64,
}

/// Consumes messages of `in` and publishes one for each on `out`, until there are no more.
fn work(target: &Target) -> Worked {
    let mut worked = Worked::default();
    let mut sent: Option<Value> = None;
    let mut number = 0_u64;
    let mut end = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < end, "{worked:?}");
        let client = target.client();
        let Some(body) = &sent else {
            let fetch = json!({"consumer": "w", "max": 3, "wait_ms": 200});
            let path = "/v1/queues/in/groups/workers/fetch";
            let Ok(fetched) = client.call("POST", path, Some(&fetch)) else { continue };
            let messages = fetched["messages"].as_array().unwrap();
            if messages.is_empty() {
                let is_over = target.is_over.load(Ordering::SeqCst);
                match client.call("GET", "/v1/queues/in", None) {
                    Ok(topic) if is_over && topic["groups"][0]["lag"] == "0" => return worked,
                    _ => continue,
                }
            }
            number += 1;
            let made = |message: &Value| json!({"payload": message["payload"]});
            let lease = |it: &Value| json!({"id": it["id"], "lease": it["lease"]});
            sent = Some(json!({
                "producer": "w", "number": number.to_string(),
                "publish": [{"topic": "out", "messages": messages.iter().map(made).collect::<Value>()}],
                "ack": [{
                    "topic": "in", "group": "workers", "consumer": "w",
                    "messages": messages.iter().map(lease).collect::<Value>(),
                }],
            }));
            continue;
        };
        match client.send("POST", "/v1/queues/transactions", Some(body)) {
            Ok(answer) if answer.status == 200 => {
                end = Instant::now() + PATIENCE;
                worked.committed += 1;
                worked.duplicates += u64::from(answer.body["duplicate"] == true);
                sent = None;
            }
            // It was not committed before the kill, or it would be a duplicate.
            Ok(answer) if answer.body["error"]["code"] == "lease_lost" => {
                worked.lost += 1;
                sent = None;
            }
            Ok(answer) if answer.status < 500 => panic!("{}: {}", answer.status, answer.body),
            Ok(_) | Err(_) => {
                worked.unanswered += 1;
                target.is_unanswered.store(true, Ordering::SeqCst);
            }
        }
    }
}

#[test]
fn a_worker_that_commits_again_what_it_did_not_hear_of_works_exactly_once() {
    let seed = seed();
    let mut random = Random::new(seed);
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), "[queue]\nenabled = true\n");
    let mut venue = Running::serve(dir.path(), "synced");
    let (url, admin) = (Mutex::new(venue.url()), venue.admin_key());
    let (is_unanswered, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    let target = Target { url, admin, is_unanswered, is_over };
    for (topic, level) in [("in", "synced"), ("out", "buffered")] {
        let body = json!({"name": topic, "level": level, "segment_bytes": 2 << 20});
        target.call("POST", "/v1/queues", &body);
    }
    let group = json!({"name": "workers", "attempts_max": 0});
    target.call("POST", "/v1/queues/in/groups", &group);
    let mut kills = 0;
    let worked = thread::scope(|scope| {
        let worker = scope.spawn(|| work(&target));
        let is_enough = || target.is_unanswered.load(Ordering::SeqCst);
        while kills < KILLS || (kills < KILLS_MAX && !is_enough()) {
            let numbers = kills * MESSAGES..(kills + 1) * MESSAGES;
            let messages: Value = numbers.map(|n| json!({"payload": format!("{n:05}")})).collect();
            target.call("POST", "/v1/queues/in/messages", &messages);
            random.pause(Duration::from_millis(60));
            venue.kill();
            kills += 1;
            venue = Running::serve(dir.path(), "synced");
            *target.url.lock().unwrap() = venue.url();
        }
        target.is_over.store(true, Ordering::SeqCst);
        worker.join().unwrap()
    });
    println!("{worked:?}");
    assert!(worked.unanswered > 0, "seed {seed}: nothing was under way at any kill: {worked:?}");
    let (mut out, mut from) = (Vec::new(), "oldest".to_owned());
    loop {
        let path = format!("/v1/queues/out/messages?max=1000&from={from}");
        let page = target.client().call("GET", &path, None).unwrap();
        let messages = page["messages"].as_array().unwrap();
        if messages.is_empty() {
            break;
        }
        out.extend(messages.iter().map(|it| it["payload"].as_str().unwrap().to_owned()));
        from = page["next"].as_str().unwrap().to_owned();
    }
    out.sort();
    let wanted: Vec<_> = (0..kills * MESSAGES).map(|n| format!("{n:05}")).collect();
    assert_eq!(out, wanted, "seed {seed}: {worked:?}");
    venue.terminate();
}
