//! Calendars over HTTP: what the venue will do, and what an operator changes of it.

use crate::order_stage::{self, trade_at, with_manual_clock};
use crate::test_venue::{TestVenue, config, limit, with};
use rialto_engine::{Clock, EngineConfig, ManualClock};
use rialto_gateway::now_us;
use rialto_model::{
    Command, Event, InstrumentState, Name, Outcome, PlannedTransition, Seq, Timestamp,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

const SECOND: u64 = Timestamp::SECOND;
/// Between the transitions of a venue whose clock is moved from one to the next.
const STEP: Duration = Duration::from_millis(200);
const PATIENCE: Duration = Duration::from_secs(60);

fn now() -> u64 {
    now_us() * 1_000
}

fn transition(at: u64, state: InstrumentState) -> PlannedTransition {
    PlannedTransition::plain(Timestamp(at), state)
}

/// Has the engine adopt transitions, as the venue does at its start.
fn plan(venue: &TestVenue, calendar: &str, transitions: &[PlannedTransition]) {
    let calendar: Name = calendar.parse().unwrap();
    let planned = (0..).zip(transitions).map(|(number, transition)| Command::PlanTransition {
        calendar,
        number,
        transition: *transition,
    });
    let count = u32::try_from(transitions.len()).unwrap();
    let adopt = Command::AdoptPlan { calendar, count, digest: 7, seed: 8, replace: true };
    let mut producer = venue.engine.as_ref().unwrap().producer();
    for command in planned.chain([adopt]) {
        producer.submit(0, &command, None).unwrap();
        let outcome = producer.reply_timeout(PATIENCE).unwrap().outcome().unwrap();
        assert!(!matches!(outcome, Outcome::Rejected { .. }), "{command:?}: {outcome:?}");
    }
    let released = venue.engine.as_ref().unwrap().released();
    let end = Instant::now() + PATIENCE;
    while venue.live.seq() < released {
        assert!(Instant::now() < end, "the feed does not follow");
        std::thread::yield_now();
    }
}

fn assign(venue: &TestVenue, calendar: Value) -> crate::test_venue::Reply {
    let path = "/v1/admin/instruments/BTC-USD/calendar";
    venue.operate("PUT", path, json!({ "calendar": calendar }))
}

fn shift(venue: &TestVenue, calendar: &str, at: u64, to: u64) -> crate::test_venue::Reply {
    let body = json!({"at": at.to_string(), "to": to.to_string()});
    venue.operate("POST", &format!("/v1/admin/calendars/{calendar}/move"), body)
}

/// Asks until the instrument is in this state.
fn wait_for(venue: &TestVenue, state: &str) {
    let end = Instant::now() + PATIENCE;
    loop {
        let answer = venue.get("/v1/auction/BTC-USD").expect(200);
        if answer["state"] == state {
            return;
        }
        assert!(Instant::now() < end, "it does not become {state}: {answer}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A day from an hour from now on.
fn day() -> Vec<PlannedTransition> {
    let at = now() + 3_600 * SECOND;
    vec![
        transition(at, InstrumentState::PreOpen),
        PlannedTransition {
            earliest_end: Timestamp(at + 600 * SECOND),
            random_end_ms: 30_000,
            next: InstrumentState::Open,
            no_cancel_from: Timestamp(at + 500 * SECOND),
            ..transition(at + 60 * SECOND, InstrumentState::Call)
        },
        transition(at + 700 * SECOND, InstrumentState::Open),
        PlannedTransition {
            ends_session: true,
            ends_day: true,
            ..transition(at + 3_600 * SECOND, InstrumentState::Closed)
        },
    ]
}

#[test]
fn everybody_sees_what_calendars_will_do() {
    let (venue, _, _) = TestVenue::with_market(config());
    let none = venue.get("/v1/calendars").expect(200);
    assert_eq!(none["calendars"], json!([]));
    let refused = venue.get("/v1/calendars/equities").refuses(404, "unknown_calendar");
    assert_eq!(refused.field(), "calendar");
    let day = day();
    plan(&venue, "equities", &day);
    let listed = venue.get("/v1/calendars").expect(200)["calendars"].take();
    let [listed] = listed.as_array().unwrap().as_slice() else { panic!("{listed}") };
    let text = |time: Timestamp| json!(time.0.to_string());
    assert_eq!((&listed["name"], &listed["transition_count"]), (&json!("equities"), &json!(4)));
    assert_eq!((&listed["begun"], &listed["instrument_count"]), (&Value::Null, &json!(0)));
    assert_eq!(
        (&listed["next"]["at"], &listed["planned_to"]),
        (&text(day[0].at), &text(day[3].at))
    );

    let shown = venue.get("/v1/calendars/equities").expect(200);
    assert_eq!(shown["instruments"], json!([]));
    let transitions = shown["transitions"].as_array().unwrap();
    let states: Vec<_> = transitions.iter().map(|it| it["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["pre_open", "call", "open", "closed"]);
    let expected = json!({
        "at": text(day[1].at), "state": "call", "earliest_end": text(day[1].earliest_end),
        "latest_end": text(day[1].latest_end()), "next": "open",
        "no_cancel_from": text(day[1].no_cancel_from), "ends_session": false, "ends_day": false,
    });
    assert_eq!(transitions[1], expected);
    let expected =
        json!({"at": text(day[3].at), "state": "closed", "ends_session": true, "ends_day": true});
    assert_eq!(transitions[3], expected);

    let path = format!("/v1/calendars/equities?limit=2&after={}", day[0].at);
    let page = venue.get(&path).expect(200);
    assert_eq!(page["transitions"], json!(&transitions[1..3]));
    assert_eq!(page["transition_count"], 4);
    for query in ["limit=0", "limit=1001", "after=yesterday", "until=1"] {
        assert_eq!(venue.get(&format!("/v1/calendars/equities?{query}")).status, 400, "{query}");
    }
}

#[test]
fn an_operator_assigns_an_instrument_to_a_calendar() {
    let (venue, alice, _) = TestVenue::with_market(config());
    plan(&venue, "equities", &day());
    let assigned = assign(&venue, json!("equities")).expect(200);
    assert_eq!(
        (&assigned["instrument"], &assigned["calendar"]),
        (&json!("BTC-USD"), &json!("equities"))
    );
    let instrument = |seq: &Value| {
        let path = format!("/v1/instruments/BTC-USD?min_seq={}", seq.as_str().unwrap());
        venue.get(&path).expect(200)["instrument"].take()
    };
    let shown = instrument(&assigned["seq"]);
    assert_eq!((&shown["calendar"], &shown["state"]), (&json!("equities"), &json!("open")));
    let calendar = venue.get("/v1/calendars/equities").expect(200);
    assert_eq!(
        (&calendar["instruments"], &calendar["instrument_count"]),
        (&json!(["BTC-USD"]), &json!(1))
    );
    let none = assign(&venue, Value::Null).expect(200);
    assert_eq!(none["calendar"], Value::Null);
    assert_eq!(instrument(&none["seq"])["calendar"], Value::Null);

    let refused = assign(&venue, json!("bonds")).refuses(404, "unknown_calendar");
    assert_eq!(refused.field(), "calendar");
    for wrong in [json!(""), json!("a b"), json!("x".repeat(37)), json!(7)] {
        let refused = assign(&venue, wrong).refuses(400, "invalid_field");
        assert_eq!(refused.field(), "calendar");
    }
    let path = "/v1/admin/instruments/BTC-USD/calendar";
    let refused = venue.operate("PUT", path, json!({})).refuses(400, "missing_field");
    assert_eq!(refused.field(), "calendar");
    let body = json!({"calendar": "equities", "from": "now"});
    venue.operate("PUT", path, body).refuses(400, "unknown_field");
    let path = "/v1/admin/instruments/NO/calendar";
    venue.operate("PUT", path, json!({"calendar": null})).refuses(404, "unknown_instrument");
    let path = "/v1/admin/instruments/BTC-USD/calendar";
    venue.ask(&alice, "PUT", path, json!({"calendar": null})).refuses(403, "forbidden");
}

#[test]
fn an_operator_moves_a_transition() {
    let (venue, _, _) = TestVenue::with_market(config());
    let day = day();
    plan(&venue, "equities", &day);
    let (at, to) = (day[1].at.0, day[1].at.0 + 5 * SECOND);
    let moved = shift(&venue, "equities", at, to).expect(200);
    assert_eq!((&moved["at"], &moved["to"]), (&json!(at.to_string()), &json!(to.to_string())));
    let path = format!("/v1/calendars/equities?min_seq={}", moved["seq"].as_str().unwrap());
    let shown = venue.get(&path).expect(200)["transitions"][1].take();
    let later = |time: Timestamp| json!((time.0 + 5 * SECOND).to_string());
    assert_eq!(shown["at"], json!(to.to_string()));
    assert_eq!(shown["earliest_end"], later(day[1].earliest_end));
    assert_eq!(shown["no_cancel_from"], later(day[1].no_cancel_from));

    let refused = shift(&venue, "equities", at, to).refuses(404, "unknown_transition");
    assert_eq!(refused.field(), "at");
    let refused = shift(&venue, "bonds", at, to).refuses(404, "unknown_calendar");
    assert_eq!(refused.field(), "calendar");
    // Before the one before it, after the one after it, and into the past.
    for wrong in [day[0].at.0, day[2].at.0, day[2].at.0 + 1] {
        let refused = shift(&venue, "equities", to, wrong).refuses(400, "transition_invalid");
        assert_eq!(refused.field(), "to");
        let (before, next) = (day[0].at, day[2].at);
        let expected =
            format!("The new time must be after {before} and before {next} and not in the past.");
        assert_eq!(refused.body["error"]["message"], expected);
    }
    let past = shift(&venue, "equities", day[0].at.0, now() - 60 * SECOND);
    assert_eq!(past.refuses(400, "transition_invalid").field(), "to");
    // What follows the last one is planned from its time.
    let last = day.last().unwrap().at.0;
    for to in [last - SECOND, last, last + SECOND] {
        let refused = shift(&venue, "equities", last, to).refuses(400, "transition_invalid");
        assert_eq!(refused.field(), "at");
    }
    let path = "/v1/admin/calendars/equities/move";
    venue.operate("POST", path, json!({"at": "1"})).refuses(400, "missing_field");
    venue.operate("POST", path, json!({"at": 1, "to": "2"})).refuses(400, "invalid_field");
}

#[test]
fn an_instrument_follows_its_calendar_without_a_command() {
    let (venue, clock, alice, bob) = with_manual_clock();
    let begin = clock.now().after(STEP);
    let call = begin.after(STEP);
    let day = [
        transition(begin.0, InstrumentState::PreOpen),
        PlannedTransition {
            earliest_end: call.after(STEP),
            next: InstrumentState::Open,
            no_cancel_from: call,
            ..transition(call.0, InstrumentState::Call)
        },
        PlannedTransition {
            ends_session: true,
            ends_day: true,
            ..transition(call.after(2 * STEP).0, InstrumentState::Closed)
        },
    ];
    plan(&venue, "short", &day);
    assign(&venue, json!("short")).expect(200);
    clock.advance(STEP);
    wait_for(&venue, "pre_open");
    let order = with(limit("buy", "1", "100"), json!({"time_in_force": "day"}));
    let bought = venue.place(&alice, order).expect(201);
    venue.place(&bob, limit("sell", "0.4", "99")).expect(201);
    let path = format!("/v1/orders/{}", bought["order_id"].as_str().unwrap());
    let own = venue.see(&alice, &path, &bought["seq"]);
    assert_eq!(own["order"]["expire_at"], json!(day[2].at.0.to_string()));
    clock.advance(STEP);
    wait_for(&venue, "call");
    let refused = venue.ask(&alice, "DELETE", &path, Value::Null);
    refused.refuses(422, "no_cancel_period");
    clock.advance(STEP);
    wait_for(&venue, "open");
    let trades = venue.get("/v1/trades/BTC-USD").expect(200);
    assert_eq!(
        (&trades["trades"][0]["price"], trades["trades"].as_array().unwrap().len()),
        (&json!("100.00"), 1)
    );
    clock.advance(STEP);
    wait_for(&venue, "closed");
    let calendar = venue.get("/v1/calendars/short").expect(200);
    assert_eq!((&calendar["begun"]["state"], &calendar["next"]), (&json!("closed"), &Value::Null));
    order_stage::wait_for(&venue, &alice, &bought["order_id"], "expired");
}

#[test]
fn waiting_orders_stay_as_they_are_in_the_no_cancel_period() {
    let (venue, clock, alice, bob) = with_manual_clock();
    trade_at(&venue, [&bob, &alice], "100");
    let sell = limit("sell", "1", "90");
    let waits = json!({"trigger": "stop", "trigger_price": "95"});
    let pair = json!({"price": "110", "oco": {"trigger": "90", "price": "89"}});
    let [stop, trailing, paired] = [waits, json!({"trail_distance": "5"}), pair]
        .map(|more| venue.place(&alice, with(sell.clone(), more)).expect(201));
    let path_of = |order: &Value| format!("/v1/orders/{}", order.as_str().unwrap());
    let paths = [&stop, &trailing, &paired].map(|placed| path_of(&placed["order_id"]));
    let state = || {
        let orders = venue.ask(&alice, "GET", "/v1/orders", Value::Null).expect(200);
        let balances = venue.ask(&alice, "GET", "/v1/balances", Value::Null).expect(200);
        (orders["orders"].clone(), balances["balances"].clone())
    };
    let second = path_of(&venue.see(&alice, &paths[2], &paired["seq"])["order"]["linked_to"]);
    let [stop, trailing, first] = &paths;
    let amend = |path: &str, change: &Value| venue.ask(&alice, "PATCH", path, change.clone());
    amend(stop, &json!({"trigger_price": "94", "price": "91"})).expect(200);

    // A call whose orders cannot be cancelled or amended, from its begin on. It is assigned before that.
    let begin = clock.now().after(STEP);
    let day = [
        PlannedTransition {
            earliest_end: Timestamp(begin.0 + 600 * SECOND),
            next: InstrumentState::Open,
            no_cancel_from: begin,
            ..transition(begin.0, InstrumentState::Call)
        },
        transition(begin.0 + 700 * SECOND, InstrumentState::Open),
    ];
    plan(&venue, "short", &day);
    assign(&venue, json!("short")).expect(200);
    clock.advance(STEP);
    wait_for(&venue, "call");
    let before = state();
    assert_eq!(before.0.as_array().unwrap().len(), 4);
    let changes = [
        (stop, json!({"trigger_price": "93"})),
        (stop, json!({"price": "92"})),
        (stop, json!({"quantity": "2"})),
        (stop, json!({"quantity": "0.5"})),
        (stop, json!({"trigger_price": "93", "price": "92", "quantity": "2"})),
        (trailing, json!({"price": "92"})),
        (trailing, json!({"quantity": "2"})),
        (trailing, json!({"quantity": "0.5"})),
        (first, json!({"price": "111"})),
        (&second, json!({"price": "88"})),
        (&second, json!({"trigger_price": "91"})),
    ];
    for (path, change) in &changes {
        amend(path, change).refuses(422, "no_cancel_period");
        let id = path.rsplit('/').next().unwrap();
        let row = json!({"rows": [{"amend": with(json!({"id": id}), change.clone())}]});
        let answer = venue.ask(&alice, "POST", "/v1/orders/batch", row).expect(200);
        let result = &answer["results"][0];
        assert_eq!(
            (&result["status"], &result["error"]["code"]),
            (&json!(422), &json!("no_cancel_period")),
            "{path} {change}"
        );
        assert_eq!(state(), before, "{path} {change}");
    }
    // Each of them is accepted when the call has ended.
    let open = json!({"instrument": "BTC-USD", "state": "open"});
    venue.operate("POST", "/v1/admin/state", open).expect(200);
    for (path, change) in &changes {
        amend(path, change).expect(200);
    }
}

/// The times of the transitions that have begun, from the event log.
fn begun(venue: &TestVenue) -> Vec<Timestamp> {
    let engine = venue.engine.as_ref().unwrap();
    let (mut begun, mut reader) = (Vec::new(), engine.events(Seq(1)));
    while reader.next_seq() <= engine.released() {
        let batch = reader.next_timeout(PATIENCE).unwrap().unwrap();
        for record in batch.iter() {
            for event in record.decode().unwrap().1 {
                if let Event::TransitionBegun { at, .. } = event.unwrap() {
                    begun.push(at);
                }
            }
        }
    }
    begun
}

#[test]
fn a_step_of_the_clock_makes_every_transition_once_it_is_accepted() {
    let clock = Arc::new(ManualClock::new(Timestamp(now())));
    let venue = TestVenue::with_clock(config(), EngineConfig::default(), clock.clone());
    venue.create_market();
    let day = day();
    plan(&venue, "equities", &day);
    assign(&venue, json!("equities")).expect(200);
    // Over the whole day.
    clock.step(5 * 3_600 * SECOND as i64);
    let moved = shift(&venue, "equities", day[2].at.0, day[2].at.0 + SECOND).expect(200);
    assert!(moved["time"].as_str().unwrap().parse::<u64>().unwrap() < day[0].at.0);
    assert_eq!(begun(&venue), []);
    venue.operate("POST", "/v1/admin/clock/accept", Value::Null).expect(200);
    wait_for(&venue, "closed");
    let mut times: Vec<_> = day.iter().map(|it| it.at).collect();
    times[2] = times[2].saturating_add(SECOND);
    assert_eq!(begun(&venue), times);
    // Back to where it was: the venue's time does not go back.
    clock.step(-5 * 3_600 * SECOND as i64);
    venue.operate("POST", "/v1/admin/clock/accept", Value::Null).expect(200);
    assign(&venue, Value::Null).expect(200);
    assert_eq!(begun(&venue), times);
}
