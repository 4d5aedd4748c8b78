//! Memory of bodies: owners, limits, release.

use crate::test_venue::{Client, Key, TestVenue, config, head_of, key_of, signed, signed_1};
use rialto_gateway::GatewayConfig;
use serde_json::json;
use std::time::{Duration, Instant};

/// Longer than any step takes on a busy machine.
const LONG: Duration = Duration::from_secs(60);
const PATH: &str = "/v1/queues/jobs/messages";
const KIB: usize = 1 << 10;

/// A venue with the topic `jobs`, and a key that may publish on it.
fn with_topic(config: GatewayConfig) -> (TestVenue, Key) {
    let venue = TestVenue::empty(config);
    venue.operate("POST", "/v1/queues", json!({"name": "jobs", "level": "memory"})).expect(201);
    let key = key(&venue);
    (venue, key)
}

fn key(venue: &TestVenue) -> Key {
    let member = venue.operate("POST", "/v1/admin/members", json!({"name": "worker"})).expect(201);
    let grants = json!([{"topics": "*", "rights": ["produce"]}]);
    let body = json!({"member": member["member"], "queues": grants});
    key_of(&venue.operate("POST", "/v1/admin/keys", body).expect(201))
}

fn tight() -> GatewayConfig {
    GatewayConfig {
        bodies_bytes_max: 1_024 * KIB,
        bodies_reserve_bytes: 512 * KIB,
        key_bodies_bytes_max: 320 * KIB,
        address_bodies_bytes_max: 192 * KIB,
        ..config()
    }
}

/// A message that makes a body of this length.
fn body(bytes: usize) -> Vec<u8> {
    let around = json!([{"payload": ""}]).to_string().len();
    json!([{"payload": "x".repeat(bytes - around)}]).to_string().into_bytes()
}

/// A request whose head is sent and whose body is on its way.
fn begin(venue: &TestVenue, headers: &[(&str, String)], body: &[u8]) -> Client {
    let mut client = venue.client();
    let head = head_of("POST", PATH, headers, &format!("content-length: {}", body.len()));
    client.raw(head.as_bytes()).unwrap();
    client
}

fn wait_until_held(venue: &TestVenue, bytes: usize) {
    let began = Instant::now();
    while venue.metric("rialto_body_bytes") != bytes as f64 {
        assert!(began.elapsed() < LONG, "{}", venue.metric("rialto_body_bytes"));
    }
}

#[test]
fn bodies_of_senders_who_are_not_proved_count_against_their_address() {
    let (venue, alice) = with_topic(tight());
    let body = body(128 * KIB);
    let first = signed_1(&alice, "POST", PATH, &body);
    let mut first = begin(&venue, &first, &body);
    wait_until_held(&venue, body.len());
    let second = signed_1(&alice, "POST", PATH, &body);
    let reply = begin(&venue, &second, &body).read().unwrap().refuses(429, "too_many_bodies");
    assert!(reply.head.contains("retry-after: 1") && reply.head.contains("connection: close"));
    // An authenticated request is not charged to it.
    venue.ask_bytes(&alice, "POST", PATH, &body).expect(201);
    first.raw(&body).unwrap();
    first.read().unwrap().expect(201);
    wait_until_held(&venue, 0);
    venue.client().send("POST", PATH, &second, &body).expect(201);
}

#[test]
fn a_body_that_arrives_after_the_end_of_its_key_is_refused() {
    let (venue, alice) = with_topic(tight());
    let body = body(128 * KIB);
    let mut late = begin(&venue, &signed(&alice, "POST", PATH, &body), &body);
    wait_until_held(&venue, body.len());
    let path = format!("/v1/admin/keys/{}", alice.id);
    venue.operate("DELETE", &path, serde_json::Value::Null).expect(200);
    late.raw(&body).unwrap();
    late.read().unwrap().refuses(401, "key_not_valid");
}

#[test]
fn bodies_of_a_key_have_a_share_and_small_ones_of_others_a_reserve() {
    let (venue, alice) = with_topic(tight());
    let (bob, carol) = (key(&venue), key(&venue));
    let large = body(256 * KIB);
    let mut under_way: Vec<_> = [&alice, &bob]
        .map(|key| begin(&venue, &signed(key, "POST", PATH, &large), &large))
        .into_iter()
        .collect();
    wait_until_held(&venue, 2 * large.len());
    venue.ask_bytes(&alice, "POST", PATH, &body(100 * KIB)).refuses(429, "too_many_bodies");
    let reply = venue.ask_bytes(&carol, "POST", PATH, &body(100 * KIB)).refuses(503, "busy");
    assert!(reply.head.contains("retry-after: 1"));
    venue.ask_bytes(&carol, "POST", PATH, &body(64 * KIB)).expect(201);
    for client in &mut under_way {
        client.raw(&large).unwrap();
        client.read().unwrap().expect(201);
    }
    wait_until_held(&venue, 0);
    venue.ask_bytes(&carol, "POST", PATH, &body(100 * KIB)).expect(201);
}

