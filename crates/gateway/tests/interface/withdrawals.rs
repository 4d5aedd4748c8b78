//! Withdrawals, from the request of a member to the decision of an operator.

use crate::test_venue::{Key, TestVenue, config};
use serde_json::{Value, json};

fn ask(amount: &str, reference: &str) -> Value {
    json!({"currency": "USD", "amount": amount, "reference": reference})
}

/// Available, reserved in all, and the part of it that withdrawals hold.
fn usd(venue: &TestVenue, key: &Key) -> [String; 3] {
    let released = venue.engine.as_ref().unwrap().released();
    let balances = venue.see(key, "/v1/balances", &json!(released.0.to_string()));
    let usd = balances["balances"].as_array().unwrap().iter().find(|it| it["currency"] == "USD");
    ["available", "reserved", "withdrawing"].map(|part| usd.unwrap()[part].as_str().unwrap().into())
}

fn amounts(texts: [&str; 3]) -> [String; 3] {
    texts.map(|text| format!("{text}.000000"))
}

#[test]
fn a_withdrawal_is_held_approved_and_gone() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let asked = venue.ask(&alice, "POST", "/v1/withdrawals", ask("30", "rent")).expect(201);
    assert_eq!(asked["repeated"], false);
    let pending = &asked["withdrawal"];
    assert_eq!((&pending["id"], &pending["state"]), (&json!("1-rent"), &json!("pending")));
    assert_eq!((&pending["amount"], &pending["seq"]), (&json!("30.000000"), &Value::Null));
    assert!(pending["expires_at"].as_str() > pending["requested_at"].as_str());
    assert_eq!(usd(&venue, &alice), amounts(["999970", "30", "30"]));

    let approve = "/v1/admin/withdrawals/1-rent/approve";
    let settled = venue.operate("POST", approve, json!({"receipt": "tx-1"})).expect(200);
    let settled = &settled["withdrawal"];
    assert_eq!((&settled["state"], &settled["receipt"]), (&json!("settled"), &json!("tx-1")));
    assert!(settled["seq"].is_string());
    assert_eq!(usd(&venue, &alice), amounts(["999970", "0", "0"]));
    let again = venue.operate("POST", approve, json!({"receipt": "tx-1"})).expect(200);
    assert_eq!(&again["withdrawal"], settled);
    let other = venue.operate("POST", approve, json!({"receipt": "tx-2"}));
    other.refuses(409, "withdrawal_decided");
    let shown = venue.ask(&alice, "GET", "/v1/withdrawals/1-rent", Value::Null).expect(200);
    assert_eq!(&shown["withdrawal"], settled);
}

#[test]
fn rejected_and_cancelled_withdrawals_are_released() {
    let (venue, alice, _) = TestVenue::with_market(config());
    for reference in ["a", "b"] {
        venue.ask(&alice, "POST", "/v1/withdrawals", ask("30", reference)).expect(201);
    }
    let body = json!({"reason": "no such bank"});
    let rejected = venue.operate("POST", "/v1/admin/withdrawals/1-a/reject", body).expect(200);
    let rejected = &rejected["withdrawal"];
    assert_eq!(
        (&rejected["state"], &rejected["reason"]),
        (&json!("rejected"), &json!("no such bank"))
    );
    let cancelled = venue.ask(&alice, "DELETE", "/v1/withdrawals/1-b", Value::Null).expect(200);
    assert_eq!(cancelled["withdrawal"]["state"], "cancelled");
    assert_eq!(usd(&venue, &alice), amounts(["1000000", "0", "0"]));
    let late = venue.operate("POST", "/v1/admin/withdrawals/1-b/approve", json!({"receipt": "tx"}));
    late.refuses(409, "withdrawal_decided");
}

#[test]
fn a_repeated_request_is_one_withdrawal() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let first = venue.ask(&alice, "POST", "/v1/withdrawals", ask("30", "rent")).expect(201);
    let again = venue.ask(&alice, "POST", "/v1/withdrawals", ask("30", "rent")).expect(200);
    assert_eq!((&again["repeated"], &again["withdrawal"]), (&json!(true), &first["withdrawal"]));
    let other = venue.ask(&alice, "POST", "/v1/withdrawals", ask("31", "rent"));
    assert_eq!(other.refuses(409, "reference_conflict").field(), "reference");
    assert_eq!(usd(&venue, &alice), amounts(["999970", "30", "30"]));
}

