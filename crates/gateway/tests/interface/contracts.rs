//! The largest notional of an order, and fees by the lot, over HTTP and the stream.

use crate::order_stage::{trade_at, wait_for};
use crate::test_venue::{Key, Reply, TestVenue, config, limit, with};
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

/// Available and reserved, of a member's only account after a command.
fn balance(venue: &TestVenue, key: &Key, currency: &str, seq: &Value) -> [String; 2] {
    let answer = venue.see(key, "/v1/balances", seq);
    let mut balances = answer["balances"].as_array().unwrap().iter();
    let found = balances.find(|it| it["currency"] == currency).unwrap();
    ["available", "reserved"].map(|part| found[part].as_str().unwrap().to_owned())
}

/// A venue with fees by the lot whose last price is 100; a member with all its funds, and two that trade.
fn with_lot_fees() -> (TestVenue, Key, [Key; 2]) {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let carol = venue.member("carol");
    let lot = json!({"lot": "0.001"});
    venue.operate("PATCH", "/v1/admin/instruments/BTC-USD", lot).expect(200);
    set_terms(&venue, json!({"lot_fees": lot_fees()})).expect(200);
    trade_at(&venue, [&bob, &carol], "100");
    (venue, alice, [bob, carol])
}

fn stop(side: &str, trigger: &str, more: Value) -> Value {
    let waits = json!({"trigger": "stop", "trigger_price": trigger});
    with(with(limit(side, "0.01", "106"), waits), more)
}

fn amend(venue: &TestVenue, key: &Key, order: &Value, change: Value) -> Reply {
    let path = format!("/v1/orders/{}", order.as_str().unwrap());
    venue.ask(key, "PATCH", &path, change)
}

#[test]
fn an_amended_order_that_waits_reserves_the_fees_of_its_lots() {
    let (venue, alice, [bob, carol]) = with_lot_fees();
    let placed = venue.place(&alice, stop("buy", "105", json!({}))).expect(201);
    let id = &placed["order_id"];
    let usd = |seq: &Value| balance(&venue, &alice, "USD", seq);
    // The notional, and 0.03 for each lot of 0.001.
    assert_eq!(usd(&placed["seq"]), ["999998.640000", "1.360000"], "1.06 and 0.30");
    for (change, expected, why) in [
        (json!({"trigger_price": "104"}), ["999998.640000", "1.360000"], "1.06 and 0.30"),
        (json!({"price": "108"}), ["999998.620000", "1.380000"], "1.08 and 0.30"),
        (json!({"quantity": "0.02"}), ["999997.240000", "2.760000"], "2.16 and 0.60"),
        (json!({"quantity": "0.005"}), ["999999.310000", "0.690000"], "0.54 and 0.15"),
        (
            json!({"trigger_price": "106", "price": "110", "quantity": "0.03"}),
            ["999995.800000", "4.200000"],
            "3.30 and 0.90",
        ),
    ] {
        let moved = amend(&venue, &alice, id, change.clone()).expect(200);
        assert_eq!(moved["status"], "waiting");
        assert_eq!(usd(&moved["seq"]), expected, "{change}: {why}");
        let path = format!("/v1/orders/{}", id.as_str().unwrap());
        assert_eq!(venue.see(&alice, &path, &moved["seq"])["order"]["reserved"], expected[1]);
    }
    // 990,000 can be paid, but not with 270,000 of fees.
    for (change, code) in [
        (json!({"quantity": "9000"}), "insufficient_balance"),
        (json!({"quantity": "0.0305"}), "quantity_off_lot"),
    ] {
        let refused = amend(&venue, &alice, id, change).refuses(422, code);
        let seq = &refused.body["error"]["seq"];
        assert_eq!(usd(seq), ["999995.800000", "4.200000"], "{code}");
    }

    venue.place(&bob, limit("sell", "0.03", "108")).expect(201);
    trade_at(&venue, [&bob, &carol], "106");
    let ended = wait_for(&venue, &alice, id, "filled");
    let traded = usd(&ended["updated_seq"]);
    assert_eq!(traded, ["999995.860000", "0.000000"], "3.24 and the fees of 30 lots");
}

#[test]
fn a_market_stop_reserves_the_fees_of_its_lots_beside_its_protection_price() {
    let (venue, alice, _) = with_lot_fees();
    let mut order = stop("buy", "105", json!({"kind": "market"}));
    order.as_object_mut().unwrap().remove("price");
    let placed = venue.place(&alice, order).expect(201);
    let id = &placed["order_id"];
    let usd = |seq: &Value| balance(&venue, &alice, "USD", seq);
    assert_eq!(usd(&placed["seq"]), ["999998.597500", "1.402500"], "110.25 a unit and 0.30");
    let moved = amend(&venue, &alice, id, json!({"trigger_price": "110"})).expect(200);
    assert_eq!(usd(&moved["seq"]), ["999998.545000", "1.455000"], "115.50 a unit and 0.30");
    let moved = amend(&venue, &alice, id, json!({"quantity": "0.001"})).expect(200);
    assert_eq!(usd(&moved["seq"]), ["999999.854500", "0.145500"], "115.50 a unit and 0.03");
    venue.ask(&alice, "DELETE", "/v1/orders", Value::Null).expect(200);

    // A sell pays its fees from what it sells for.
    let placed = venue.place(&alice, stop("sell", "95", json!({"price": "90"}))).expect(201);
    let btc = |seq: &Value| balance(&venue, &alice, "BTC", seq);
    assert_eq!(btc(&placed["seq"]), ["9.99000000", "0.01000000"]);
    let larger = json!({"trigger_price": "94", "price": "89", "quantity": "0.02"});
    let moved = amend(&venue, &alice, &placed["order_id"], larger).expect(200);
    assert_eq!(btc(&moved["seq"]), ["9.98000000", "0.02000000"]);
    assert_eq!(usd(&moved["seq"]), ["1000000.000000", "0.000000"]);
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
