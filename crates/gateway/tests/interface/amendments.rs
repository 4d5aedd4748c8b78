//! Amendments of orders that wait and of linked orders, over HTTP, in batches and on the stream.

use crate::order_stage::{orders_of, pair, trade_at, until_open, without_nulls};
use crate::test_venue::{Key, Reply, TestVenue, config, limit, with};
use crate::wire::Wire;
use rialto_engine::EngineConfig;
use serde_json::{Value, json};

/// A sell of 1 at 90 or better that waits for 95.
fn stop(more: Value) -> Value {
    let waits = json!({"trigger": "stop", "trigger_price": "95"});
    without_nulls(with(with(limit("sell", "1", "90"), waits), more))
}

/// A venue whose last price is 100.
fn at_100() -> (TestVenue, Key, Key) {
    let (venue, alice, bob) = TestVenue::with_market(config());
    trade_at(&venue, [&bob, &alice], "100");
    (venue, alice, bob)
}

fn amend(venue: &TestVenue, key: &Key, order: &Value, change: Value) -> Reply {
    let path = format!("/v1/orders/{}", order.as_str().unwrap());
    venue.ask(key, "PATCH", &path, change)
}

/// An order of the member after a command.
fn shown(venue: &TestVenue, key: &Key, order: &Value, seq: &Value) -> Value {
    venue.see(key, &format!("/v1/orders/{}", order.as_str().unwrap()), seq)["order"].clone()
}

fn asks(venue: &TestVenue, seq: &Value) -> Value {
    let path = format!("/v1/book/BTC-USD?min_seq={}", seq.as_str().unwrap());
    venue.get(&path).expect(200)["asks"].clone()
}

/// What the stream says of a command.
fn events_of(wire: &mut Wire, seq: &Value) -> Vec<Value> {
    loop {
        let heard = wire.hear_of("orders");
        if heard["seq"] == *seq {
            return heard["events"].as_array().unwrap().clone();
        }
    }
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().unwrap()).collect()
}

#[test]
fn an_order_that_waits_gets_another_trigger_price_limit_and_quantity() {
    let (venue, alice, bob) = at_100();
    let mut wire = orders_of(&venue, &alice);
    let placed = venue.place(&alice, stop(json!({"client_order_id": "s"}))).expect(201);
    let id = &placed["order_id"];
    let moved = amend(&venue, &alice, id, json!({"trigger_price": "97"})).expect(200);
    assert_eq!(
        (&moved["status"], &moved["price"], &moved["filled"], &moved["remaining"]),
        (&json!("waiting"), &json!("90.00"), &json!("0.0000"), &json!("1.0000"))
    );
    assert_eq!((&moved["order_id"], &moved["client_order_id"]), (id, &json!("s")));
    let now = shown(&venue, &alice, id, &moved["seq"]);
    assert_eq!((&now["trigger"], &now["trigger_price"]), (&json!("stop"), &json!("97.00")));
    let events = events_of(&mut wire, &moved["seq"]);
    assert_eq!(kinds(&events), ["trigger_set"], "limit and quantity are as they were");
    assert_eq!((&events[0]["order_id"], &events[0]["trigger_price"]), (id, &json!("97.00")));

    let all = json!({"price": "91", "quantity": "2", "trigger_price": "96"});
    let moved = amend(&venue, &alice, id, all).expect(200);
    assert_eq!((&moved["price"], &moved["remaining"]), (&json!("91.00"), &json!("2.0000")));
    let now = shown(&venue, &alice, id, &moved["seq"]);
    assert_eq!(
        (&now["trigger_price"], &now["quantity"], &now["reserved"]),
        (&json!("96.00"), &json!("2.0000"), &json!("2.00000000"))
    );
    let events = events_of(&mut wire, &moved["seq"]);
    assert_eq!(kinds(&events), ["amended", "trigger_set"]);
    assert_eq!((&events[0]["price"], &events[0]["quantity"]), (&json!("91.00"), &json!("2.0000")));

    let named = json!("client:s");
    let smaller = amend(&venue, &alice, &named, json!({"quantity": "0.5"})).expect(200);
    assert_eq!((&smaller["status"], &smaller["remaining"]), (&json!("waiting"), &json!("0.5000")));
    assert_eq!(shown(&venue, &alice, id, &smaller["seq"])["reserved"], "0.50000000");
    assert_eq!(kinds(&events_of(&mut wire, &smaller["seq"])), ["amended"]);
    assert_eq!(asks(&venue, &smaller["seq"]), json!([]), "it is in no book");

    venue.place(&bob, limit("buy", "0.5", "92")).expect(201);
    trade_at(&venue, [&bob, &alice], "96");
    until_open(&venue, &alice, |orders| orders.is_empty());
    let path = format!("/v1/orders/{}", id.as_str().unwrap());
    let ended = venue.ask(&alice, "GET", &path, Value::Null).expect(200)["order"].clone();
    assert_eq!((&ended["status"], &ended["average_price"]), (&json!("filled"), &json!("92.00")));
}

