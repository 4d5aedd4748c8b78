//! Phases, auctions and price ranges over HTTP and on the stream.

use crate::order_stage::with_manual_clock;
use crate::test_venue::{Key, Reply, TestVenue, config, limit, with};
use crate::wire::Wire;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn set_state(venue: &TestVenue, state: &str) -> Reply {
    let body = json!({"instrument": "BTC-USD", "state": state});
    venue.operate("POST", "/v1/admin/state", body)
}

fn set_rules(venue: &TestVenue, rules: Value) -> Reply {
    let body = with(json!({"instrument": "BTC-USD"}), rules);
    venue.operate("POST", "/v1/admin/auction-rules", body)
}

fn auction(venue: &TestVenue, seq: &Value) -> Value {
    let path = format!("/v1/auction/BTC-USD?min_seq={}", seq.as_str().unwrap());
    venue.get(&path).expect(200)
}

/// Asks until the answer is as wanted, for at most ten seconds.
fn wait_for(venue: &TestVenue, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let answer = venue.get("/v1/auction/BTC-USD").expect(200);
        if is_wanted(&answer) {
            return answer;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{answer}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn for_auction(side: &str, quantity: &str, price: &str) -> Value {
    with(limit(side, quantity, price), json!({"time_in_force": "gfa"}))
}

fn place(venue: &TestVenue, key: &Key, body: Value) -> Value {
    venue.place(key, body).expect(201)
}

#[test]
fn a_call_shows_its_price_and_trades_when_it_ends() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let set = set_state(&venue, "call").expect(200);
    assert_eq!((&set["state"], &set["instrument"]), (&json!("call"), &json!("BTC-USD")));
    place(&venue, &alice, limit("buy", "1", "101"));
    place(&venue, &bob, limit("sell", "0.4", "99"));
    let own = place(&venue, &bob, for_auction("sell", "0.1", "105"));
    let shown = wait_for(&venue, |answer| !answer["indicative"].is_null());
    assert_eq!(shown["state"], "call");
    let expected =
        json!({"price": "101.00", "volume": "0.4000", "surplus": "0.6000", "surplus_side": "buy"});
    assert_eq!(shown["indicative"], expected);
    assert_eq!(shown["last"], Value::Null);

    let opened = set_state(&venue, "open").expect(200);
    let after = auction(&venue, &opened["seq"]);
    assert_eq!((&after["state"], &after["indicative"]), (&json!("open"), &Value::Null));
    assert_eq!(after["last"], expected);
    let trades = venue.get("/v1/trades/BTC-USD").expect(200);
    let trade = &trades["trades"][0];
    assert_eq!((&trade["price"], trade.get("taker_side")), (&json!("101.00"), None));
    let fills = venue.see(&alice, "/v1/fills", &opened["seq"]);
    assert_eq!(
        (&fills["fills"][0]["role"], &fills["fills"][0]["side"]),
        (&json!("auction"), &json!("buy"))
    );
    let path = format!("/v1/orders/{}", own["order_id"].as_str().unwrap());
    let ended = &venue.see(&bob, &path, &opened["seq"])["order"];
    assert_eq!(
        (&ended["status"], &ended["done_reason"]),
        (&json!("cancelled"), &json!("auction_ended"))
    );
}

#[test]
fn a_market_order_for_an_auction_is_answered_with_the_limit_that_it_has() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let reference = json!({"reference_price": "100", "market_protection_ppm": 100_000});
    venue.operate("PATCH", "/v1/admin/instruments/BTC-USD", reference).expect(200);
    set_state(&venue, "call").expect(200);
    let own = place(
        &venue,
        &alice,
        json!({
            "account": 1, "instrument": "BTC-USD", "side": "buy", "kind": "market",
            "quantity": "1", "time_in_force": "at_open",
        }),
    );
    assert_eq!(own["price"], "110.00");
    let path = format!("/v1/orders/{}", own["order_id"].as_str().unwrap());
    assert_eq!(venue.see(&alice, &path, &own["seq"])["order"]["price"], own["price"]);
}

