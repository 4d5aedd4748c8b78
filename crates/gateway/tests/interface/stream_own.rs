//! Private streams: nothing is missing or repeated after interruptions.

use crate::test_venue::{Key, TestVenue, config, limit, with};
use crate::wire::{Came, Wire, auth, auth_at, seq_of};
use rialto_desk::{Live, LiveConfig, VenueParts};
use rialto_disk::RealDisk;
use rialto_engine::{Engine, EngineConfig};
use rialto_gateway::{Gateway, GatewayConfig};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Rounds of orders that rest, trade, are amended, cancelled and rejected; returns the last
/// sequence.
fn trade(venue: &TestVenue, alice: &Key, bob: &Key, rounds: usize) -> u64 {
    let mut last = Value::Null;
    for round in 0..rounds {
        let resting = venue.place(alice, limit("sell", "0.2", "100")).expect(201);
        let path = format!("/v1/orders/{}", resting["order_id"].as_str().unwrap());
        venue.place(bob, limit("buy", "0.05", "100")).expect(201);
        match round % 3 {
            0 => venue.ask(alice, "PATCH", &path, json!({"price": "101"})).expect(200),
            1 => venue.ask(alice, "PATCH", &path, json!({"quantity": "0.1"})).expect(200),
            _ => venue.place(alice, limit("sell", "0.0001", "999999999")).expect(201),
        };
        venue.place(alice, limit("buy", "0.00001", "1")).refuses(400, "invalid_field");
        let unknown = venue.ask(alice, "DELETE", "/v1/orders/281474976999999", Value::Null);
        unknown.refuses(404, "unknown_order");
        last = venue.ask(alice, "DELETE", &path, Value::Null).expect(200)["seq"].clone();
    }
    seq_of(&last)
}

/// Receives private messages until one has the sequence `last` or a later one.
fn take_through(wire: &mut Wire, last: u64) -> Vec<Value> {
    let mut taken: Vec<Value> = Vec::new();
    while taken.last().is_none_or(|message| seq_of(&message["seq"]) < last) {
        taken.push(wire.hear_of("orders"));
    }
    taken
}

fn orders_from(venue: &TestVenue, key: &Key, from_seq: u64) -> Wire {
    let mut wire = Wire::connect(venue);
    wire.auth(key);
    wire.subscribe(json!({"channel": "orders", "from_seq": from_seq.to_string()}));
    wire
}

/// Stops the venue and starts it again on the same data.
pub(crate) fn restart(venue: &mut TestVenue) {
    venue.gateway.take().unwrap().shutdown(Duration::from_secs(5));
    venue.payments = None;
    venue.live.stop();
    venue.engine.take().unwrap().shutdown(Duration::from_secs(20));
    let settings = EngineConfig {
        data_dir: venue.dir.path().join("data"),
        segment_bytes: 4 << 20,
        // A busy machine may delay the disk, or the thread that waits for it, for a second.
        io_stalled_after: Duration::from_secs(30),
        ..EngineConfig::default()
    };
    let (engine, _) = Engine::start(settings, Arc::new(RealDisk::new())).unwrap();
    let engine = Arc::new(engine);
    venue.live = Live::start(&engine, LiveConfig::default()).unwrap();
    // As a venue does it: the gateway starts when the feed has caught up.
    while venue.live.seq() < engine.released() {
        std::thread::yield_now();
    }
    let parts = VenueParts::new(Arc::clone(&engine), Arc::clone(&venue.live));
    let gateway = Gateway::start(config(), parts, Arc::clone(&venue.keys)).unwrap();
    venue.address = gateway.local_addr();
    (venue.gateway, venue.engine) = (Some(gateway), Some(engine));
}

