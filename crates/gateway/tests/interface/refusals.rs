//! Refusals that need a venue in a certain state: the limits of an instrument, an order past its expiry,
//! and an instrument whose auction is going on.

use crate::order_stage::{pair, trade_at};
use crate::test_venue::{Key, Reply, TestVenue, config, limit, with};
use rialto_engine::{EngineConfig, ManualClock};
use rialto_gateway::now_us;
use rialto_model::{
    AccountId, Command, InstrumentId, NewOrder, Outcome, Price, Quantity, Side, Timestamp,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
/// Orders of each side in an auction that lasts for long.
const AUCTIONED: usize = 20_000;
/// Attempts to ask at a moment that does not last.
const ATTEMPTS_MAX: usize = 20;

fn set_rules(venue: &TestVenue, rules: Value) {
    venue.operate("PATCH", "/v1/admin/instruments/BTC-USD", rules).expect(200);
}

#[test]
fn an_order_beyond_a_limit_of_the_instrument_is_refused_with_its_field() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    set_rules(&venue, json!({"quantity_max": "2", "notional_min": "50", "open_orders_max": 3}));
    trade_at(&venue, [&bob, &alice], "1000");
    let waits = json!({"trigger": "stop", "trigger_price": "1100"});
    let exits = json!({"stop_loss": {"trigger": "700"}});
    let gfs = json!({"time_in_force": "gfs"});
    let cases = [
        (limit("buy", "2.0001", "900"), 422, "quantity_too_large", "quantity"),
        (with(limit("buy", "3", "1200"), waits), 422, "quantity_too_large", "quantity"),
        (with(limit("buy", "3", "900"), exits), 422, "quantity_too_large", "quantity"),
        (
            with(limit("buy", "3", "900"), json!({"display_quantity": "1"})),
            422,
            "quantity_too_large",
            "quantity",
        ),
        (limit("buy", "0.05", "999.99"), 422, "notional_too_small", ""),
        (pair(json!({"quantity": "0.01"})), 422, "notional_too_small", ""),
        (with(limit("buy", "1", "900"), gfs.clone()), 400, "expiry_invalid", "time_in_force"),
        (
            with(
                limit("buy", "1", "900"),
                json!({"stop_loss": {"trigger": "700", "price": "690", "time_in_force": "gfs"}}),
            ),
            400,
            "expiry_invalid",
            "stop_loss.time_in_force",
        ),
        (
            with(
                limit("buy", "1", "900"),
                json!({
                    "time_in_force": "gtd", "expire_at": "5",
                    "stop_loss": {"trigger": "700", "price": "690", "time_in_force": "gfs"},
                }),
            ),
            400,
            "expiry_invalid",
            "expire_at",
        ),
        (
            with(
                limit("buy", "1", "900"),
                json!({
                    "take_profit": {
                        "price": "950", "time_in_force": "gtd", "expire_at": far_ahead(),
                    },
                    "stop_loss": {"trigger": "700", "price": "690", "time_in_force": "gfs"},
                }),
            ),
            400,
            "expiry_invalid",
            "stop_loss.time_in_force",
        ),
        (
            with(limit("buy", "1", "900"), with(gfs, json!({"expire_at": "5"}))),
            400,
            "expiry_invalid",
            "expire_at",
        ),
    ];
    each_is_refused(&venue, &alice, &cases);
    for price in ["900", "901", "902"] {
        venue.place(&alice, limit("buy", "1", price)).expect(201);
    }
    let waits = json!({"trigger": "stop", "trigger_price": "1100"});
    let cases = [
        (limit("buy", "1", "903"), 429, "open_orders_limit", ""),
        (with(limit("buy", "1", "1200"), waits), 429, "open_orders_limit", ""),
    ];
    each_is_refused(&venue, &alice, &cases);
    let (path, body) = ("/v1/orders?instrument=BTC-USD", Value::Null);
    assert_eq!(venue.ask(&alice, "DELETE", path, body).expect(200)["cancelled"], 3);
    venue.place(&alice, limit("buy", "2", "903")).expect(201);
}

/// A time of a later day.
fn far_ahead() -> String {
    (now_us() * 1_000 + 7 * Timestamp::DAY).to_string()
}

