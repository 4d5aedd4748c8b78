//! Linked orders, over HTTP, in batches and on the stream: entries with exits, and pairs.

use crate::order_stage::{orders_of, pair, trade_at, until_open, without_nulls};
use crate::test_venue::{Key, TestVenue, config, limit, with};
use crate::wire::Wire;
use serde_json::{Value, json};

/// A buy of 1 at 100 with a take-profit at 110 and a stop at 90.
fn entry(more: Value) -> Value {
    let exits = json!({"take_profit": {"price": "110"}, "stop_loss": {"trigger": "90"}});
    with(with(limit("buy", "1", "100"), exits), more)
}

/// An order of the member now.
fn order(venue: &TestVenue, key: &Key, id: &Value) -> Value {
    let path = format!("/v1/orders/{}", id.as_str().unwrap());
    venue.ask(key, "GET", &path, Value::Null).expect(200)["order"].clone()
}

/// What the stream says, up to an event of this kind.
fn events_until(wire: &mut Wire, kind: &str) -> Vec<Value> {
    let mut events: Vec<Value> = Vec::new();
    while !events.iter().any(|event| event["event"] == kind) {
        events.extend(wire.hear_of("orders")["events"].as_array().unwrap().iter().cloned());
    }
    events
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().unwrap()).collect()
}

fn asks(venue: &TestVenue) -> Value {
    venue.get("/v1/book/BTC-USD").expect(200)["asks"].clone()
}

#[test]
fn an_entry_enters_exits_for_what_it_has_traded() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    trade_at(&venue, [&bob, &alice], "100");
    let placed = venue.place(&alice, entry(json!({}))).expect(201);
    assert_eq!(placed["status"], "open");
    let id = &placed["order_id"];
    let own = venue.see(&alice, &format!("/v1/orders/{}", id.as_str().unwrap()), &placed["seq"]);
    let own = &own["order"];
    assert_eq!(own["list"], *id);
    assert_eq!(own["take_profit"], json!({"price": "110.00", "time_in_force": "gtc"}));
    assert_eq!(own["stop_loss"], json!({"trigger": "90.00", "time_in_force": "ioc"}));
    assert_eq!(own.get("linked_to"), None);
    assert_eq!(asks(&venue), json!([]), "exits are entered for what has traded");

    venue.place(&bob, limit("sell", "0.4", "100")).expect(201);
    let orders = until_open(&venue, &alice, |orders| orders.len() == 3);
    let [_, profit, loss] = &orders[..] else { panic!("{orders:?}") };
    assert_eq!(
        (&profit["status"], &profit["side"], &profit["price"], &profit["remaining"]),
        (&json!("open"), &json!("sell"), &json!("110.00"), &json!("0.4000"))
    );
    assert_eq!(
        (&loss["status"], &loss["trigger"], &loss["trigger_price"], &loss["remaining"]),
        (&json!("waiting"), &json!("stop"), &json!("90.00"), &json!("0.4000"))
    );
    for (exit, other) in [(profit, loss), (loss, profit)] {
        assert_eq!((&exit["list"], &exit["linked_to"]), (id, &other["order_id"]));
        assert_eq!(exit.get("take_profit"), None);
    }
    // A pair holds the larger of two reserves.
    assert_eq!(
        (&profit["reserved"], &loss["reserved"]),
        (&json!("0.40000000"), &json!("0.00000000"))
    );
    assert_eq!(asks(&venue), json!([["110.00", "0.4000", 1]]));

    venue.place(&bob, limit("sell", "0.6", "100")).expect(201);
    until_open(&venue, &alice, |orders| {
        orders.len() == 2 && orders.iter().all(|order| order["remaining"] == "1.0000")
    });
    assert_eq!(asks(&venue), json!([["110.00", "1.0000", 1]]));
    let path = format!("/v1/orders/{}", profit["order_id"].as_str().unwrap());
    let amended = venue.ask(&alice, "PATCH", &path, json!({"quantity": "2"}));
    assert_eq!(amended.refuses(409, "order_linked").field(), "quantity");

    venue.place(&bob, limit("buy", "0.3", "110")).expect(201);
    let left = until_open(&venue, &alice, |orders| orders.len() == 1);
    assert_eq!(left[0]["order_id"], profit["order_id"]);
    assert_eq!((left[0].get("list"), left[0].get("linked_to")), (None, None));
    let ended = order(&venue, &alice, &loss["order_id"]);
    assert_eq!(
        (&ended["status"], &ended["done_reason"], &ended["trigger_price"]),
        (&json!("cancelled"), &json!("linked"), &json!("90.00"))
    );
    assert_eq!((&ended["list"], ended.get("linked_to")), (id, None));
}