#[test]
fn both_fills_of_an_account_that_trades_with_itself_come_in_pages() {
    let (venue, alice, _) = TestVenue::with_market(config());
    set_state(&venue, "call").expect(200);
    for side in ["buy", "sell"] {
        place(&venue, &alice, limit(side, "1", "100"));
    }
    let opened = set_state(&venue, "open").expect(200);
    let first = venue.see(&alice, "/v1/fills?limit=1", &opened["seq"]);
    let path = format!("/v1/fills?limit=1&after={}", first["next"].as_str().unwrap());
    let second = venue.see(&alice, &path, &opened["seq"]);
    let (one, other) = (&first["fills"][0], &second["fills"][0]);
    assert_eq!(one["trade_id"], other["trade_id"]);
    assert_eq!((&one["role"], &other["role"]), (&json!("auction"), &json!("auction")));
    assert_ne!(one["side"], other["side"]);
    assert_eq!(second["next"], Value::Null);
}

#[test]
fn orders_that_do_not_fit_the_phase_are_refused_with_their_field() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let refused = venue.place(&alice, for_auction("buy", "1", "100")).refuses(422, "wrong_phase");
    assert_eq!(refused.field(), "time_in_force");
    set_state(&venue, "call").expect(200);
    for time_in_force in ["ioc", "fok", "at_close"] {
        let order = with(limit("buy", "1", "100"), json!({"time_in_force": time_in_force}));
        let refused = venue.place(&alice, order).refuses(422, "wrong_phase");
        assert_eq!(refused.field(), "time_in_force", "{time_in_force}");
    }
    let order = with(limit("buy", "1", "100"), json!({"post_only": "reject"}));
    let refused = venue.place(&alice, order).refuses(422, "wrong_phase");
    assert_eq!(refused.field(), "post_only");
    let market = json!({
        "account": 1, "instrument": "BTC-USD", "side": "buy", "kind": "market", "quantity": "1",
        "time_in_force": "at_open",
    });
    let refused = venue.place(&alice, market.clone()).refuses(422, "no_reference_price");
    assert_eq!(refused.field(), "price");
    let in_quote = json!({
        "account": 1, "instrument": "BTC-USD", "side": "buy", "kind": "market",
        "quote_amount": "10", "time_in_force": "gfa",
    });
    // What would trade at once does not go into a call.
    for kind in ["market", "best_price"] {
        let order = with(market.clone(), json!({"kind": kind, "time_in_force": "day"}));
        assert_eq!(venue.place(&alice, order).refuses(422, "wrong_phase").field(), "kind");
    }
    let least = with(limit("buy", "1", "100"), json!({"minimum_quantity": "0.5"}));
    assert_eq!(venue.place(&alice, least).refuses(422, "wrong_phase").field(), "minimum_quantity");
    for (order, field) in [
        (with(market, json!({"price": "100"})), "price"),
        (in_quote, "quote_amount"),
        (with(for_auction("buy", "1", "100"), json!({"post_only": "reject"})), "post_only"),
    ] {
        let refused = venue.place(&alice, order.clone()).refuses(400, "invalid_combination");
        assert_eq!(refused.field(), field, "{order}");
    }
    set_state(&venue, "closed").expect(200);
    venue.place(&alice, limit("buy", "1", "100")).refuses(422, "instrument_closed");
}

#[test]
fn states_and_rules_of_auctions_are_checked() {
    let (venue, alice, _) = TestVenue::with_market(config());
    set_state(&venue, "pause").refuses(400, "invalid_field");
    assert_eq!(
        set_state(&venue, "uncrossing").refuses(409, "state_change_invalid").field(),
        "state"
    );
    place(&venue, &alice, limit("buy", "1", "100"));
    assert_eq!(set_state(&venue, "delisted").refuses(409, "has_open_orders").field(), "state");
    let no = json!({"instrument": "NO", "state": "open"});
    venue.operate("POST", "/v1/admin/state", no).refuses(404, "unknown_instrument");
    let unsigned = venue.ask(
        &alice,
        "POST",
        "/v1/admin/state",
        json!({"instrument": "BTC-USD", "state": "open"}),
    );
    assert_eq!(unsigned.status, 403, "{}", unsigned.body);
    for (rules, field) in [
        (json!({"fee_ppm": 100_001}), "fee_ppm"),
        (json!({"fee_ppm": -1}), "fee_ppm"),
        (json!({"static_range_ppm": 1_000_000}), "static_range_ppm"),
        (json!({"extended_range_ppm": 1_000_000}), "extended_range_ppm"),
        (json!({"extended_range_ppm": 5}), "extended_range_ppm"),
        (json!({"dynamic_range_ppm": 5}), "call_ms"),
        (json!({"call_ms": 86_400_001}), "call_ms"),
        (json!({"random_end_ms": 86_400_001}), "random_end_ms"),
    ] {
        assert_eq!(
            set_rules(&venue, rules.clone()).refuses(400, "invalid_rules").field(),
            field,
            "{rules}"
        );
    }
    set_rules(&venue, json!({"seed": 5})).refuses(400, "unknown_field");
    let set = set_rules(&venue, json!({"fee_ppm": 7, "self_trade": "decrement"})).expect(200);
    let set_again = set_rules(&venue, json!({"call_ms": 9})).expect(200);
    assert!(set["seq"] != set_again["seq"]);
    let rules = &auction(&venue, &set_again["seq"])["rules"];
    let kept = (&rules["fee_ppm"], &rules["self_trade"], &rules["call_ms"]);
    assert_eq!(kept, (&json!(7), &json!("decrement"), &json!(9)));
}

