//! Halts that end by themselves, circuit breakers and limit states, over HTTP and the stream.

use crate::order_stage::with_manual_clock;
use crate::test_venue::{Reply, TestVenue, config, limit};
use crate::wire::Wire;
use rialto_model::{Command, InstrumentState, Name, Outcome, PlannedTransition, Timestamp};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

fn halt(venue: &TestVenue, body: Value) -> Reply {
    venue.operate("POST", "/v1/admin/halt", body)
}

fn set_rules(venue: &TestVenue, mut rules: Value) -> Reply {
    rules["instrument"] = json!("BTC-USD");
    venue.operate("POST", "/v1/admin/auction-rules", rules)
}

fn auction(venue: &TestVenue, seq: &Value) -> Value {
    venue.get(&format!("/v1/auction/BTC-USD?min_seq={}", seq.as_str().unwrap())).expect(200)
}

/// Asks until the instrument is in this state.
fn wait_for(venue: &TestVenue, state: &str) -> Value {
    let end = Instant::now() + PATIENCE;
    loop {
        let answer = venue.get("/v1/auction/BTC-USD").expect(200);
        if answer["state"] == state {
            return answer;
        }
        assert!(Instant::now() < end, "it does not become {state}: {answer}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A calendar with a transition in a year, which the instrument follows.
fn with_calendar(venue: &TestVenue) {
    let calendar: Name = "equities".parse().unwrap();
    let engine = venue.engine.as_ref().unwrap();
    let at = Timestamp(rialto_gateway::now_us() * 1_000 + 365 * Timestamp::DAY);
    let transition = PlannedTransition::plain(at, InstrumentState::Closed);
    let mut producer = engine.producer();
    for command in [
        Command::PlanTransition { calendar, number: 0, transition },
        Command::AdoptPlan { calendar, count: 1, digest: 7, seed: 8, replace: true },
    ] {
        producer.submit(0, &command, None).unwrap();
        let outcome = producer.reply_timeout(PATIENCE).unwrap().outcome().unwrap();
        assert_eq!(outcome, Outcome::Done, "{command:?}");
    }
    let path = "/v1/admin/instruments/BTC-USD/calendar";
    venue.operate("PUT", path, json!({"calendar": "equities"})).expect(200);
}

#[test]
fn an_instrument_that_is_halted_for_a_time_reopens_by_an_auction() {
    let (venue, clock, alice, bob) = with_manual_clock();
    set_rules(&venue, json!({"call_ms": 300})).expect(200);
    let mut wire = Wire::connect(&venue);
    wire.subscribe(json!({"channel": "auction", "instrument": "BTC-USD"}));
    assert_eq!(wire.hear_of("auction")["state"], "open");
    venue.place(&bob, limit("sell", "1", "101")).expect(201);
    let halted = halt(&venue, json!({"instrument": "BTC-USD", "duration_ms": 700})).expect(200);
    assert_eq!((&halted["instrument"], &halted["state"]), (&json!("BTC-USD"), &json!("halted")));
    let nanoseconds = |value: &Value| value.as_str().unwrap().parse::<u64>().unwrap();
    assert_eq!(nanoseconds(&halted["until"]) - nanoseconds(&halted["time"]), 700_000_000);
    assert_eq!((halted.get("calendar"), halted.get("venue")), (None, None));
    let shown = auction(&venue, &halted["seq"]);
    assert_eq!(shown["halted_until"], halted["until"]);
    venue.place(&alice, limit("buy", "1", "101")).refuses(422, "instrument_halted");

    let mut told = wire.hear_of("auction");
    while told["halted_until"].is_null() {
        told = wire.hear_of("auction");
    }
    assert_eq!((&told["state"], &told["halted_until"]), (&json!("halted"), &halted["until"]));
    clock.advance(Duration::from_millis(700));
    while told["state"] != "call" {
        told = wire.hear_of("auction");
    }
    assert!(told["halted_until"].is_null());
    venue.place(&alice, limit("buy", "1", "101")).expect(201);
    clock.advance(Duration::from_millis(300));
    let open = wait_for(&venue, "open");
    assert_eq!(open["last"]["price"], "101.00");
}

#[test]
fn a_halt_without_a_time_lasts_until_the_instrument_is_resumed() {
    let (venue, _, _) = TestVenue::with_market(config());
    let halted = halt(&venue, json!({"instrument": "BTC-USD"})).expect(200);
    assert_eq!((&halted["state"], halted.get("until")), (&json!("halted"), None));
    let refused = halt(&venue, json!({"instrument": "BTC-USD", "duration_ms": 5}));
    assert_eq!(refused.refuses(409, "state_change_invalid").field(), "instrument");
    venue.operate("POST", "/v1/admin/resume", json!({"instrument": "BTC-USD"})).expect(200);
    wait_for(&venue, "open");
}

#[test]
fn a_calendar_and_the_venue_are_halted() {
    let (venue, _, _) = TestVenue::with_market(config());
    with_calendar(&venue);
    let halted = halt(&venue, json!({"calendar": "equities", "duration_ms": 60_000})).expect(200);
    assert_eq!((&halted["calendar"], halted.get("instrument")), (&json!("equities"), None));
    assert_eq!(auction(&venue, &halted["seq"])["halted_until"], halted["until"]);
    let longer = halt(&venue, json!({"venue": true, "duration_ms": 120_000})).expect(200);
    assert_eq!(longer["venue"], true);
    assert_eq!(auction(&venue, &longer["seq"])["halted_until"], longer["until"]);
    let audit = venue.operate("GET", "/v1/admin/audit", Value::Null).expect(200);
    let entries = audit["commands"].as_array().or(audit["entries"].as_array()).unwrap().clone();
    let told = entries.iter().find(|it| it["name"] == "equities" && it["until"] == halted["until"]);
    assert_eq!(told.unwrap()["command"], "halt_trading");
}

#[test]
fn halts_that_cannot_be_are_refused_with_the_field() {
    let (venue, alice, _) = TestVenue::with_market(config());
    for (body, status, code, field) in [
        (json!({}), 400, "missing_field", "instrument"),
        (json!({"duration_ms": 5}), 400, "missing_field", "instrument"),
        (json!({"venue": true}), 400, "missing_field", "duration_ms"),
        (json!({"calendar": "equities"}), 400, "missing_field", "duration_ms"),
        (json!({"venue": true, "instrument": "BTC-USD"}), 400, "invalid_field", "instrument"),
        (json!({"venue": true, "calendar": "x"}), 400, "invalid_field", "calendar"),
        (json!({"calendar": "x", "instrument": "BTC-USD"}), 400, "invalid_field", "instrument"),
        (json!({"instrument": "BTC-USD", "duration_ms": 0}), 400, "halt_invalid", "duration_ms"),
        (json!({"venue": true, "duration_ms": 86_400_001}), 400, "halt_invalid", "duration_ms"),
        (json!({"venue": true, "duration_ms": "5"}), 400, "invalid_field", "duration_ms"),
        (json!({"venue": true, "duration_ms": -5}), 400, "invalid_field", "duration_ms"),
        (json!({"instrument": "NO", "duration_ms": 5}), 404, "unknown_instrument", "instrument"),
        (json!({"calendar": "NO", "duration_ms": 5}), 404, "unknown_calendar", "calendar"),
        (json!({"instrument": "BTC-USD", "for": "5m"}), 400, "unknown_field", "for"),
    ] {
        let refused = halt(&venue, body.clone()).refuses(status, code);
        assert_eq!(refused.field(), field, "{body}");
    }
    let body = json!({"instrument": "BTC-USD", "duration_ms": 5});
    venue.ask(&alice, "POST", "/v1/admin/halt", body).refuses(403, "forbidden");
    wait_for(&venue, "open");
}

const BREAKER: &str = "/v1/admin/calendars/equities/circuit-breaker";

#[test]
fn a_circuit_breaker_halts_its_calendar_and_is_armed_again() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    with_calendar(&venue);
    let reference = json!({"reference_price": "100"});
    venue.operate("PATCH", "/v1/admin/instruments/BTC-USD", reference.clone()).expect(200);
    let body = json!({"instrument": "BTC-USD", "range_ppm": 50_000, "halt_ms": 60_000});
    let set = venue.operate("PUT", BREAKER, body.clone()).expect(200);
    let mut expected = body;
    expected["armed"] = json!(true);
    assert_eq!((&set["calendar"], &set["circuit_breaker"]), (&json!("equities"), &expected));
    let breaker = |seq: &Value| {
        let path = format!("/v1/calendars/equities?min_seq={}", seq.as_str().unwrap());
        venue.get(&path).expect(200)["circuit_breaker"].take()
    };
    assert_eq!(breaker(&set["seq"]), expected);
    let range = &auction(&venue, &set["seq"])["trading_range"];
    assert_eq!(range, &json!({"low": "95.00", "high": "105.00"}));

    venue.place(&bob, limit("sell", "1", "106")).expect(201);
    let order = venue.place(&alice, limit("buy", "1", "106")).expect(201);
    let shown = auction(&venue, &order["seq"]);
    assert_eq!(
        (&shown["state"], &shown["interrupted"]["price"]),
        (&json!("halted"), &json!("106.00"))
    );
    assert!(shown["halted_until"].is_string());
    assert_eq!(breaker(&order["seq"])["armed"], false);
    let rules = venue.operate("PATCH", "/v1/admin/instruments/BTC-USD", reference).expect(200);
    assert_eq!(breaker(&rules["seq"])["armed"], true);

    let removed = venue.operate("DELETE", BREAKER, Value::Null).expect(200);
    assert_eq!(removed["circuit_breaker"], Value::Null);
    assert_eq!(breaker(&removed["seq"]), Value::Null);
    venue.operate("DELETE", BREAKER, Value::Null).refuses(404, "no_circuit_breaker");
}

#[test]
fn circuit_breakers_that_cannot_be_are_refused_with_the_field() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let fine = json!({"instrument": "BTC-USD", "range_ppm": 50_000, "halt_ms": 60_000});
    venue.operate("PUT", BREAKER, fine.clone()).refuses(404, "unknown_calendar");
    venue.operate("DELETE", BREAKER, Value::Null).refuses(404, "unknown_calendar");
    with_calendar(&venue);
    for (name, value, status, code, field) in [
        ("range_ppm", json!(0), 400, "invalid_field", "range_ppm"),
        ("halt_ms", json!(0), 400, "invalid_field", "halt_ms"),
        ("range_ppm", json!(1_000_000), 400, "invalid_field", "range_ppm"),
        ("halt_ms", json!(86_400_001), 400, "invalid_field", "halt_ms"),
        ("instrument", json!("NO"), 404, "unknown_instrument", "instrument"),
        ("armed", json!(true), 400, "unknown_field", "armed"),
    ] {
        let mut body = fine.clone();
        body[name] = value;
        let refused = venue.operate("PUT", BREAKER, body.clone()).refuses(status, code);
        assert_eq!(refused.field(), field, "{body}");
    }
    venue.ask(&alice, "PUT", BREAKER, fine.clone()).refuses(403, "forbidden");
    let unpriced = venue.operate("PUT", BREAKER, fine.clone());
    assert_eq!(unpriced.refuses(400, "circuit_breaker_invalid").field(), "instrument");
    let reference = json!({"reference_price": "100"});
    venue.operate("PATCH", "/v1/admin/instruments/BTC-USD", reference).expect(200);
    venue.operate("PUT", BREAKER, fine).expect(200);
    let path = "/v1/admin/instruments/BTC-USD/calendar";
    venue.operate("PUT", path, json!({"calendar": "equities"})).expect(200);
    let leaves = venue.operate("PUT", path, json!({"calendar": null}));
    assert_eq!(leaves.refuses(400, "circuit_breaker_invalid").field(), "calendar");
}

#[test]
fn a_price_that_stays_at_a_limit_halts_trading() {
    let (venue, clock, alice, _) = with_manual_clock();
    let reference = json!({"reference_price": "100"});
    venue.operate("PATCH", "/v1/admin/instruments/BTC-USD", reference).expect(200);
    for (rules, field) in [
        (json!({"limit_state_ms": 5, "halt_ms": 1_000}), "limit_state_ms"),
        (json!({"limit_range_ppm": 5, "limit_state_ms": 5}), "halt_ms"),
        (json!({"limit_range_ppm": 5, "limit_state_ms": 5, "halt_ms": 999}), "halt_ms"),
        (json!({"limit_range_ppm": 5, "halt_ms": 1_000}), "halt_ms"),
        (json!({"limit_range_ppm": 1_000_000}), "limit_range_ppm"),
    ] {
        let refused = set_rules(&venue, rules.clone()).refuses(400, "invalid_rules");
        assert_eq!(refused.field(), field, "{rules}");
    }
    let rules = json!({"limit_range_ppm": 50_000, "limit_state_ms": 400, "halt_ms": 60_000});
    let set = set_rules(&venue, rules).expect(200);
    let limits = json!({"low": "95.00", "high": "105.00"});
    assert_eq!(auction(&venue, &set["seq"])["trading_limits"], limits);
    venue.place(&alice, limit("buy", "1", "105.01")).refuses(422, "price_outside_limits");
    let order = venue.place(&alice, limit("buy", "1", "105")).expect(201);
    let shown = auction(&venue, &order["seq"]);
    assert_eq!((&shown["state"], &shown["limit_state"]["side"]), (&json!("open"), &json!("buy")));
    clock.advance(Duration::from_millis(400));
    let halted = wait_for(&venue, "halted");
    assert_eq!((&halted["limit_state"], &halted["trading_limits"]), (&Value::Null, &Value::Null));
    assert!(halted["halted_until"].is_string());
}
