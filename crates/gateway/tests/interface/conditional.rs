//! Conditional orders, over HTTP, in batches and on the stream.

use crate::order_stage::{orders_of, trade_at, wait_for};
use crate::test_venue::{Key, TestVenue, config, limit, with};
use crate::wire::Wire;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A sell of 1 at 90 or better that waits for 95.
fn stop(more: Value) -> Value {
    let waits = json!({"trigger": "stop", "trigger_price": "95"});
    with(with(limit("sell", "1", "90"), waits), more)
}

/// What the stream says of an order until it rests.
fn events_until_rested(wire: &mut Wire, order: &Value) -> Vec<Value> {
    let mut events: Vec<Value> = Vec::new();
    while events.last().is_none_or(|event| event["event"] != "rested") {
        let heard = wire.hear_of("orders");
        let of_it = heard["events"].as_array().unwrap().iter();
        events.extend(of_it.filter(|event| event["order_id"] == *order).cloned());
    }
    events
}

fn listed(venue: &TestVenue, key: &Key, status: &str, seq: &Value) -> Vec<Value> {
    let answer = venue.see(key, &format!("/v1/orders?status={status}"), seq);
    answer["orders"].as_array().unwrap().clone()
}

#[test]
fn an_order_waits_is_listed_and_is_entered_when_it_is_triggered() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let mut wire = orders_of(&venue, &alice);
    trade_at(&venue, [&alice, &bob], "100");
    let waits = venue.place(&alice, stop(json!({"client_order_id": "s"}))).expect(201);
    assert_eq!((&waits["status"], &waits["price"]), (&json!("waiting"), &json!("90.00")));
    let shown = &listed(&venue, &alice, "waiting", &waits["seq"])[0];
    assert_eq!(
        (&shown["order_id"], &shown["trigger"], &shown["trigger_price"], &shown["status"]),
        (&waits["order_id"], &json!("stop"), &json!("95.00"), &json!("waiting"))
    );
    assert_eq!(shown["reserved"], "1.00000000");
    assert_eq!(listed(&venue, &alice, "open", &waits["seq"]).len(), 1);
    let depth = venue.get("/v1/book/BTC-USD").expect(200);
    assert_eq!(depth["asks"], json!([]), "an order that waits is in no book");

    venue.place(&bob, limit("buy", "0.4", "92")).expect(201);
    trade_at(&venue, [&bob, &alice], "95");
    let order = wait_for(&venue, &alice, &waits["order_id"], "partially_filled");
    assert_eq!((&order["filled"], &order["average_price"]), (&json!("0.4000"), &json!("92.00")));
    assert!(order.get("trigger").is_none(), "{order}");
    let seq = order["updated_seq"].clone();
    assert!(listed(&venue, &alice, "waiting", &seq).is_empty());
    let events = events_until_rested(&mut wire, &waits["order_id"]);
    let kinds: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["accepted", "trigger_set", "triggered", "traded", "rested"]);

    let again = venue.place(&alice, stop(json!({"client_order_id": "s"}))).expect(200);
    assert_eq!((&again["repeated"], &again["status"]), (&json!(true), &json!("waiting")));
    assert_eq!(again["now"]["status"], "partially_filled");
    let other = stop(json!({"client_order_id": "s", "trigger_price": "94"}));
    venue.place(&alice, other).refuses(409, "client_id_conflict");
}