#[test]
fn an_interrupted_stream_resumes_without_gap_or_repetition() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let mut steady = Wire::connect(&venue);
    steady.auth(&alice);
    steady.subscribe(json!({"channel": "orders"}));
    assert_eq!(steady.hear_of("open_orders")["orders"], json!([]));

    let begin = seq_of(&venue.get("/v1/book/BTC-USD").expect(200)["seq"]);
    let mut pieces = Vec::new();
    let mut seen = begin;
    for _ in 0..4 {
        // Some of it happens without a listener, some during the resume.
        trade(&venue, &alice, &bob, 3);
        let mut wire = orders_from(&venue, &alice, seen);
        let last = trade(&venue, &alice, &bob, 3);
        pieces.extend(take_through(&mut wire, last));
        seen = seq_of(&pieces.last().unwrap()["seq"]);
    }
    assert_eq!(take_through(&mut steady, seen), pieces);
    let kinds: std::collections::BTreeSet<&str> = pieces
        .iter()
        .flat_map(|message| message["events"].as_array().unwrap())
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    let all = ["accepted", "amended", "done", "reduced", "rejected", "rested", "traded"];
    assert!(kinds.iter().all(|kind| all.contains(kind)), "{kinds:?}");
    assert!(kinds.len() >= 6, "{kinds:?}");
}

#[test]
fn a_stream_continues_after_a_restart_of_the_venue() {
    let (mut venue, alice, bob) = TestVenue::with_market(config());
    let begin = seq_of(&venue.get("/v1/book/BTC-USD").expect(200)["seq"]);
    let mut wire = orders_from(&venue, &alice, begin);
    let last = trade(&venue, &alice, &bob, 5);
    let before = take_through(&mut wire, last);
    let trades = venue.get("/v1/trades/BTC-USD").expect(200)["trades"].clone();

    restart(&mut venue);
    assert!(matches!(wire.come(), Came::Closed(1001, _)));
    let mut whole = orders_from(&venue, &alice, begin);
    assert_eq!(take_through(&mut whole, last), before);
    assert_eq!(venue.get("/v1/trades/BTC-USD").expect(200)["trades"], trades);

    let mut wire = orders_from(&venue, &alice, last);
    let last = trade(&venue, &alice, &bob, 2);
    let after = take_through(&mut wire, last);
    assert_eq!(take_through(&mut whole, last), after);
}

#[test]
fn fills_on_the_stream_are_those_of_the_query() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let begin = seq_of(&venue.get("/v1/book/BTC-USD").expect(200)["seq"]);
    let last = trade(&venue, &alice, &bob, 4);
    let mut wire = Wire::connect(&venue);
    wire.auth(&bob);
    wire.subscribe(json!({"channel": "fills", "from_seq": begin.to_string()}));
    let mut query = venue.see(&bob, "/v1/fills", &json!(last.to_string()));
    let mut expected = query["fills"].as_array_mut().unwrap().clone();
    expected.reverse();
    let mut fills = Vec::new();
    while fills.len() < expected.len() {
        fills.extend(wire.hear_of("fills")["fills"].as_array().unwrap().iter().cloned());
    }
    assert_eq!(fills, expected);
}

#[test]
fn balances_begin_with_all_and_follow_every_change() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let mut wire = Wire::connect(&venue);
    wire.auth(&alice);
    wire.subscribe(json!({"channel": "balances"}));
    let first = wire.hear_of("balances");
    assert_eq!(first["balances"].as_array().unwrap().len(), 2);
    let placed = venue.place(&alice, limit("sell", "1", "100")).expect(201);
    let changed = wire.hear_of("balance");
    assert_eq!(changed["seq"], placed["seq"]);
    assert_eq!(changed["balance"]["reserved"], "1.00000000");
    let query = venue.see(&alice, "/v1/balances", &placed["seq"]);
    let btc = query["balances"].as_array().unwrap().iter().find(|it| it["currency"] == "BTC");
    assert_eq!(btc, Some(&changed["balance"]));
}

#[test]
fn orders_that_asked_for_it_are_cancelled_when_the_connection_ends() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let begin = seq_of(&venue.get("/v1/book/BTC-USD").expect(200)["seq"]);
    let mut observer = orders_from(&venue, &alice, begin);
    let tied = with(limit("buy", "1", "90"), json!({"cancel_on_disconnect": true}));
    venue.place(&alice, tied).expect(201);
    let kept = venue.place(&alice, limit("buy", "1", "91")).expect(201);
    let others = with(limit("buy", "1", "92"), json!({"cancel_on_disconnect": true}));
    venue.place(&bob, others).expect(201);

    let mut wire = Wire::connect(&venue);
    wire.say(with(auth(&alice), json!({"cancel_on_disconnect": true})));
    wire.hear_of("authenticated");
    wire.close();
    take_through(&mut observer, seq_of(&kept["seq"]));
    let done = observer.hear_of("orders");
    assert_eq!(done["events"][0]["reason"], "disconnected");
    let book = venue.see(&alice, "/v1/book/BTC-USD", &done["seq"]);
    let prices: Vec<_> = book["bids"].as_array().unwrap().iter().map(|it| &it[0]).collect();
    assert_eq!(prices, ["92.00", "91.00"]);
}

