use crate::order::{Buy, Desk, failure};
use crate::poll::Stepped;
use proptest::prelude::*;
use rialto_bus::behaviour::{BreakerPlan, CircuitBreaker, CircuitState, ManualTimer};
use rialto_bus::{Bus, Context, Dispatch, ErrorKind, Handler, Result, behaviours, bus};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const PLAN: BreakerPlan = BreakerPlan { failures_max: 2, open_for: SECOND, probes_needed: 2 };

type Breaker = CircuitBreaker<Arc<ManualTimer>>;

bus! { struct Shop { all through [Breaker] { desk: Desk => now Buy; } } }

fn shop(failures: &[ErrorKind]) -> (Shop, Arc<ManualTimer>) {
    let clock = Arc::new(ManualTimer::new());
    let desk = Desk::failing(failures.iter().copied().map(failure));
    (Shop { all: behaviours![CircuitBreaker::with_clock(PLAN, clock.clone())], desk }, clock)
}

#[test]
fn a_circuit_opens_after_too_many_failures_and_closes_after_probes() {
    let (shop, clock) = shop(&[ErrorKind::Internal; 2]);
    let cx = Context::new();
    let buy = || shop.send_now(Buy { quantity: 1 }, &cx);
    for _ in 0..2 {
        assert_eq!(buy().unwrap_err().code(), "as_told");
    }
    let error = buy().unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("circuit_open", true));
    assert_eq!(shop.desk.asked(), 2);

    clock.advance(SECOND);
    assert_eq!(buy().unwrap(), 3);
    assert_eq!(shop.all.0.state(), CircuitState::HalfOpen);
    assert_eq!(buy().unwrap(), 4);
    assert_eq!(shop.all.0.state(), CircuitState::Closed);
}

#[test]
fn it_opens_on_a_dynamic_bus() {
    let (Shop { all, desk }, _) = shop(&[ErrorKind::Timeout; 2]);
    let bus = Bus::builder().handle_now::<Buy, _, _>(all, desk).build().unwrap();
    let codes = [(); 3].map(|()| bus.send_now(Buy { quantity: 1 }, &Context::new()).unwrap_err());
    assert_eq!(codes.map(|error| error.code()), ["as_told", "as_told", "circuit_open"]);
}

/// Answers the orders when and as the test says; the quantity is the number of the order.
#[derive(Default)]
struct ScriptedHandler {
    begun: Mutex<Vec<u32>>,
    answers: Mutex<VecDeque<(u32, Option<ErrorKind>)>>,
}

impl Handler<Buy> for ScriptedHandler {
    async fn handle(&self, buy: Buy, _: &Context<'_>) -> Result<u32> {
        self.begun.lock().unwrap().push(buy.quantity);
        poll_fn(|cx| {
            cx.waker().wake_by_ref();
            let mut answers = self.answers.lock().unwrap();
            match answers.iter().position(|(order, _)| *order == buy.quantity) {
                None => Poll::Pending,
                Some(at) => Poll::Ready(match answers.remove(at).unwrap().1 {
                    None => Ok(buy.quantity),
                    Some(kind) => Err(failure(kind)),
                }),
            }
        })
        .await
    }
}

bus! { struct SlowShop { all through [Breaker] { told: ScriptedHandler => later Buy; } } }

#[derive(Clone, Copy, Debug)]
enum Step {
    Begin,
    Finish(usize, Option<ErrorKind>),
    Abandon(usize),
    Pass(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let come_to = prop_oneof![
        3 => Just(None),
        4 => Just(Some(ErrorKind::Unavailable)),
        1 => Just(Some(ErrorKind::NotFound)),
        1 => Just(Some(ErrorKind::Busy)),
    ];
    prop_oneof![
        4 => Just(Step::Begin),
        4 => (0usize..4, come_to).prop_map(|(which, to)| Step::Finish(which, to)),
        1 => (0usize..4).prop_map(Step::Abandon),
        2 => (1u32..1_500).prop_map(Step::Pass),
    ]
}

/// A naive model of the circuit: the whole history is kept, and the present state is derived from
/// it each time.
#[derive(Debug, Default)]
struct Model {
    now_ms: u32,
    /// When each period began, and which.
    periods: Vec<(u32, Period)>,
    /// In which period each order in flight was let through.
    in_flight: Vec<(u32, usize)>,
    /// The outcomes in the current period that count.
    signs: Vec<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Period {
    Closed,
    Open,
    HalfOpen,
}

impl Model {
    fn period(&self) -> (u32, Period) {
        self.periods.last().copied().unwrap_or((0, Period::Closed))
    }