#[test]
fn one_of_a_pair_ends_when_the_other_is_triggered() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    trade_at(&venue, [&bob, &alice], "100");
    let placed = venue.place(&alice, pair(json!({}))).expect(201);
    assert_eq!((&placed["status"], &placed["price"]), (&json!("open"), &json!("110.00")));
    let first = &placed["order_id"];
    let listed = venue.see(&alice, "/v1/orders", &placed["seq"])["orders"].clone();
    let [one, second] = &listed.as_array().unwrap()[..] else { panic!("{listed}") };
    assert_eq!((&one["order_id"], &one["list"]), (first, first));
    assert_eq!((&second["list"], &second["linked_to"]), (first, first));
    assert_eq!(one["linked_to"], second["order_id"]);
    assert_eq!(
        (&second["trigger_price"], &second["price"], &second["time_in_force"]),
        (&json!("90.00"), &json!("89.00"), &json!("gtc"))
    );
    assert_eq!(asks(&venue), json!([["110.00", "1.0000", 1]]));

    trade_at(&venue, [&bob, &alice], "90");
    let left =
        until_open(&venue, &alice, |orders| orders.len() == 1 && orders[0]["status"] == "open");
    assert_eq!((&left[0]["order_id"], left[0].get("list")), (&second["order_id"], None));
    assert_eq!(left[0]["reserved"], "1.00000000");
    assert_eq!(order(&venue, &alice, first)["done_reason"], "linked");
    assert_eq!(asks(&venue), json!([["89.00", "1.0000", 1]]));
}

#[test]
fn both_of_a_pair_may_wait() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    trade_at(&venue, [&bob, &alice], "100");
    let first = json!({
        "kind": "market", "price": null, "trigger": "take_profit", "trigger_price": "110",
        "oco": {"trail_distance": "5"},
    });
    let placed = venue.place(&alice, without_nulls(pair(first))).expect(201);
    assert_eq!(placed["status"], "waiting");
    let listed = venue.see(&alice, "/v1/orders?status=waiting", &placed["seq"])["orders"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
    assert_eq!(
        (&listed[1]["trail_distance"], &listed[1]["linked_to"]),
        (&json!("5.00"), &placed["order_id"])
    );
    let path = format!("/v1/orders/{}", placed["order_id"].as_str().unwrap());
    let amended = venue.ask(&alice, "PATCH", &path, json!({"quantity": "0.5"}));
    amended.refuses(409, "order_linked");
    venue.ask(&alice, "DELETE", &path, Value::Null).expect(200);
    until_open(&venue, &alice, |orders| orders.is_empty());
}

