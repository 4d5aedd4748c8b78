//! Restrictions of operators, and the kill switch of members.

use crate::test_venue::{Key, Reply, TestVenue, config, limit};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn restrict(venue: &TestVenue, body: Value) -> Reply {
    venue.operate("PUT", "/v1/admin/restrictions", body)
}

fn restrictions(venue: &TestVenue, query: &str) -> Value {
    let path = format!("/v1/admin/restrictions?min_seq={}{query}", released(venue));
    venue.operate("GET", &path, Value::Null).expect(200)
}

fn released(venue: &TestVenue) -> String {
    venue.engine.as_ref().unwrap().released().0.to_string()
}

fn kill(venue: &TestVenue, key: &Key, method: &str, query: &str) -> Reply {
    let body = if method == "POST" { json!({}) } else { Value::Null };
    venue.ask(key, method, &format!("/v1/kill{query}"), body)
}

fn open_orders(venue: &TestVenue, key: &Key) -> usize {
    let orders = venue.see(key, "/v1/orders?limit=1000", &json!(released(venue)));
    orders["orders"].as_array().unwrap().len()
}

/// Waits until the account has no open orders, for at most ten seconds.
fn wait_until_empty(venue: &TestVenue, key: &Key) {
    let began = Instant::now();
    while open_orders(venue, key) > 0 {
        assert!(began.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_member_kills_many_orders_and_lifts_it() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let rows: Vec<Value> = (0..50).map(|_| json!({"place": limit("buy", "0.01", "90")})).collect();
    for _ in 0..12 {
        venue.ask(&alice, "POST", "/v1/orders/batch", json!({"rows": rows})).expect(200);
    }
    assert_eq!(open_orders(&venue, &alice), 600);
    venue.place(&bob, limit("buy", "1", "80")).expect(201);
    let killed = kill(&venue, &alice, "POST", "").expect(200);
    let result = &killed["results"][0];
    assert_eq!((&result["account"], &result["cancelled"]), (&json!(1), &json!(256)));
    assert_eq!((&result["pending"], &killed["seq"]), (&json!(true), &result["seq"]));

    let refused = venue.place(&alice, limit("buy", "1", "80"));
    let refused = refused.refuses(422, "account_restricted");
    assert_eq!(refused.field(), "account");
    wait_until_empty(&venue, &alice);
    assert_eq!(open_orders(&venue, &bob), 1);
    let ended = venue.see(&alice, "/v1/orders?status=ended&limit=1", &json!(released(&venue)));
    assert_eq!(ended["orders"][0]["done_reason"], "restricted");
    let state = kill(&venue, &alice, "GET", "").expect(200);
    assert_eq!((&state["restriction"], &state["killed"]), (&json!("cancel_only"), &json!(true)));

    kill(&venue, &alice, "DELETE", "").expect(200);
    venue.place(&alice, limit("buy", "1", "80")).expect(201);
    let state = venue.see(&alice, "/v1/kill", &json!(released(&venue)));
    assert_eq!((&state["restriction"], &state["killed"]), (&json!("none"), &json!(false)));
}

#[test]
fn a_member_does_not_lift_what_an_operator_has_set() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let order = venue.place(&alice, limit("buy", "1", "80")).expect(201);
    let set = restrict(&venue, json!({"account": 1, "restriction": "frozen"})).expect(200);
    assert_eq!((&set["account"], &set["by"]), (&json!(1), &json!("operator")));
    assert_eq!((&set["restriction"], set.get("cancelled")), (&json!("frozen"), None));
    kill(&venue, &alice, "DELETE", "").expect(200);
    venue.place(&alice, limit("buy", "1", "80")).refuses(422, "account_restricted");
    let withdrawal = json!({"currency": "USD", "amount": "1", "reference": "out"});
    let refused = venue.ask(&alice, "POST", "/v1/withdrawals", withdrawal);
    refused.refuses(422, "account_restricted");

    let path = format!("/v1/orders/{}", order["order_id"].as_str().unwrap());
    venue.ask(&alice, "PATCH", &path, json!({"quantity": "2"})).refuses(422, "account_restricted");
    venue.ask(&alice, "PATCH", &path, json!({"quantity": "0.5"})).expect(200);
    venue.ask(&alice, "DELETE", &path, Value::Null).expect(200);
    restrict(&venue, json!({"account": 1, "restriction": "none"})).expect(200);
    venue.place(&alice, limit("buy", "1", "80")).expect(201);
}

#[test]
fn every_target_is_restricted_and_listed_in_pages() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    venue.place(&alice, limit("buy", "1", "80")).expect(201);
    venue.place(&bob, limit("buy", "1", "80")).expect(201);
    let targets = [
        json!({"venue": true}),
        json!({"member": 1}),
        json!({"account": 2}),
        json!({"instrument": "BTC-USD"}),
    ];
    for target in &targets {
        let body = crate::test_venue::with(
            target.clone(),
            json!({"restriction": "cancel_only", "cancel": true}),
        );
        restrict(&venue, body).expect(200);
    }
    kill(&venue, &alice, "POST", "").expect(200);
    wait_until_empty(&venue, &alice);
    wait_until_empty(&venue, &bob);
    let all = restrictions(&venue, "");
    let rows = all["restrictions"].as_array().unwrap();
    let set_by = |row: &Value| row["by"].as_str().unwrap().to_owned();
    assert_eq!(rows.iter().map(set_by).filter(|by| by == "member").count(), 1);
    for target in &targets {
        let (name, value) = target.as_object().unwrap().iter().next().unwrap();
        assert!(rows.iter().any(|row| row.get(name) == Some(value)), "{target} in {all}");
    }
    let (mut paged, mut after) = (Vec::new(), String::new());
    loop {
        let page = restrictions(&venue, &format!("&limit=2{after}"));
        paged.extend(page["restrictions"].as_array().unwrap().clone());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(&paged, rows);
    let refused = venue.place(&alice, limit("buy", "1", "80"));
    refused.refuses(422, "account_restricted");
}

#[test]
fn a_restricted_instrument_refuses_all_accounts_by_name() {
    let (venue, _, bob) = TestVenue::with_market(config());
    let body = json!({"instrument": "BTC-USD", "restriction": "cancel_only"});
    restrict(&venue, body).expect(200);
    let refused = venue.place(&bob, limit("buy", "1", "80")).refuses(422, "instrument_restricted");
    assert_eq!(refused.field(), "instrument");
}

#[test]
fn bad_input_is_refused_with_its_field_and_changes_nothing() {
    let (venue, alice, _) = TestVenue::with_market(config());
    for (body, status, code, field) in [
        (json!({"restriction": "frozen"}), 400, "missing_field", "account"),
        (
            json!({"venue": true, "member": 1, "restriction": "frozen"}),
            400,
            "invalid_field",
            "member",
        ),
        (
            json!({"account": 1, "instrument": "BTC-USD", "restriction": "frozen"}),
            400,
            "invalid_field",
            "instrument",
        ),
        (json!({"member": 77, "restriction": "frozen"}), 404, "unknown_member", "member"),
        (json!({"account": 77, "restriction": "frozen"}), 404, "unknown_account", "account"),
        (
            json!({"instrument": "X", "restriction": "frozen"}),
            404,
            "unknown_instrument",
            "instrument",
        ),
        (
            json!({"instrument": "BTC-USD", "restriction": "frozen"}),
            400,
            "restriction_invalid",
            "restriction",
        ),
        (
            json!({"account": 1, "restriction": "none", "cancel": true}),
            400,
            "restriction_invalid",
            "restriction",
        ),
        (json!({"account": 1, "restriction": "gone"}), 400, "invalid_field", "restriction"),
        (json!({"account": 1, "restriction": "none", "why": 1}), 400, "unknown_field", "why"),
    ] {
        let refused = restrict(&venue, body.clone()).refuses(status, code);
        assert_eq!(refused.field(), field, "{body}");
    }
    let list = "/v1/admin/restrictions?after=9:1:member";
    venue.operate("GET", list, Value::Null).refuses(400, "invalid_field");
    let other = venue.ask(&alice, "POST", "/v1/kill", json!({"account": 2}));
    other.refuses(403, "forbidden");
    assert_eq!(restrictions(&venue, "")["restrictions"], json!([]));
}

#[test]
fn each_request_needs_its_permission() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let body = json!({"account": 1, "restriction": "none"});
    venue.ask(&alice, "PUT", "/v1/admin/restrictions", body).refuses(403, "forbidden");
    let reader = venue.key(1, &["read"]);
    kill(&venue, &reader, "POST", "").refuses(403, "forbidden");
    kill(&venue, &reader, "DELETE", "").refuses(403, "forbidden");
    kill(&venue, &reader, "GET", "").expect(200);
    let trader = venue.key(1, &["trade"]);
    kill(&venue, &trader, "POST", "").expect(200);
}
