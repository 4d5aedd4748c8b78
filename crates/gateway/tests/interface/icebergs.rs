//! Icebergs, over HTTP, in batches and on the stream: what the public sees, and what the owner sees.

use crate::test_venue::{Key, TestVenue, config, limit, with};
use crate::wire::Wire;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A sell of 1 at 100 that displays 0.1.
fn iceberg(more: Value) -> Value {
    with(with(limit("sell", "1", "100"), json!({"display_quantity": "0.1"})), more)
}

/// A field that is null stands for one that is left out.
fn without_nulls(mut body: Value) -> Value {
    body.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    body
}

/// The public asks after a command: by price, or by order.
fn asks(venue: &TestVenue, level: u32, seq: &Value) -> Value {
    let seq = seq.as_str().unwrap();
    let path = format!("/v1/book/BTC-USD?level={level}&min_seq={seq}");
    venue.get(&path).expect(200)["asks"].clone()
}

/// An order as its owner sees it after a command.
fn shown(venue: &TestVenue, key: &Key, order: &Value, seq: &Value) -> Value {
    venue.see(key, &format!("/v1/orders/{}", order.as_str().unwrap()), seq)["order"].clone()
}

/// An order buys at once; the sequence of that.
fn take(venue: &TestVenue, key: &Key, quantity: &str) -> Value {
    let bought = venue.place(key, limit("buy", quantity, "100")).expect(201);
    assert_eq!(bought["status"], "filled", "{bought}");
    bought["seq"].clone()
}

/// What the stream says of an order, up to this number of events.
fn events_of(wire: &mut Wire, order: &Value, count: usize) -> Vec<Value> {
    let mut events: Vec<Value> = Vec::new();
    while events.len() < count {
        let heard = wire.hear_of("orders");
        let of_it = heard["events"].as_array().unwrap().iter();
        events.extend(of_it.filter(|event| event["order_id"] == *order).cloned());
    }
    events
}

#[test]
fn the_public_sees_one_part_after_the_other_and_the_owner_all() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let placed = venue.place(&alice, iceberg(json!({"client_order_id": "i"}))).expect(201);
    assert_eq!((&placed["status"], &placed["remaining"]), (&json!("open"), &json!("1.0000")));
    let (order, seq) = (&placed["order_id"], &placed["seq"]);
    assert_eq!(asks(&venue, 2, seq), json!([["100.00", "0.1000", 1]]));
    assert_eq!(asks(&venue, 3, seq), json!([[order, "100.00", "0.1000"]]));
    let own = shown(&venue, &alice, order, seq);
    assert_eq!(
        (&own["display_quantity"], &own["displayed"], &own["remaining"], &own["reserved"]),
        (&json!("0.1000"), &json!("0.1000"), &json!("1.0000"), &json!("1.00000000"))
    );

    let plain = venue.place(&bob, limit("sell", "0.03", "100")).expect(201);
    assert_eq!(asks(&venue, 2, &plain["seq"]), json!([["100.00", "0.1300", 2]]));
    let seq = take(&venue, &bob, "0.04");
    assert_eq!(asks(&venue, 2, &seq), json!([["100.00", "0.0900", 2]]));
    assert_eq!(shown(&venue, &alice, order, &seq)["displayed"], "0.0600");
    let seq = take(&venue, &bob, "0.06");
    let behind = json!([[plain["order_id"], "100.00", "0.0300"], [order, "100.00", "0.1000"]]);
    assert_eq!(asks(&venue, 3, &seq), behind, "a new tranche is at the end of the queue");
    let path = format!("/v1/orders/{}", plain["order_id"].as_str().unwrap());
    venue.ask(&bob, "DELETE", &path, Value::Null).expect(200);

    // Alone at its price it trades with several parts at once.
    let seq = take(&venue, &bob, "0.25");
    assert_eq!(asks(&venue, 2, &seq), json!([["100.00", "0.0500", 1]]));
    let own = shown(&venue, &alice, order, &seq);
    assert_eq!(
        (&own["displayed"], &own["remaining"], &own["status"]),
        (&json!("0.0500"), &json!("0.6500"), &json!("partially_filled"))
    );
    let trades = venue.get("/v1/trades/BTC-USD").expect(200);
    assert_eq!(trades["trades"][0]["quantity"], "0.2500");
    let seq = take(&venue, &bob, "0.65");
    assert_eq!(asks(&venue, 2, &seq), json!([]));
    let own = shown(&venue, &alice, order, &seq);
    assert_eq!(
        (&own["status"], &own["display_quantity"], &own["displayed"]),
        (&json!("filled"), &json!("0.1000"), &json!("0.0000"))
    );
}