#[test]
fn the_stream_tells_what_is_linked() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    trade_at(&venue, [&bob, &alice], "100");
    let mut wire = orders_of(&venue, &alice);
    let mut public = Wire::connect(&venue);
    public.subscribe(json!({"channel": "book", "instrument": "BTC-USD"}));
    public.hear_of("book");
    let loss = json!({"stop_loss": {"trail_ppm": 10_000, "activation_price": "101"}});
    let id = venue.place(&alice, entry(loss)).expect(201)["order_id"].clone();
    // Those of the trade before may come after the subscription.
    let mut events = events_until(&mut wire, "exits_set");
    events.retain(|event| event["order_id"] == id);
    assert_eq!(kinds(&events), ["accepted", "exits_set"]);
    assert_eq!(events[1]["take_profit"], json!({"price": "110.00", "time_in_force": "gtc"}));
    let loss = json!({"trail_ppm": 10_000, "activation_price": "101.00", "time_in_force": "ioc"});
    assert_eq!(events[1]["stop_loss"], loss);
    // The deltas of the trade before may come after the subscription.
    let shown = json!([["100.00", "1.0000", 1]]);
    while public.hear_of("book_delta")["bids"] != shown {}

    venue.place(&bob, limit("sell", "0.4", "100")).expect(201);
    let events = events_until(&mut wire, "orders_linked");
    assert_eq!(kinds(&events), ["traded", "accepted", "accepted", "trail_set", "orders_linked"]);
    let linked = &events[4];
    let (profit, loss) = (&events[1]["order_id"], &events[2]["order_id"]);
    assert_eq!(
        (&linked["list"], &linked["take_profit"], &linked["stop_loss"]),
        (&id, profit, loss)
    );
    assert_eq!(linked["instrument"], "BTC-USD");

    let mut late = Wire::connect(&venue);
    late.auth(&alice);
    late.subscribe(json!({"channel": "orders"}));
    let open = late.hear_of("open_orders")["orders"].clone();
    let of = |id: &Value| open.as_array().unwrap().iter().find(|it| it["order_id"] == *id).unwrap();
    assert_eq!(of(&id)["stop_loss"]["activation_price"], "101.00");
    assert_eq!((&of(profit)["list"], &of(profit)["linked_to"]), (&id, loss));

    venue.place(&bob, limit("sell", "0.6", "100")).expect(201);
    let events = events_until(&mut wire, "rested");
    assert_eq!(kinds(&events), ["traded", "amended", "rested", "amended"]);
    assert_eq!(
        (&events[3]["order_id"], &events[3]["remaining"]),
        (loss, &json!("1.0000")),
        "an order that waits grows, too"
    );
    let path = format!("/v1/orders/{}", loss.as_str().unwrap());
    venue.ask(&alice, "DELETE", &path, Value::Null).expect(200);
    let ends = events_until(&mut wire, "done");
    let reasons: Vec<_> = ends.iter().map(|it| (&it["order_id"], &it["reason"])).collect();
    assert_eq!(reasons, [(loss, &json!("cancelled")), (profit, &json!("linked"))]);
}

#[test]
fn exits_that_are_refused_end_their_entry() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    trade_at(&venue, [&bob, &alice], "100");
    let mut wire = orders_of(&venue, &alice);
    let id = venue.place(&alice, entry(json!({}))).expect(201)["order_id"].clone();
    venue
        .operate("PATCH", "/v1/admin/instruments/BTC-USD", json!({"collar_ppm": 50_000}))
        .expect(200);
    venue.place(&bob, limit("sell", "0.4", "100")).expect(201);
    let events = events_until(&mut wire, "exits_refused");
    let refused = events.iter().find(|event| event["event"] == "exits_refused").unwrap();
    assert_eq!((&refused["order_id"], &refused["reason"]), (&id, &json!("price_outside_collar")));
    until_open(&venue, &alice, |orders| orders.is_empty());
    assert_eq!(order(&venue, &alice, &id)["done_reason"], "linked");
}

