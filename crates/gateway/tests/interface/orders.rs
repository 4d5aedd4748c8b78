//! Orders over HTTP: entering, amending, cancelling, single and in batches.

use crate::test_venue::{Reply, TestVenue, config, limit, with};
use rialto_desk::LiveConfig;
use rialto_feed::FeedConfig;
use serde_json::{Value, json};

#[test]
fn an_order_is_entered_and_answered_with_what_became_of_it() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let order = with(limit("buy", "0.5", "100.10"), json!({"client_order_id": "a/1"}));
    let body = venue.place(&alice, order).expect(201);
    assert!(body["order_id"].is_string() && body["seq"].is_string() && body["time"].is_string());
    let expected = json!({
        "order_id": body["order_id"], "client_order_id": "a/1", "account": body["account"],
        "instrument": "BTC-USD", "side": "buy", "status": "open", "price": "100.10",
        "filled": "0.0000", "remaining": "0.5000", "repeated": false,
        "average_price": null, "filled_notional": "0.000000", "fee": "0.000000",
        "fee_currency": "USD", "done_reason": null,
        "seq": body["seq"], "time": body["time"],
    });
    assert_eq!(body, expected);

    let id = body["order_id"].as_str().unwrap();
    for path in [format!("/v1/orders/{id}"), "/v1/orders/client:a%2F1".to_owned()] {
        let seen = venue.see(&alice, &path, &body["seq"]);
        assert_eq!(seen["order"]["order_id"], body["order_id"]);
        assert_eq!(seen["order"]["reserved"], "50.060010");
    }
}

#[test]
fn the_capacity_of_an_order_is_shown_with_it() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let order = with(limit("buy", "0.5", "100.10"), json!({"capacity": "agency"}));
    let entered = venue.place(&alice, order.clone()).expect(201);
    let path = format!("/v1/orders/{}", entered["order_id"].as_str().unwrap());
    assert_eq!(venue.see(&alice, &path, &entered["seq"])["order"]["capacity"], "agency");
    let other = with(order, json!({"capacity": "whatever"}));
    assert_eq!(venue.place(&alice, other).refuses(400, "invalid_field").field(), "capacity");
}

#[test]
fn the_same_order_again_gets_the_first_answer_and_another_is_a_conflict() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let order = with(limit("buy", "1", "100"), json!({"client_order_id": "once"}));
    let first = venue.place(&alice, order.clone()).expect(201);
    let again = venue.place(&alice, order.clone()).expect(200);
    assert_eq!((&again["order_id"], &again["repeated"]), (&first["order_id"], &json!(true)));
    let other = with(order, json!({"quantity": "2"}));
    let reply = venue.place(&alice, other).refuses(409, "client_id_conflict");
    assert_eq!(reply.field(), "client_order_id");
    assert!(reply.body["error"]["seq"].is_string());
}

#[test]
fn orders_trade_and_both_sides_see_their_fills() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    venue.place(&alice, limit("sell", "1", "200")).expect(201);
    let taken = venue
        .place(
            &bob,
            json!({
                "instrument": "BTC-USD", "side": "buy", "kind": "market", "quote_amount": "100",
            }),
        )
        .expect(201);
    assert_eq!((&taken["status"], &taken["filled"]), (&json!("filled"), &json!("0.4999")));
    let fills = venue.see(&bob, "/v1/fills", &taken["seq"]);
    let fill = &fills["fills"][0];
    assert_eq!((&fill["role"], &fill["price"]), (&json!("taker"), &json!("200.00")));
    assert_eq!((&fill["notional"], &fill["fee"]), (&json!("99.980000"), &json!("0.019996")));
    assert_eq!(fills["next"], Value::Null);
    let fills = venue.see(&alice, "/v1/fills?instrument=BTC-USD", &taken["seq"]);
    assert_eq!(
        (&fills["fills"][0]["role"], &fills["fills"][0]["side"]),
        (&json!("maker"), &json!("sell"))
    );
}