#[test]
fn the_streams_say_what_is_displayed() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let mut own = Wire::connect(&venue);
    own.auth(&alice);
    own.subscribe(json!({"channel": "orders"}));
    own.hear_of("open_orders");
    let mut public = Wire::connect(&venue);
    public.subscribe(json!({"channel": "book", "instrument": "BTC-USD"}));
    assert_eq!(public.hear_of("book")["asks"], json!([]));

    let order = venue.place(&alice, iceberg(json!({}))).expect(201)["order_id"].clone();
    assert_eq!(public.hear_of("book_delta")["asks"], json!([["100.00", "0.1000", 1]]));
    take(&venue, &bob, "0.25");
    assert_eq!(public.hear_of("book_delta")["asks"], json!([["100.00", "0.0500", 1]]));
    let path = format!("/v1/orders/{}", order.as_str().unwrap());
    for quantity in ["1.5", "0.9"] {
        // Only what is hidden changes, and the public learns nothing.
        venue.ask(&alice, "PATCH", &path, json!({"quantity": quantity})).expect(200);
    }
    let seq = take(&venue, &bob, "0.05");
    let delta = public.hear_of("book_delta");
    assert_eq!((&delta["last_seq"], &delta["asks"]), (&seq, &json!([["100.00", "0.1000", 1]])));

    let events = events_of(&mut own, &order, 9);
    let kinds: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    let expected = ["accepted", "iceberg_set", "rested", "traded", "iceberg_refreshed", "amended"];
    assert_eq!(kinds[..6], expected);
    assert_eq!(kinds[6..], ["reduced", "traded", "iceberg_refreshed"]);
    assert_eq!(events[0]["resting"], false);
    assert_eq!(events[1]["display_quantity"], "0.1000");
    assert_eq!(events[2]["remaining"], "1.0000");
    assert_eq!(
        (&events[4]["price"], &events[4]["displayed"]),
        (&json!("100.00"), &json!("0.0500"))
    );
    assert_eq!(events[5]["remaining"], "1.2500");
    assert_eq!(events[8]["displayed"], "0.1000");

    let mut late = Wire::connect(&venue);
    late.auth(&alice);
    late.subscribe(json!({"channel": "orders"}));
    let open = &late.hear_of("open_orders")["orders"][0];
    assert_eq!(
        (&open["order_id"], &open["display_quantity"], &open["displayed"]),
        (&order, &json!("0.1000"), &json!("0.1000"))
    );
}