#[test]
fn a_take_profit_order_is_moved_as_a_stop_is() {
    let (venue, alice, bob) = at_100();
    let waits = json!({"trigger": "take_profit", "trigger_price": "110"});
    let placed = venue.place(&alice, with(limit("sell", "1", "109"), waits)).expect(201);
    let id = &placed["order_id"];
    let moved = json!({"trigger_price": "104", "price": "103"});
    let moved = amend(&venue, &alice, id, moved).expect(200);
    assert_eq!((&moved["status"], &moved["price"]), (&json!("waiting"), &json!("103.00")));
    trade_at(&venue, [&bob, &alice], "104");
    let orders = until_open(&venue, &alice, |orders| orders[0]["status"] == "open");
    assert_eq!((&orders[0]["order_id"], &orders[0]["price"]), (id, &json!("103.00")));
}

#[test]
fn the_protection_price_of_a_market_order_moves_with_its_trigger_price() {
    let (venue, alice, _) = at_100();
    let market = json!({"kind": "market", "price": null});
    let placed = venue.place(&alice, stop(market)).expect(201);
    let id = &placed["order_id"];
    // The protection is five hundredths of the trigger price.
    assert_eq!(shown(&venue, &alice, id, &placed["seq"])["price"], "90.25");
    let moved = amend(&venue, &alice, id, json!({"trigger_price": "97"})).expect(200);
    assert_eq!((&moved["status"], &moved["price"]), (&json!("waiting"), &json!("92.15")));
    let given = amend(&venue, &alice, id, json!({"price": "90"})).expect(200);
    assert_eq!(given["price"], "90.00");
    let moved = amend(&venue, &alice, id, json!({"trigger_price": "98"})).expect(200);
    assert_eq!(moved["price"], "90.00", "it was given another");
    let now = shown(&venue, &alice, id, &moved["seq"]);
    assert_eq!((&now["kind"], &now["status"]), (&json!("market"), &json!("waiting")));
    assert_eq!((&now["price"], &now["trigger_price"]), (&json!("90.00"), &json!("98.00")));
}

#[test]
fn a_trailing_stop_gets_another_limit_and_quantity_only() {
    let (venue, alice, _) = at_100();
    let trails = json!({"trail_distance": "5"});
    let placed = venue.place(&alice, with(limit("sell", "1", "90"), trails.clone())).expect(201);
    let id = &placed["order_id"];
    let moved = amend(&venue, &alice, id, json!({"price": "91", "quantity": "2"})).expect(200);
    assert_eq!(
        (&moved["status"], &moved["price"], &moved["remaining"]),
        (&json!("waiting"), &json!("91.00"), &json!("2.0000"))
    );
    let refused = amend(&venue, &alice, id, json!({"trigger_price": "96"}));
    let refused = refused.refuses(400, "invalid_combination");
    assert_eq!(refused.field(), "trigger_price");
    assert!(refused.body["error"]["message"].as_str().unwrap().contains("distance"));
    let refused = amend(&venue, &alice, id, json!({"trail_distance": "4"}));
    assert_eq!(refused.refuses(400, "unknown_field").field(), "trail_distance");
    let market = json!({"kind": "market", "price": null, "trigger": null, "trigger_price": null});
    let placed = venue.place(&alice, stop(with(market, trails))).expect(201);
    let id = &placed["order_id"];
    let refused = amend(&venue, &alice, id, json!({"price": "90"}));
    assert_eq!(refused.refuses(400, "invalid_combination").field(), "price");
    let smaller = amend(&venue, &alice, id, json!({"quantity": "0.5"})).expect(200);
    assert_eq!(smaller["remaining"], "0.5000");
}