/// Alone, and as the row of a batch.
fn each_is_refused(venue: &TestVenue, key: &Key, cases: &[(Value, u16, &str, &str)]) {
    for (order, status, code, field) in cases {
        let refused = venue.place(key, order.clone()).refuses(*status, code);
        assert_eq!(refused.field(), *field, "{order}");
        let rows = json!({"rows": [{"place": order}]});
        let answer = venue.ask(key, "POST", "/v1/orders/batch", rows).expect(200);
        let result = &answer["results"][0];
        assert_eq!((&result["status"], &result["error"]["code"]), (&json!(status), &json!(code)));
        let in_row = match *field {
            "" => Value::Null,
            field => json!(format!("rows[0].place.{field}")),
        };
        assert_eq!(result["error"]["field"], in_row, "{order}");
    }
}

#[test]
fn an_order_past_its_expiry_can_be_neither_amended_nor_cancelled() {
    let clock = Arc::new(ManualClock::new(Timestamp(now_us() * 1_000)));
    let venue = TestVenue::with_clock(config(), EngineConfig::default(), clock.clone());
    venue.create_market();
    let alice = venue.member("alice");
    let mut expired = Timestamp(now_us() * 1_000);
    for (method, body) in [("PATCH", json!({"quantity": "0.5"})), ("DELETE", Value::Null)] {
        until_refused("order_expired", || {
            expired = expired.saturating_add(1_000 * Timestamp::SECOND);
            let order = json!({"time_in_force": "gtd", "expire_at": expired.0.to_string()});
            let placed = venue.place(&alice, with(limit("buy", "1", "100"), order)).expect(201);
            let path = path_of(&placed);
            venue.see(&alice, &path, &placed["seq"]);
            // The next command is mostly taken before the venue ends the order in the background.
            clock.advance(Duration::from_secs(1_001));
            let refused = venue.ask(&alice, method, &path, body.clone());
            assert!(matches!(refused.status, 404 | 409), "{}", refused.body);
            (refused, 409, "id")
        });
    }
}

fn path_of(order: &Value) -> String {
    format!("/v1/orders/{}", order["order_id"].as_str().unwrap())
}

/// Asks until the refusal has this code, and compares its status and its field.
fn until_refused<'a>(code: &str, mut ask: impl FnMut() -> (Reply, u16, &'a str)) {
    for _ in 0..ATTEMPTS_MAX {
        let (reply, status, field) = ask();
        if reply.code() == code {
            assert_eq!(reply.refuses(status, code).field(), field);
            return;
        }
    }
    panic!("no refusal of {ATTEMPTS_MAX} is {code}");
}

#[test]
fn orders_of_an_instrument_that_uncrosses_are_refused() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    set_rules(&venue, json!({"open_orders_max": 1_000_000}));
    let set_state = |state: &str| {
        let body = json!({"instrument": "BTC-USD", "state": state});
        venue.operate("POST", "/v1/admin/state", body).expect(200);
    };
    let order = limit("buy", "1", "1");
    for method in ["POST", "PATCH", "DELETE"] {
        until_refused("instrument_uncrossing", || {
            set_state("call");
            let path = path_of(&venue.place(&bob, order.clone()).expect(201));
            enter_many(&venue);
            set_state("open");
            let reply = match method {
                "POST" => venue.place(&alice, order.clone()),
                "PATCH" => venue.ask(&bob, method, &path, json!({"quantity": "0.5"})),
                _ => venue.ask(&bob, method, &path, Value::Null),
            };
            let is_open = || venue.get("/v1/auction/BTC-USD").expect(200)["state"] == "open";
            let began = Instant::now();
            while !is_open() {
                assert!(began.elapsed() < PATIENCE);
            }
            (reply, 422, "instrument")
        });
    }
}

/// Enters orders that trade in the auction, without the gateway, which takes longer.
fn enter_many(venue: &TestVenue) {
    let mut producer = venue.engine.as_ref().unwrap().producer();
    let order = |number: usize| {
        let (account, side) =
            if number.is_multiple_of(2) { (1, Side::Buy) } else { (2, Side::Sell) };
        let (quantity, price) = (Quantity(1), Price(10_000));
        NewOrder::limit(AccountId(account), InstrumentId(1), side, quantity, price)
    };
    let mut answered = 0;
    let mut answer = |reply: rialto_engine::Reply| {
        assert!(matches!(reply.outcome(), Ok(Outcome::Order { .. })), "{reply:?}");
        answered += 1;
    };
    for number in 0..2 * AUCTIONED {
        while producer.submit(0, &Command::Place(order(number)), None).is_err() {
            answer(producer.reply_timeout(PATIENCE).unwrap());
        }
    }
    while producer.outstanding() > 0 {
        answer(producer.reply_timeout(PATIENCE).unwrap());
    }
    assert_eq!(answered, 2 * AUCTIONED);
}
