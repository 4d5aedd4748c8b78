//! The parts that a signature covers, and the checks before a body is read.

use crate::test_venue::{
    Key, Reply, TestVenue, config, head_of, header, key_of, limit, signed, signed_1,
};
use crate::wire::Wire;
use rialto_desk::VenueParts;
use rialto_gateway::{Gateway, GatewayConfig, SignRequest, now_us};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longer than any step takes on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// Sends a head that announces a body, without the body.
fn head_alone(venue: &TestVenue, path: &str, headers: &[(&str, String)], bytes: usize) -> Reply {
    let mut client = venue.client();
    let head = head_of("POST", path, headers, &format!("content-length: {bytes}"));
    client.raw(head.as_bytes()).unwrap();
    client.read().unwrap()
}

fn closes(reply: &Reply) -> bool {
    reply.head.contains("connection: close")
}

#[test]
fn an_unauthenticated_head_is_refused_before_its_body_arrives() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let body = vec![b' '; 60_000];
    let unsigned = head_alone(&venue, "/v1/orders", &[], body.len());
    assert!(closes(&unsigned.refuses(401, "credentials_missing")));

    let good = signed(&alice, "POST", "/v1/orders", &body);
    let mut wrong = good.clone();
    *header(&mut wrong, "x-rialto-nonce") = "another".to_owned();
    let wrong = head_alone(&venue, "/v1/orders", &wrong, body.len());
    assert!(closes(&wrong.refuses(401, "credentials_invalid")));

    let mut unhashed = good.clone();
    unhashed.retain(|(name, _)| *name != "x-rialto-body-sha256");
    let unhashed = head_alone(&venue, "/v1/orders", &unhashed, body.len());
    let unhashed = unhashed.refuses(401, "credentials_missing");
    assert_eq!(unhashed.field(), "x-rialto-body-sha256");
    let mut short = good.clone();
    header(&mut short, "x-rialto-body-sha256").pop();
    head_alone(&venue, "/v1/orders", &short, body.len()).refuses(401, "credentials_invalid");

    // The good body is read: it is not an order.
    venue.client().send("POST", "/v1/orders", &good, &body).refuses(400, "malformed_json");
}

#[test]
fn a_body_that_is_not_the_signed_one_is_refused() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let body = limit("buy", "1", "100").to_string();
    let other = body.replace("100", "900");
    let headers = signed(&alice, "POST", "/v1/orders", body.as_bytes());
    let reply = venue.client().send("POST", "/v1/orders", &headers, other.as_bytes());
    assert_eq!(reply.refuses(400, "body_hash_mismatch").field(), "body");
    let orders = venue.ask(&alice, "GET", "/v1/orders", Value::Null).expect(200);
    assert_eq!(orders["orders"], json!([]));
    // A hash is not checked for a body that does not arrive.
    let headers = signed(&alice, "POST", "/v1/orders", body.as_bytes());
    let reply = venue.client().send("POST", "/v1/orders", &headers, b"");
    reply.refuses(401, "credentials_invalid");
}

#[test]
fn the_durability_is_signed() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let mut headers =
        crate::test_venue::signed_durably(&alice, "synced", "DELETE", "/v1/orders", b"");
    *header(&mut headers, "x-rialto-durability") = "memory".to_owned();
    let send = |headers: &[_]| venue.client().send("DELETE", "/v1/orders", headers, b"");
    send(&headers).refuses(401, "credentials_invalid");
    headers.retain(|(name, _)| *name != "x-rialto-durability");
    send(&headers).refuses(401, "credentials_invalid");
    headers.push(("X-Rialto-Durability", "synced".to_owned()));
    send(&headers).expect(200);
}