#[test]
fn an_order_is_amended_and_cancelled_by_either_name() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let order = with(limit("buy", "1", "100"), json!({"client_order_id": "mine"}));
    let placed = venue.place(&alice, order).expect(201);
    let id = placed["order_id"].as_str().unwrap();

    let path = format!("/v1/orders/{id}");
    let smaller = venue.ask(&alice, "PATCH", &path, json!({"quantity": "0.4"})).expect(200);
    assert_eq!(smaller["remaining"], "0.4000");
    let moved = json!({"price": "101.5", "quantity": "0.6"});
    let moved = venue.ask(&alice, "PATCH", "/v1/orders/client:mine", moved).expect(200);
    assert_eq!((&moved["price"], &moved["remaining"]), (&json!("101.50"), &json!("0.6000")));
    venue.ask(&alice, "PATCH", &path, json!({})).refuses(400, "nothing_to_amend");
    let reply = venue.ask(&alice, "PATCH", &path, json!({"price": "1.001"}));
    assert_eq!(reply.refuses(400, "invalid_field").field(), "price");

    let done = venue.ask(&alice, "DELETE", "/v1/orders/client:mine", Value::Null).expect(200);
    assert_eq!((&done["order_id"], &done["status"]), (&placed["order_id"], &json!("cancelled")));
    assert_eq!((&done["instrument"], &done["price"]), (&json!("BTC-USD"), &json!("101.50")));
    venue.ask(&alice, "DELETE", &path, Value::Null).refuses(404, "unknown_order");
    venue
        .ask(&alice, "PATCH", "/v1/orders/77", json!({"price": "1"}))
        .refuses(404, "unknown_order");
}

#[test]
fn an_order_of_another_account_can_be_neither_seen_nor_touched() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let placed = venue.place(&alice, limit("buy", "1", "100")).expect(201);
    venue.see(&alice, "/v1/balances", &placed["seq"]);
    let path = format!("/v1/orders/{}", placed["order_id"].as_str().unwrap());
    let refused = venue.ask(&bob, "GET", &path, Value::Null).refuses(404, "unknown_order");
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("neither open nor"), "{message}");
    venue.ask(&bob, "DELETE", &path, Value::Null).refuses(404, "unknown_order");
    venue.ask(&bob, "PATCH", &path, json!({"price": "99"})).refuses(404, "unknown_order");
}

#[test]
fn many_orders_are_cancelled_by_instrument_and_side() {
    let (venue, alice, _) = TestVenue::with_market(config());
    for order in [limit("buy", "1", "90"), limit("buy", "1", "91"), limit("sell", "1", "110")] {
        venue.place(&alice, order).expect(201);
    }
    let path = "/v1/orders?instrument=BTC-USD&side=buy";
    let done = venue.ask(&alice, "DELETE", path, Value::Null).expect(200);
    assert_eq!((&done["cancelled"], &done["pending"]), (&json!(2), &json!(false)));
    let left = venue.see(&alice, "/v1/orders", &done["seq"]);
    assert_eq!(left["orders"].as_array().unwrap().len(), 1);
    let done = venue.ask(&alice, "DELETE", "/v1/orders", Value::Null).expect(200);
    assert_eq!(done["cancelled"], 1);
}

