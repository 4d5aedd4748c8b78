use crate::order::Buy;
use crate::poll::Stepped;
use rialto_bus::behaviour::{ConcurrencyLimit, IsolatePanics};
use rialto_bus::{Bus, Context, Dispatch, ErrorKind, Handler, HandlerNow, Result, behaviours, bus};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::Poll;

/// Answers once its door is open, and counts who has come in.
#[derive(Default)]
struct Door {
    is_open: AtomicBool,
    entered: AtomicU32,
}

impl Handler<Buy> for Door {
    async fn handle(&self, buy: Buy, _: &Context<'_>) -> Result<u32> {
        self.entered.fetch_add(1, Ordering::Relaxed);
        poll_fn(|cx| {
            if self.is_open.load(Ordering::Relaxed) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        Ok(buy.quantity)
    }
}

bus! { struct Shop { all through [ConcurrencyLimit] { door: Door => later Buy; } } }

fn shop(limit: ConcurrencyLimit) -> Shop {
    Shop { all: behaviours![limit], door: Door::default() }
}

#[test]
fn one_too_many_is_refused_at_once() {
    let shop = shop(ConcurrencyLimit::new(1));
    let cx = Context::new();
    let mut first = Stepped::new(shop.send(Buy { quantity: 1 }, &cx));
    assert!(first.step().is_none());
    let error = Stepped::new(shop.send(Buy { quantity: 2 }, &cx)).step().unwrap().unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Busy, true));

    shop.door.is_open.store(true, Ordering::Relaxed);
    assert_eq!(first.step().unwrap().unwrap(), 1);
    assert_eq!(Stepped::new(shop.send(Buy { quantity: 3 }, &cx)).step().unwrap().unwrap(), 3);
}

#[test]
fn the_line_is_served_in_order_and_has_an_end() {
    let shop = shop(ConcurrencyLimit::with_line(1, 2));
    let cx = Context::new();
    let mut orders: Vec<_> =
        (0..4).map(|quantity| Stepped::new(shop.send(Buy { quantity }, &cx))).collect();
    let refused = orders.iter_mut().map(Stepped::step).filter(Option::is_some).count();
    assert_eq!((refused, shop.all.0.in_flight(), shop.all.0.waiting()), (1, 1, 2));

    shop.door.is_open.store(true, Ordering::Relaxed);
    for quantity in 0..3 {
        let later = &orders[quantity + 1..3];
        assert!(later.iter().all(|order| !order.is_woken()), "{quantity} comes first");
        assert_eq!(orders[quantity].step().unwrap().unwrap(), quantity as u32);
    }
}

#[test]
fn a_caller_that_gives_up_leaves_the_queue() {
    let shop = shop(ConcurrencyLimit::with_line(1, 1));
    let cx = Context::new();
    let mut first = Stepped::new(shop.send(Buy { quantity: 1 }, &cx));
    let mut second = Stepped::new(shop.send(Buy { quantity: 2 }, &cx));
    assert!(first.step().is_none() && second.step().is_none());
    drop(second);
    assert_eq!(shop.all.0.waiting(), 0);
    drop(first);
    assert_eq!((shop.all.0.in_flight(), shop.door.entered.load(Ordering::Relaxed)), (0, 1));
}

/// Asks the same bus again while it answers.
struct Nested(std::sync::OnceLock<std::sync::Weak<Bus>>);

impl HandlerNow<Buy> for Arc<Nested> {
    fn handle_now(&self, buy: Buy, cx: &Context<'_>) -> Result<u32> {
        assert!(buy.quantity < 3, "the bottom is reached");
        let bus = self.0.get().unwrap().upgrade().unwrap();
        bus.send_now(Buy { quantity: buy.quantity + 1 }, cx)
    }
}

#[test]
fn requests_that_never_wait_are_shed_on_a_dynamic_bus() {
    let nested = Arc::new(Nested(std::sync::OnceLock::new()));
    let limit = behaviours![ConcurrencyLimit::new(2)];
    let bus = Bus::builder().handle_now::<Buy, _, _>(limit, nested.clone()).build().unwrap();
    let bus = Arc::new(bus);
    nested.0.set(Arc::downgrade(&bus)).unwrap();
    let error = bus.send_now(Buy { quantity: 0 }, &Context::new()).unwrap_err();
    assert_eq!(error.code(), "too_many_in_flight");
}

#[test]
fn a_panic_gives_its_permit_back() {
    let nested = Arc::new(Nested(std::sync::OnceLock::new()));
    let pipeline = behaviours![IsolatePanics, ConcurrencyLimit::new(1)];
    let bus = Bus::builder().handle_now::<Buy, _, _>(pipeline, nested).build().unwrap();
    for _ in 0..2 {
        let error = bus.send_now(Buy { quantity: 3 }, &Context::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Panicked);
    }
}
