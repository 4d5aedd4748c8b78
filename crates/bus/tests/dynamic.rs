//! A dynamic bus behaves as a static one.

#![allow(clippy::unwrap_used)]

use futures_util::{StreamExt, stream};
use rialto_bus::{
    Bus, Command, Context, Dispatch, Error, ErrorKind, Event, EventHandler, EventHandlerNow,
    Handler, HandlerNow, Request, Result, behaviours,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Halve(u32);
impl Request for Halve {
    type Response = u32;
    const NAME: &'static str = "halve";
}
impl Command for Halve {}

fn half(Halve(number): Halve) -> Result<u32> {
    if number % 2 == 1 {
        return Err(Error::new(ErrorKind::Invalid, "odd", format!("{number} is odd.")));
    }
    Ok(number / 2)
}

struct AtOnce;
impl HandlerNow<Halve> for AtOnce {
    fn handle_now(&self, request: Halve, _: &Context<'_>) -> Result<u32> {
        half(request)
    }
}

/// Yields to others, and counts the most in flight.
#[derive(Clone, Default)]
struct AfterAWhile {
    in_flight: Arc<AtomicUsize>,
    in_flight_max: Arc<AtomicUsize>,
}
impl Handler<Halve> for AfterAWhile {
    async fn handle(&self, request: Halve, _: &Context<'_>) -> Result<u32> {
        let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        self.in_flight_max.fetch_max(now, Ordering::SeqCst);
        // The higher the number the sooner the answer: order must come from the bus.
        for _ in request.0..8 {
            tokio::task::yield_now().await;
        }
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
        half(request)
    }
}

struct Rung;
impl Event for Rung {
    const NAME: &'static str = "rung";
}

#[derive(Clone, Default)]
struct Ear(Arc<AtomicUsize>);
impl EventHandlerNow<Rung> for Ear {
    fn on_now(&self, _: &Rung, _: &Context<'_>) -> Result<()> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[derive(Clone, Default)]
struct SlowEar(Arc<AtomicUsize>);
impl EventHandler<Rung> for SlowEar {
    async fn on(&self, _: &Rung, _: &Context<'_>) -> Result<()> {
        tokio::task::yield_now().await;
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

fn codes<T: Copy>(answers: &[Result<T>]) -> Vec<std::result::Result<T, &'static str>> {
    answers.iter().map(|answer| answer.as_ref().copied().map_err(Error::code)).collect()
}

#[tokio::test]
async fn a_batch_is_answered_in_order_and_one_failure_stops_nothing() {
    let handler = AfterAWhile::default();
    let bus = Bus::builder().handle(behaviours![], handler.clone()).build().unwrap();
    let answers = bus.send_batch([0, 1, 2, 4].map(Halve), &Context::new(), 3).await;
    assert_eq!(codes(&answers), [Ok(0), Err("odd"), Ok(1), Ok(2)]);
    assert_eq!(handler.in_flight_max.load(Ordering::SeqCst), 3, "as many at a time as was said");
}

#[test]
fn a_batch_at_once_adds_to_the_answers() {
    let bus = Bus::builder().handle_now(behaviours![], AtOnce).build().unwrap();
    let mut answers = vec![Ok(7)];
    bus.send_batch_now([2, 3].map(Halve), &Context::new(), &mut answers);
    assert_eq!(codes(&answers), [Ok(7), Ok(1), Err("odd")]);
}

#[tokio::test]
async fn a_stream_takes_no_more_commands_than_it_has_in_flight() {
    let bus = Bus::builder().handle(behaviours![], AfterAWhile::default()).build().unwrap();
    let taken = AtomicUsize::new(0);
    let commands = stream::iter((0..1_000).map(|number| {
        taken.fetch_add(1, Ordering::SeqCst);
        Halve(number * 2)
    }));
    let cx = Context::new();
    let mut answers = std::pin::pin!(bus.send_stream(commands, &cx, 4));
    assert_eq!(answers.next().await.unwrap().unwrap(), 0);
    assert!(taken.load(Ordering::SeqCst) <= 5, "one was answered, four may be in flight");
    assert_eq!(answers.count().await, 999);
}

#[tokio::test]
async fn an_async_handler_is_not_called_by_send_now() {
    let bus = Bus::builder().handle(behaviours![], AfterAWhile::default()).build().unwrap();
    let error = bus.send_now(Halve(2), &Context::new()).unwrap_err();
    assert_eq!(error.code(), "handler_waits");
    assert_eq!(bus.send(Halve(2), &Context::new()).await.unwrap(), 1);
}

#[tokio::test]
async fn publish_now_calls_all_synchronous_listeners() {
    let (ear, slow, last) = (Ear::default(), SlowEar::default(), Ear::default());
    let bus = Bus::builder()
        .on_now("ear", ear.clone())
        .on("slow", slow.clone())
        .on_now("last", last.clone())
        .build()
        .unwrap();
    let error = bus.publish_now(&Rung, &Context::new()).unwrap_err();
    let failed: Vec<_> = error.failures().iter().map(|(who, why)| (*who, why.code())).collect();
    assert_eq!(failed, [("slow", "handler_waits")]);
    bus.publish(&Rung, &Context::new()).await.unwrap();
    let told = [&ear.0, &slow.0, &last.0].map(|count| count.load(Ordering::SeqCst));
    assert_eq!(told, [2, 1, 2]);
}

#[tokio::test]
async fn a_batch_of_events_tells_everybody_of_each() {
    let (ear, slow) = (Ear::default(), SlowEar::default());
    let bus = Bus::builder().on_now("ear", ear.clone()).on("slow", slow.clone()).build().unwrap();
    bus.publish_batch(&[Rung, Rung, Rung], &Context::new()).await.unwrap();
    let error = bus.publish_batch_now(&[Rung, Rung], &Context::new()).unwrap_err();
    assert_eq!(error.failures().len(), 2);
    let told = [&ear.0, &slow.0].map(|count| count.load(Ordering::SeqCst));
    assert_eq!(told, [5, 3]);
}

#[test]
fn a_request_without_a_handler_is_an_error_and_an_event_without_one_is_not() {
    let bus = Bus::builder().build().unwrap();
    assert_eq!(bus.send_now(Halve(2), &Context::new()).unwrap_err().code(), "no_handler");
    bus.publish_now(&Rung, &Context::new()).unwrap();
}

#[test]
fn two_handlers_of_one_request_are_refused_with_both_places() {
    let error = Bus::builder()
        .handle_now(behaviours![], AtOnce)
        .handle(behaviours![], AfterAWhile::default())
        .build()
        .map(|_| ())
        .unwrap_err();
    let told = error.to_string();
    assert_eq!(told.matches("dynamic.rs:").count(), 2, "{told}");
}

#[test]
fn a_required_request_without_a_handler_is_refused() {
    let error = Bus::builder().needs::<Halve>().build().map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("halve, which crates/bus/tests/dynamic.rs:"), "{error}");
}
