//! Orders of several types, and what happens around them.

use crate::test_venue::{Key, TestVenue, config, limit, with};
use crate::wire::Wire;
use rialto_engine::{EngineConfig, ManualClock};
use rialto_gateway::now_us;
use rialto_model::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A venue with a market and two members, whose clock the test advances. Advancing it wakes no
/// thread: what is due next is noticed when as much real time has passed, or at the next command.
pub(crate) fn with_manual_clock() -> (TestVenue, Arc<ManualClock>, Key, Key) {
    let clock = Arc::new(ManualClock::new(Timestamp(now_us() * 1_000)));
    let venue = TestVenue::with_clock(config(), EngineConfig::default(), clock.clone());
    venue.create_market();
    let (alice, bob) = (venue.member("alice"), venue.member("bob"));
    (venue, clock, alice, bob)
}

/// A sell of 1 at 110, paired with a stop at 90 that sells at 89 or better.
pub(crate) fn pair(more: Value) -> Value {
    let second = json!({"oco": {"trigger": "90", "price": "89"}});
    with(with(limit("sell", "1", "110"), second), more)
}

/// A field that is null stands for one that is left out.
pub(crate) fn without_nulls(mut body: Value) -> Value {
    body.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    body
}

/// Trades 0.1 at a price.
pub(crate) fn trade_at(venue: &TestVenue, [seller, buyer]: [&Key; 2], price: &str) {
    venue.place(seller, limit("sell", "0.1", price)).expect(201);
    let bought = venue.place(buyer, limit("buy", "0.1", price)).expect(201);
    assert_eq!(bought["status"], "filled", "{bought}");
}

/// The member's open orders, by id, once they are as they are to be, after at most ten seconds.
pub(crate) fn until_open(
    venue: &TestVenue,
    key: &Key,
    are: impl Fn(&[Value]) -> bool,
) -> Vec<Value> {
    let began = Instant::now();
    loop {
        let answer = venue.ask(key, "GET", "/v1/orders", Value::Null).expect(200);
        let orders = answer["orders"].as_array().unwrap().clone();
        if are(&orders) {
            return orders;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{answer}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The stream of a member's orders.
pub(crate) fn orders_of(venue: &TestVenue, key: &Key) -> Wire {
    let mut wire = Wire::connect(venue);
    wire.auth(key);
    wire.subscribe(json!({"channel": "orders"}));
    wire.hear_of("open_orders");
    wire
}

/// Asks for an order until its status is this one, for at most ten seconds.
pub(crate) fn wait_for(venue: &TestVenue, key: &Key, order: &Value, status: &str) -> Value {
    let began = Instant::now();
    let path = format!("/v1/orders/{}", order.as_str().unwrap());
    loop {
        let order = venue.ask(key, "GET", &path, Value::Null).expect(200)["order"].clone();
        if order["status"] == status {
            return order;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{order}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
