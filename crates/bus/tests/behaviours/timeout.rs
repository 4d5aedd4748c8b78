use crate::order::Buy;
use crate::poll::{Stepped, at_once};
use rialto_bus::behaviour::{Clock, ManualTimer, Timeout, Timer};
use rialto_bus::{Bus, Context, Dispatch, ErrorKind, Handler, Result, behaviours, bus};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);

/// Takes as many seconds as are bought, and notes the deadlines that it is told.
struct Slow {
    clock: Arc<ManualTimer>,
    deadlines: Mutex<Vec<Option<Instant>>>,
}

impl Handler<Buy> for Slow {
    async fn handle(&self, buy: Buy, cx: &Context<'_>) -> Result<u32> {
        self.deadlines.lock().unwrap().push(cx.deadline);
        self.clock.sleep_until(self.clock.monotonic() + SECOND * buy.quantity).await;
        Ok(buy.quantity)
    }
}

bus! { struct Shop { all through [Timeout<Arc<ManualTimer>>] { slow: Slow => later Buy; } } }

fn shop(clock: &Arc<ManualTimer>) -> Shop {
    Shop {
        all: behaviours![Timeout::new(SECOND * 5, clock.clone())],
        slow: Slow { clock: clock.clone(), deadlines: Mutex::default() },
    }
}

#[test]
fn a_request_that_takes_too_long_times_out() {
    let clock = Arc::new(ManualTimer::new());
    let shop = shop(&clock);
    let cx = Context::new();
    let mut order = Stepped::new(shop.send(Buy { quantity: 6 }, &cx));
    assert!(order.step().is_none());
    clock.advance(SECOND * 4);
    assert!(order.step().is_none());
    clock.advance(SECOND);
    assert_eq!(order.step().unwrap().unwrap_err().kind(), ErrorKind::Timeout);
}

#[test]
fn an_answer_in_time_counts() {
    let clock = Arc::new(ManualTimer::new());
    let shop = shop(&clock);
    let cx = Context::new();
    let mut order = Stepped::new(shop.send(Buy { quantity: 5 }, &cx));
    assert!(order.step().is_none());
    clock.advance(SECOND * 5);
    assert_eq!(order.step().unwrap().unwrap(), 5);
}

#[test]
fn the_earlier_deadline_applies_and_is_passed_on() {
    let clock = Arc::new(ManualTimer::new());
    let shop = shop(&clock);
    let now = clock.monotonic();
    for (given, told) in [(None, 5), (Some(2), 2), (Some(9), 5)] {
        let mut cx = Context::new();
        cx.deadline = given.map(|seconds| now + SECOND * seconds);
        assert_eq!(at_once(shop.send(Buy { quantity: 0 }, &cx)).unwrap(), 0);
        assert_eq!(shop.slow.deadlines.lock().unwrap().pop().unwrap(), Some(now + SECOND * told));
    }
}

#[test]
fn a_request_past_its_deadline_is_not_begun() {
    let clock = Arc::new(ManualTimer::new());
    let shop = shop(&clock);
    let mut cx = Context::new();
    cx.deadline = Some(clock.monotonic());
    let error = at_once(shop.send(Buy { quantity: 0 }, &cx)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(shop.slow.deadlines.lock().unwrap().is_empty());
}

#[test]
fn it_gives_up_on_a_dynamic_bus() {
    let clock = Arc::new(ManualTimer::new());
    let Shop { all, slow } = shop(&clock);
    let bus = Bus::builder().handle::<Buy, _, _>(all, slow).build().unwrap();
    let cx = Context::new();
    let mut order = Stepped::new(bus.send(Buy { quantity: 6 }, &cx));
    assert!(order.step().is_none());
    clock.advance(SECOND * 5);
    assert_eq!(order.step().unwrap().unwrap_err().kind(), ErrorKind::Timeout);
}

#[cfg(feature = "tokio")]
#[tokio::test(start_paused = true)]
async fn tokio_keeps_the_time() {
    use rialto_bus::behaviour::TokioTimer;

    struct Never;
    impl Handler<Buy> for Never {
        async fn handle(&self, _: Buy, _: &Context<'_>) -> Result<u32> {
            std::future::pending().await
        }
    }

    let all = behaviours![Timeout::new(SECOND * 3_600, TokioTimer)];
    let bus = Bus::builder().handle::<Buy, _, _>(all, Never).build().unwrap();
    let error = bus.send(Buy { quantity: 1 }, &Context::new()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
}
