use crate::order::{Buy, Desk, failure};
use crate::poll::{Stepped, at_once};
use proptest::prelude::*;
use rialto_bus::behaviour::{
    AnswerStore, Idempotency, IdempotencyLimits, Key, ManualTimer, MemoryAnswerStore,
};
use rialto_bus::{Bus, Context, Dispatch, Error, ErrorKind, Handler, Result, behaviours, bus};
use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

const KEEP_FOR: Duration = Duration::from_secs(60);
const KEYS: [&str; 2] = ["one", "two"];

type Once = Idempotency<Arc<MemoryAnswerStore<Arc<ManualTimer>>>>;

fn once(limits: IdempotencyLimits, answers_max: usize) -> (Once, Arc<ManualTimer>) {
    let clock = Arc::new(ManualTimer::new());
    let store = MemoryAnswerStore::with_clock(KEEP_FOR, answers_max, clock.clone());
    (Idempotency::new(Arc::new(store), limits), clock)
}

fn keyed(key: &str) -> Context<'_> {
    let mut cx = Context::new();
    cx.idempotency_key = Some(key);
    cx
}

bus! { struct Shop { all through [Once] { desk: Desk => later Buy; } } }

fn shop(failures: &[ErrorKind]) -> (Shop, Arc<ManualTimer>) {
    let (once, clock) = once(IdempotencyLimits::default(), 2);
    let desk = Desk::failing(failures.iter().copied().map(failure));
    (Shop { all: behaviours![once], desk }, clock)
}

fn buy(shop: &Shop, quantity: u32, cx: &Context<'_>) -> Result<u32> {
    at_once(shop.send(Buy { quantity }, cx))
}

#[test]
fn the_same_key_has_the_same_answer_until_it_expires() {
    let (shop, clock) = shop(&[]);
    assert_eq!(buy(&shop, 5, &keyed("one")).unwrap(), 1);
    clock.advance(KEEP_FOR - Duration::from_nanos(1));
    assert_eq!(buy(&shop, 5, &keyed("one")).unwrap(), 1);
    assert_eq!(buy(&shop, 5, &keyed("two")).unwrap(), 2);
    clock.advance(Duration::from_nanos(1));
    assert_eq!(buy(&shop, 5, &keyed("one")).unwrap(), 3);
}

#[test]
fn without_a_key_everything_is_done() {
    let (shop, _) = shop(&[]);
    let cx = Context::new();
    assert_eq!((buy(&shop, 5, &cx).unwrap(), buy(&shop, 5, &cx).unwrap()), (1, 2));
}

#[test]
fn another_request_under_the_key_is_a_conflict() {
    let (shop, _) = shop(&[]);
    buy(&shop, 5, &keyed("one")).unwrap();
    let error = buy(&shop, 6, &keyed("one")).unwrap_err();
    assert_eq!((error.kind(), shop.desk.asked()), (ErrorKind::Conflict, 1));
}

#[test]
fn a_failure_is_not_kept() {
    let (shop, _) = shop(&[ErrorKind::Internal]);
    buy(&shop, 5, &keyed("one")).unwrap_err();
    assert_eq!(buy(&shop, 5, &keyed("one")).unwrap(), 2);
}

#[test]
fn a_full_store_refuses_new_keys_and_keeps_its_promises() {
    let (shop, clock) = shop(&[]);
    for key in KEYS {
        buy(&shop, 5, &keyed(key)).unwrap();
    }
    assert_eq!(buy(&shop, 5, &keyed("three")).unwrap_err().code(), "answers_full");
    assert_eq!((buy(&shop, 5, &keyed("one")).unwrap(), shop.desk.asked()), (1, 2));
    clock.advance(KEEP_FOR);
    assert_eq!(buy(&shop, 5, &keyed("three")).unwrap(), 3);
}

#[test]
fn it_answers_once_on_a_dynamic_bus() {
    let (Shop { all, desk }, _) = shop(&[]);
    let bus = Bus::builder().handle::<Buy, _, _>(all, desk).build().unwrap();
    for _ in 0..2 {
        assert_eq!(at_once(bus.send(Buy { quantity: 5 }, &keyed("one"))).unwrap(), 1);
    }
}

bus! {
    struct Owned {
        all through [Idempotency<MemoryAnswerStore>] { desk: Desk => later Buy; }
    }
}

#[test]
fn keys_of_different_callers_do_not_meet() {
    let store = MemoryAnswerStore::new(KEEP_FOR, 9);
    let scope = |cx: &Context<'_>| cx.principal::<String>().cloned().unwrap_or_default();
    let once = Idempotency::scoped(store, IdempotencyLimits::default(), scope);
    let shop = Owned { all: behaviours![once], desk: Desk::default() };
    for (name, answer) in [("Ada", 1), ("Bob", 2), ("Ada", 1)] {
        let name = name.to_owned();
        let cx = keyed("one").with_principal(&name);
        assert_eq!(at_once(shop.send(Buy { quantity: 5 }, &cx)).unwrap(), answer);
    }
}