#[test]
fn scheme_1_is_accepted_in_this_version() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let body = limit("buy", "1", "100").to_string();
    let headers = signed_1(&alice, "POST", "/v1/orders", body.as_bytes());
    let send = |body: &str| venue.client().send("POST", "/v1/orders", &headers, body.as_bytes());
    send(&body.replace("100", "900")).refuses(401, "credentials_invalid");
    send(&body).expect(201);
    send(&body).refuses(401, "replayed_request");
    let headers = signed_1(&alice, "GET", "/v1/orders", b"");
    venue.client().send("GET", "/v1/orders", &headers, b"").expect(200);
}

#[test]
fn a_signature_for_a_request_does_not_authenticate_a_stream() {
    let (venue, alice, _) = TestVenue::with_market(config());
    // The signed parts of a request by scheme 1, as a stream would use them.
    let (timestamp_us, nonce, method, path) = (now_us(), "7", "POST", "/v1/orders");
    let body = b"GET\n/v1/stream\n";
    let signed = SignRequest { timestamp_us, nonce, method, path, durability: "", body };
    let mut wire = Wire::connect(&venue);
    wire.say(json!({
        "op": "auth", "key": alice.id, "timestamp": timestamp_us.to_string(),
        "nonce": "7\nPOST\n/v1/orders",
        "signature": signed.sign_scheme_1(alice.secret.as_bytes()),
    }));
    let refused = wire.refused("credentials_invalid");
    assert_eq!(refused["error"]["field"], "x-rialto-nonce");
    wire.auth(&alice);
}

#[test]
fn a_request_refused_for_its_number_may_be_sent_again_as_it_is() {
    let (venue, alice, _) =
        TestVenue::with_market(GatewayConfig { key_rate: 2, key_burst: 1_000, ..config() });
    let send = |headers: &[_]| venue.client().send("GET", "/v1/balances", headers, b"");
    let refused = (0..2_000).find_map(|_| {
        let headers = signed(&alice, "GET", "/v1/balances", b"");
        (send(&headers).status == 429).then_some(headers)
    });
    let headers = refused.expect("the allowance ends");
    let began = Instant::now();
    loop {
        let reply = send(&headers);
        match reply.status {
            429 => assert!(began.elapsed() < LONG),
            _ => break drop(reply.expect(200)),
        }
    }
    send(&headers).refuses(401, "replayed_request");
}

#[test]
fn a_replay_is_paid_from_its_address_and_not_from_its_key() {
    let tight = GatewayConfig { key_rate: 1, key_burst: 40, ..config() };
    let (venue, alice, _) = TestVenue::with_market(tight);
    let headers = signed(&alice, "GET", "/v1/balances", b"");
    let send = |headers: &[_]| venue.client().send("GET", "/v1/balances", headers, b"");
    send(&headers).expect(200);
    for _ in 0..80 {
        send(&headers).refuses(401, "replayed_request");
    }
    venue.ask(&alice, "GET", "/v1/balances", Value::Null).expect(200);
}

#[test]
fn replays_use_up_the_allowance_of_their_address() {
    let tight = GatewayConfig { address_rate: 1, address_burst: 40, ..config() };
    let (venue, alice, _) = TestVenue::with_market(tight);
    let headers = signed(&alice, "GET", "/v1/balances", b"");
    let send = |headers: &[_]| venue.client().send("GET", "/v1/balances", headers, b"");
    send(&headers).expect(200);
    let refused = (0..1_000).find_map(|_| {
        let reply = send(&headers);
        (reply.code() != "replayed_request").then_some(reply)
    });
    refused.expect("the allowance ends").refuses(429, "rate_limited");
    venue.ask(&alice, "GET", "/v1/balances", Value::Null).expect(200);
}