#[test]
fn bad_links_are_refused_with_their_field() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    trade_at(&venue, [&bob, &alice], "100");
    let (combination, prices) = ("invalid_combination", "exit_price_invalid");
    let stop = |stop: Value| json!({"stop_loss": stop});
    let profit = |profit: Value| json!({"take_profit": profit});
    for (more, code, field) in [
        (json!({"oco": {"trigger": "90"}}), "invalid_field", "oco"),
        (json!({"display_quantity": "0.1"}), "invalid_field", "display_quantity"),
        (json!({"trigger": "stop", "trigger_price": "105"}), "invalid_field", "take_profit"),
        (json!({"trigger_at_once": true}), "invalid_field", "take_profit"),
        (json!({"trail_ppm": 5}), "invalid_field", "take_profit"),
        (profit(json!({})), "missing_field", "take_profit.price"),
        (profit(json!({"time_in_force": "gtc"})), "missing_field", "take_profit.price"),
        (profit(json!({"price": "110.001"})), "invalid_field", "take_profit.price"),
        (profit(json!({"price": 110})), "invalid_field", "take_profit.price"),
        (profit(json!({"trail_ppm": 5})), "unknown_field", "take_profit.trail_ppm"),
        (profit(json!({"price": "-5"})), "price_not_positive", "take_profit.price"),
        (profit(json!({"trigger": "0"})), "trigger_price_invalid", "take_profit.trigger"),
        (
            profit(json!({"price": "110", "time_in_force": "ioc"})),
            combination,
            "take_profit.time_in_force",
        ),
        (profit(json!({"price": "99"})), prices, "take_profit"),
        (profit(json!({"trigger": "100"})), prices, "take_profit"),
        (stop(json!({})), "missing_field", "stop_loss.trigger"),
        (stop(json!({"activation_price": "5"})), "missing_field", "stop_loss.trail_distance"),
        (stop(json!({"trigger": "90", "trail_ppm": 5})), "invalid_field", "stop_loss.trigger"),
        (
            stop(json!({"trail_distance": "1", "trail_ppm": 5})),
            "invalid_field",
            "stop_loss.trail_ppm",
        ),
        (
            stop(json!({"trail_ppm": 5, "activation_price": "0"})),
            "trigger_price_invalid",
            "stop_loss.activation_price",
        ),
        (stop(json!({"trigger": "90", "quantity": "1"})), "unknown_field", "stop_loss.quantity"),
        (stop(json!({"trigger": "-1"})), "trigger_price_invalid", "stop_loss.trigger"),
        (stop(json!({"trail_ppm": 0})), "trail_invalid", "stop_loss.trail_ppm"),
        (stop(json!({"trail_distance": "0"})), "trail_invalid", "stop_loss.trail_distance"),
        (
            stop(json!({"trigger": "90", "time_in_force": "fok"})),
            combination,
            "stop_loss.time_in_force",
        ),
        (
            stop(json!({"trigger": "90", "time_in_force": "gfa"})),
            combination,
            "stop_loss.time_in_force",
        ),
        (stop(json!({"trigger": "90", "expire_at": "5"})), "expiry_invalid", "stop_loss.expire_at"),
        (
            stop(json!({"trigger": "90", "time_in_force": "gtd", "expire_at": "5"})),
            "expiry_invalid",
            "stop_loss.expire_at",
        ),
        (stop(json!(["90", null, null, null, null, null, null])), "invalid_field", "stop_loss"),
        (stop(json!({"trigger": "100"})), prices, "stop_loss"),
        (json!({"price": "-5"}), "price_not_positive", "price"),
        (json!({"quantity": "0"}), "quantity_not_positive", "quantity"),
    ] {
        let refused = venue.place(&alice, entry(more.clone()));
        assert_eq!(refused.refuses(400, code).field(), field, "{more}");
    }
    let both = json!({"take_profit": {"price": "105"}, "stop_loss": {"trigger": "106"}});
    assert_eq!(venue.place(&alice, entry(both)).refuses(400, prices).field(), "take_profit");
    let oco = |oco: Value| json!({"oco": oco});
    for (more, status, code, field) in [
        (oco(json!({})), 400, "missing_field", "oco.trigger"),
        (
            oco(json!({"trigger": "90", "time_in_force": "fok"})),
            400,
            combination,
            "oco.time_in_force",
        ),
        (oco(json!({"trigger": "90", "price": "-1"})), 400, "price_not_positive", "oco.price"),
        (oco(json!({"trigger": "101"})), 422, "would_trigger", "oco.trigger"),
        (
            json!({"trigger": "take_profit", "trigger_price": "105", "trigger_at_once": true}),
            400,
            "invalid_field",
            "trigger_at_once",
        ),
        (json!({"trigger": "stop", "trigger_price": "95"}), 400, combination, "trigger"),
        (json!({"trail_ppm": 5}), 400, combination, "trail_distance"),
        (json!({"kind": "market", "price": null}), 400, combination, "kind"),
        (json!({"time_in_force": "ioc"}), 400, combination, "time_in_force"),
        (json!({"minimum_quantity": "0.5"}), 400, combination, "minimum_quantity"),
        (json!({"display_quantity": "0.1"}), 400, "invalid_field", "display_quantity"),
        (json!({"price": "89.5"}), 400, prices, "oco"),
    ] {
        let refused = venue.place(&alice, without_nulls(pair(more.clone())));
        assert_eq!(refused.refuses(status, code).field(), field, "{more}");
    }
    venue.place(&bob, limit("buy", "0.1", "110")).expect(201);
    assert_eq!(venue.place(&alice, pair(json!({}))).refuses(422, "would_cross").field(), "price");
    let seq = venue.place(&alice, entry(json!({}))).expect(201)["seq"].clone();
    let listed = venue.see(&alice, "/v1/orders", &seq);
    assert_eq!(listed["orders"].as_array().unwrap().len(), 1, "nothing else was entered");
}

