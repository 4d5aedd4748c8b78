//! Whoever waits for messages gets none once their key, or the secret that signed, is gone.
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod house;

use futures_util::StreamExt;
use house::{House, Key, Reply, config, key_of, signed};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::{Error, Message};

/// Longer than anything here takes on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// A venue with the topic `jobs` and its group `all`, and a key that may consume.
fn furnished() -> (House, Key) {
    let house = House::empty(config());
    house.operate("POST", "/v1/queues", json!({"name": "jobs", "level": "memory"})).expect(201);
    house.operate("POST", "/v1/queues/jobs/groups", json!({"name": "all"})).expect(201);
    let member = house.operate("POST", "/v1/admin/members", json!({"name": "worker"})).expect(201);
    let grants = json!([{"topics": "*", "rights": ["consume"]}]);
    let body = json!({"member": member["member"], "queues": grants});
    let key = key_of(&house.operate("POST", "/v1/admin/keys", body).expect(201));
    (house, key)
}

fn publish(house: &House) {
    let messages = json!([{"payload": "secret"}]);
    house.operate("POST", "/v1/queues/jobs/messages", messages).expect(201);
}

/// Waits until a request on this route is at the queue.
fn wait_for_consumer(house: &House) {
    let began = Instant::now();
    loop {
        let topic = house.operate("GET", "/v1/queues/jobs", Value::Null).expect(200);
        if topic["groups"][0]["consumers"] == "1" {
            return;
        }
        assert!(began.elapsed() < LONG);
    }
}

fn revoke(house: &House, key: &Key) {
    let path = format!("/v1/admin/keys/{}", key.id);
    house.operate("DELETE", &path, Value::Null).expect(200);
}

#[test]
fn a_fetch_that_waits_ends_with_its_key_and_takes_no_message() {
    let (house, key) = furnished();
    let path = "/v1/queues/jobs/groups/all/fetch";
    let body = json!({"consumer": "c", "wait_ms": 30_000}).to_string().into_bytes();
    let headers = signed(&key, "POST", path, &body);
    let mut client = house.client();
    let waiting =
        std::thread::spawn(move || -> Reply { client.send("POST", path, &headers, &body) });
    wait_for_consumer(&house);
    let began = Instant::now();
    revoke(&house, &key);
    waiting.join().unwrap().refuses(401, "key_not_valid");
    assert!(began.elapsed() < Duration::from_secs(20), "at once, and not when the wait is over");
    publish(&house);
    let others = house.operate("POST", path, json!({"consumer": "d"})).expect(200);
    assert_eq!(others["messages"][0]["attempt"], 1, "nobody has had it");
}

#[test]
fn a_fetch_that_waits_ends_when_its_key_expires() {
    let (house, key) = furnished();
    let lasting_us = 1_500_000;
    let granted = house.operate("GET", "/v1/admin/keys", Value::Null).expect(200);
    let member = granted["keys"].as_array().unwrap().iter().find(|it| it["id"] == *key.id).unwrap();
    let body = json!({
        "member": member["member"], "queues": [{"topics": "*", "rights": ["consume"]}],
        "expires_at": (1_000 * (rialto_gateway::now_us() + lasting_us)).to_string(),
    });
    let short = key_of(&house.operate("POST", "/v1/admin/keys", body).expect(201));
    let path = "/v1/queues/jobs/groups/all/fetch";
    let body = json!({"consumer": "c", "wait_ms": 30_000});
    let began = Instant::now();
    house.ask(&short, "POST", path, body).refuses(401, "key_not_valid");
    assert!(began.elapsed() < Duration::from_secs(20), "soon, and not when the wait is over");
}

#[test]
fn a_reading_that_waits_ends_with_its_key() {
    let (house, key) = furnished();
    let path = "/v1/queues/jobs/messages?from=next&wait_ms=30000";
    let headers = signed(&key, "GET", path, b"");
    let mut client = house.client();
    let began = Instant::now();
    let waiting = std::thread::spawn(move || -> Reply { client.send("GET", path, &headers, b"") });
    // One that comes after its key is gone would be refused for its signature all the same.
    revoke(&house, &key);
    let reply = waiting.join().unwrap();
    assert_eq!((reply.status, reply.code()), (401, "key_not_valid"));
    assert!(began.elapsed() < Duration::from_secs(20), "at once, and not when the wait is over");
}

#[test]
fn a_stream_of_messages_ends_when_its_secret_is_rotated_away() {
    let (house, key) = furnished();
    let path = "/v1/queues/jobs/groups/all/stream";
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut socket = runtime.block_on(async {
        let stream = TcpStream::connect(house.address).await.unwrap();
        let mut request = format!("ws://{}{path}", house.address).into_client_request().unwrap();
        for (name, value) in signed(&key, "GET", path, b"") {
            request.headers_mut().insert(name, HeaderValue::from_str(&value).unwrap());
        }
        match tokio_tungstenite::client_async(request, stream).await {
            Ok((socket, _)) => socket,
            Err(Error::Http(response)) => panic!("{}", response.status()),
            Err(error) => panic!("{error}"),
        }
    });
    wait_for_consumer(&house);
    let began = Instant::now();
    let rotate = format!("/v1/admin/keys/{}/rotate", key.id);
    house.operate("POST", &rotate, json!({"overlap_s": 0})).expect(200);
    let close = runtime.block_on(async {
        loop {
            match tokio::time::timeout(LONG, socket.next()).await.expect("it ends") {
                Some(Ok(Message::Close(Some(frame)))) => break frame,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                other => panic!("{other:?}"),
            }
        }
    });
    assert_eq!((u16::from(close.code), close.reason.as_str()), (4003, "key_not_valid"));
    assert!(began.elapsed() < rialto_gateway::StreamConfig::default().heartbeat, "at once");
}
