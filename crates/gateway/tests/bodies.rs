//! Memory of bodies: whose it is, how much one may hold, and that it comes back.
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod house;

use house::{Client, House, Key, config, head_of, key_of, signed, signed_1};
use rialto_gateway::GatewayConfig;
use serde_json::json;
use std::time::{Duration, Instant};

/// Longer than anything here takes on a busy machine.
const LONG: Duration = Duration::from_secs(60);
const PATH: &str = "/v1/queues/jobs/messages";
const KIB: usize = 1 << 10;

/// A venue with the topic `jobs`, and a key that may publish on it.
fn furnished(config: GatewayConfig) -> (House, Key) {
    let house = House::empty(config);
    house.operate("POST", "/v1/queues", json!({"name": "jobs", "level": "memory"})).expect(201);
    let key = key(&house);
    (house, key)
}

fn key(house: &House) -> Key {
    let member = house.operate("POST", "/v1/admin/members", json!({"name": "worker"})).expect(201);
    let grants = json!([{"topics": "*", "rights": ["produce"]}]);
    let body = json!({"member": member["member"], "queues": grants});
    key_of(&house.operate("POST", "/v1/admin/keys", body).expect(201))
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

/// One message that makes a body of this length.
fn body(bytes: usize) -> Vec<u8> {
    let around = json!([{"payload": ""}]).to_string().len();
    json!([{"payload": "x".repeat(bytes - around)}]).to_string().into_bytes()
}

/// A request whose head has come and whose body is on its way.
fn begin(house: &House, headers: &[(&str, String)], body: &[u8]) -> Client {
    let mut client = house.client();
    let head = head_of("POST", PATH, headers, &format!("content-length: {}", body.len()));
    client.raw(head.as_bytes()).unwrap();
    client
}

fn wait_until_held(house: &House, bytes: usize) {
    let began = Instant::now();
    while house.metric("rialto_body_bytes") != bytes as f64 {
        assert!(began.elapsed() < LONG, "{}", house.metric("rialto_body_bytes"));
    }
}

#[test]
fn bodies_of_senders_who_are_not_proved_count_against_their_address() {
    let (house, alice) = furnished(tight());
    let body = body(128 * KIB);
    let first = signed_1(&alice, "POST", PATH, &body);
    let mut first = begin(&house, &first, &body);
    wait_until_held(&house, body.len());
    let second = signed_1(&alice, "POST", PATH, &body);
    let reply = begin(&house, &second, &body).read().unwrap().refuses(429, "too_many_bodies");
    assert!(reply.head.contains("retry-after: 1") && reply.head.contains("connection: close"));
    // Whoever is proved by the head does not pay from it.
    house.ask_bytes(&alice, "POST", PATH, &body).expect(201);
    first.raw(&body).unwrap();
    first.read().unwrap().expect(201);
    wait_until_held(&house, 0);
    house.client().send("POST", PATH, &second, &body).expect(201);
}

#[test]
fn a_body_that_comes_after_the_end_of_its_key_is_refused() {
    let (house, alice) = furnished(tight());
    let body = body(128 * KIB);
    let mut late = begin(&house, &signed(&alice, "POST", PATH, &body), &body);
    wait_until_held(&house, body.len());
    let path = format!("/v1/admin/keys/{}", alice.id);
    house.operate("DELETE", &path, serde_json::Value::Null).expect(200);
    late.raw(&body).unwrap();
    late.read().unwrap().refuses(401, "key_not_valid");
}

#[test]
fn bodies_of_a_key_have_a_share_and_small_ones_of_others_a_reserve() {
    let (house, alice) = furnished(tight());
    let (bob, carol) = (key(&house), key(&house));
    let large = body(256 * KIB);
    let mut under_way: Vec<_> = [&alice, &bob]
        .map(|key| begin(&house, &signed(key, "POST", PATH, &large), &large))
        .into_iter()
        .collect();
    wait_until_held(&house, 2 * large.len());
    house.ask_bytes(&alice, "POST", PATH, &body(100 * KIB)).refuses(429, "too_many_bodies");
    let reply = house.ask_bytes(&carol, "POST", PATH, &body(100 * KIB)).refuses(503, "busy");
    assert!(reply.head.contains("retry-after: 1"));
    house.ask_bytes(&carol, "POST", PATH, &body(64 * KIB)).expect(201);
    for client in &mut under_way {
        client.raw(&large).unwrap();
        client.read().unwrap().expect(201);
    }
    wait_until_held(&house, 0);
    house.ask_bytes(&carol, "POST", PATH, &body(100 * KIB)).expect(201);
}

#[test]
fn a_body_that_does_not_say_how_long_it_is_counts_as_it_comes() {
    let (house, alice) = furnished(tight());
    let headers = signed_1(&alice, "POST", PATH, b"[]");
    let mut client = house.client();
    let head = head_of("POST", PATH, &headers, "transfer-encoding: chunked");
    client.raw(head.as_bytes()).unwrap();
    let chunk = [b"8000\r\n".to_vec(), vec![b' '; 32 * KIB], b"\r\n".to_vec()].concat();
    for _ in 0..7 {
        if client.raw(&chunk).is_err() {
            break;
        }
    }
    client.read().unwrap().refuses(429, "too_many_bodies");
    wait_until_held(&house, 0);
}

#[test]
fn bodies_of_refused_heads_are_never_held() {
    let (house, alice) = furnished(config());
    let large = body(2 << 20);
    let stranger = house.key(1, &["read"]);
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
        let mut client = house.client();
        let head = head_of("POST", path, &headers, &format!("content-length: {}", large.len()));
        client.raw(head.as_bytes()).unwrap();
        let reply = client.read().unwrap();
        let codes = [(401, "credentials_missing"), (403, "forbidden"), (404, "unknown_topic")];
        let (status, code) = codes[nth % 3];
        assert!(reply.refuses(status, code).head.contains("connection: close"));
        clients.push(client);
    }
    assert_eq!(house.metric("rialto_body_bytes"), 0.0);
    // A client that sends all of it nevertheless can read why it was refused.
    let mut client = house.client();
    let head = head_of("POST", PATH, &[], &format!("content-length: {}", large.len()));
    client.raw(&[head.as_bytes(), &large].concat()).unwrap();
    client.read().unwrap().refuses(401, "credentials_missing");
}