/// A store that fails to store.
struct Broken;

impl AnswerStore<Buy> for Broken {
    async fn find(&self, _: &Key) -> Result<Option<(Buy, u32)>> {
        Ok(None)
    }

    async fn keep(&self, _: Key, _: Buy, _: u32) -> Result<()> {
        Err(Error::new(ErrorKind::Internal, "disk_full", "Make room on the disk."))
    }
}

bus! { struct Fragile { all through [Idempotency<Broken>] { desk: Desk => later Buy; } } }

#[test]
fn work_that_is_done_is_answered_though_the_answer_cannot_be_kept() {
    let once = Idempotency::new(Broken, IdempotencyLimits::default());
    let shop = Fragile { all: behaviours![once], desk: Desk::default() };
    assert_eq!(at_once(shop.send(Buy { quantity: 5 }, &keyed("one"))).unwrap(), 1);
    assert_eq!(shop.all.0.in_flight(), 0);
}

/// Works on an order until the test sets its result; the quantity identifies orders.
#[derive(Default)]
struct ScriptedHandler {
    at_work: Mutex<Vec<u32>>,
    come_to: Mutex<HashMap<u32, Option<ErrorKind>>>,
    answers: Mutex<u32>,
}

/// Work on an order stops when the order is dropped.
struct AtWork<'a>(&'a ScriptedHandler, u32);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.at_work.lock().unwrap().retain(|order| *order != self.1);
    }
}

impl Handler<Buy> for ScriptedHandler {
    async fn handle(&self, buy: Buy, cx: &Context<'_>) -> Result<u32> {
        let order = cx.request_id as u32;
        self.at_work.lock().unwrap().push(order);
        let _at_work = AtWork(self, order);
        let come_to = poll_fn(|cx| {
            // The test polls again by itself once it has said what comes of the order.
            cx.waker().wake_by_ref();
            self.come_to.lock().unwrap().remove(&order).map_or(Poll::Pending, Poll::Ready)
        })
        .await;
        let mut answers = self.answers.lock().unwrap();
        *answers += 1;
        // Each answer is another number, and tells what was asked.
        come_to.map_or(Ok(*answers * 10 + buy.quantity), |kind| Err(failure(kind)))
    }
}

bus! { struct SlowShop { all through [Once] { told: ScriptedHandler => later Buy; } } }

fn slow_shop(limits: IdempotencyLimits) -> (SlowShop, Arc<ManualTimer>) {
    let (once, clock) = once(limits, 1_000);
    (SlowShop { all: behaviours![once], told: ScriptedHandler::default() }, clock)
}

#[test]
fn a_waiter_takes_over_from_one_that_is_dropped() {
    let (shop, _) = slow_shop(IdempotencyLimits::default());
    let (first_cx, second_cx) = (with_id("one", 1), with_id("one", 2));
    let mut first = Stepped::new(shop.send(Buy { quantity: 5 }, &first_cx));
    let mut second = Stepped::new(shop.send(Buy { quantity: 5 }, &second_cx));
    assert!(first.step().is_none() && second.step().is_none());
    assert_eq!(*shop.told.at_work.lock().unwrap(), [1]);
    drop(first);
    assert!(second.step().is_none());
    assert_eq!(*shop.told.at_work.lock().unwrap(), [2]);
}

#[test]
fn too_many_keys_and_too_many_waiters_are_refused() {
    let (shop, _) = slow_shop(IdempotencyLimits { keys_max: 1, waiting_max: 1 });
    let contexts = [with_id("one", 1), with_id("one", 2), with_id("one", 3), with_id("two", 4)];
    let mut orders = contexts.each_ref().map(|cx| Stepped::new(shop.send(Buy { quantity: 5 }, cx)));
    let answers = orders.each_mut().map(Stepped::step);
    let is_refused =
        answers.map(|answer| answer.is_some_and(|it| it.unwrap_err().kind() == ErrorKind::Busy));
    assert_eq!(is_refused, [false, false, true, true]);
}

fn with_id(key: &str, id: u64) -> Context<'_> {
    let mut cx = keyed(key);
    cx.request_id = id;
    cx
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Ask { key: usize, quantity: u32 },
    Poll(usize),
    Finish(usize, Option<ErrorKind>),
    Abandon(usize),
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let come_to = prop_oneof![2 => Just(None), 1 => Just(Some(ErrorKind::Internal))];
    prop_oneof![
        4 => (0usize..2, 1u32..=2).prop_map(|(key, quantity)| Step::Ask { key, quantity }),
        6 => any::<usize>().prop_map(Step::Poll),
        4 => (any::<usize>(), come_to).prop_map(|(which, to)| Step::Finish(which, to)),
        2 => any::<usize>().prop_map(Step::Abandon),
        1 => (1u64..90).prop_map(Step::Pass),
    ]
}

