//! Queries: market data, own orders in pages, sequences, health.

use crate::test_venue::{TestVenue, config, limit};
use serde_json::{Value, json};
use std::time::Duration;

/// A market with three bids, two asks and one trade; the last sequence.
fn market() -> (TestVenue, crate::test_venue::Key, crate::test_venue::Key, Value) {
    let (venue, alice, bob) = TestVenue::with_market(config());
    for (side, quantity, price) in [
        ("buy", "1", "99"),
        ("buy", "2", "99"),
        ("buy", "1", "98"),
        ("sell", "1", "101"),
        ("sell", "3", "102"),
    ] {
        venue.place(&alice, limit(side, quantity, price)).expect(201);
    }
    let seq = venue.place(&bob, limit("buy", "0.5", "101")).expect(201)["seq"].clone();
    (venue, alice, bob, seq)
}

fn at(path: &str, seq: &Value) -> String {
    let mark = if path.contains('?') { '&' } else { '?' };
    format!("{path}{mark}min_seq={}", seq.as_str().unwrap())
}

#[test]
fn a_book_is_shown_by_price_and_by_order() {
    let (venue, _, _, seq) = market();
    let book = venue.get(&at("/v1/book/BTC-USD", &seq)).expect(200);
    assert_eq!(book["bids"], json!([["99.00", "3.0000", 2], ["98.00", "1.0000", 1]]));
    assert_eq!(book["asks"], json!([["101.00", "0.5000", 1], ["102.00", "3.0000", 1]]));
    let top = venue.get("/v1/book/BTC-USD?depth=1").expect(200);
    assert_eq!((top["bids"].as_array().unwrap().len(), top["last_seq"] == seq), (1, true));
    let orders = venue.get("/v1/book/BTC-USD?level=3&depth=2").expect(200);
    let bids = orders["bids"].as_array().unwrap();
    assert_eq!((&bids[0][2], &bids[1][2]), (&json!("1.0000"), &json!("2.0000")));
    assert!(bids[0][0].is_string());

    for bad in ["depth=0", "depth=1001", "depth=x", "depth=-1", "level=4"] {
        venue.get(&format!("/v1/book/BTC-USD?{bad}")).refuses(400, "invalid_field");
    }
    venue.get("/v1/book/BTC-USD?deep=1").refuses(400, "unknown_parameter");
    venue.get("/v1/book/ETH-USD").refuses(404, "unknown_instrument");
    venue.get("/v1/book/%ff").refuses(400, "invalid_field");
}

#[test]
fn trades_and_ticker_tell_what_was_traded() {
    let (venue, _, _, seq) = market();
    let trades = venue.get(&at("/v1/trades/BTC-USD?limit=5", &seq)).expect(200);
    let trade = &trades["trades"][0];
    assert_eq!((&trade["price"], &trade["quantity"]), (&json!("101.00"), &json!("0.5000")));
    assert_eq!((&trade["taker_side"], &trade["seq"]), (&json!("buy"), &seq));
    assert!(trade.get("account").is_none(), "the public does not learn who traded");
    let ticker = venue.get("/v1/ticker/BTC-USD").expect(200);
    assert_eq!((&ticker["last"], &ticker["bid"]), (&json!("101.00"), &json!("99.00")));
    assert_eq!((&ticker["base_volume"], &ticker["trades"]), (&json!("0.50000000"), &json!("1")));
    assert_eq!(ticker["quote_volume"], "50.500000");
    venue.get("/v1/trades/NO").refuses(404, "unknown_instrument");
    venue.get("/v1/ticker/NO").refuses(404, "unknown_instrument");
}

#[test]
fn instruments_are_listed_with_their_rules() {
    let (venue, ..) = TestVenue::with_market(config());
    let all = venue.get("/v1/instruments").expect(200);
    let one = venue.get("/v1/instruments/BTC-USD").expect(200);
    assert_eq!(all["instruments"], json!([one["instrument"]]));
    let instrument = &one["instrument"];
    assert_eq!((&instrument["tick"], &instrument["lot"]), (&json!("0.01"), &json!("0.0001")));
    assert_eq!((&instrument["state"], &instrument["taker_fee_ppm"]), (&json!("open"), &json!(200)));
    venue.get("/v1/instruments/NO").refuses(404, "unknown_instrument");
}