#[test]
fn bad_display_quantities_are_refused_with_their_field() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let combination = "invalid_combination";
    for (more, code, field) in [
        (json!({"display_quantity": "0"}), "display_quantity_invalid", "display_quantity"),
        (json!({"display_quantity": "-0.1"}), "display_quantity_invalid", "display_quantity"),
        (json!({"display_quantity": "1"}), "display_quantity_invalid", "display_quantity"),
        (json!({"display_quantity": "2"}), "display_quantity_invalid", "display_quantity"),
        (json!({"display_quantity": "0.0099"}), "display_quantity_invalid", "display_quantity"),
        (json!({"display_quantity": "0.00001"}), "invalid_field", "display_quantity"),
        (json!({"display_quantity": 1}), "invalid_field", "display_quantity"),
        (json!({"trigger": "stop", "trigger_price": "95"}), "invalid_field", "display_quantity"),
        (json!({"trigger_at_once": true}), "invalid_field", "display_quantity"),
        (json!({"trail_distance": "5"}), "invalid_field", "display_quantity"),
        (json!({"trail_ppm": 5}), "invalid_field", "display_quantity"),
        (json!({"activation_price": "5"}), "invalid_field", "display_quantity"),
        (json!({"kind": "market", "price": null}), combination, "kind"),
        (json!({"kind": "best_price", "price": null}), combination, "kind"),
        (json!({"quantity": null, "quote_amount": "5"}), combination, "quote_amount"),
        (json!({"time_in_force": "ioc"}), combination, "time_in_force"),
        (json!({"time_in_force": "fok"}), combination, "time_in_force"),
        (json!({"time_in_force": "gfa"}), combination, "time_in_force"),
        (json!({"minimum_quantity": "0.5"}), combination, "minimum_quantity"),
        (json!({"quantity": "0"}), "quantity_not_positive", "quantity"),
        (json!({"price": "-5"}), "price_not_positive", "price"),
    ] {
        let refused = venue.place(&alice, without_nulls(iceberg(more.clone())));
        assert_eq!(refused.refuses(400, code).field(), field, "{more}");
    }
    venue.operate("PATCH", "/v1/admin/instruments/BTC-USD", json!({"lot": "0.02"})).expect(200);
    for (display_quantity, message) in [
        ("0", "The display_quantity 0.0000 is not above zero."),
        ("0.03", "The display_quantity 0.0300 is not a multiple of the lot 0.0200."),
        ("1", "The display_quantity 1.0000 is not below the quantity 1.0000."),
    ] {
        let order = iceberg(json!({"display_quantity": display_quantity}));
        let refused = venue.place(&alice, order).refuses(400, "display_quantity_invalid");
        assert_eq!(refused.body["error"]["message"], message);
    }
    let order = iceberg(json!({"quantity": "3", "display_quantity": "0.02"}));
    let refused = venue.place(&alice, order).refuses(400, "display_quantity_invalid");
    let message = "The display_quantity 0.0200 is below a hundredth of the quantity 3.0000.";
    assert_eq!(refused.body["error"]["message"], message);

    let post_only = iceberg(json!({"post_only": "reject"}));
    let seq = venue.place(&alice, post_only).expect(201)["seq"].clone();
    let listed = venue.see(&alice, "/v1/orders", &seq);
    assert_eq!(listed["orders"].as_array().unwrap().len(), 1, "nothing else was entered");
}

#[test]
fn an_iceberg_that_is_sent_again_is_the_same_with_the_same_display_quantity() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let order = iceberg(json!({"client_order_id": "i"}));
    let first = venue.place(&alice, order.clone()).expect(201);
    let again = venue.place(&alice, order).expect(200);
    assert_eq!((&again["repeated"], &again["order_id"]), (&json!(true), &first["order_id"]));
    assert_eq!(
        (&again["now"]["display_quantity"], &again["now"]["displayed"]),
        (&json!("0.1000"), &json!("0.1000"))
    );
    let other = iceberg(json!({"client_order_id": "i", "display_quantity": "0.2"}));
    venue.place(&alice, other).refuses(409, "client_id_conflict");
    let plain = with(limit("sell", "1", "100"), json!({"client_order_id": "i"}));
    venue.place(&alice, plain).refuses(409, "client_id_conflict");
}