#[test]
fn rows_of_a_batch_stand_and_fall_alone() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let named = with(limit("buy", "1", "100"), json!({"client_order_id": "b"}));
    let body = json!({"rows": [
        {"place": named},
        {"place": limit("buy", "1", "100.001")},
        {"place": limit("buy", "9999999", "100")},
        {"place": {"instrument": "BTC-USD", "side": "up"}},
        {"dance": {}},
        {"cancel": {"id": "client:b"}},
        {"cancel": {"id": "client:b"}},
        {"cancel": [null, "1"]},
        {"cancel": {"id": "1"}, "amend": {"id": "1", "price": "3"}},
        {"place": with(limit("sell", "1", "200"), json!({"account": 4_000}))},
        {"place": limit("sell", "1", "200")},
        {"amend": {"id": "1", "price": "3"}},
    ]});
    let body = venue.ask(&alice, "POST", "/v1/orders/batch", body).expect(200);
    let results = body["results"].as_array().unwrap();
    let statuses: Vec<_> = results.iter().map(|row| row["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [201, 400, 422, 400, 400, 200, 404, 400, 400, 403, 201, 404]);
    let code = |row: usize| results[row]["error"]["code"].as_str().unwrap();
    assert_eq!((code(2), code(3)), ("insufficient_balance", "invalid_field"));
    let fields: Vec<_> = results.iter().map(|row| row["error"]["field"].as_str()).collect();
    let expected = [
        None,
        Some("rows[1].place.price"),
        None,
        Some("rows[3].place.side"),
        Some("rows[4].dance"),
        None,
        Some("rows[6].cancel.id"),
        Some("rows[7].cancel"),
        Some("rows[8]"),
        Some("rows[9].place.account"),
        None,
        Some("rows[11].amend.id"),
    ];
    assert_eq!(fields, expected);
    assert_eq!(results[5]["order"]["status"], "cancelled");
    assert_eq!(results[5]["order"]["order_id"], results[0]["order"]["order_id"]);

    let left = venue.see(&alice, "/v1/orders", &body["seq"]);
    assert_eq!(left["orders"].as_array().unwrap().len(), 1);
}

#[test]
fn a_batch_as_a_whole_is_bounded_and_must_be_json() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let send = |body| venue.ask(&alice, "POST", "/v1/orders/batch", body);
    let rows: Vec<_> = (0..101).map(|_| json!({"cancel": {"id": "1"}})).collect();
    assert_eq!(send(json!({"rows": rows})).refuses(400, "batch_size").field(), "rows");
    send(json!({"rows": []})).refuses(400, "batch_size");
    let message = |reply: Reply| reply.body["error"]["message"].clone();
    let refused = send(json!({"rows": rows})).refuses(400, "batch_size");
    assert_eq!(message(refused), "The batch has 101 rows; it may have 1 to 100.");
    send(json!({})).refuses(400, "missing_field");
    let reply = venue.ask_bytes(&alice, "POST", "/v1/orders/batch", b"{\"rows\":[{]}");
    reply.refuses(400, "malformed_json");
    assert_eq!(
        send(json!({"rows": rows[..100]})).expect(200)["results"].as_array().unwrap().len(),
        100
    );
}

#[test]
fn a_request_may_ask_for_more_durability_and_never_for_less() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let order = |level| with(limit("buy", "1", "100"), json!({"durability": level}));
    venue.place(&alice, order("synced")).expect(201);
    let reply = venue.place(&alice, order("memory")).refuses(400, "durability_too_low");
    assert_eq!(reply.field(), "durability");
    venue.place(&alice, order("durable")).refuses(400, "invalid_field");
    let headers =
        crate::test_venue::signed_durably(&alice, "buffered", "DELETE", "/v1/orders", b"");
    let reply = venue.client().send("DELETE", "/v1/orders", &headers, b"");
    reply.refuses(400, "durability_too_low");
}

#[test]
fn the_dead_mans_timer_is_set_and_cancels_when_it_runs_out() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let placed = venue.place(&alice, limit("buy", "1", "100")).expect(201);
    let set = |timeout_ms: u64| {
        venue.ask(&alice, "PUT", "/v1/dead-man", json!({"timeout_ms": timeout_ms}))
    };
    assert!(set(60_000).expect(200)["due"].is_string());
    assert_eq!(set(0).expect(200)["due"], Value::Null);
    let refused = set(86_400_001).refuses(400, "timer_invalid");
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert_eq!(message, "The field timeout_ms is 86400001; it is at most one day, 86400000.");
    let seq = set(1).expect(200)["seq"].as_str().unwrap().parse::<u64>().unwrap();
    // The timer fires in its own command, the next one.
    let path = format!("/v1/orders/{}", placed["order_id"].as_str().unwrap());
    let seen = venue.see(&alice, &path, &json!((seq + 1).to_string()));
    assert_eq!(seen["order"]["done_reason"], "dead_man");
}