#[test]
fn own_orders_come_in_pages() {
    let (venue, alice, _, seq) = market();
    let first = venue.see(&alice, "/v1/orders?limit=3", &seq);
    assert_eq!(first["orders"].as_array().unwrap().len(), 3);
    let path = format!("/v1/orders?limit=3&after={}", first["next"].as_str().unwrap());
    let second = venue.see(&alice, &path, &seq);
    assert_eq!((second["orders"].as_array().unwrap().len(), &second["next"]), (2, &Value::Null));
    let done = venue.ask(&alice, "DELETE", "/v1/orders?side=buy", Value::Null).expect(200);
    let ended = venue.see(&alice, "/v1/orders?status=ended&limit=2", &done["seq"]);
    assert_eq!(ended["orders"][0]["done_reason"], "mass_cancelled");
    let path = format!("/v1/orders?status=ended&after={}", ended["next"].as_str().unwrap());
    let rest = venue.see(&alice, &path, &done["seq"]);
    assert_eq!(rest["orders"].as_array().unwrap().len(), 1);

    let bad = |query: &str| venue.ask(&alice, "GET", &format!("/v1/orders?{query}"), Value::Null);
    for query in ["limit=0", "limit=1001", "after=x", "status=all", "account=x", "min_seq=-1"] {
        bad(query).refuses(400, "invalid_field");
    }
    bad("instrument=NO").refuses(404, "unknown_instrument");
    bad("page=2").refuses(400, "unknown_parameter");
}

#[test]
fn fills_come_in_pages_newest_first() {
    let (venue, alice, bob, _) = market();
    let seq = venue.place(&bob, limit("sell", "3.5", "98")).expect(201)["seq"].clone();
    let first = venue.see(&alice, "/v1/fills?limit=2", &seq);
    let path = format!("/v1/fills?limit=9&after={}", first["next"].as_str().unwrap());
    let rest = venue.see(&alice, &path, &seq);
    let prices = |page: &Value| -> Vec<String> {
        let fills = page["fills"].as_array().unwrap();
        fills.iter().map(|fill| fill["price"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(prices(&first), ["98.00", "99.00"]);
    assert_eq!(prices(&rest), ["99.00", "101.00"]);
    venue.ask(&alice, "GET", "/v1/fills?after=1:nobody", Value::Null).refuses(400, "invalid_field");
}

#[test]
fn balances_show_what_is_held_for_orders() {
    let (venue, alice, _) = TestVenue::with_market(config());
    let seq = venue.place(&alice, limit("buy", "1", "100")).expect(201)["seq"].clone();
    let balances = venue.see(&alice, "/v1/balances", &seq);
    let usd = &balances["balances"][1];
    assert_eq!((&usd["currency"], &usd["reserved"]), (&json!("USD"), &json!("100.020000")));
    assert_eq!(usd["available"], "999899.980000");
    assert_eq!(balances["seq"], seq);
}

#[test]
fn a_sequence_that_does_not_come_is_behind() {
    let quick =
        rialto_gateway::GatewayConfig { min_seq_wait: Duration::from_millis(20), ..config() };
    let (venue, ..) = TestVenue::with_market(quick);
    let reply = venue.get("/v1/book/BTC-USD?min_seq=999999").refuses(503, "behind");
    assert_eq!(reply.field(), "min_seq");
    assert!(reply.head.contains("retry-after: 1"), "{}", reply.head);
}

#[test]
fn time_health_and_readiness_are_reported() {
    let (venue, ..) = TestVenue::with_market(config());
    let time: u64 = venue.get("/v1/time").expect(200)["time"].as_str().unwrap().parse().unwrap();
    assert!(rialto_gateway::now_us().abs_diff(time / 1_000) < 10_000_000);
    assert_eq!(venue.get("/v1/health").expect(200)["durability"], "synced");
    assert_eq!(venue.get("/v1/ready").expect(200)["ready"], true);

    venue.engine.as_ref().unwrap().close_intake();
    let reply = venue.get("/v1/ready");
    assert_eq!((reply.status, &reply.body["ready"]), (503, &json!(false)));
    venue.operate("POST", "/v1/admin/members", json!({"name": "x"})).refuses(503, "stopped");
    venue.get("/v1/health").expect(200);
}

#[test]
fn paths_and_methods_that_do_not_exist_are_refused_in_the_same_form() {
    let (venue, ..) = TestVenue::with_market(config());
    for path in ["/", "/v1", "/v1/orders/", "/v1/orders/1/2", "/v2/orders", "/v1/admin/nothing"] {
        venue.get(path).refuses(404, "unknown_route");
    }
    for (method, path) in
        [("PUT", "/v1/orders"), ("POST", "/v1/book/BTC-USD"), ("BREW", "/v1/time")]
    {
        let reply = venue.client().send(method, path, &[], b"");
        assert!(reply.refuses(405, "method_not_allowed").head.contains("allow: "));
    }
}