    fn turn(&mut self, period: Period) {
        self.periods.push((self.now_ms, period));
        self.signs.clear();
    }

    fn begins(&mut self, order: u32) -> bool {
        if self.period().1 == Period::Open && self.now_ms >= self.period().0 + 1_000 {
            self.turn(Period::HalfOpen);
        }
        let here = self.periods.len();
        let is_let_through = match self.period().1 {
            Period::Closed => true,
            Period::Open => false,
            Period::HalfOpen => self.in_flight.iter().all(|(_, period)| *period != here),
        };
        if is_let_through {
            self.in_flight.push((order, here));
        }
        is_let_through
    }

    fn ends(&mut self, order: u32, is_good: Option<bool>) {
        let at = self.in_flight.iter().position(|(other, _)| *other == order).unwrap();
        let (_, period) = self.in_flight.remove(at);
        let Some(is_good) = is_good.filter(|_| period == self.periods.len()) else { return };
        self.signs.push(is_good);
        let in_a_row = |wanted| self.signs.iter().rev().take_while(|sign| **sign == wanted).count();
        match self.period().1 {
            Period::Closed if in_a_row(false) >= 2 => self.turn(Period::Open),
            Period::HalfOpen if in_a_row(false) >= 1 => self.turn(Period::Open),
            Period::HalfOpen if in_a_row(true) >= 2 => self.turn(Period::Closed),
            _ => {}
        }
    }
}

proptest! {
    #[test]
    fn it_does_what_the_model_does(steps in prop::collection::vec(step(), 1..120)) {
        let clock = Arc::new(ManualTimer::new());
        let breaker = CircuitBreaker::with_clock(PLAN, clock.clone());
        let shop = SlowShop { all: behaviours![breaker], told: ScriptedHandler::default() };
        let cx = Context::new();
        let mut model = Model::default();
        let mut orders: Vec<(u32, Stepped<'_, Result<u32>>)> = Vec::new();
        let mut next = 0;
        for step in steps {
            match step {
                Step::Begin => {
                    next += 1;
                    let mut order = Stepped::new(shop.send(Buy { quantity: next }, &cx));
                    let refused = order.step();
                    prop_assert_eq!(refused.is_none(), model.begins(next));
                    if let Some(refused) = refused {
                        prop_assert_eq!(refused.unwrap_err().code(), "circuit_open");
                    } else {
                        orders.push((next, order));
                    }
                    let begun = shop.told.begun.lock().unwrap().last().copied();
                    prop_assert_eq!(begun == Some(next), orders.iter().any(|(id, _)| *id == next));
                }
                Step::Finish(which, to) if which < orders.len() => {
                    let (id, mut order) = orders.remove(which);
                    shop.told.answers.lock().unwrap().push_back((id, to));
                    prop_assert!(order.step().is_some());
                    model.ends(id, match to {
                        None | Some(ErrorKind::NotFound) => Some(true),
                        Some(ErrorKind::Unavailable) => Some(false),
                        Some(_) => None,
                    });
                }
                Step::Abandon(which) if which < orders.len() => {
                    let (id, order) = orders.remove(which);
                    drop(order);
                    model.ends(id, None);
                }
                Step::Finish(..) | Step::Abandon(_) => {}
                Step::Pass(ms) => {
                    clock.advance(Duration::from_millis(ms.into()));
                    model.now_ms += ms;
                }
            }
            let expected = match model.period().1 {
                Period::Closed => CircuitState::Closed,
                Period::Open => CircuitState::Open,
                Period::HalfOpen => CircuitState::HalfOpen,
            };
            prop_assert_eq!(shop.all.0.state(), expected);
        }
    }
}