#[test]
fn bad_triggers_are_refused_with_their_field() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    trade_at(&venue, [&alice, &bob], "100");
    for (more, status, code, field) in [
        (json!({"trigger": null}), 400, "missing_field", "trigger"),
        (json!({"trigger_price": null}), 400, "missing_field", "trigger_price"),
        (json!({"trigger": "trailing"}), 400, "invalid_field", "trigger"),
        (json!({"trigger_price": "95.001"}), 400, "invalid_field", "trigger_price"),
        (json!({"trigger_price": "0"}), 400, "trigger_price_invalid", "trigger_price"),
        (json!({"trigger_price": "-1"}), 400, "trigger_price_invalid", "trigger_price"),
        (json!({"trigger_price": "100"}), 422, "would_trigger", "trigger_price"),
        (json!({"trigger_price": "101"}), 422, "would_trigger", "trigger_price"),
        (json!({"post_only": "reject"}), 400, "invalid_combination", "post_only"),
        (json!({"time_in_force": "fok"}), 400, "invalid_combination", "time_in_force"),
        (json!({"time_in_force": "gfa"}), 400, "invalid_combination", "time_in_force"),
        (json!({"minimum_quantity": "1"}), 400, "invalid_combination", "minimum_quantity"),
        (json!({"kind": "best_price", "price": null}), 400, "invalid_combination", "kind"),
        (json!({"quantity": "0"}), 400, "quantity_not_positive", "quantity"),
        (json!({"price": "-5"}), 400, "price_not_positive", "price"),
    ] {
        let refused = venue.place(&alice, without_nulls(stop(more.clone())));
        assert_eq!(refused.refuses(status, code).field(), field, "{more}");
    }
    let amount = json!({"kind": "market", "quantity": null, "price": null, "quote_amount": "5"});
    let refused = venue.place(&alice, without_nulls(stop(amount)));
    assert_eq!(refused.refuses(400, "invalid_combination").field(), "quote_amount");
    let at_once = with(limit("sell", "1", "90"), json!({"trigger_at_once": true}));
    assert_eq!(venue.place(&alice, at_once).refuses(400, "missing_field").field(), "trigger");
    let seq = venue.place(&alice, stop(json!({}))).expect(201)["seq"].clone();
    assert_eq!(listed(&venue, &alice, "open", &seq).len(), 1, "nothing else was entered");
}

/// A field that is null stands for one that is left out.
fn without_nulls(mut body: Value) -> Value {
    body.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    body
}

#[test]
fn a_waiting_order_is_cancelled_as_others_are() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let order = venue.place(&alice, stop(json!({}))).expect(201)["order_id"].clone();
    let path = format!("/v1/orders/{}", order.as_str().unwrap());
    let cancelled = venue.ask(&alice, "DELETE", &path, Value::Null).expect(200);
    assert_eq!(
        (&cancelled["status"], &cancelled["remaining"]),
        (&json!("cancelled"), &json!("1.0000"))
    );
    let balances = venue.see(&alice, "/v1/balances", &cancelled["seq"]);
    let reserved =
        balances["balances"].as_array().unwrap().iter().map(|it| it["reserved"].as_str());
    assert!(reserved.flatten().all(|reserved| reserved.trim_matches(['0', '.']).is_empty()));
}

#[test]
fn a_batch_enters_orders_that_wait() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    trade_at(&venue, [&alice, &bob], "100");
    let touched = json!({"trigger": "take_profit", "trigger_price": "110"});
    let rows = json!({"rows": [
        {"place": stop(json!({"kind": "market", "price": "90"}))},
        {"place": with(limit("sell", "1", "109"), touched)},
        {"place": stop(json!({"trigger_price": "100"}))},
        {"place": stop(json!({"trigger_price": "100", "trigger_at_once": true}))},
        {"place": stop(json!({"time_in_force": "fok"}))},
    ]});
    let answer = venue.ask(&alice, "POST", "/v1/orders/batch", rows).expect(200);
    let results = answer["results"].as_array().unwrap();
    let statuses: Vec<_> = results.iter().map(|row| row["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [201, 201, 422, 201, 400]);
    assert_eq!(results[2]["error"]["field"], "rows[2].place.trigger_price");
    assert_eq!(results[4]["error"]["field"], "rows[4].place.time_in_force");
    // The fourth is triggered at once, and rests.
    let order = wait_for(&venue, &alice, &results[3]["order"]["order_id"], "open");
    assert_eq!(listed(&venue, &alice, "waiting", &order["updated_seq"]).len(), 2);
}

#[test]
fn a_trailing_stop_follows_the_price_and_is_entered() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let mut wire = orders_of(&venue, &alice);
    trade_at(&venue, [&alice, &bob], "100");
    let trails = json!({"trail_ppm": 20_000, "activation_price": "105", "client_order_id": "t"});
    let order = with(limit("sell", "1", "90"), trails);
    let waits = venue.place(&alice, order.clone()).expect(201);
    assert_eq!((&waits["status"], &waits["price"]), (&json!("waiting"), &json!("90.00")));
    let shown = listed(&venue, &alice, "waiting", &waits["seq"])[0].clone();
    assert_eq!(
        (&shown["trail_ppm"], &shown["activation_price"], shown.get("trigger_price")),
        (&json!(20_000), &json!("105.00"), None)
    );
    for price in ["105", "110", "109"] {
        trade_at(&venue, [&bob, &alice], price);
    }
    let began = Instant::now();
    loop {
        let shown = listed(&venue, &alice, "waiting", &waits["seq"])[0].clone();
        if shown["trigger_price"] == "107.80" {
            assert_eq!(shown["trigger"], "stop");
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{shown}");
        std::thread::sleep(Duration::from_millis(10));
    }
    trade_at(&venue, [&bob, &alice], "107.8");
    let order_now = wait_for(&venue, &alice, &waits["order_id"], "open");
    assert!(order_now.get("trail_ppm").is_none() && order_now.get("trigger").is_none());
    let events = events_until_rested(&mut wire, &waits["order_id"]);
    let kinds: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["accepted", "trail_set", "trail_activated", "triggered", "rested"]);
    assert_eq!(
        (&events[1]["trail_ppm"], &events[1]["activation_price"]),
        (&json!(20_000), &json!("105.00"))
    );
    assert_eq!(events[2]["extreme_price"], "105.00");
    let again = venue.place(&alice, order).expect(200);
    assert_eq!((&again["repeated"], &again["status"]), (&json!(true), &json!("waiting")));
}