struct Asked<'a> {
    id: u32,
    key: usize,
    quantity: u32,
    future: Stepped<'a, Result<u32>>,
}

/// The state of a key: the request, the answer and the expiry.
#[derive(Clone, Copy)]
struct Promise {
    quantity: u32,
    answer: u32,
    expires_s: u64,
}

/// Compares an answer with the expected one under its key.
fn check(
    asked: &Asked<'_>,
    answer: Result<u32>,
    was_at_work: bool,
    promises: &mut [Option<Promise>; 2],
    now_s: u64,
) -> std::result::Result<(), TestCaseError> {
    let promise = promises[asked.key].filter(|promise| now_s < promise.expires_s);
    match (answer, was_at_work) {
        (Ok(answer), true) => {
            prop_assert!(promise.is_none(), "{} was done again", KEYS[asked.key]);
            prop_assert_eq!(answer % 10, asked.quantity);
            let expires_s = now_s + KEEP_FOR.as_secs();
            promises[asked.key] = Some(Promise { quantity: asked.quantity, answer, expires_s });
        }
        (Ok(answer), false) => {
            let promise = promise.expect("only what was promised is answered without work");
            prop_assert_eq!((answer, asked.quantity), (promise.answer, promise.quantity));
        }
        (Err(error), true) => prop_assert_eq!(error.kind(), ErrorKind::Internal),
        (Err(error), false) => {
            prop_assert_eq!(error.kind(), ErrorKind::Conflict);
            let promise = promise.expect("there is something to contradict");
            prop_assert_ne!(asked.quantity, promise.quantity);
        }
    }
    Ok(())
}

proptest! {
    /// Any order of requests, work, failures, drops and time: nothing is done twice, every caller
    /// gets the expected answer, and none waits forever.
    #[test]
    fn a_key_is_a_promise(steps in prop::collection::vec(step(), 1..150)) {
        let (shop, clock) = slow_shop(IdempotencyLimits::default());
        let contexts: Vec<_> =
            (0..2 * steps.len()).map(|at| with_id(KEYS[at % 2], at as u64)).collect();
        let mut all: Vec<Asked<'_>> = Vec::new();
        let mut promises = [None; 2];
        let mut now_s = 0;
        // At the end all work succeeds, until none is left.
        let settle = (0..4 * steps.len()).flat_map(|_| [Step::Finish(0, None), Step::Poll(0)]);
        let count = steps.len();
        for (at, step) in steps.into_iter().chain(settle).enumerate() {
            let polled = match step {
                Step::Ask { key, quantity } => {
                    let id = (2 * at + key) as u32;
                    let future = Stepped::new(shop.send(Buy { quantity }, &contexts[id as usize]));
                    all.push(Asked { id, key, quantity, future });
                    None
                }
                Step::Poll(which) => {
                    // The working request is always ready to be polled, and comes last.
                    let at_work = shop.told.at_work.lock().unwrap().clone();
                    let mut ready: Vec<_> =
                        (0..all.len()).filter(|at| all[*at].future.is_woken()).collect();
                    ready.sort_by_key(|at| at_work.contains(&all[*at].id));
                    (!ready.is_empty()).then(|| ready[which % ready.len()])
                }
                Step::Finish(which, to) => {
                    let at_work = shop.told.at_work.lock().unwrap().clone();
                    (!at_work.is_empty()).then(|| {
                        let id = at_work[which % at_work.len()];
                        shop.told.come_to.lock().unwrap().insert(id, to);
                        all.iter().position(|asked| asked.id == id).unwrap()
                    })
                }
                Step::Abandon(which) => {
                    if !all.is_empty() {
                        all.swap_remove(which % all.len());
                    }
                    None
                }
                Step::Pass(seconds) => {
                    clock.advance(Duration::from_secs(seconds));
                    now_s += seconds;
                    None
                }
            };
            if let Some(polled) = polled {
                let id = all[polled].id;
                let was_at_work = shop.told.at_work.lock().unwrap().contains(&id);
                if let Some(answer) = all[polled].future.step() {
                    check(&all[polled], answer, was_at_work, &mut promises, now_s)?;
                    all.swap_remove(polled);
                }
            }
            let at_work = shop.told.at_work.lock().unwrap().clone();
            for key in 0..2 {
                let here = at_work.iter().filter(|id| **id as usize % 2 == key).count();
                prop_assert!(here <= 1, "{here} are at work under one key");
            }
            if at > count && all.is_empty() {
                break;
            }
        }
        prop_assert!(all.is_empty(), "{} were forgotten", all.len());
        prop_assert_eq!(shop.all.0.in_flight(), 0);
    }
}
