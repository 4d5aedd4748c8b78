//! Queues of a venue survive a restart and do not delay a shutdown.

use crate::asking::{Client, Credentials};
use rialto::config::Config;
use rialto::venue::Venue;
use rialto_disk::RealDisk;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A timeout that fails the test on any machine.
const LONG: Duration = Duration::from_secs(60);

fn config(dir: &tempfile::TempDir) -> Config {
    let mut config = Config::default();
    config.engine.data_dir = dir.path().join("venue");
    config.engine.segment_bytes = 4 << 20;
    config.gateway.listen = "127.0.0.1:0".parse().unwrap();
    config.queue_enabled = true;
    config
}

fn operator(venue: &Venue, key: &str) -> Client {
    let url = format!("http://{}", venue.local_addr());
    Client::new(&url, Credentials::Admin(key.to_string()))
}

#[track_caller]
fn ask(client: &Client, method: &str, path: &str, body: Option<Value>) -> Value {
    let answer = client.send(method, path, body.as_ref()).unwrap();
    assert!(answer.status < 300, "{}: {}", answer.status, answer.body);
    answer.body
}

#[test]
fn messages_outlive_the_venue_and_leases_do_not() {
    let dir = tempfile::tempdir().unwrap();
    let (venue, opening) = Venue::open(&config(&dir), Arc::new(RealDisk::new())).unwrap();
    let admin = opening.new_admin_key.unwrap().reveal().to_string();
    let client = operator(&venue, &admin);
    let health = ask(&client, "GET", "/v1/health", None);
    let components = health["components"].as_array().unwrap();
    assert!(components.iter().any(|it| it["name"] == "queue" && it["state"] == "up"), "{health}");
    let topic = json!({"name": "jobs", "segment_bytes": 2 << 20});
    ask(&client, "POST", "/v1/queues", Some(topic));
    ask(&client, "POST", "/v1/queues/jobs/groups", Some(json!({"name": "all"})));
    let messages = json!([{"payload": "first"}, {"payload": "second"}]);
    ask(&client, "POST", "/v1/queues/jobs/messages", Some(messages));
    let fetch = |client: &Client, body: Value| {
        ask(client, "POST", "/v1/queues/jobs/groups/all/fetch", Some(body))
    };
    let settle = |client: &Client, message: &Value| {
        let lease = json!({"id": message["id"], "lease": message["lease"]});
        let body = json!({"consumer": "one", "messages": [lease]});
        ask(client, "POST", "/v1/queues/jobs/groups/all/ack", Some(body))
    };
    let had = fetch(&client, json!({"consumer": "one"}));
    assert_eq!(settle(&client, &had["messages"][0]), json!({"lost": []}));

    // A consumer waits for messages when the venue stops.
    std::thread::scope(|scope| {
        let waiting = operator(&venue, &admin);
        let body = json!({"consumer": "other", "wait_ms": 30_000});
        let waiting = scope.spawn(move || fetch(&waiting, body));
        let end = Instant::now() + LONG;
        while ask(&client, "GET", "/v1/queues/jobs", None)["groups"][0]["consumers"] != "2" {
            assert!(Instant::now() < end);
        }
        let began = Instant::now();
        venue.close(LONG).unwrap();
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        assert_eq!(waiting.join().unwrap()["messages"], json!([]));
    });

    let (venue, _) = Venue::open(&config(&dir), Arc::new(RealDisk::new())).unwrap();
    let client = operator(&venue, &admin);
    let again = fetch(&client, json!({"consumer": "one"}));
    assert_eq!(again["messages"].as_array().unwrap().len(), 1, "{again}");
    assert_eq!(again["messages"][0]["payload"], "second");
    assert_eq!(settle(&client, &had["messages"][1]), json!({"lost": ["0:2"]}));
    assert_eq!(settle(&client, &again["messages"][0]), json!({"lost": []}));
    venue.close(LONG).unwrap();
}
