use crate::order::{AskPrice, Buy, Desk, failure};
use crate::poll::Stepped;
use rialto_bus::behaviour::{Counters, IsolatePanics};
use rialto_bus::{Bus, Context, Dispatch, ErrorKind, Handler, Result, behaviours, bus};
use std::sync::Arc;

bus! { struct Shop { all through [Counters] { desk: Desk => now Buy, now AskPrice; } } }

#[test]
fn each_type_of_request_is_counted_by_outcome() {
    let desk = Desk::failing([failure(ErrorKind::Conflict), failure(ErrorKind::Busy)]);
    let shop = Shop { all: behaviours![Counters::new(2)], desk };
    let cx = Context::new();
    for _ in 0..5 {
        let _ = shop.send_now(Buy { quantity: 1 }, &cx);
    }
    shop.query_now(AskPrice { symbol: "X" }, &cx).unwrap();

    let counts = shop.all.0.of::<Buy>();
    assert_eq!((counts.succeeded(), counts.failed()), (3, 2));
    let failures: Vec<_> = counts.failures().collect();
    assert_eq!(failures, [(ErrorKind::Conflict, 1), (ErrorKind::Busy, 1)]);
    assert_eq!(shop.all.0.of::<AskPrice>().total(), 1);
}

#[test]
fn more_types_than_there_is_room_for_are_counted_together() {
    let shop = Shop { all: behaviours![Counters::new(1)], desk: Desk::default() };
    let cx = Context::new();
    shop.send_now(Buy { quantity: 1 }, &cx).unwrap();
    shop.query_now(AskPrice { symbol: "X" }, &cx).unwrap();
    let each: Vec<_> = shop.all.0.each().map(|(name, counts)| (name, counts.total())).collect();
    assert_eq!(each, [("buy", 1), ("others", 1)]);
}

struct Never;

impl Handler<Buy> for Never {
    async fn handle(&self, _: Buy, _: &Context<'_>) -> Result<u32> {
        std::future::pending().await
    }
}

struct Panics;

impl Handler<Buy> for Panics {
    async fn handle(&self, _: Buy, _: &Context<'_>) -> Result<u32> {
        panic!("the desk is on fire")
    }
}

bus! { struct SlowShop { all through [Counters] { never: Never => later Buy; } } }

#[test]
fn an_abandoned_request_counts_as_cancelled() {
    let shop = SlowShop { all: behaviours![Counters::default()], never: Never };
    let cx = Context::new();
    let mut order = Stepped::new(shop.send(Buy { quantity: 1 }, &cx));
    assert!(order.step().is_none());
    drop(order);
    assert_eq!(shop.all.0.of::<Buy>().of(Err(ErrorKind::Cancelled)), 1);
}

bus! { struct Fire { all through [IsolatePanics, Counters] { panics: Panics => later Buy; } } }

#[test]
fn a_panic_is_counted_as_one() {
    let shop = Fire { all: behaviours![IsolatePanics, Counters::default()], panics: Panics };
    let cx = Context::new();
    Stepped::new(shop.send(Buy { quantity: 1 }, &cx)).step().unwrap().unwrap_err();
    assert_eq!(shop.all.1.0.of::<Buy>().of(Err(ErrorKind::Panicked)), 1);
}

#[test]
fn a_dynamic_bus_counts_too() {
    let counters = Arc::new(Counters::default());
    let bus = Bus::builder()
        .handle_now::<Buy, _, _>(behaviours![counters.clone()], Desk::default())
        .build()
        .unwrap();
    bus.send_now(Buy { quantity: 1 }, &Context::new()).unwrap();
    assert_eq!(counters.of::<Buy>().succeeded(), 1);
}
