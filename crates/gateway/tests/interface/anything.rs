//! Every random request gets an answer in the API's format, and the venue continues.

use crate::test_venue::{TestVenue, config, limit, signed};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];
const PATHS: [&str; 39] = [
    "/v1/orders",
    "/v1/orders/batch",
    "/v1/orders/1",
    "/v1/orders/client:a",
    "/v1/fills",
    "/v1/balances",
    "/v1/dead-man",
    "/v1/withdrawals",
    "/v1/withdrawals/1-a",
    "/v1/queues/transactions",
    "/v1/instruments",
    "/v1/instruments/BTC-USD",
    "/v1/book/BTC-USD",
    "/v1/trades/BTC-USD",
    "/v1/ticker/BTC-USD",
    "/v1/calendars",
    "/v1/calendars/equities",
    "/v1/time",
    "/v1/health",
    "/v1/ready",
    "/v1/admin/members",
    "/v1/admin/accounts",
    "/v1/admin/currencies",
    "/v1/admin/instruments",
    "/v1/admin/instruments/BTC-USD",
    "/v1/admin/instruments/BTC-USD/calendar",
    "/v1/admin/calendars/equities/move",
    "/v1/admin/resume",
    "/v1/admin/deposits",
    "/v1/admin/withdrawals",
    "/v1/admin/withdrawals/1-a/approve",
    "/v1/admin/withdrawals/1-a/reject",
    "/v1/admin/keys",
    "/v1/admin/keys/rk_1/rotate",
    "/v1/admin/keys/rk_1",
    "/v1/admin/nothing",
    "/metrics",
    "/v1/stream",
    "/",
];
const FIELDS: [&str; 38] = [
    "account",
    "instrument",
    "side",
    "kind",
    "time_in_force",
    "post_only",
    "self_trade",
    "cancel_on_disconnect",
    "quantity",
    "quote_amount",
    "price",
    "trigger_price",
    "expire_at",
    "client_order_id",
    "durability",
    "rows",
    "place",
    "cancel",
    "amend",
    "id",
    "timeout_ms",
    "currency",
    "amount",
    "reference",
    "member",
    "name",
    "code",
    "scale",
    "symbol",
    "base",
    "quote",
    "scopes",
    "receipt",
    "reason",
    "accounts",
    "calendar",
    "at",
    "to",
];
const TEXTS: [&str; 20] = [
    "buy",
    "sell",
    "BTC-USD",
    "limit",
    "market",
    "gtc",
    "ioc",
    "fok",
    "gtd",
    "day",
    "reject",
    "slide",
    "1",
    "0.5",
    "100",
    "-1",
    "99999999999999999999",
    "",
    "USD",
    "a",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..5_u32).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(&TEXTS[..]).prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 12, |inner| {
        let field = prop::sample::select(&FIELDS[..]).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((field, inner), 0..12)
                .prop_map(|fields| Value::from(Map::from_iter(fields))),
        ]
    })
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let object = value().prop_map(|value| value.to_string().into_bytes());
    let almost = (limit_order(), prop::sample::select(&FIELDS[..]), value()).prop_map(
        |(mut order, field, value)| {
            order[field] = value;
            order.to_string().into_bytes()
        },
    );
    prop_oneof![object, almost, prop::collection::vec(any::<u8>(), 0..200), Just(Vec::new())]
}

fn limit_order() -> impl Strategy<Value = Value> {
    let side = prop::sample::select(&["buy", "sell"][..]);
    (side, 1..50_u32, 90..110_u32)
        .prop_map(|(side, quantity, price)| limit(side, &quantity.to_string(), &price.to_string()))
}

#[test]
fn nothing_that_is_sent_makes_the_venue_fail() {
    let (venue, ..) = TestVenue::with_market(config());
    // A key with all rights, so that requests reach their handlers.
    let body_of_key = json!({"member": 1, "scopes": ["read", "trade", "transfer", "admin"]});
    let key = crate::test_venue::key_of(
        &venue.operate("POST", "/v1/admin/keys", body_of_key).expect(201),
    );
    let request = (
        prop::sample::select(&METHODS[..]),
        prop::sample::select(&PATHS[..]),
        "(\\?[a-z_]{1,8}=[ -$&-~]{0,8})?".prop_map(|query| {
            query.replace(['#', ' ', '"', '<', '>', '`', '{', '}', '|', '\\', '^'], "")
        }),
        body(),
    );
    // The runner prints the seed of a failing case.
    let config = Config { cases: 1_500, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&request, |(method, path, query, body)| {
            let path = format!("{path}{query}");
            let headers = signed(&key, method, &path, &body);
            if method == "HEAD" {
                return Ok(());
            }
            let reply = venue.client().send(method, &path, &headers, &body);
            prop_assert!(
                reply.status < 500 || reply.status == 503,
                "{} {}",
                reply.status,
                reply.body
            );
            if reply.status >= 400 && !path.starts_with("/v1/ready") && reply.body.is_object() {
                prop_assert!(!reply.code().is_empty(), "{}", reply.body);
            }
            Ok(())
        })
        .unwrap();
    venue.operate("POST", "/v1/admin/resume", json!({"instrument": "BTC-USD"})).expect(200);
    let order = crate::test_venue::with(limit("buy", "1", "1"), json!({"account": 1}));
    venue.place(&key, order).expect(201);
}
