//! Authentication: signatures, timestamps, replay, scopes, expiry, rotation, revocation.

use crate::test_venue::{Key, TestVenue, config, header, key_of, limit, signed, signed_at};
use rialto_gateway::{GatewayConfig, KeyRequest, Scope, Secret, now_us};
use rialto_model::{AccountId, MemberId};
use serde_json::{Value, json};
use std::time::Duration;

const PATH: &str = "/v1/balances";

fn headers_get(venue: &TestVenue, headers: &[(&'static str, String)]) -> crate::test_venue::Reply {
    venue.client().send("GET", PATH, headers, b"")
}

#[test]
fn an_unsigned_request_gets_the_missing_header() {
    let (venue, alice, _) = TestVenue::with_market(config());
    assert_eq!(venue.get(PATH).refuses(401, "credentials_missing").field(), "x-rialto-key");
    for left_out in ["X-Rialto-Key", "X-Rialto-Timestamp", "X-Rialto-Signature"] {
        let mut headers = signed(&alice, "GET", PATH, b"");
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case(left_out));
        let reply = headers_get(&venue, &headers).refuses(401, "credentials_missing");
        assert_eq!(reply.field(), left_out.to_lowercase());
    }
}

#[test]
fn an_unknown_key_and_a_wrong_signature_look_the_same() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let unknown = Key { id: format!("rk_{}", "0".repeat(24)), secret: alice.secret.clone() };
    let wrong = Key { id: alice.id.clone(), secret: Secret::from_hex(&"ab".repeat(32)).unwrap() };
    let answers = [unknown, wrong].map(|key| venue.ask(&key, "GET", PATH, Value::Null));
    let [unknown, wrong] = answers.map(|reply| reply.refuses(401, "credentials_invalid"));
    assert_eq!(unknown.body, wrong.body);
}

#[test]
fn a_signature_fits_one_method_and_path() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let body = limit("buy", "1", "100").to_string();
    let headers = signed(&alice, "POST", "/v1/orders", body.as_bytes());
    let send = |method, path, body: &str| {
        venue
            .client()
            .send(method, path, &headers, body.as_bytes())
            .refuses(401, "credentials_invalid");
    };
    send("PUT", "/v1/dead-man", &body);
    send("POST", "/v1/orders?x=1", &body);
    send("POST", "/v1/orders/batch", &body);
    venue.client().send("POST", "/v1/orders", &headers, body.as_bytes()).expect(201);
}

#[test]
fn a_request_counts_once() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let body = limit("buy", "1", "100").to_string();
    let headers = signed(&alice, "POST", "/v1/orders", body.as_bytes());
    let send = || venue.client().send("POST", "/v1/orders", &headers, body.as_bytes());
    send().expect(201);
    send().refuses(401, "replayed_request");
    // Another spelling of the same signature is a replay too.
    let mut shouted = headers.clone();
    let signature = header(&mut shouted, "x-rialto-signature");
    *signature = signature.to_uppercase().replace("V2:", "v2:");
    let reply = venue.client().send("POST", "/v1/orders", &shouted, body.as_bytes());
    reply.refuses(401, "credentials_invalid");
}

#[test]
fn a_timestamp_must_be_near_the_venues_time() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let at = |time_us: u64| headers_get(&venue, &signed_at(&alice, time_us, "GET", PATH, b""));
    at(now_us() - 4_000_000).expect(200);
    at(now_us() + 900_000).expect(200);
    for time_us in [now_us() - 6_000_000, now_us() + 2_000_000, 0, u64::MAX] {
        let reply = at(time_us).refuses(401, "timestamp_outside_window");
        assert_eq!(reply.field(), "x-rialto-timestamp");
    }
    let mut headers = signed(&alice, "GET", PATH, b"");
    header(&mut headers, "x-rialto-timestamp").insert(0, '+');
    headers_get(&venue, &headers).refuses(401, "credentials_invalid");
    let mut headers = signed(&alice, "GET", PATH, b"");
    *header(&mut headers, "x-rialto-nonce") = "n".repeat(65);
    headers_get(&venue, &headers).refuses(401, "credentials_invalid");
}

#[test]
fn the_window_is_a_setting_with_a_bound() {
    let narrow = GatewayConfig { signature_window: Duration::from_millis(1_500), ..config() };
    let (venue, alice, _) = TestVenue::with_market(narrow);
    let at = |time_us| headers_get(&venue, &signed_at(&alice, time_us, "GET", PATH, b""));
    at(now_us() - 2_000_000).refuses(401, "timestamp_outside_window");
    drop(venue);
    let wide = GatewayConfig { signature_window: Duration::from_secs(9_999), ..config() };
    let (venue, alice, _) = TestVenue::with_market(wide);
    let at = |time_us| headers_get(&venue, &signed_at(&alice, time_us, "GET", PATH, b""));
    at(now_us() - 50_000_000).expect(200);
    at(now_us() - 61_000_000).refuses(401, "timestamp_outside_window");
}