#[test]
fn a_member_that_enters_too_many_orders_a_second_still_cancels() {
    let (venue, alice, bob) = TestVenue::with_order_rate(2);
    let second_key = venue.key(1, &["trade"]);
    let order = || limit("buy", "0.1", "100");
    // The bucket of two refills twice a second, however slow this machine is.
    let mut refused = None;
    for at in 0..10_000 {
        let key = if at % 2 == 0 { &alice } else { &second_key };
        let reply = venue.place(key, order());
        if reply.status != 201 {
            refused = Some(reply);
            break;
        }
    }
    let refused = refused.unwrap().refuses(429, "order_rate");
    assert!(refused.head.contains("retry-after"), "{}", refused.head);
    venue.ask(&alice, "DELETE", "/v1/orders", Value::Null).expect(200);
    venue.place(&bob, order()).expect(201);
    let rows: Vec<Value> = (0..100).map(|_| json!({"place": order()})).collect();
    let batch = venue.ask(&alice, "POST", "/v1/orders/batch", json!({"rows": rows})).expect(200);
    assert_eq!(batch["results"][99]["error"]["code"], "order_rate");
}

#[test]
fn a_key_that_has_used_up_its_share_of_the_journal_cancels_and_enters_nothing() {
    // Enough for a few records of about a hundred bytes.
    let few = rialto_gateway::GatewayConfig { journal_bytes_per_key_per_day: 400, ..config() };
    let (venue, alice, bob) = TestVenue::with_market(few);
    let order =
        |at: usize| with(limit("buy", "0.1", "100"), json!({"client_order_id": at.to_string()}));
    let entered = (0..).take_while(|at| venue.place(&alice, order(*at)).status == 201).count();
    assert!((1..10).contains(&entered), "{entered} were entered");
    let reply = venue.place(&alice, order(entered)).refuses(429, "journal_quota");
    assert!(reply.head.contains("retry-after"), "{}", reply.head);
    // An amendment is shorter than an order, and may still fit.
    let change = |price: u32| {
        let body = json!({"price": price.to_string()});
        venue.ask(&alice, "PATCH", "/v1/orders/client:0", body)
    };
    assert!((101..120).any(|price| change(price).status == 429));
    change(120).refuses(429, "journal_quota");
    let rows = json!({"rows": [{"place": order(entered)}, {"cancel": {"id": "client:0"}}]});
    let batch = venue.ask(&alice, "POST", "/v1/orders/batch", rows).expect(200);
    assert_eq!(batch["results"][0]["error"]["code"], "journal_quota");
    assert_eq!(batch["results"][1]["status"], 200);
    venue.ask(&alice, "DELETE", "/v1/orders", Value::Null).expect(200);
    venue.place(&bob, order(0)).expect(201);

    let public = String::from_utf8(venue.get("/metrics").bytes).unwrap();
    assert!(public.contains("rialto_key_journal_bytes_total{key=\"other\"}"), "{public}");
    assert!(!public.contains(&alice.id), "the ids of keys are for operators");
    let answer = venue.operate("GET", "/metrics", Value::Null).bytes;
    assert!(String::from_utf8(answer).unwrap().contains(&format!("{{key=\"{}\"}}", alice.id)));
}

#[test]
fn an_order_that_ended_is_found_by_its_client_order_id_whatever_others_enter() {
    let feed = FeedConfig { ended_orders: 50, ..FeedConfig::default() };
    let live = LiveConfig { feed, ..LiveConfig::default() };
    let venue = TestVenue::with_live(config(), live);
    venue.create_market();
    let (alice, bob) = (venue.member("alice"), venue.member("bob"));
    let ioc = |id: &str| {
        let fields = json!({"time_in_force": "ioc", "client_order_id": id});
        with(limit("buy", "1", "100"), fields)
    };
    venue.place(&alice, ioc("a/1")).expect(201);
    let row = json!({"place": with(limit("buy", "1", "100"), json!({"time_in_force": "ioc"}))});
    let rows = json!({"rows": vec![row; 100]});
    let mut seq = Value::Null;
    for _ in 0..3 {
        let answer = venue.ask(&bob, "POST", "/v1/orders/batch", rows.clone()).expect(200);
        seq = answer["seq"].clone();
    }
    let seen = venue.see(&alice, "/v1/orders/client:a%2F1", &seq);
    let order = &seen["order"];
    assert_eq!(
        (&order["status"], &order["done_reason"]),
        (&json!("cancelled"), &json!("remainder"))
    );
    let ended = venue.see(&bob, "/v1/orders?status=ended", &seq);
    assert_eq!(ended["orders"].as_array().map(Vec::len), Some(49));
}

