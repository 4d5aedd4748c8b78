use crate::order::{AskPrice, Desk, failure};
use crate::poll::at_once;
use rialto_bus::behaviour::{Cache, Cacheable, ManualTimer};
use rialto_bus::{Bus, Context, Dispatch, ErrorKind, Ready, behaviours, bus};
use std::sync::Arc;
use std::time::Duration;

impl Cacheable for AskPrice {
    type Key = &'static str;

    fn cache_key(&self, _: &Context<'_>) -> Option<&'static str> {
        Some(self.symbol).filter(|symbol| !symbol.is_empty())
    }
}

const KEEP_FOR: Duration = Duration::from_secs(60);

bus! { struct Shop { all through [Cache<Arc<ManualTimer>>] { desk: Desk => now AskPrice; } } }

fn shop(failures: &[ErrorKind]) -> (Shop, Arc<ManualTimer>) {
    let clock = Arc::new(ManualTimer::new());
    let cache = Cache::with_clock(KEEP_FOR, 2, clock.clone());
    let desk = Desk::failing(failures.iter().copied().map(failure));
    (Shop { all: behaviours![cache], desk }, clock)
}

fn ask(shop: &Shop, symbol: &'static str) -> rialto_bus::Result<u32> {
    shop.query_now(AskPrice { symbol }, &Context::new())
}

#[test]
fn the_same_question_has_the_same_answer_until_it_is_old() {
    let (shop, clock) = shop(&[]);
    assert_eq!(ask(&shop, "A").unwrap(), 1);
    clock.advance(KEEP_FOR - Duration::from_nanos(1));
    assert_eq!(ask(&shop, "A").unwrap(), 1);
    assert_eq!(ask(&shop, "B").unwrap(), 2);
    clock.advance(Duration::from_nanos(1));
    assert_eq!(ask(&shop, "A").unwrap(), 3);
}

#[test]
fn the_oldest_answer_makes_room() {
    let (shop, _) = shop(&[]);
    for symbol in ["A", "B", "C"] {
        ask(&shop, symbol).unwrap();
    }
    assert_eq!((ask(&shop, "C").unwrap(), ask(&shop, "B").unwrap()), (3, 2));
    assert_eq!(ask(&shop, "A").unwrap(), 4);
}

#[test]
fn a_failure_is_not_kept() {
    let (shop, _) = shop(&[ErrorKind::NotFound]);
    ask(&shop, "A").unwrap_err();
    assert_eq!(ask(&shop, "A").unwrap(), 2);
}

#[test]
fn a_question_without_a_key_is_always_asked() {
    let (shop, _) = shop(&[]);
    assert_eq!((ask(&shop, "").unwrap(), ask(&shop, "").unwrap()), (1, 2));
}

#[test]
fn answers_that_are_awaited_are_kept_on_a_dynamic_bus() {
    let (Shop { all, desk }, _) = shop(&[]);
    let bus = Bus::builder().handle::<AskPrice, _, _>(all, Ready(desk)).build().unwrap();
    for _ in 0..2 {
        let answer = at_once(bus.query(AskPrice { symbol: "A" }, &Context::new()));
        assert_eq!(answer.unwrap(), 1);
    }
}