#[test]
fn exits_are_amended_and_those_to_come_have_their_prices() {
    let (venue, alice, bob) = at_100();
    let mut wire = orders_of(&venue, &alice);
    let exits = json!({"take_profit": {"price": "110"}, "stop_loss": {"trigger": "90"}});
    let placed = venue.place(&alice, with(limit("buy", "1", "100"), exits)).expect(201);
    let entry = &placed["order_id"];
    venue.place(&bob, limit("sell", "0.4", "100")).expect(201);
    let orders = until_open(&venue, &alice, |orders| orders.len() == 3);
    let (profit, loss) = (&orders[1]["order_id"], &orders[2]["order_id"]);

    let moved = amend(&venue, &alice, profit, json!({"price": "112"})).expect(200);
    assert_eq!((&moved["status"], &moved["price"]), (&json!("open"), &json!("112.00")));
    assert_eq!(asks(&venue, &moved["seq"]), json!([["112.00", "0.4000", 1]]));
    let events = events_of(&mut wire, &moved["seq"]);
    assert_eq!(kinds(&events), ["amended", "rested", "exits_set"]);
    assert_eq!(
        (&events[2]["order_id"], &events[2]["take_profit"]["price"]),
        (entry, &json!("112.00"))
    );

    let moved = amend(&venue, &alice, loss, json!({"trigger_price": "92"})).expect(200);
    assert_eq!((&moved["status"], &moved["remaining"]), (&json!("waiting"), &json!("0.4000")));
    let events = events_of(&mut wire, &moved["seq"]);
    assert_eq!(kinds(&events), ["amended", "trigger_set", "exits_set"]);
    assert_eq!(events[0]["price"], "87.40", "its protection price moves with its trigger price");
    let now = shown(&venue, &alice, entry, &moved["seq"]);
    assert_eq!(
        (&now["take_profit"], &now["stop_loss"]),
        (
            &json!({"price": "112.00", "time_in_force": "gtc"}),
            &json!({"trigger": "92.00", "time_in_force": "ioc"})
        )
    );

    let priced = amend(&venue, &alice, loss, json!({"price": "80"})).expect(200);
    let now = shown(&venue, &alice, entry, &priced["seq"]);
    assert_eq!(
        now["stop_loss"],
        json!({"trigger": "92.00", "price": "80.00", "time_in_force": "ioc"}),
        "the limit that a market order was given"
    );

    venue.place(&bob, limit("sell", "0.6", "100")).expect(201);
    let orders = until_open(&venue, &alice, |orders| {
        orders.len() == 2 && orders.iter().all(|order| order["remaining"] == "1.0000")
    });
    assert_eq!(
        (&orders[0]["price"], &orders[1]["trigger_price"]),
        (&json!("112.00"), &json!("92.00"))
    );
    // The entry has ended, and its exits are amended as before.
    let moved = amend(&venue, &alice, profit, json!({"price": "113"})).expect(200);
    assert_eq!(kinds(&events_of(&mut wire, &moved["seq"])), ["amended", "rested"]);
    venue.place(&bob, limit("buy", "1", "113")).expect(201);
    until_open(&venue, &alice, |orders| orders.is_empty());
}