#[test]
fn stored_signatures_are_bounded_and_free_their_room() {
    const SIGNATURES_MAX: usize = 16;
    let window = Duration::from_millis(500);
    let few =
        GatewayConfig { signatures_max: SIGNATURES_MAX, signature_window: window, ..config() };
    let (venue, alice, bob) = TestVenue::with_market(few);
    let ask = |key| venue.ask(key, "GET", "/v1/balances", Value::Null);
    let began = Instant::now();
    let refused = loop {
        let round = Instant::now();
        // Signatures are stored in shards with a limit each: a request may be refused before the total is reached.
        let mut replies = (0..=SIGNATURES_MAX).map(|_| ask(&alice));
        if let Some(refused) = replies.find(|reply| reply.status != 200 && reply.status != 401) {
            break refused.refuses(503, "busy");
        }
        // On a busy machine some are too late, or are forgotten before the last.
        assert!(round.elapsed() >= window, "no more are remembered than may be");
        assert!(began.elapsed() < LONG);
    };
    assert!(refused.head.contains("retry-after: 1"), "{}", refused.head);
    // Requests with the admin key and for public data need no signature.
    venue.operate("GET", "/v1/queues", Value::Null).expect(200);
    venue.get("/v1/book/BTC-USD").expect(200);
    let began = Instant::now();
    while ask(&bob).status != 200 {
        assert!(began.elapsed() < LONG);
    }
}

/// Answers of a venue that is restarted with the keys and the journal of this one.
fn start_again(venue: &TestVenue) -> (Gateway, impl Fn(&[(&str, String)]) -> Reply + use<>) {
    let engine = Arc::clone(venue.engine.as_ref().unwrap());
    let parts = VenueParts::new(engine, Arc::clone(&venue.live));
    let gateway = Gateway::start(config(), parts, Arc::clone(&venue.keys)).unwrap();
    let address = gateway.local_addr();
    (gateway, move |headers| {
        crate::test_venue::Client::connect(address).send("GET", "/v1/balances", headers, b"")
    })
}

#[test]
fn signatures_from_before_a_start_are_refused_after_it() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let headers = signed(&alice, "GET", "/v1/balances", b"");
    venue.client().send("GET", "/v1/balances", &headers, b"").expect(200);
    let (gateway, send) = start_again(&venue);
    let reply = send(&headers).refuses(401, "timestamp_outside_window");
    assert!(reply.head.contains("retry-after: 1"), "{}", reply.head);
    assert_eq!(reply.field(), "x-rialto-timestamp");
    // A new key has no earlier signatures; an older one works again soon.
    let new = venue.key(1, &["read"]);
    send(&signed(&new, "GET", "/v1/balances", b"")).expect(200);
    let rotated = format!("/v1/admin/keys/{}/rotate", alice.id);
    let again = |key: &Key| send(&signed(key, "GET", "/v1/balances", b""));
    let began = Instant::now();
    while again(&alice).status == 401 {
        assert!(began.elapsed() < LONG);
    }
    again(&alice).expect(200);
    send(&headers).refuses(401, "timestamp_outside_window");
    gateway.shutdown(LONG);

    let (gateway, send) = start_again(&venue);
    let second = key_of(&venue.operate("POST", &rotated, json!({"overlap_s": 60})).expect(200));
    send(&signed(&alice, "GET", "/v1/balances", b"")).refuses(401, "timestamp_outside_window");
    send(&signed(&second, "GET", "/v1/balances", b"")).expect(200);
    gateway.shutdown(LONG);
}

#[test]
fn a_stream_ends_when_its_secret_is_rotated_away() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let (mut wire, mut other) = (Wire::connect(&venue), Wire::connect(&venue));
    wire.auth(&alice);
    let path = format!("/v1/admin/keys/{}/rotate", alice.id);
    let rotate = |overlap_s: u64| {
        key_of(&venue.operate("POST", &path, json!({"overlap_s": overlap_s})).expect(200))
    };
    let second = rotate(3_600);
    other.auth(&second);
    wire.say(json!({"op": "ping"}));
    wire.hear_of("pong");
    let began = Instant::now();
    rotate(0);
    for mut wire in [wire, other] {
        assert_eq!(wire.come(), crate::wire::Came::Closed(4003, "key_not_valid".to_owned()));
    }
    assert!(began.elapsed() < GatewayConfig::default().stream.heartbeat, "at once");
}