#[test]
fn a_key_is_limited_to_its_scopes_and_accounts() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let reader = venue.key(1, &["read"]);
    venue.ask(&reader, "GET", PATH, Value::Null).expect(200);
    venue.place(&reader, limit("buy", "1", "100")).refuses(403, "forbidden");
    venue.ask(&reader, "DELETE", "/v1/orders/1", Value::Null).refuses(403, "forbidden");
    venue.ask(&reader, "PATCH", "/v1/orders/1", json!({})).refuses(403, "forbidden");
    venue.ask(&reader, "DELETE", "/v1/orders", Value::Null).refuses(403, "forbidden");
    venue.ask(&reader, "PUT", "/v1/dead-man", json!({"timeout_ms": 0})).refuses(403, "forbidden");
    let batch = json!({"rows": [{"cancel": {"id": "1"}}]});
    venue.ask(&reader, "POST", "/v1/orders/batch", batch).refuses(403, "forbidden");
    let transfer = json!({"currency": "USD", "amount": "1", "reference": "x"});
    venue.ask(&reader, "POST", "/v1/withdrawals", transfer.clone()).refuses(403, "forbidden");
    let trader = venue.key(1, &["trade"]);
    venue.ask(&trader, "GET", PATH, Value::Null).refuses(403, "forbidden");
    venue.ask(&trader, "POST", "/v1/withdrawals", transfer).refuses(403, "forbidden");

    for path in ["/v1/admin/members", "/v1/admin/keys", "/v1/admin/deposits", "/v1/admin/halt"] {
        venue.ask(&alice, "POST", path, json!({})).refuses(403, "forbidden");
    }
    venue.ask(&alice, "POST", "/v1/admin/snapshot", Value::Null).refuses(403, "forbidden");
    let reply = venue.ask(&alice, "GET", "/v1/balances?account=2", Value::Null);
    assert_eq!(reply.refuses(403, "forbidden").field(), "account");
}

#[test]
fn the_admin_key_operates_the_venue_but_cannot_trade() {
    let (venue, ..) = TestVenue::with_market(config());
    venue.operate("GET", "/v1/balances?account=1", Value::Null).expect(200);
    assert_eq!(
        venue.operate("GET", PATH, Value::Null).refuses(400, "missing_field").field(),
        "account"
    );
    let order = crate::test_venue::with(limit("buy", "1", "100"), json!({"account": 1}));
    venue.operate("POST", "/v1/orders", order).refuses(403, "forbidden");
    let wrong = [("Authorization", format!("Bearer ra_{}", "0".repeat(64)))];
    venue.client().send("GET", PATH, &wrong, b"").refuses(401, "credentials_invalid");
    let basic = [("Authorization", "Basic YTpi".to_owned())];
    venue.client().send("GET", PATH, &basic, b"").refuses(401, "credentials_invalid");
}

#[test]
fn an_expired_key_does_not_work() {
    let (venue, ..) = TestVenue::with_market(config());
    let request = |expires_us| KeyRequest {
        label: String::new(),
        member: MemberId(1),
        accounts: vec![AccountId(1)],
        scopes: [Scope::Read].into_iter().collect(),
        queues: Vec::new(),
        depot: Vec::new(),
        expires_us: Some(expires_us),
    };
    for (expires_us, works) in [(now_us() - 1, false), (now_us() + 60_000_000, true)] {
        let (info, secret) = venue.keys.create(request(expires_us)).unwrap();
        let reply = venue.ask(&Key { id: info.id, secret }, "GET", PATH, Value::Null);
        match works {
            true => drop(reply.expect(200)),
            false => drop(reply.refuses(401, "key_not_valid")),
        }
    }
}

#[test]
fn a_rotated_secret_works_on_for_the_overlap_and_a_revoked_key_not_at_all() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let works = |key: &Key| venue.ask(key, "GET", PATH, Value::Null).status == 200;
    let path = format!("/v1/admin/keys/{}/rotate", alice.id);
    let rotate = |overlap_s: u64| {
        key_of(&venue.operate("POST", &path, json!({"overlap_s": overlap_s})).expect(200))
    };
    let second = rotate(3_600);
    assert_eq!(second.id, alice.id);
    assert!(works(&alice) && works(&second), "both work during the overlap");
    let third = rotate(0);
    assert!(!works(&alice) && !works(&second) && works(&third));
    venue.operate("POST", &path, json!({"overlap_s": 9_999_999})).refuses(400, "invalid_field");

    let path = format!("/v1/admin/keys/{}", alice.id);
    assert!(venue.operate("DELETE", &path, Value::Null).expect(200)["revoked_at"].is_string());
    venue.ask(&third, "GET", PATH, Value::Null).refuses(401, "key_not_valid");
    let path = format!("{path}/rotate");
    venue.operate("POST", &path, json!({"overlap_s": 1})).refuses(409, "key_revoked");
}

#[test]
fn every_answer_names_its_request() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let id = |reply: crate::test_venue::Reply| {
        let line = reply.head.lines().find_map(|line| line.strip_prefix("x-request-id: "));
        line.unwrap_or_else(|| panic!("no id in\n{}", reply.head)).parse::<String>().unwrap()
    };
    let answers = [
        venue.get("/v1/time"),
        venue.place(&alice, crate::test_venue::limit("sell", "1", "100")),
        venue.get("/v1/nothing"),
        venue.get(PATH),
    ];
    let ids: Vec<_> = answers.into_iter().map(id).collect();
    assert!(ids.iter().all(|id| id.len() == 13), "{ids:?}");
    assert!(ids.is_sorted_by(|before, after| before < after), "{ids:?}");
}