#[test]
fn both_orders_of_a_pair_are_amended_and_share_their_reserve() {
    let (venue, alice, _) = at_100();
    let mut wire = orders_of(&venue, &alice);
    let second = json!({"oco": {"trigger": "110", "price": "112"}});
    let placed = venue.place(&alice, with(limit("buy", "5", "90"), second)).expect(201);
    let first = &placed["order_id"];
    let linked_to = |seq: &Value| shown(&venue, &alice, first, seq)["linked_to"].clone();
    let second = &linked_to(&placed["seq"]);
    let reserved = |seq: &Value| {
        [first, second].map(|order| shown(&venue, &alice, order, seq)["reserved"].clone())
    };
    assert_eq!(reserved(&placed["seq"]), ["450.090000", "110.022000"]);

    let moved = amend(&venue, &alice, first, json!({"price": "95"})).expect(200);
    assert_eq!((&moved["status"], &moved["price"]), (&json!("open"), &json!("95.00")));
    assert_eq!(reserved(&moved["seq"]), ["475.095000", "85.017000"]);
    let events = events_of(&mut wire, &moved["seq"]);
    assert_eq!(kinds(&events), ["amended", "amended", "rested"]);
    assert_eq!((&events[0]["order_id"], &events[1]["order_id"]), (second, first));
    assert_eq!(linked_to(&moved["seq"]), *second);

    let moved = json!({"trigger_price": "108", "price": "109"});
    let moved = amend(&venue, &alice, second, moved).expect(200);
    assert_eq!((&moved["status"], &moved["price"]), (&json!("waiting"), &json!("109.00")));
    assert_eq!(reserved(&moved["seq"]), ["475.095000", "70.014000"]);
    assert_eq!(kinds(&events_of(&mut wire, &moved["seq"])), ["amended", "trigger_set"]);
    for order in [first, second] {
        for quantity in ["4", "6"] {
            let refused = amend(&venue, &alice, order, json!({"quantity": quantity}));
            let refused = refused.refuses(409, "order_linked");
            assert_eq!(refused.field(), "quantity");
            let message = refused.body["error"]["message"].as_str().unwrap();
            assert!(message.contains("5.0000") && message.contains(quantity), "{message}");
        }
    }
}

