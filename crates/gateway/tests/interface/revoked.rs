//! A waiting consumer gets no messages after the end of its key or secret.

use crate::test_venue::{Key, Reply, TestVenue, config, key_of, signed};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::{Error, Message};

/// Longer than any step takes on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// A venue with the topic `jobs` and its group `all`, and a key that may consume.
fn with_topic() -> (TestVenue, Key) {
    let venue = TestVenue::empty(config());
    venue.operate("POST", "/v1/queues", json!({"name": "jobs", "level": "memory"})).expect(201);
    venue.operate("POST", "/v1/queues/jobs/groups", json!({"name": "all"})).expect(201);
    let member = venue.operate("POST", "/v1/admin/members", json!({"name": "worker"})).expect(201);
    let grants = json!([{"topics": "*", "rights": ["consume"]}]);
    let body = json!({"member": member["member"], "queues": grants});
    let key = key_of(&venue.operate("POST", "/v1/admin/keys", body).expect(201));
    (venue, key)
}

fn publish(venue: &TestVenue) {
    let messages = json!([{"payload": "secret"}]);
    venue.operate("POST", "/v1/queues/jobs/messages", messages).expect(201);
}

/// Waits until a request on this route has reached the queue.
fn wait_for_consumer(venue: &TestVenue) {
    let began = Instant::now();
    loop {
        let topic = venue.operate("GET", "/v1/queues/jobs", Value::Null).expect(200);
        if topic["groups"][0]["consumers"] == "1" {
            return;
        }
        assert!(began.elapsed() < LONG);
    }
}

fn revoke(venue: &TestVenue, key: &Key) {
    let path = format!("/v1/admin/keys/{}", key.id);
    venue.operate("DELETE", &path, Value::Null).expect(200);
}

#[test]
fn a_fetch_that_waits_ends_with_its_key_and_takes_no_message() {
    let (venue, key) = with_topic();
    let path = "/v1/queues/jobs/groups/all/fetch";
    let body = json!({"consumer": "c", "wait_ms": 30_000}).to_string().into_bytes();
    let headers = signed(&key, "POST", path, &body);
    let mut client = venue.client();
    let waiting =
        std::thread::spawn(move || -> Reply { client.send("POST", path, &headers, &body) });
    wait_for_consumer(&venue);
    let began = Instant::now();
    revoke(&venue, &key);
    waiting.join().unwrap().refuses(401, "key_not_valid");
    assert!(began.elapsed() < Duration::from_secs(20), "at once, and not when the wait is over");
    publish(&venue);
    let others = venue.operate("POST", path, json!({"consumer": "d"})).expect(200);
    assert_eq!(others["messages"][0]["attempt"], 1, "nobody has had it");
}

#[test]
fn a_fetch_that_waits_ends_when_its_key_expires() {
    let (venue, key) = with_topic();
    let lasting_us = 1_500_000;
    let granted = venue.operate("GET", "/v1/admin/keys", Value::Null).expect(200);
    let member = granted["keys"].as_array().unwrap().iter().find(|it| it["id"] == *key.id).unwrap();
    let body = json!({
        "member": member["member"], "queues": [{"topics": "*", "rights": ["consume"]}],
        "expires_at": (1_000 * (rialto_gateway::now_us() + lasting_us)).to_string(),
    });
    let short = key_of(&venue.operate("POST", "/v1/admin/keys", body).expect(201));
    let path = "/v1/queues/jobs/groups/all/fetch";
    let body = json!({"consumer": "c", "wait_ms": 30_000});
    let began = Instant::now();
    venue.ask(&short, "POST", path, body).refuses(401, "key_not_valid");
    assert!(began.elapsed() < Duration::from_secs(20), "soon, and not when the wait is over");
}

#[test]
fn a_reading_that_waits_ends_with_its_key() {
    let (venue, key) = with_topic();
    let path = "/v1/queues/jobs/messages?from=next&wait_ms=30000";
    let headers = signed(&key, "GET", path, b"");
    let mut client = venue.client();
    let began = Instant::now();
    let waiting = std::thread::spawn(move || -> Reply { client.send("GET", path, &headers, b"") });
    // A message after the end of the key would be refused for its signature in any case.
    revoke(&venue, &key);
    let reply = waiting.join().unwrap();
    assert_eq!((reply.status, reply.code()), (401, "key_not_valid"));
    assert!(began.elapsed() < Duration::from_secs(20), "at once, and not when the wait is over");
}

#[test]
fn a_stream_of_messages_ends_when_its_secret_is_rotated_away() {
    let (venue, key) = with_topic();
    let path = "/v1/queues/jobs/groups/all/stream";
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut socket = runtime.block_on(async {
        let stream = TcpStream::connect(venue.address).await.unwrap();
        let mut request = format!("ws://{}{path}", venue.address).into_client_request().unwrap();
        for (name, value) in signed(&key, "GET", path, b"") {
            request.headers_mut().insert(name, HeaderValue::from_str(&value).unwrap());
        }
        match tokio_tungstenite::client_async(request, stream).await {
            Ok((socket, _)) => socket,
            Err(Error::Http(response)) => panic!("{}", response.status()),
            Err(error) => panic!("{error}"),
        }
    });
    wait_for_consumer(&venue);
    let began = Instant::now();
    let rotate = format!("/v1/admin/keys/{}/rotate", key.id);
    venue.operate("POST", &rotate, json!({"overlap_s": 0})).expect(200);
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