#[test]
fn a_disconnect_that_cancels_nothing_is_counted() {
    let (mut venue, alice, _) = TestVenue::with_market(config());
    let mut wire = Wire::connect(&venue);
    wire.say(with(auth(&alice), json!({"cancel_on_disconnect": true})));
    wire.hear_of("authenticated");
    assert!(venue.engine.take().unwrap().shutdown(Duration::from_secs(20)).finished);
    wire.close();
    while venue.metric("rialto_stream_disconnects_failed_total") < 1.0 {
        std::thread::yield_now();
    }
    assert_eq!(venue.metric("rialto_stream_disconnects_total"), 0.0);
}

#[test]
fn an_end_of_the_gateway_counts_as_a_disconnect() {
    let (mut venue, alice, _) = TestVenue::with_market(config());
    let tied = with(limit("buy", "1", "90"), json!({"cancel_on_disconnect": true}));
    venue.place(&alice, tied).expect(201);
    let mut wire = Wire::connect(&venue);
    wire.auth(&alice);
    wire.subscribe(json!({"channel": "orders", "cancel_on_disconnect": true}));
    restart(&mut venue);
    let begin = venue.get("/v1/ready").body["released_seq"].clone();
    let book = venue.see(&alice, "/v1/book/BTC-USD", &begin);
    assert_eq!(book["bids"], json!([]));
}

#[test]
fn private_channels_need_authentication() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let mut wire = Wire::connect(&venue);
    let orders = json!({"op": "subscribe", "channel": "orders"});
    wire.say(orders.clone());
    wire.refused("credentials_missing");
    wire.say(json!({"op": "auth"}));
    wire.refused("credentials_missing");
    wire.say(with(auth(&alice), json!({"nonce": "another"})));
    wire.refused("credentials_invalid");
    wire.say(auth_at(&alice, rialto_gateway::now_us() - 60_000_000));
    wire.refused("timestamp_outside_window");
    wire.say(orders.clone());
    wire.refused("credentials_missing");

    let proof = auth(&alice);
    wire.say(proof.clone());
    wire.hear_of("authenticated");
    wire.say(proof);
    wire.refused("replayed_request");
    wire.say(with(orders.clone(), json!({"account": 2})));
    wire.refused("forbidden");

    let reader = venue.key(1, &["read"]);
    let mut wire = Wire::connect(&venue);
    wire.say(with(auth(&reader), json!({"cancel_on_disconnect": true})));
    wire.refused("forbidden");
    wire.auth(&reader);
    wire.say(with(orders, json!({"cancel_on_disconnect": true})));
    wire.refused("forbidden");
    wire.subscribe(json!({"channel": "orders"}));
}

#[test]
fn a_revoked_key_loses_its_stream() {
    let mut settings = config();
    settings.stream.heartbeat = Duration::from_millis(50);
    let (venue, alice, _) = TestVenue::with_market(settings);
    let mut wire = Wire::connect(&venue);
    wire.auth(&alice);
    venue.keys.revoke(&alice.id).unwrap();
    assert_eq!(wire.come(), Came::Closed(4003, "key_not_valid".to_owned()));
}

#[test]
fn a_stream_is_not_resumed_from_where_nothing_is_known() {
    let settings = GatewayConfig { min_seq_wait: Duration::from_millis(20), ..config() };
    let (venue, alice, _) = TestVenue::with_market(settings);
    let mut wire = Wire::connect(&venue);
    wire.auth(&alice);
    let far = json!({"op": "subscribe", "channel": "orders", "from_seq": "99999999"});
    wire.say(far);
    let refused = wire.refused("invalid_field");
    assert_eq!(refused["error"]["field"], "from_seq");
}