#[test]
fn a_batch_amends_orders_that_wait() {
    let (venue, alice, _) = at_100();
    for (name, order) in [("s", stop(json!({}))), ("p", pair(json!({})))] {
        venue.place(&alice, with(order, json!({"client_order_id": name}))).expect(201);
    }
    let rows = json!({"rows": [
        {"amend": {"id": "client:s", "trigger_price": "96", "quantity": "0.5"}},
        {"amend": {"id": "client:s", "trigger_price": "100"}},
        {"amend": {"id": "client:s", "trigger_price": "0"}},
        {"amend": {"id": "client:s", "trigger_price": "96.001"}},
        {"amend": {"id": "client:p", "price": "111"}},
        {"amend": {"id": "client:p", "quantity": "2"}},
        {"amend": {"id": "client:p", "price": "90"}},
        {"amend": {"id": "client:p", "trigger_price": "105"}},
    ]});
    let answer = venue.ask(&alice, "POST", "/v1/orders/batch", rows).expect(200);
    let results = answer["results"].as_array().unwrap();
    let statuses: Vec<_> = results.iter().map(|row| row["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [200, 422, 400, 400, 200, 409, 400, 400], "{answer}");
    assert_eq!(results[0]["order"]["status"], "waiting");
    let errors = [1, 2, 3, 5, 6, 7].map(|row: usize| {
        let error = &results[row]["error"];
        (error["code"].as_str().unwrap(), error["field"].as_str().unwrap())
    });
    let expected = [
        ("would_trigger", "rows[1].amend.trigger_price"),
        ("trigger_price_invalid", "rows[2].amend.trigger_price"),
        ("invalid_field", "rows[3].amend.trigger_price"),
        ("order_linked", "rows[5].amend.quantity"),
        ("exit_price_invalid", "rows[6].amend.price"),
        ("invalid_combination", "rows[7].amend.trigger_price"),
    ];
    assert_eq!(errors, expected);
    let message = results[1]["error"]["message"].as_str().unwrap();
    assert!(message.contains("100.00"), "{message}");
}

#[test]
fn bad_amendments_are_refused_with_their_field() {
    let (venue, alice, _) = at_100();
    let placed = venue.place(&alice, stop(json!({}))).expect(201);
    let id = &placed["order_id"];
    for (change, status, code, field) in [
        (json!({"trigger_price": "x"}), 400, "invalid_field", "trigger_price"),
        (json!({"trigger_price": 97}), 400, "invalid_field", "trigger_price"),
        (json!({"trigger_price": ""}), 400, "invalid_field", "trigger_price"),
        (json!({"trigger_price": "97.001"}), 400, "invalid_field", "trigger_price"),
        (json!({"trigger_price": "9".repeat(40)}), 400, "invalid_field", "trigger_price"),
        (json!({"trigger_price": "0"}), 400, "trigger_price_invalid", "trigger_price"),
        (json!({"trigger_price": "-1"}), 400, "trigger_price_invalid", "trigger_price"),
        (json!({"trigger_price": "100"}), 422, "would_trigger", "trigger_price"),
        (json!({"trigger_price": "101"}), 422, "would_trigger", "trigger_price"),
        (json!({"trigger": "stop"}), 400, "unknown_field", "trigger"),
        (json!({"trigger_price": "96", "price": "x"}), 400, "invalid_field", "price"),
        (json!({"trigger_price": "96", "price": "-5"}), 400, "price_not_positive", "price"),
        (json!({"price": "0"}), 400, "price_not_positive", "price"),
        (json!({"quantity": "0"}), 400, "quantity_not_positive", "quantity"),
        (json!({"quantity": "11"}), 422, "insufficient_balance", ""),
        (json!({}), 400, "nothing_to_amend", ""),
        (json!({"trigger_price": "95"}), 400, "nothing_to_amend", ""),
        (json!({"trigger_price": "95", "price": "90"}), 400, "nothing_to_amend", ""),
    ] {
        let refused = amend(&venue, &alice, id, change.clone());
        assert_eq!(refused.refuses(status, code).field(), field, "{change}");
    }
    let said = |change: Value| {
        let refused = amend(&venue, &alice, id, change).body;
        refused["error"]["message"].as_str().unwrap().to_owned()
    };
    let reached = "The last price 100.00 has reached the trigger price 101.00 already.";
    assert_eq!(said(json!({"trigger_price": "101"})), reached);
    assert_eq!(said(json!({"trigger_price": "0"})), "The trigger price 0.00 is not above zero.");
    let short = said(json!({"quantity": "11"}));
    assert!(short.contains("BTC is available"), "{short}");
    let now = shown(&venue, &alice, id, &placed["seq"]);
    assert_eq!((&now["trigger_price"], &now["updated_seq"]), (&json!("95.00"), &placed["seq"]));

    let iceberg = with(limit("buy", "1", "50"), json!({"display_quantity": "0.1"}));
    for order in [limit("buy", "1", "50"), iceberg] {
        let placed = venue.place(&alice, order).expect(201);
        let refused = amend(&venue, &alice, &placed["order_id"], json!({"trigger_price": "60"}));
        assert_eq!(refused.refuses(400, "invalid_combination").field(), "trigger_price");
    }
}

#[test]
fn the_trigger_price_of_an_order_that_was_triggered_stays() {
    let (venue, alice, _) = at_100();
    let set_state = |state: &str| {
        let body = json!({"instrument": "BTC-USD", "state": state});
        venue.operate("POST", "/v1/admin/state", body).expect(200);
    };
    // In a call, an order that was triggered waits to be entered.
    set_state("call");
    let at_once = json!({"trigger_price": "100", "trigger_at_once": true});
    let placed = venue.place(&alice, stop(at_once)).expect(201);
    let id = &placed["order_id"];
    let refused = amend(&venue, &alice, id, json!({"trigger_price": "96"}));
    assert_eq!(refused.refuses(409, "order_triggered").field(), "trigger_price");
    let smaller = json!({"quantity": "0.5", "price": "99"});
    let smaller = amend(&venue, &alice, id, smaller).expect(200);
    assert_eq!((&smaller["status"], &smaller["remaining"]), (&json!("waiting"), &json!("0.5000")));
    set_state("open");
    let orders = until_open(&venue, &alice, |orders| orders[0]["status"] == "open");
    assert_eq!((&orders[0]["price"], &orders[0]["remaining"]), (&json!("99.00"), &json!("0.5000")));
}

#[test]
fn linked_orders_stay_on_their_sides() {
    let (venue, alice, bob) = at_100();
    let said = |refused: &Reply| refused.body["error"]["message"].as_str().unwrap().to_owned();
    let placed = venue.place(&alice, pair(json!({}))).expect(201);
    let first = &placed["order_id"];
    let refused = amend(&venue, &alice, first, json!({"price": "90"}));
    let refused = refused.refuses(400, "exit_price_invalid");
    assert_eq!(refused.field(), "price");
    let other = "The price 90.00 must be above the trigger price 90.00 of the order that it is linked \
                 with.";
    assert_eq!(said(&refused), other);
    venue.place(&bob, limit("buy", "0.1", "105")).expect(201);
    let refused = amend(&venue, &alice, first, json!({"price": "105"}));
    let refused = refused.refuses(422, "would_cross");
    assert_eq!(refused.field(), "price");
    assert!(said(&refused).contains("105.00"), "{}", said(&refused));
    for key in [&alice, &bob] {
        venue.ask(key, "DELETE", "/v1/orders", Value::Null).expect(200);
    }

    let exits = json!({"take_profit": {"price": "110"}, "stop_loss": {"trigger": "90"}});
    let placed = venue.place(&alice, with(limit("buy", "1", "100"), exits)).expect(201);
    let entry = &placed["order_id"];
    venue.place(&bob, limit("sell", "0.4", "100")).expect(201);
    let orders = until_open(&venue, &alice, |orders| orders.len() == 3);
    let (profit, loss) = (&orders[1]["order_id"], &orders[2]["order_id"]);
    trade_at(&venue, [&bob, &alice], "105");
    for (order, change, field, message) in [
        (
            profit,
            json!({"price": "100"}),
            "price",
            "The price 100.00 must be above the price 100.00 of its entry.",
        ),
        (
            loss,
            json!({"trigger_price": "101"}),
            "trigger_price",
            "The trigger price 101.00 must be below the price 100.00 of its entry.",
        ),
        (
            entry,
            json!({"price": "111"}),
            "price",
            "The price 111.00 must be below the take_profit 110.00.",
        ),
        (
            entry,
            json!({"price": "90"}),
            "price",
            "The price 90.00 must be above the stop_loss 90.00.",
        ),
    ] {
        let refused = amend(&venue, &alice, order, change).refuses(400, "exit_price_invalid");
        assert_eq!((refused.field(), &said(&refused)[..]), (field, message));
    }
    for order in [profit, loss] {
        let refused = amend(&venue, &alice, order, json!({"quantity": "0.5"}));
        assert_eq!(refused.refuses(409, "order_linked").field(), "quantity");
    }
    let larger = amend(&venue, &alice, entry, json!({"quantity": "2"})).expect(200);
    assert_eq!(larger["remaining"], "1.6000", "the quantity of an entry may change");
}

#[test]
fn under_older_rules_neither_waiting_nor_linked_orders_are_amended() {
    let engine = EngineConfig { rules_version: 9, ..EngineConfig::default() };
    let venue = TestVenue::with_engine(config(), engine);
    venue.create_market();
    let (alice, bob) = (venue.member("alice"), venue.member("bob"));
    trade_at(&venue, [&bob, &alice], "100");
    let waits = venue.place(&alice, stop(json!({}))).expect(201)["order_id"].clone();
    let linked = venue.place(&alice, pair(json!({}))).expect(201)["order_id"].clone();
    for (order, change, status, code, field) in [
        (&waits, json!({"trigger_price": "96"}), 400, "command_unknown", "trigger_price"),
        (&waits, json!({"price": "91"}), 409, "order_waiting", "id"),
        (&waits, json!({"quantity": "0.5"}), 409, "order_waiting", "id"),
        (&linked, json!({"price": "111"}), 409, "order_linked", "id"),
        (&linked, json!({"quantity": "2"}), 409, "order_linked", "quantity"),
    ] {
        let refused = amend(&venue, &alice, order, change.clone());
        assert_eq!(refused.refuses(status, code).field(), field, "{change}");
    }
    let five = json!({"instrument": "BTC-USD", "side": "buy", "kind": "five_levels",
                      "quantity": "1", "time_in_force": "gtc"});
    let refused = venue.place(&bob, five).refuses(400, "invalid_combination");
    assert_eq!(refused.field(), "time_in_force");
    assert!(refused.body["error"]["message"].as_str().unwrap().contains("version 10"));
}

#[test]
fn a_refused_amendment_is_on_the_stream() {
    let (venue, alice, _) = at_100();
    let mut wire = orders_of(&venue, &alice);
    let placed = venue.place(&alice, stop(json!({}))).expect(201);
    let id = &placed["order_id"];
    let refused = amend(&venue, &alice, id, json!({"trigger_price": "100"}));
    let seq = refused.refuses(422, "would_trigger").body["error"]["seq"].clone();
    let events = events_of(&mut wire, &seq);
    assert_eq!(
        (&events[0]["event"], &events[0]["command"], &events[0]["reason"]),
        (&json!("rejected"), &json!("amend"), &json!("would_trigger"))
    );
    assert_eq!(events[0]["order_id"], *id);
}

#[test]
fn what_is_left_of_a_five_levels_order_rests_at_the_price_of_its_last_trade() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let mut wire = orders_of(&venue, &bob);
    for price in ["100", "101", "102", "103"] {
        venue.place(&alice, limit("sell", "1", price)).expect(201);
    }
    // The fifth price is an order of its own, which self-trade prevention cancels.
    venue.place(&bob, limit("sell", "1", "104")).expect(201);
    let five = json!({
        "instrument": "BTC-USD", "side": "buy", "kind": "five_levels", "quantity": "9",
        "time_in_force": "gtc", "self_trade": "cancel_oldest",
    });
    let placed = venue.place(&bob, five.clone()).expect(201);
    assert_eq!(
        (&placed["status"], &placed["price"], &placed["filled"], &placed["remaining"]),
        (&json!("partially_filled"), &json!("103.00"), &json!("4.0000"), &json!("5.0000"))
    );
    let events = events_of(&mut wire, &placed["seq"]);
    let own: Vec<_> =
        events.into_iter().filter(|event| event["order_id"] == placed["order_id"]).collect();
    assert_eq!(
        kinds(&own),
        ["accepted", "traded", "traded", "traded", "traded", "amended", "rested"]
    );
    assert_eq!(
        (&own[5]["price"], &own[5]["quantity"], &own[5]["remaining"]),
        (&json!("103.00"), &json!("9.0000"), &json!("5.0000"))
    );
    let now = shown(&venue, &bob, &placed["order_id"], &placed["seq"]);
    assert_eq!((&now["kind"], &now["price"]), (&json!("limit"), &json!("103.00")));
    let book = venue.see(&bob, "/v1/book/BTC-USD", &placed["seq"]);
    assert_eq!(book["bids"], json!([["103.00", "5.0000", 1]]));
    venue.place(&alice, limit("sell", "5", "103")).expect(201);

    // It has traded nothing: what is left ends.
    venue.place(&bob, limit("sell", "1", "104")).expect(201);
    let ended = venue.place(&bob, five).expect(201);
    assert_eq!(
        (&ended["status"], &ended["done_reason"]),
        (&json!("cancelled"), &json!("remainder"))
    );
}