#[test]
fn market_orders_take_their_limits_from_the_book_and_may_rest_there() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    for price in ["100", "101", "102", "103", "104", "105"] {
        venue.place(&alice, limit("sell", "1", price)).expect(201);
    }
    let order = |kind: &str, quantity: &str, time_in_force: &str| {
        json!({"instrument": "BTC-USD", "side": "buy", "kind": kind, "quantity": quantity,
               "time_in_force": time_in_force})
    };
    let placed = venue.place(&bob, order("best_price", "1.5", "gtc")).expect(201);
    assert_eq!(
        (&placed["status"], &placed["price"]),
        (&json!("partially_filled"), &json!("100.00"))
    );
    assert_eq!((&placed["filled"], &placed["remaining"]), (&json!("1.0000"), &json!("0.5000")));
    let path = format!("/v1/orders/{}", placed["order_id"].as_str().unwrap());
    let rest = venue.see(&bob, &path, &placed["seq"]);
    assert_eq!(rest["order"]["kind"], "limit");
    assert_eq!(
        (&rest["order"]["price"], &rest["order"]["remaining"]),
        (&json!("100.00"), &json!("0.5000"))
    );
    let book = venue.see(&bob, "/v1/book/BTC-USD", &placed["seq"]);
    assert_eq!(book["bids"], json!([["100.00", "0.5000", 1]]));

    // Five prices are left, of which it takes all that it needs and nothing beyond.
    let placed = venue.place(&bob, order("five_levels", "9", "ioc")).expect(201);
    assert_eq!((&placed["status"], &placed["filled"]), (&json!("cancelled"), &json!("5.0000")));
    assert_eq!((&placed["price"], &placed["done_reason"]), (&json!(null), &json!("remainder")));

    // The protection is five hundredths of the best price.
    venue.place(&alice, limit("sell", "1", "110")).expect(201);
    let placed = venue.place(&bob, order("market", "2", "day")).expect(201);
    assert_eq!((&placed["price"], &placed["remaining"]), (&json!("115.50"), &json!("1.0000")));
    let rows = json!([{"place": order("best_price", "1", "ioc")}]);
    let batch = venue.ask(&bob, "POST", "/v1/orders/batch", json!({"rows": rows})).expect(200);
    assert_eq!(batch["results"][0]["error"]["code"], "no_liquidity");
}

#[test]
fn an_order_with_a_minimum_quantity_trades_that_much_at_once_or_is_refused() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    venue.place(&alice, limit("sell", "1", "100")).expect(201);
    let order = |least: &str| with(limit("buy", "3", "100"), json!({"minimum_quantity": least}));
    venue.place(&bob, order("1.5")).refuses(422, "unfillable");
    let rows = json!([{"place": order("1.5")}, {"place": order("1")}]);
    let batch = venue.ask(&bob, "POST", "/v1/orders/batch", json!({"rows": rows})).expect(200);
    assert_eq!(batch["results"][0]["error"]["code"], "unfillable");
    let placed = &batch["results"][1]["order"];
    assert_eq!((&placed["filled"], &placed["remaining"]), (&json!("1.0000"), &json!("2.0000")));
    // What is left trades in any quantity.
    let sold = venue.place(&alice, limit("sell", "0.1", "100")).expect(201);
    assert_eq!(sold["status"], "filled");
}
