//! A handler that panics becomes an error with its message, and everything else continues, on both
//! kinds of bus.

#![allow(clippy::unwrap_used)]

use rialto_bus::behaviour::IsolatePanics;
use rialto_bus::{
    Announces, AnnouncesNow, Bus, Command, Context, Dispatch, ErrorKind, Event, EventHandler,
    EventHandlerNow, Handler, HandlerNow, Isolated, Request, Result, Serves, ServesNow, behaviours,
    bus,
};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Divide(u32, u32);
impl Request for Divide {
    type Response = u32;
    const NAME: &'static str = "divide";
}
impl Command for Divide {}

struct Root(u32);
impl Request for Root {
    type Response = u32;
    const NAME: &'static str = "root";
}
impl Command for Root {}

struct Reckoner;
impl HandlerNow<Divide> for Reckoner {
    fn handle_now(&self, Divide(a, b): Divide, _: &Context<'_>) -> Result<u32> {
        Ok(a / b)
    }
}
impl Handler<Root> for Reckoner {
    async fn handle(&self, Root(square): Root, _: &Context<'_>) -> Result<u32> {
        tokio::task::yield_now().await;
        let root = square.isqrt();
        assert!(root * root == square, "{square} is no square");
        Ok(root)
    }
}

struct Tick;
impl Event for Tick {
    const NAME: &'static str = "tick";
}

struct Clumsy;
impl EventHandlerNow<Tick> for Clumsy {
    fn on_now(&self, _: &Tick, _: &Context<'_>) -> Result<()> {
        panic!("dropped it");
    }
}

struct ClumsyLater;
impl EventHandler<Tick> for ClumsyLater {
    async fn on(&self, _: &Tick, _: &Context<'_>) -> Result<()> {
        tokio::task::yield_now().await;
        panic!("dropped it later");
    }
}

#[derive(Default)]
struct Counting(AtomicUsize);
impl EventHandlerNow<Tick> for Counting {
    fn on_now(&self, _: &Tick, _: &Context<'_>) -> Result<()> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

bus! {
    struct Static {
        safe through [IsolatePanics] {
            divide: Reckoner => now Divide;
            root: Reckoner => later Root;
        }
        events {
            clumsy: Isolated<Clumsy>;
            counting: Counting;
            now Tick => clumsy, counting;
        }
    }
}

fn a_static_bus() -> Static {
    Static {
        safe: behaviours![IsolatePanics],
        divide: Reckoner,
        root: Reckoner,
        clumsy: Isolated(Clumsy),
        counting: Counting::default(),
    }
}

fn a_dynamic_bus() -> Bus {
    Bus::builder()
        .handle_now::<Divide, _, _>(behaviours![IsolatePanics], Reckoner)
        .handle::<Root, _, _>(behaviours![IsolatePanics], Reckoner)
        .on_now("clumsy", Isolated(Clumsy))
        .on_now("counting", Counting::default())
        .build()
        .unwrap()
}

fn divides_again_after_a_panic(bus: &(impl Dispatch + ServesNow<Divide>)) {
    let error = bus.send_now(Divide(1, 0), &Context::new()).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Panicked, "handler_panicked"));
    assert!(error.message().contains("attempt to divide by zero"), "{error}");
    assert!(!error.is_retryable(), "whether anything was done is not known");
    assert_eq!(bus.send_now(Divide(6, 3), &Context::new()).unwrap(), 2);
}

async fn other_requests_go_on(bus: &(impl Dispatch + Serves<Root>)) {
    let answers = bus.send_batch([4, 5, 9].map(Root), &Context::new(), 3).await;
    assert_eq!(answers[0].as_ref().unwrap(), &2);
    let error = answers[1].as_ref().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Panicked);
    assert!(error.message().contains("5 is no square"), "{error}");
    assert_eq!(answers[2].as_ref().unwrap(), &3);
}

fn later_listeners_are_called(bus: &(impl Dispatch + AnnouncesNow<Tick>)) {
    let error = bus.publish_now(&Tick, &Context::new()).unwrap_err();
    let [(who, why)] = error.failures() else { panic!("one listener fails: {error}") };
    assert_eq!((*who, why.kind()), ("clumsy", ErrorKind::Panicked));
    assert!(why.message().contains("dropped it"), "{why}");
}

#[tokio::test]
async fn a_static_bus_survives_panics() {
    let bus = a_static_bus();
    divides_again_after_a_panic(&bus);
    other_requests_go_on(&bus).await;
    later_listeners_are_called(&bus);
    assert_eq!(bus.counting.0.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_dynamic_bus_survives_panics() {
    let bus = a_dynamic_bus();
    divides_again_after_a_panic(&bus);
    other_requests_go_on(&bus).await;
    later_listeners_are_called(&bus);
}

#[tokio::test]
async fn a_listener_that_panics_while_it_is_awaited_is_isolated_too() {
    let counting = std::sync::Arc::new(Counting::default());
    let bus = Bus::builder()
        .on("clumsy", Isolated(ClumsyLater))
        .on_now("counting", counting.clone())
        .build()
        .unwrap();
    let error = Announces::announce(&bus, &Tick, &Context::new()).await.unwrap_err();
    assert!(error.failures()[0].1.message().contains("dropped it later"), "{error}");
    assert_eq!(counting.0.load(Ordering::SeqCst), 1);
}