#[test]
fn the_engines_refusal_is_the_answer() {
    let (venue, alice, _) = TestVenue::with_market(config());
    for _ in 0..2 {
        let refused = venue.ask(&alice, "POST", "/v1/withdrawals", ask("2000000", "rent"));
        let refused = refused.refuses(422, "insufficient_balance");
        assert!(refused.body["error"]["seq"].is_string());
    }
    let shown = venue.ask(&alice, "GET", "/v1/withdrawals/1-rent", Value::Null).expect(200);
    let shown = &shown["withdrawal"];
    assert_eq!(
        (&shown["state"], &shown["code"]),
        (&json!("refused"), &json!("insufficient_balance"))
    );
    assert_eq!(usd(&venue, &alice), amounts(["1000000", "0", "0"]));
}

#[test]
fn withdrawals_of_others_cannot_be_read_or_changed() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    venue.ask(&alice, "POST", "/v1/withdrawals", ask("30", "rent")).expect(201);
    for method in ["GET", "DELETE"] {
        for path in ["/v1/withdrawals/1-rent", "/v1/withdrawals/1-none"] {
            venue.ask(&bob, method, path, Value::Null).refuses(403, "forbidden");
        }
    }
    venue.ask(&bob, "GET", "/v1/withdrawals?account=1", Value::Null).refuses(403, "forbidden");
    venue.ask(&bob, "GET", "/v1/admin/withdrawals", Value::Null).refuses(403, "forbidden");
    let approve = "/v1/admin/withdrawals/1-rent/approve";
    venue.ask(&alice, "POST", approve, json!({"receipt": "tx"})).refuses(403, "forbidden");
    let mut foreign = ask("1", "x");
    foreign["account"] = json!(1);
    venue.ask(&bob, "POST", "/v1/withdrawals", foreign).refuses(403, "forbidden");
    assert_eq!(usd(&venue, &alice), amounts(["999970", "30", "30"]));
}

#[test]
fn invalid_requests_are_refused() {
    let (venue, alice, _) = TestVenue::with_market(config());
    venue.ask(&alice, "POST", "/v1/withdrawals", ask("30", "rent")).expect(201);
    let unknown = ["1-none", "rent", "1-", "01-rent"];
    for id in unknown {
        let path = format!("/v1/admin/withdrawals/{id}/approve");
        let refused = venue.operate("POST", &path, json!({"receipt": "tx"}));
        assert_eq!(refused.refuses(404, "unknown_withdrawal").field(), "id", "{id}");
    }
    let decide = |what: &str, body| {
        venue.operate("POST", &format!("/v1/admin/withdrawals/1-rent/{what}"), body)
    };
    decide("approve", json!({})).refuses(400, "missing_field");
    decide("approve", json!({"receipt": ""})).refuses(400, "invalid_field");
    decide("approve", json!({"receipt": "two words"})).refuses(400, "invalid_field");
    decide("approve", json!({"receipt": "x".repeat(97)})).refuses(400, "invalid_field");
    decide("reject", json!({"reason": "x".repeat(201)})).refuses(400, "invalid_field");
    decide("pay", json!({})).refuses(404, "unknown_route");
    venue.ask(&alice, "POST", "/v1/withdrawals", ask("0", "x")).refuses(400, "amount_not_positive");
    venue.ask(&alice, "POST", "/v1/withdrawals", ask("1", "")).refuses(400, "reference_missing");
    let status = venue.ask(&alice, "GET", "/v1/withdrawals?status=all", Value::Null);
    assert_eq!(status.refuses(400, "invalid_field").field(), "status");
    assert_eq!(usd(&venue, &alice), amounts(["999970", "30", "30"]));
}

#[test]
fn lists_come_in_pages() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    for reference in ["a", "b", "c"] {
        venue.ask(&alice, "POST", "/v1/withdrawals", ask("1", reference)).expect(201);
        venue.ask(&bob, "POST", "/v1/withdrawals", ask("1", reference)).expect(201);
    }
    venue.ask(&alice, "DELETE", "/v1/withdrawals/1-b", Value::Null).expect(200);
    let names = |page: &Value| {
        let names = page["withdrawals"].as_array().unwrap().iter();
        names.map(|it| it["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    let own = |path: &str| venue.ask(&alice, "GET", path, Value::Null).expect(200);
    let page = own("/v1/withdrawals?limit=1");
    assert_eq!((names(&page), &page["next"]), ("1-a".to_owned(), &json!("1-a")));
    let page = own("/v1/withdrawals?limit=1&after=1-a");
    assert_eq!((names(&page), &page["next"]), ("1-c".to_owned(), &Value::Null));
    assert_eq!(names(&own("/v1/withdrawals?status=ended")), "1-b");
    let all = |path: &str| venue.operate("GET", path, Value::Null).expect(200);
    assert_eq!(names(&all("/v1/admin/withdrawals")), "1-a 2-a 2-b 1-c 2-c");
    assert_eq!(names(&all("/v1/admin/withdrawals?account=2&limit=2")), "2-a 2-b");
    assert_eq!(names(&all("/v1/admin/withdrawals?status=ended")), "1-b");
}