#[test]
fn linked_orders_that_are_sent_again_are_the_same_with_the_same_links() {
    let (venue, alice, _) = TestVenue::with_market(config());
    for (list, other) in [
        (entry(json!({"client_order_id": "e"})), json!({"stop_loss": {"trigger": "91"}})),
        (pair(json!({"client_order_id": "p"})), json!({"oco": {"trigger": "90"}})),
    ] {
        let first = venue.place(&alice, list.clone()).expect(201);
        let again = venue.place(&alice, list.clone()).expect(200);
        assert_eq!((&again["repeated"], &again["order_id"]), (&json!(true), &first["order_id"]));
        assert_eq!(again["now"]["list"], first["order_id"]);
        venue.place(&alice, with(list.clone(), other)).refuses(409, "client_id_conflict");
        let fields = ["take_profit", "stop_loss", "oco"];
        let mut plain = list;
        plain.as_object_mut().unwrap().retain(|name, _| !fields.contains(&name.as_str()));
        venue.place(&alice, plain).refuses(409, "client_id_conflict");
    }
}

#[test]
fn an_entry_is_amended_between_its_exits() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let id = venue.place(&alice, entry(json!({}))).expect(201)["order_id"].clone();
    let path = format!("/v1/orders/{}", id.as_str().unwrap());
    for price in ["110", "90"] {
        let refused = venue.ask(&alice, "PATCH", &path, json!({"price": price}));
        assert_eq!(refused.refuses(400, "exit_price_invalid").field(), "price");
    }
    let moved = json!({"price": "95", "quantity": "2"});
    let moved = venue.ask(&alice, "PATCH", &path, moved).expect(200);
    assert_eq!(moved["remaining"], "2.0000");
    assert_eq!(order(&venue, &alice, &id)["take_profit"]["price"], "110.00");
}

#[test]
fn a_batch_enters_linked_orders() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    trade_at(&venue, [&bob, &alice], "100");
    let rows = json!({"rows": [
        {"place": entry(json!({"client_order_id": "e"}))},
        {"place": pair(json!({"client_order_id": "p"}))},
        {"place": entry(json!({"take_profit": {"price": "99"}}))},
        {"place": entry(json!({"stop_loss": {"trigger": "-1"}}))},
        {"place": pair(json!({"oco": {"trigger": "90", "nothing": 1}}))},
        {"place": pair(json!({"oco": {"trigger": "90", "time_in_force": "fok"}}))},
    ]});
    let answer = venue.ask(&alice, "POST", "/v1/orders/batch", rows).expect(200);
    let results = answer["results"].as_array().unwrap();
    let statuses: Vec<_> = results.iter().map(|row| row["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [201, 201, 400, 400, 400, 400]);
    let fields: Vec<_> = results[2..].iter().map(|row| row["error"]["field"].clone()).collect();
    assert_eq!(
        fields,
        [
            "rows[2].place.take_profit",
            "rows[3].place.stop_loss.trigger",
            "rows[4].place.oco.nothing",
            "rows[5].place.oco.time_in_force"
        ]
    );
    let listed = venue.see(&alice, "/v1/orders", &answer["seq"]);
    assert_eq!(listed["orders"].as_array().unwrap().len(), 3);
}
