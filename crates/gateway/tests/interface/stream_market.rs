//! Market data on the stream.

use crate::test_venue::{Key, TestVenue, config, limit, with};
use crate::wire::{Book, Wire, seq_of};
use serde_json::{Value, json};

/// A small random generator with a printed seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// Random orders, cancels and trades; returns the last sequence.
fn trade_at_random(venue: &TestVenue, keys: [&Key; 2], dice: &mut Dice, rounds: usize) -> Value {
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut last = Value::Null;
    for _ in 0..rounds {
        let who = dice.roll(2) as usize;
        if dice.roll(4) == 0 && !open.is_empty() {
            let (owner, id) = open.swap_remove(dice.roll(open.len() as u64) as usize);
            let path = format!("/v1/orders/{id}");
            let reply = venue.ask(keys[owner], "DELETE", &path, Value::Null);
            // It may have traded meanwhile.
            assert!(reply.status == 200 || reply.code() == "unknown_order", "{}", reply.body);
            continue;
        }
        let side = ["buy", "sell"][dice.roll(2) as usize];
        let price = format!("{}.{:02}", 95 + dice.roll(10), dice.roll(4) * 25);
        let quantity = format!("0.00{:02}", 1 + dice.roll(30));
        let placed = venue.place(keys[who], limit(side, &quantity, &price)).expect(201);
        open.push((who, placed["order_id"].as_str().unwrap().to_owned()));
        last = placed["seq"].clone();
    }
    last
}

#[test]
fn snapshot_and_deltas_are_the_book_that_a_query_shows_at_the_same_sequence() {
    let seed = 20_260_731;
    println!("seed {seed}");
    let mut dice = Dice(seed);
    let (venue, alice, bob) = TestVenue::with_market(config());
    trade_at_random(&venue, [&alice, &bob], &mut dice, 60);

    let mut wire = Wire::connect(&venue);
    wire.subscribe(json!({"channel": "book", "instrument": "BTC-USD"}));
    let mut book = Book::default();
    book.take(&wire.hear_of("book"));
    for _ in 0..6 {
        let seq = trade_at_random(&venue, [&alice, &bob], &mut dice, 50);
        let shown = venue.see(&alice, "/v1/book/BTC-USD?depth=1000", &seq);
        let shown = Book::of(&shown);
        assert!(!shown.sides[0].is_empty() && !shown.sides[1].is_empty());
        while book.last_seq < shown.last_seq {
            book.take(&wire.hear_of("book_delta"));
        }
        assert_eq!((book.last_seq, &book.sides), (shown.last_seq, &shown.sides));
    }
    assert_eq!(book.wholes, 1);
}

#[test]
fn best_levels_are_whole_each_time_and_come_only_when_they_change() {
    let (venue, alice, _) = TestVenue::with_market(config());
    for price in ["90", "91", "92", "93"] {
        let placed = venue.place(&alice, limit("buy", "1", price)).expect(201);
        // An answer may arrive before the feed has folded its command.
        venue.see(&alice, "/v1/book/BTC-USD", &placed["seq"]);
    }
    let mut wire = Wire::connect(&venue);
    wire.subscribe(json!({"channel": "book", "instrument": "BTC-USD", "depth": 2}));
    let prices = |message: &Value| -> Vec<String> {
        let bids = message["bids"].as_array().unwrap().iter();
        bids.map(|level| level[0].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(prices(&wire.hear_of("book")), ["93.00", "92.00"]);
    venue.place(&alice, limit("buy", "1", "89")).expect(201);
    venue.place(&alice, limit("buy", "1", "94")).expect(201);
    assert_eq!(prices(&wire.hear_of("book")), ["94.00", "93.00"]);
}

#[test]
fn trades_and_tickers_follow_one_another_as_they_happen() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let mut wire = Wire::connect(&venue);
    wire.subscribe(json!({"channel": "trades", "instrument": "BTC-USD"}));
    for (quantity, price) in [("0.5", "100"), ("0.25", "101")] {
        venue.place(&alice, limit("sell", quantity, price)).expect(201);
        let taken = venue.place(&bob, limit("buy", quantity, price)).expect(201);
        let message = wire.hear_of("trade");
        assert_eq!(message["instrument"], "BTC-USD");
        let trade = &message["trade"];
        assert_eq!((&trade["seq"], &trade["taker_side"]), (&taken["seq"], &json!("buy")));
        let query = venue.see(&bob, "/v1/trades/BTC-USD", &taken["seq"]);
        assert_eq!(&query["trades"][0], trade);
    }
    wire.subscribe(json!({"channel": "ticker", "instrument": "BTC-USD"}));
    let ticker = wire.hear_of("ticker");
    assert_eq!((&ticker["last"], &ticker["trades"]), (&json!("101.00"), &json!("2")));
    venue.place(&alice, limit("sell", "1", "99")).expect(201);
    venue.place(&bob, limit("buy", "1", "99")).expect(201);
    wire.hear_of("trade");
    let ticker = wire.hear_of("ticker");
    assert_eq!((&ticker["low"], &ticker["trades"]), (&json!("99.00"), &json!("3")));
}

#[test]
fn after_an_unsubscription_nothing_more_is_sent() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let mut wire = Wire::connect(&venue);
    let book = json!({"channel": "book", "instrument": "BTC-USD"});
    wire.subscribe(book.clone());
    wire.hear_of("book");
    wire.say(with(json!({"op": "unsubscribe"}), book.clone()));
    wire.hear_of("unsubscribed");
    let placed = venue.place(&alice, limit("buy", "1", "90")).expect(201);
    venue.see(&alice, "/v1/book/BTC-USD", &placed["seq"]);
    wire.say(json!({"op": "ping"}));
    let pong = wire.hear_of("pong");
    assert!(seq_of(&pong["seq"]) >= seq_of(&placed["seq"]));

    wire.subscribe(book);
    assert_eq!(wire.hear_of("book")["bids"], json!([["90.00", "1.0000", 1]]));
}