#[test]
fn a_body_without_a_length_counts_as_it_arrives() {
    let (venue, alice) = with_topic(tight());
    let headers = signed_1(&alice, "POST", PATH, b"[]");
    let mut client = venue.client();
    let head = head_of("POST", PATH, &headers, "transfer-encoding: chunked");
    client.raw(head.as_bytes()).unwrap();
    let chunk = [b"8000\r\n".to_vec(), vec![b' '; 32 * KIB], b"\r\n".to_vec()].concat();
    for _ in 0..7 {
        if client.raw(&chunk).is_err() {
            break;
        }
    }
    client.read().unwrap().refuses(429, "too_many_bodies");
    wait_until_held(&venue, 0);
}

#[test]
fn bodies_of_refused_heads_are_never_held() {
    let (venue, alice) = with_topic(config());
    let large = body(2 << 20);
    let stranger = venue.key(1, &["read"]);
    let mut clients = Vec::new();
    for nth in 0..30 {
        let (headers, path) = match nth % 3 {
            0 => (Vec::new(), PATH),
            1 => (signed(&stranger, "POST", PATH, &large), PATH),
            _ => {
                let path = "/v1/queues/none/messages";
                (signed(&alice, "POST", path, &large), path)
            }
        };
        let mut client = venue.client();
        let head = head_of("POST", path, &headers, &format!("content-length: {}", large.len()));
        client.raw(head.as_bytes()).unwrap();
        let reply = client.read().unwrap();
        let codes = [(401, "credentials_missing"), (403, "forbidden"), (404, "unknown_topic")];
        let (status, code) = codes[nth % 3];
        assert!(reply.refuses(status, code).head.contains("connection: close"));
        clients.push(client);
    }
    assert_eq!(venue.metric("rialto_body_bytes"), 0.0);
    // A client that sends all of it nevertheless can read the error.
    let mut client = venue.client();
    let head = head_of("POST", PATH, &[], &format!("content-length: {}", large.len()));
    client.raw(&[head.as_bytes(), &large].concat()).unwrap();
    client.read().unwrap().refuses(401, "credentials_missing");
}

#[test]
fn a_client_that_keeps_sending_a_refused_body_is_disconnected() {
    let (venue, _) = with_topic(config());
    let mut client = venue.client();
    // Longer than what is sent.
    let head = head_of("POST", PATH, &[], &format!("content-length: {}", 1_u64 << 40));
    client.raw(head.as_bytes()).unwrap();
    client.read().unwrap().refuses(401, "credentials_missing");
    let began = Instant::now();
    while client.raw(b"x").is_ok() {
        assert!(began.elapsed() < Duration::from_secs(20), "it is taken for ever");
    }
}

#[test]
fn a_connection_survives_a_refusal_if_the_body_has_arrived() {
    let (venue, _) = with_topic(config());
    let mut client = venue.client();
    for _ in 0..3 {
        let reply = client.send("POST", PATH, &[], b"[{\"payload\":\"x\"}]");
        let reply = reply.refuses(401, "credentials_missing");
        assert!(!reply.head.contains("connection: close"), "{}", reply.head);
    }
}

#[test]
fn reading_stops_at_the_first_row_or_header_too_many() {
    let (venue, alice) = with_topic(config());
    let refused = |path: &str, body: &str| {
        let reply = venue.ask_bytes(&alice, "POST", path, body.as_bytes());
        let reply = reply.refuses(400, "invalid_field");
        (reply.field().to_owned(), reply.body["error"]["message"].as_str().unwrap().to_owned())
    };
    let row = "{\"payload\":\"\"},";
    // The rest is not JSON and is not reached.
    let rows = format!("[{}!", row.repeat(1_001));
    let (field, message) = refused(PATH, &rows);
    assert_eq!((&*field, &*message), ("body", "It must be an array of at most 1000 entries."));
    let fields: String = (0..65).map(|nth| format!("\"{nth}\":\"\",")).collect();
    let (field, message) = refused(PATH, &format!("[{{\"headers\":{{{fields}!"));
    assert_eq!(field, "[0].headers");
    assert!(message.contains("an object of at most 64 texts"), "{message}");
    let path = "/v1/queues/transactions";
    let many = format!("{{\"publish\":[{{\"topic\":\"t\",\"messages\":{rows}");
    assert_eq!(refused(path, &many).0, "publish[0].messages");
    // Two topics of 600 messages each: the rest after the second is not read.
    let rows =
        format!("{{\"topic\":\"t\",\"messages\":[{}{{\"payload\":\"\"}}]}},", row.repeat(599));
    assert_eq!(refused(path, &format!("{{\"publish\":[{rows}{rows}!")).0, "publish");
    let many = format!("{{\"publish\":[{}!", "{\"topic\":\"t\",\"messages\":[]},".repeat(1_001));
    assert_eq!(refused(path, &many).0, "publish");
    let stranger = venue.key(1, &["read"]);
    venue.ask_bytes(&stranger, "POST", path, many.as_bytes()).refuses(403, "forbidden");
}
