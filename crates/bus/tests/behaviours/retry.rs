use crate::order::{Buy, Desk, failure};
use crate::poll::at_once;
use proptest::prelude::*;
use rialto_bus::behaviour::{Clock, ManualTimer, Retry, RetryPlan};
use rialto_bus::{Bus, Context, Dispatch, ErrorKind, behaviours, bus};
use std::sync::Arc;
use std::time::Duration;

const PLAN: RetryPlan = RetryPlan {
    tries_max: 4,
    pause_first: Duration::from_millis(100),
    pause_max: Duration::from_millis(300),
};

type Again = Retry<Arc<ManualTimer>, fn() -> u64>;

bus! { struct Shop { all through [Again] { desk: Desk => later Buy; } } }

/// A shop whose pauses are as long as may be, and its clock, on which nobody sleeps.
fn shop(failures: &[ErrorKind]) -> (Shop, Arc<ManualTimer>) {
    let clock = Arc::new(ManualTimer::skipping());
    let again = Retry::with_randomness(PLAN, clock.clone(), (|| 0) as fn() -> u64);
    let desk = Desk::failing(failures.iter().copied().map(failure));
    (Shop { all: behaviours![again], desk }, clock)
}

fn buy(shop: &Shop, cx: &Context<'_>) -> rialto_bus::Result<u32> {
    at_once(shop.send(Buy { quantity: 1 }, cx))
}

#[test]
fn retryable_failures_are_retried_after_ever_longer_pauses() {
    let (shop, clock) = shop(&[ErrorKind::Busy, ErrorKind::Unavailable, ErrorKind::Busy]);
    assert_eq!(buy(&shop, &Context::new()).unwrap(), 4);
    assert_eq!(clock.elapsed(), Duration::from_millis(100 + 200 + 300));
}

#[test]
fn it_gives_up_after_the_last_try() {
    let (shop, _) = shop(&[ErrorKind::Busy; 9]);
    let error = buy(&shop, &Context::new()).unwrap_err();
    assert_eq!((error.kind(), shop.desk.asked()), (ErrorKind::Busy, 4));
}

#[test]
fn permanent_failures_are_not_retried() {
    let (shop, clock) = shop(&[ErrorKind::Timeout]);
    let error = buy(&shop, &Context::new()).unwrap_err();
    assert_eq!((error.kind(), shop.desk.asked()), (ErrorKind::Timeout, 1));
    assert_eq!(clock.elapsed(), Duration::ZERO);
}

#[test]
fn the_mark_of_the_error_counts_and_not_its_kind() {
    let clock = Arc::new(ManualTimer::skipping());
    let again = Retry::with_randomness(PLAN, clock, (|| 0) as fn() -> u64);
    let errors =
        [failure(ErrorKind::Conflict).retryable(true), failure(ErrorKind::Busy).retryable(false)];
    let shop = Shop { all: behaviours![again], desk: Desk::failing(errors) };
    let error = buy(&shop, &Context::new()).unwrap_err();
    assert_eq!((error.kind(), shop.desk.asked()), (ErrorKind::Busy, 2));
}

#[test]
fn no_pause_lasts_beyond_the_deadline() {
    let (shop, clock) = shop(&[ErrorKind::Busy; 9]);
    let mut cx = Context::new();
    cx.deadline = Some(clock.monotonic() + Duration::from_millis(300));
    buy(&shop, &cx).unwrap_err();
    assert_eq!((shop.desk.asked(), clock.elapsed()), (2, Duration::from_millis(100)));
}

#[test]
fn it_tries_again_on_a_dynamic_bus() {
    let (Shop { all, desk }, _) = shop(&[ErrorKind::Busy]);
    let bus = Bus::builder().handle::<Buy, _, _>(all, desk).build().unwrap();
    assert_eq!(at_once(bus.send(Buy { quantity: 1 }, &Context::new())).unwrap(), 2);
}

proptest! {
    #[test]
    fn a_pause_is_between_half_of_what_it_doubles_to_and_all_of_it(
        tries in 1u32..200,
        random: u64,
    ) {
        let whole = (0.1 * f64::powi(2.0, tries as i32 - 1)).min(0.3);
        let pause = PLAN.pause(tries, random).as_secs_f64();
        prop_assert!(pause <= whole + 1e-9 && pause >= whole / 2.0 - 1e-9, "{pause} of {whole}");
    }
}