/// The names of fields, recursively; for an array, those of its first element.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, it)| (name.clone(), shape(it))).collect())
        }
        Value::Array(items) => items.first().map_or(Value::Null, shape),
        _ => Value::Null,
    }
}

/// The last example of each kind of message on the page.
fn documented() -> std::collections::BTreeMap<String, Value> {
    include_str!("../../../../docs/stream.md")
        .split("```json\n")
        .skip(1)
        .map(|block| block.split("\n```").next().unwrap())
        .map(|text| serde_json::from_str::<Value>(text).unwrap())
        .filter(|message| message["type"].is_string())
        .map(|message| (message["type"].as_str().unwrap().to_owned(), message))
        .collect()
}

#[test]
fn the_message_of_a_call_is_documented_with_the_fields_that_it_has() {
    let (venue, alice, bob) = TestVenue::with_market(config());
    let call = json!({"instrument": "BTC-USD", "state": "call"});
    venue.operate("POST", "/v1/admin/state", call).expect(200);
    venue.place(&alice, limit("buy", "1", "101")).expect(201);
    venue.place(&bob, limit("sell", "0.4", "101")).expect(201);
    let mut wire = Wire::connect(&venue);
    wire.subscribe(json!({"channel": "auction", "instrument": "BTC-USD"}));
    let mut heard = wire.hear_of("auction");
    while heard["indicative"]["surplus_side"].is_null() {
        heard = wire.hear_of("auction");
    }
    assert_eq!(shape(&heard), shape(&documented()["auction"]));
}

#[test]
fn every_message_is_documented_with_the_fields_that_it_has() {
    let mut settings = config();
    settings.stream.heartbeat = std::time::Duration::from_millis(50);
    let (venue, alice, bob) = TestVenue::with_market(settings);
    venue.place(&alice, limit("sell", "0.5", "64123.50")).expect(201);
    venue.place(&bob, limit("buy", "0.1", "64123.50")).expect(201);
    let placed = venue.place(&bob, limit("buy", "0.3", "64100")).expect(201);
    venue.see(&bob, "/v1/balances", &placed["seq"]);
    let mut wire = Wire::connect(&venue);
    let mut heard = Vec::new();
    wire.say(crate::wire::auth(&alice));
    for channel in ["book", "trades", "ticker"] {
        wire.say(json!({"op": "subscribe", "channel": channel, "instrument": "BTC-USD"}));
    }
    for channel in ["orders", "fills", "balances"] {
        wire.say(json!({"op": "subscribe", "channel": channel}));
    }
    wire.say(json!({"op": "ping"}));
    let documented = documented();
    let mut missing: std::collections::BTreeSet<&String> = documented.keys().collect();
    let elsewhere = ["error", "subscribed", "unsubscribed", "auction"];
    missing.retain(|kind| !elsewhere.contains(&kind.as_str()));
    let mut subscribed = 0;
    while !missing.is_empty() {
        let crate::wire::Came::Message(message) = wire.come_any() else { panic!("{missing:?}") };
        missing.retain(|kind| message["type"] != kind.as_str());
        subscribed += u32::from(message["type"] == "subscribed");
        if subscribed == 6 {
            // Its consequences are sent to the subscribers of that time.
            subscribed = 0;
            let fields = json!({"client_order_id": "mine-1"});
            venue.place(&bob, with(limit("buy", "0.2", "64123.50"), fields)).expect(201);
        }
        println!("{}", wire.text);
        heard.push(message);
    }
    for message in &heard {
        let kind = message["type"].as_str().unwrap();
        let example = documented.get(kind).unwrap_or_else(|| panic!("{kind} is not documented"));
        if kind != "subscribed" && kind != "book_delta" {
            assert_eq!(shape(message), shape(example), "{kind}");
        }
    }
}