#[test]
fn it_is_amended_up_to_a_hundred_parts() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let order = venue.place(&alice, iceberg(json!({}))).expect(201)["order_id"].clone();
    let plain = venue.place(&bob, limit("sell", "0.03", "100")).expect(201);
    let path = format!("/v1/orders/{}", order.as_str().unwrap());
    let larger = venue.ask(&alice, "PATCH", &path, json!({"quantity": "2"})).expect(200);
    assert_eq!(larger["remaining"], "2.0000");
    let kept = json!([[order, "100.00", "0.1000"], [plain["order_id"], "100.00", "0.0300"]]);
    assert_eq!(asks(&venue, 3, &larger["seq"]), kept);
    let refused = venue.ask(&alice, "PATCH", &path, json!({"quantity": "10.0001"}));
    assert_eq!(refused.refuses(400, "display_quantity_invalid").field(), "quantity");
    let smaller = venue.ask(&alice, "PATCH", &path, json!({"quantity": "0.04"})).expect(200);
    assert_eq!(asks(&venue, 2, &smaller["seq"]), json!([["100.00", "0.0700", 2]]));
    let moved = json!({"quantity": "3", "price": "101"});
    let moved = venue.ask(&alice, "PATCH", &path, moved).expect(200);
    let both = json!([["100.00", "0.0300", 1], ["101.00", "0.1000", 1]]);
    assert_eq!(asks(&venue, 2, &moved["seq"]), both);
}

#[test]
fn a_batch_enters_and_amends_icebergs() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let rows = json!({"rows": [
        {"place": iceberg(json!({"client_order_id": "i"}))},
        {"place": iceberg(json!({"display_quantity": "0"}))},
        {"place": iceberg(json!({"trail_ppm": 5}))},
        {"place": iceberg(json!({"time_in_force": "ioc"}))},
    ]});
    let answer = venue.ask(&alice, "POST", "/v1/orders/batch", rows).expect(200);
    let results = answer["results"].as_array().unwrap();
    let statuses: Vec<_> = results.iter().map(|row| row["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [201, 400, 400, 400]);
    let fields: Vec<_> = results[1..].iter().map(|row| row["error"]["field"].clone()).collect();
    assert_eq!(
        fields,
        [
            "rows[1].place.display_quantity",
            "rows[2].place.display_quantity",
            "rows[3].place.time_in_force"
        ]
    );
    assert_eq!(asks(&venue, 2, &answer["seq"]), json!([["100.00", "0.1000", 1]]));
    let rows = json!({"rows": [
        {"amend": {"id": "client:i", "quantity": "11"}},
        {"amend": {"id": "client:i", "quantity": "2"}},
    ]});
    let answer = venue.ask(&alice, "POST", "/v1/orders/batch", rows).expect(200);
    let refused = &answer["results"][0]["error"];
    assert_eq!(
        (&refused["code"], &refused["field"]),
        (&json!("display_quantity_invalid"), &json!("rows[0].amend.quantity"))
    );
    assert_eq!(answer["results"][1]["order"]["remaining"], "2.0000");
}

#[test]
fn the_auction_of_a_call_counts_what_is_hidden() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let state = |state: &str| json!({"instrument": "BTC-USD", "state": state});
    venue.operate("POST", "/v1/admin/state", state("call")).expect(200);
    let sold = venue.place(&alice, iceberg(json!({}))).expect(201);
    let bought = venue.place(&bob, limit("buy", "0.4", "100")).expect(201);
    assert_eq!(asks(&venue, 2, &bought["seq"]), json!([["100.00", "0.1000", 1]]));
    let expected =
        json!({"price": "100.00", "volume": "0.4000", "surplus": "0.6000", "surplus_side": "sell"});
    let began = Instant::now();
    loop {
        let auction = venue.get("/v1/auction/BTC-USD").expect(200);
        if auction["indicative"] == expected {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{auction}");
        std::thread::sleep(Duration::from_millis(10));
    }
    let opened = venue.operate("POST", "/v1/admin/state", state("open")).expect(200);
    let path = format!("/v1/auction/BTC-USD?min_seq={}", opened["seq"].as_str().unwrap());
    assert_eq!(venue.get(&path).expect(200)["last"], expected);
    let own = shown(&venue, &alice, &sold["order_id"], &opened["seq"]);
    assert_eq!((&own["displayed"], &own["remaining"]), (&json!("0.1000"), &json!("0.6000")));
    assert_eq!(asks(&venue, 2, &opened["seq"]), json!([["100.00", "0.1000", 1]]));
}