#[test]
fn what_goes_on_being_sent_of_a_refused_body_is_cut_off() {
    let (house, _) = furnished(config());
    let mut client = house.client();
    // Longer than anybody sends meanwhile.
    let head = head_of("POST", PATH, &[], &format!("content-length: {}", 1_u64 << 40));
    client.raw(head.as_bytes()).unwrap();
    client.read().unwrap().refuses(401, "credentials_missing");
    let began = Instant::now();
    while client.raw(b"x").is_ok() {
        assert!(began.elapsed() < Duration::from_secs(20), "it is taken for ever");
    }
}

#[test]
fn what_is_refused_at_the_head_does_not_end_a_connection_whose_body_is_there() {
    let (house, _) = furnished(config());
    let mut client = house.client();
    for _ in 0..3 {
        let reply = client.send("POST", PATH, &[], b"[{\"payload\":\"x\"}]");
        let reply = reply.refuses(401, "credentials_missing");
        assert!(!reply.head.contains("connection: close"), "{}", reply.head);
    }
}

#[test]
fn reading_stops_at_the_first_row_or_header_too_many() {
    let (house, alice) = furnished(config());
    let refused = |path: &str, body: &str| {
        let reply = house.ask_bytes(&alice, "POST", path, body.as_bytes());
        let reply = reply.refuses(400, "invalid_field");
        (reply.field().to_owned(), reply.body["error"]["message"].as_str().unwrap().to_owned())
    };
    let row = "{\"payload\":\"\"},";
    // What follows is no JSON: it is not come to.
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
    // Two topics of 600 messages each: what comes after the second is not read.
    let rows =
        format!("{{\"topic\":\"t\",\"messages\":[{}{{\"payload\":\"\"}}]}},", row.repeat(599));
    assert_eq!(refused(path, &format!("{{\"publish\":[{rows}{rows}!")).0, "publish");
    let many = format!("{{\"publish\":[{}!", "{\"topic\":\"t\",\"messages\":[]},".repeat(1_001));
    assert_eq!(refused(path, &many).0, "publish");
    let stranger = house.key(1, &["read"]);
    house.ask_bytes(&stranger, "POST", path, many.as_bytes()).refuses(403, "forbidden");
}
