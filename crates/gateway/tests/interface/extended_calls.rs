//! Calls that are extended because of their price, over HTTP and on the stream, and interruptions
//! by the static range.

use crate::test_venue::{Key, TestVenue, config, limit};
use crate::wire::Wire;
use rialto_gateway::now_us;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A market with a last price of 100, and these rules of auctions.
fn market(rules: Value) -> (TestVenue, Key, Key) {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let mut body = rules;
    body["instrument"] = json!("BTC-USD");
    venue.operate("POST", "/v1/admin/auction-rules", body).expect(200);
    let reference = json!({"reference_price": "100"});
    venue.operate("PATCH", "/v1/admin/instruments/BTC-USD", reference).expect(200);
    (venue, alice, bob)
}

fn set_state(venue: &TestVenue, state: &str) -> Value {
    let body = json!({"instrument": "BTC-USD", "state": state});
    venue.operate("POST", "/v1/admin/state", body).expect(200)
}

/// Orders that trade in an auction at this price.
fn cross(venue: &TestVenue, [seller, buyer]: [&Key; 2], price: &str) {
    venue.place(seller, limit("sell", "1", price)).expect(201);
    venue.place(buyer, limit("buy", "1", price)).expect(201);
}

fn auction_of(venue: &TestVenue) -> Value {
    venue.get("/v1/auction/BTC-USD").expect(200)
}

/// Asks until the answer is as wanted, for at most ten seconds.
fn wait_for(venue: &TestVenue, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let answer = auction_of(venue);
        if is_wanted(&answer) {
            return answer;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{answer}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn watch(venue: &TestVenue) -> Wire {
    let mut wire = Wire::connect(venue);
    wire.subscribe(json!({"channel": "auction", "instrument": "BTC-USD"}));
    wire
}

/// What the stream says, up to what is wanted.
fn hear(wire: &mut Wire, is_wanted: impl Fn(&Value) -> bool) -> Value {
    loop {
        let heard = wire.hear_of("auction");
        if is_wanted(&heard) {
            return heard;
        }
    }
}

#[test]
fn a_call_whose_price_is_out_of_the_auction_range_is_extended_for_a_time() {
    let rules = json!({"auction_range_ppm": 50_000, "extended_range_ppm": 200_000, "call_ms": 200});
    let (venue, alice, bob) = market(rules);
    let mut wire = watch(&venue);
    set_state(&venue, "call");
    cross(&venue, [&alice, &bob], "110");
    set_state(&venue, "open");
    let range =
        json!({"price": "110.00", "low": "95.00", "high": "105.00", "until_command": false});
    let heard = hear(&mut wire, |heard| !heard["interrupted"].is_null());
    assert_eq!((&heard["state"], &heard["interrupted"]), (&json!("call"), &range));
    // The extended call ends by itself, and its price is in the extended range.
    let after = wait_for(&venue, |answer| answer["state"] == "open");
    assert_eq!((&after["last"]["price"], &after["interrupted"]), (&json!("110.00"), &Value::Null));
    let heard = hear(&mut wire, |heard| heard["state"] == "open");
    assert_eq!(heard["last"]["price"], "110.00");
    assert_eq!(heard.get("interrupted").unwrap_or(&Value::Null), &Value::Null);
}

#[test]
fn a_call_whose_price_is_out_of_the_extended_range_lasts_until_a_command() {
    let rules = json!({"auction_range_ppm": 50_000, "extended_range_ppm": 200_000, "call_ms": 10});
    let (venue, alice, bob) = market(rules);
    let mut wire = watch(&venue);
    set_state(&venue, "call");
    cross(&venue, [&alice, &bob], "130");
    set_state(&venue, "open");
    let range = json!({"price": "130.00", "low": "80.00", "high": "120.00", "until_command": true});
    let shown = wait_for(&venue, |answer| !answer["interrupted"].is_null());
    // An extension for a time would be over by then.
    let end = (now_us() + 100_000) * 1_000;
    assert_eq!((&shown["state"], &shown["interrupted"]), (&json!("call"), &range));
    let heard = hear(&mut wire, |heard| !heard["interrupted"].is_null());
    assert_eq!((&heard["state"], &heard["interrupted"]), (&json!("call"), &range));
    // It does not end by itself: a later command still finds it.
    let is_later = |order: &Value| order["time"].as_str().unwrap().parse::<u64>().unwrap() > end;
    while !is_later(&venue.place(&bob, limit("buy", "0.1", "90")).expect(201)) {}
    assert_eq!(auction_of(&venue)["state"], "call");
    set_state(&venue, "open");
    let after = wait_for(&venue, |answer| answer["state"] == "open");
    assert_eq!((&after["last"]["price"], &after["interrupted"]), (&json!("130.00"), &Value::Null));
    assert_eq!(hear(&mut wire, |heard| heard["state"] == "open")["last"]["price"], "130.00");
}

#[test]
fn the_static_range_interrupts_trading_that_the_dynamic_range_would_not() {
    let rules = json!({"static_range_ppm": 50_000, "dynamic_range_ppm": 40_000, "call_ms": 200});
    let (venue, alice, bob) = market(rules);
    // The last auction was at 100: the static range is around it.
    set_state(&venue, "call");
    cross(&venue, [&alice, &bob], "100");
    set_state(&venue, "open");
    wait_for(&venue, |answer| answer["state"] == "open");
    cross(&venue, [&alice, &bob], "103");
    let shown = wait_for(&venue, |answer| answer["trading_range"]["high"] == "105.00");
    assert_eq!(shown["trading_range"], json!({"low": "98.88", "high": "105.00"}));
    let mut wire = watch(&venue);
    venue.place(&alice, limit("sell", "1", "106")).expect(201);
    let order = venue.place(&bob, limit("buy", "1", "106")).expect(201);
    assert_eq!((&order["status"], &order["filled"]), (&json!("open"), &json!("0.0000")));
    let heard = hear(&mut wire, |heard| !heard["interrupted"].is_null());
    let range =
        json!({"price": "106.00", "low": "98.88", "high": "105.00", "until_command": false});
    assert_eq!((&heard["state"], &heard["interrupted"]), (&json!("call"), &range));
    let after = wait_for(&venue, |answer| answer["state"] == "open");
    assert_eq!((&after["last"]["price"], &after["interrupted"]), (&json!("106.00"), &Value::Null));
}