#[test]
fn a_price_out_of_range_interrupts_trading_until_the_call_ends() {
    let (venue, clock, alice, bob) = with_manual_clock();
    let rules = json!({"dynamic_range_ppm": 20_000, "daily_range_ppm": 500_000, "call_ms": 300, "random_end_ms": 100});
    set_rules(&venue, rules).expect(200);
    let reference = json!({"reference_price": "100"});
    venue.operate("PATCH", "/v1/admin/instruments/BTC-USD", reference).expect(200);
    place(&venue, &bob, limit("sell", "1", "100"));
    let traded = place(&venue, &alice, limit("buy", "1", "100"));
    let range = &auction(&venue, &traded["seq"])["trading_range"];
    assert_eq!(range, &json!({"low": "98.00", "high": "102.00"}));
    place(&venue, &bob, limit("sell", "1", "101"));
    place(&venue, &bob, limit("sell", "1", "103"));
    let order = place(&venue, &alice, limit("buy", "2", "104"));
    assert_eq!(
        (&order["status"], &order["filled"]),
        (&json!("partially_filled"), &json!("1.0000"))
    );
    let shown = auction(&venue, &order["seq"]);
    assert_eq!(shown["state"], "call");
    let expected =
        json!({"price": "103.00", "low": "98.00", "high": "102.00", "until_command": false});
    assert_eq!(shown["interrupted"], expected);
    clock.advance(Duration::from_millis(400));
    let after = wait_for(&venue, |answer| answer["state"] == "open");
    assert_eq!((&after["last"]["price"], &after["interrupted"]), (&json!("103.00"), &Value::Null));
    assert_eq!(after["daily_limits"], json!({"low": "50.00", "high": "150.00"}));
    let refused =
        venue.place(&alice, limit("buy", "1", "150.01")).refuses(422, "price_outside_limits");
    assert_eq!(refused.field(), "price");
}

#[test]
fn fills_on_the_stream_are_of_an_auction() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let mut wire = Wire::connect(&venue);
    wire.auth(&alice);
    wire.subscribe(json!({"channel": "fills", "account": 1}));
    set_state(&venue, "call").expect(200);
    place(&venue, &alice, limit("buy", "1", "101"));
    place(&venue, &bob, limit("sell", "1", "101"));
    set_state(&venue, "open").expect(200);
    assert_eq!(wire.hear_of("fills")["fills"][0]["role"], "auction");
}

#[test]
fn a_subscriber_that_joins_before_the_price_is_computed_is_sent_it() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    set_state(&venue, "call").expect(200);
    place(&venue, &alice, limit("buy", "1", "101"));
    place(&venue, &bob, limit("sell", "1", "101"));
    let mut wire = Wire::connect(&venue);
    wire.subscribe(json!({"channel": "auction", "instrument": "BTC-USD"}));
    let mut heard = wire.hear_of("auction");
    while heard["indicative"].is_null() {
        heard = wire.hear_of("auction");
    }
    assert_eq!(heard["indicative"]["price"], "101.00");
}

