//! Orders of every type, in one batch and over a session.

use crate::order_stage::{pair, trade_at, until_open};
use crate::test_venue::{TestVenue, config, limit, with};
use rialto_gateway::now_us;
use rialto_model::{Command, InstrumentState, Name, Outcome, PlannedTransition, Timestamp};
use serde_json::{Value, json};
use std::time::Duration;

/// Gives BTC-USD a session that ends then.
fn plan_session(venue: &TestVenue, end: u64) {
    let calendar: Name = "session".parse().unwrap();
    let transition = PlannedTransition {
        ends_session: true,
        ..PlannedTransition::plain(Timestamp(end), InstrumentState::Closed)
    };
    let mut producer = venue.engine.as_ref().unwrap().producer();
    for command in [
        Command::PlanTransition { calendar, number: 0, transition },
        Command::AdoptPlan { calendar, count: 1, digest: 7, seed: 8, replace: true },
    ] {
        producer.submit(0, &command, None).unwrap();
        let reply = producer.reply_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(reply.outcome(), Ok(Outcome::Done), "{command:?}");
    }
    let path = "/v1/admin/instruments/BTC-USD/calendar";
    venue.operate("PUT", path, json!({"calendar": "session"})).expect(200);
}

fn in_an_hour() -> u64 {
    (now_us() + 3_600_000_000) * 1_000
}

#[test]
fn an_order_for_the_session_expires_when_that_ends() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let end = in_an_hour();
    plan_session(&venue, end);
    let order = with(limit("buy", "1", "100"), json!({"time_in_force": "gfs"}));
    let placed = venue.place(&alice, order.clone()).expect(201);
    let rows = json!({"rows": [{"place": order}]});
    let answer = venue.ask(&alice, "POST", "/v1/orders/batch", rows).expect(200);
    let in_batch = &answer["results"][0];
    assert_eq!(in_batch["status"], 201, "{answer}");
    for id in [&placed["order_id"], &in_batch["order"]["order_id"]] {
        let path = format!("/v1/orders/{}", id.as_str().unwrap());
        let shown = venue.see(&alice, &path, &answer["seq"])["order"].clone();
        assert_eq!(
            (&shown["time_in_force"], &shown["expire_at"], &shown["status"]),
            (&json!("gfs"), &json!(end.to_string()), &json!("open"))
        );
    }
}

#[test]
fn a_batch_enters_orders_of_every_type() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    plan_session(&venue, in_an_hour());
    trade_at(&venue, [&bob, &alice], "100");
    for price in ["105", "106", "107", "108", "109"] {
        venue.place(&bob, limit("sell", "1", price)).expect(201);
    }
    let unpriced = |kind: &str, quantity: &str, time_in_force: &str| {
        json!({"instrument": "BTC-USD", "side": "buy", "kind": kind, "quantity": quantity,
               "time_in_force": time_in_force})
    };
    let buy = |more: Value| with(limit("buy", "1", "90"), more);
    let exits = json!({"take_profit": {"price": "130"}, "stop_loss": {"trigger": "80"}});
    let later = json!({"time_in_force": "gtd", "expire_at": in_an_hour().to_string()});
    let least = buy(json!({"price": "110", "quantity": "0.1", "minimum_quantity": "0.1"}));
    // Each with its status afterwards.
    let cases = [
        ("limit", buy(json!({})), "open"),
        ("best price", unpriced("best_price", "0.1", "ioc"), "filled"),
        ("market to limit", unpriced("best_price", "1", "gtc"), "partially_filled"),
        ("market", unpriced("market", "0.1", "ioc"), "filled"),
        ("five levels", unpriced("five_levels", "0.1", "ioc"), "filled"),
        ("minimum quantity", least, "filled"),
        ("five levels that rest", unpriced("five_levels", "5", "gtc"), "partially_filled"),
        ("session", buy(json!({"time_in_force": "gfs"})), "open"),
        ("day", buy(json!({"time_in_force": "day"})), "open"),
        ("date", buy(later), "open"),
        ("post-only", buy(json!({"post_only": "reject"})), "open"),
        ("iceberg", buy(json!({"display_quantity": "0.2"})), "open"),
        (
            "stop",
            buy(json!({"trigger": "stop", "trigger_price": "150", "price": "151"})),
            "waiting",
        ),
        ("touched", buy(json!({"trigger": "take_profit", "trigger_price": "50"})), "waiting"),
        ("trailing", buy(json!({"trail_distance": "30", "price": "151"})), "waiting"),
        ("single exit", buy(json!({"stop_loss": {"trigger": "80"}})), "open"),
        ("bracket", buy(exits), "open"),
        ("pair", pair(json!({"price": "120", "oco": {"trigger": "70", "price": "69"}})), "open"),
    ];
    let rows: Vec<Value> = cases.iter().map(|(_, order, _)| json!({"place": order})).collect();
    let answer = venue.ask(&alice, "POST", "/v1/orders/batch", json!({"rows": rows})).expect(200);
    let results = answer["results"].as_array().unwrap();
    for ((name, _, status), result) in cases.iter().zip(results) {
        assert_eq!(
            (&result["status"], &result["order"]["status"]),
            (&json!(201), &json!(status)),
            "{name}: {result}"
        );
    }
}

#[test]
fn a_batch_enters_orders_for_a_call() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let reference = json!({"reference_price": "100", "market_protection_ppm": 100_000});
    venue.operate("PATCH", "/v1/admin/instruments/BTC-USD", reference).expect(200);
    for (phase, for_phase, refused) in
        [("call", "at_open", "at_close"), ("closing_call", "at_close", "at_open")]
    {
        let body = json!({"instrument": "BTC-USD", "state": phase});
        venue.operate("POST", "/v1/admin/state", body).expect(200);
        let priced = |time_in_force: &str| {
            with(limit("buy", "1", "100"), json!({"time_in_force": time_in_force}))
        };
        let market = |time_in_force: &str| {
            json!({"instrument": "BTC-USD", "side": "buy", "kind": "market", "quantity": "1",
                   "time_in_force": time_in_force})
        };
        let orders = [
            priced("gtc"),
            priced("gfa"),
            priced(for_phase),
            market("gfa"),
            market(for_phase),
            priced(refused),
            market(refused),
        ];
        let rows: Vec<Value> = orders.iter().map(|order| json!({"place": order})).collect();
        let answer =
            venue.ask(&alice, "POST", "/v1/orders/batch", json!({"rows": rows})).expect(200);
        let results = answer["results"].as_array().unwrap();
        let statuses: Vec<_> = results.iter().map(|row| row["status"].as_u64().unwrap()).collect();
        assert_eq!(statuses, [201, 201, 201, 201, 201, 422, 422], "{phase}: {answer}");
        for (at, row) in results[5..].iter().enumerate() {
            let field = format!("rows[{}].place.time_in_force", at + 5);
            assert_eq!(
                (&row["error"]["code"], &row["error"]["field"]),
                (&json!("wrong_phase"), &json!(field))
            );
        }
        let prices: Vec<_> = results[..5].iter().map(|row| row["order"]["price"].clone()).collect();
        assert_eq!(prices, ["100.00", "100.00", "100.00", "110.00", "110.00"]);
        let body = json!({"instrument": "BTC-USD", "state": "open"});
        venue.operate("POST", "/v1/admin/state", body).expect(200);
        // What was for the auction ends with it.
        until_open(&venue, &alice, |orders| orders.iter().all(|it| it["time_in_force"] == "gtc"));
    }
}