#[test]
fn bad_trails_are_refused_with_their_field() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let trail = |more: Value| {
        let trails = json!({"trail_distance": "5"});
        without_nulls(with(with(limit("sell", "1", "90"), trails), more))
    };
    let refused = venue.place(&alice, trail(json!({})));
    let refused = refused.refuses(400, "trigger_price_invalid");
    assert_eq!(refused.field(), "activation_price", "there is no last price");
    trade_at(&venue, [&alice, &bob], "100");
    for (more, status, code, field) in [
        (json!({"trail_distance": "0"}), 400, "trail_invalid", "trail_distance"),
        (json!({"trail_distance": "-1"}), 400, "trail_invalid", "trail_distance"),
        (json!({"trail_distance": "100"}), 400, "trail_invalid", "trail_distance"),
        (json!({"trail_distance": "0.001"}), 400, "invalid_field", "trail_distance"),
        (json!({"trail_ppm": 5}), 400, "invalid_field", "trail_ppm"),
        (json!({"trail_distance": null, "trail_ppm": 0}), 400, "trail_invalid", "trail_ppm"),
        (
            json!({"trail_distance": null, "trail_ppm": 1_000_000}),
            400,
            "trail_invalid",
            "trail_ppm",
        ),
        (json!({"trail_distance": null, "trail_ppm": -1}), 400, "invalid_field", "trail_ppm"),
        (
            json!({"trail_distance": null, "activation_price": "9"}),
            400,
            "missing_field",
            "trail_distance",
        ),
        (json!({"activation_price": "0"}), 400, "trigger_price_invalid", "activation_price"),
        (json!({"activation_price": "-1"}), 400, "trigger_price_invalid", "activation_price"),
        (json!({"trigger": "stop"}), 400, "invalid_field", "trigger"),
        (json!({"trigger_at_once": true}), 400, "invalid_field", "trigger"),
        (json!({"time_in_force": "fok"}), 400, "invalid_combination", "time_in_force"),
        (json!({"post_only": "reject"}), 400, "invalid_combination", "post_only"),
        (json!({"kind": "market"}), 400, "invalid_combination", "price"),
    ] {
        let refused = venue.place(&alice, trail(more.clone()));
        assert_eq!(refused.refuses(status, code).field(), field, "{more}");
    }
    let rows = json!({"rows": [{"place": trail(json!({}))}, {"place": trail(json!({"trail_distance": "0"}))}]});
    let answer = venue.ask(&alice, "POST", "/v1/orders/batch", rows).expect(200);
    assert_eq!(answer["results"][0]["status"], 201, "{answer}");
    assert_eq!(answer["results"][1]["error"]["field"], "rows[1].place.trail_distance");
}