#[test]
fn the_stream_tells_of_phases_prices_and_results() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let mut wire = Wire::connect(&venue);
    wire.subscribe(json!({"channel": "auction", "instrument": "BTC-USD"}));
    assert_eq!(wire.hear_of("auction")["state"], "open");
    set_state(&venue, "call").expect(200);
    assert_eq!(wire.hear_of("auction")["state"], "call");
    place(&venue, &alice, limit("buy", "1", "101"));
    place(&venue, &bob, limit("sell", "1", "101"));
    let mut told = wire.hear_of("auction");
    while told["indicative"].is_null() {
        told = wire.hear_of("auction");
    }
    assert_eq!(
        (&told["indicative"]["price"], &told["indicative"]["volume"]),
        (&json!("101.00"), &json!("1.0000"))
    );
    assert_eq!(told["indicative"].get("surplus_side"), None);
    set_state(&venue, "closed").expect(200);
    while told["state"] != "closed" {
        told = wire.hear_of("auction");
    }
    assert_eq!(told["last"]["price"], "101.00");
    wire.say(json!({"op": "subscribe", "channel": "auction", "instrument": "BTC-USD", "depth": 3}));
    assert_eq!(wire.hear_of("error")["error"]["code"], "unknown_field");
}

#[test]
fn less_than_the_book_is_published_of_a_call_whose_depth_is_not_full() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let refused = set_rules(&venue, json!({"call_depth": "none"}));
    assert_eq!(refused.refuses(400, "invalid_field").field(), "call_depth");
    let set = set_rules(&venue, json!({"call_depth": "hidden"})).expect(200);
    assert_eq!(auction(&venue, &set["seq"])["rules"]["call_depth"], "hidden");
    let bid = place(&venue, &alice, limit("buy", "2", "99"));
    let book = |level: u8, seq: &Value| {
        let seq = seq.as_str().unwrap();
        let path = format!("/v1/book/BTC-USD?depth=9&level={level}&min_seq={seq}");
        let book = venue.get(&path).expect(200);
        (book["bids"].clone(), book["asks"].clone())
    };
    // The stream begins with the book of the feed, which has the order once this is answered.
    let bids = json!([["99.00", "2.0000", 1]]);
    assert_eq!(book(2, &bid["seq"]), (bids.clone(), json!([])));
    let mut wire = Wire::connect(&venue);
    wire.subscribe(json!({"channel": "book", "instrument": "BTC-USD"}));
    assert_eq!(wire.hear_of("book")["bids"], bids);
    set_state(&venue, "call").expect(200);
    assert_eq!(wire.hear_of("book_delta")["bids"], json!([["99.00", "0.0000", 0]]));
    place(&venue, &alice, limit("buy", "1", "101"));
    let order = place(&venue, &bob, limit("sell", "0.4", "100"));
    let nothing = (json!([]), json!([]));
    assert_eq!(book(2, &order["seq"]), nothing);
    assert_eq!(book(3, &order["seq"]), nothing);
    let ticker = venue.get("/v1/ticker/BTC-USD").expect(200);
    assert_eq!((&ticker["bid"], &ticker["ask"]), (&Value::Null, &Value::Null));
    wait_for(&venue, |answer| answer["indicative"]["price"] == "101.00");

    let set = set_rules(&venue, json!({"call_depth": "indicative"})).expect(200);
    let shown = (json!([["101.00", "1.0000", 1]]), json!([["101.00", "0.4000", 1]]));
    assert_eq!(book(2, &set["seq"]), shown);
    assert_eq!(book(3, &set["seq"]), nothing);
    let heard = wire.hear_of("book_delta");
    assert_eq!((heard["bids"].clone(), heard["asks"].clone()), shown);
    set_state(&venue, "open").expect(200);
    wait_for(&venue, |answer| answer["state"] == "open");
    let left = json!([["101.00", "0.6000", 1], ["99.00", "2.0000", 1]]);
    assert_eq!(book(2, &set["seq"]), (left, json!([])));
    // The deltas lead from what was shown to what is left.
    let mut levels = std::collections::BTreeMap::from([("101.00".to_owned(), json!("1.0000"))]);
    while levels.get("101.00") != Some(&json!("0.6000")) || !levels.contains_key("99.00") {
        for level in wire.hear_of("book_delta")["bids"].as_array().unwrap() {
            let price = level[0].as_str().unwrap().to_owned();
            match level[2] == 0 {
                true => levels.remove(&price),
                false => levels.insert(price, level[1].clone()),
            };
        }
    }
    assert_eq!(levels["99.00"], json!("2.0000"));
}
