//! The largest notional of an order, and fees by the lot, over HTTP and the stream.

use crate::test_venue::{Reply, TestVenue, config, limit};
use crate::wire::Wire;
use serde_json::{Value, json};

fn set_terms(venue: &TestVenue, mut terms: Value) -> Reply {
    terms["instrument"] = json!("BTC-USD");
    venue.operate("POST", "/v1/admin/contract-terms", terms)
}

fn instrument(venue: &TestVenue, seq: &Value) -> Value {
    let path = format!("/v1/instruments/BTC-USD?min_seq={}", seq.as_str().unwrap());
    venue.get(&path).expect(200)["instrument"].clone()
}

/// Fees for each lot of 0.001.
fn lot_fees() -> Value {
    json!({"maker": "-0.01", "taker": "0.03", "auction": "0.02"})
}

#[test]
fn fees_by_the_lot_are_shown_reserved_and_charged() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let lot = json!({"lot": "0.001"});
    venue.operate("PATCH", "/v1/admin/instruments/BTC-USD", lot).expect(200);
    let set = set_terms(&venue, json!({"lot_fees": lot_fees()})).expect(200);
    let shown = instrument(&venue, &set["seq"]);
    let fees = json!({"maker": "-0.010000", "taker": "0.030000", "auction": "0.020000"});
    assert_eq!(shown["lot_fees"], fees);
    assert_eq!(shown.get("notional_max"), None);

    let mut wire = Wire::connect(&venue);
    wire.auth(&alice);
    wire.subscribe(json!({"channel": "fills"}));
    let placed = venue.place(&alice, limit("buy", "0.01", "100")).expect(201);
    let balances = venue.see(&alice, "/v1/balances", &placed["seq"]);
    let usd = balances["balances"].as_array().unwrap().iter().find(|it| it["currency"] == "USD");
    assert_eq!(usd.unwrap()["reserved"], "1.300000", "1 for ten lots, and 0.03 for each");
    let sold = venue.place(&bob, limit("sell", "0.004", "100")).expect(201);
    let fills = venue.see(&bob, "/v1/fills", &sold["seq"]);
    assert_eq!(fills["fills"][0]["fee"], "0.120000");
    assert_eq!(wire.hear_of("fills")["fills"][0]["fee"], "-0.040000");

    // A removal leaves the rates of the rules.
    let refused = set_terms(&venue, json!({"remove_lot_fees": true}));
    assert_eq!(refused.refuses(409, "has_open_orders").field(), "lot_fees");
    venue.ask(&alice, "DELETE", "/v1/orders", Value::Null).expect(200);
    let removed = set_terms(&venue, json!({"remove_lot_fees": true})).expect(200);
    assert_eq!(instrument(&venue, &removed["seq"]).get("lot_fees"), None);
}

#[test]
fn a_refusal_names_the_largest_notional_and_what_a_lot_costs() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let set = set_terms(&venue, json!({"notional_max": "250"})).expect(200);
    assert_eq!(instrument(&venue, &set["seq"])["notional_max"], "250.000000");
    venue.place(&alice, limit("buy", "2.5", "100")).expect(201);
    let refused = venue.place(&alice, limit("buy", "2.6", "100"));
    let refused = refused.refuses(422, "notional_too_large");
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert_eq!(message, "Price times quantity is 260.000000 USD; the most is 250.000000 USD.");

    venue.ask(&alice, "DELETE", "/v1/orders", Value::Null).expect(200);
    let dear = json!({"maker": "0", "taker": "1000000", "auction": "0"});
    set_terms(&venue, json!({"notional_max": "0", "lot_fees": dear})).expect(200);
    let refused = venue.place(&alice, limit("buy", "1", "100"));
    let refused = refused.refuses(422, "insufficient_balance");
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("The order needs "), "{message}");
    let needed: f64 = message.split(' ').nth(3).unwrap().parse().unwrap();
    assert!(needed > 1_000_000.0, "{message}");
}

#[test]
fn bad_terms_are_refused_with_their_field_and_change_nothing() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let fees = |maker: &str, taker: &str, auction: &str| json!({"maker": maker, "taker": taker, "auction": auction});
    for (terms, field, code) in [
        (json!({"lot_fees": fees("2", "1", "0")}), "lot_fees", "invalid_rules"),
        (json!({"lot_fees": fees("0", "-1", "0")}), "lot_fees", "invalid_rules"),
        (json!({"lot_fees": fees("0", "1", "2")}), "lot_fees", "invalid_rules"),
        (json!({"lot_fees": fees("0", "99999999999999999", "0")}), "lot_fees", "invalid_rules"),
        (json!({"notional_max": "-1"}), "notional_max", "invalid_rules"),
    ] {
        let refused = set_terms(&venue, terms.clone()).refuses(400, code);
        assert_eq!(refused.body["error"]["field"], field, "{terms}");
    }
    for (terms, field) in [
        (json!({"lot_fees": fees("0", "1.0000001", "0")}), "lot_fees.taker"),
        (json!({"lot_fees": fees("x", "1", "0")}), "lot_fees.maker"),
        (json!({"notional_max": "1e3"}), "notional_max"),
        (json!({"lot_fees": fees("0", "1", "0"), "remove_lot_fees": true}), "remove_lot_fees"),
    ] {
        let refused = set_terms(&venue, terms.clone()).refuses(400, "invalid_field");
        assert_eq!(refused.body["error"]["field"], field, "{terms}");
    }
    set_terms(&venue, json!({"lot_fees": {"maker": "0", "taker": "1"}}))
        .refuses(400, "missing_field");
    set_terms(&venue, json!({"fee": "1"})).refuses(400, "unknown_field");
    let unknown = json!({"instrument": "NO-SUCH"});
    venue.operate("POST", "/v1/admin/contract-terms", unknown).refuses(404, "unknown_instrument");
    let path = "/v1/admin/contract-terms";
    venue.ask(&alice, "POST", path, json!({"instrument": "BTC-USD"})).refuses(403, "forbidden");

    // The least notional and the largest must leave room for orders.
    let set = set_terms(&venue, json!({"notional_max": "20"})).expect(200);
    let path = "/v1/admin/instruments/BTC-USD";
    let refused = venue.operate("PATCH", path, json!({"notional_min": "21"}));
    let refused = refused.refuses(400, "invalid_rules");
    assert_eq!(refused.body["error"]["field"], "notional_max");
    let shown = instrument(&venue, &set["seq"]);
    assert_eq!((&shown["notional_max"], shown.get("lot_fees")), (&json!("20.000000"), None));
}

#[test]
fn the_audit_trail_names_the_instrument_of_new_terms() {
    let (venue, _, _) = TestVenue::with_market(config());
    let body = json!({"instrument": "BTC-USD", "notional_max": "9"});
    venue.operate("POST", "/v1/admin/contract-terms?reason=new%20limit", body).expect(200);
    let trail = venue.operate("GET", "/v1/admin/audit?limit=1000", Value::Null).expect(200);
    let entry = trail["entries"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&entry["command"], &entry["instrument"], &entry["reason"]),
        (&json!("set_contract_terms"), &json!("BTC-USD"), &json!("new limit"))
    );
}
