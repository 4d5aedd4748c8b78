//! Handlers are discovered without a list; two for one request, or none, are errors with places.

#![allow(clippy::unwrap_used)]
#![cfg(feature = "macros")]

use rialto_bus::{
    Bus, Command, Context, Dispatch, ErrorKind, Event, EventHandlerNow, Handler, HandlerNow, Query,
    Result, handler,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

fn wrong(builder: rialto_bus::Builder) -> Vec<String> {
    builder.build().map(|_| ()).unwrap_err().wrong().to_vec()
}

/// `file:line` of the line of this file with this text, which must not be elsewhere in it.
fn place(text: &str) -> String {
    let mut lines = include_str!("discovery.rs").lines().enumerate();
    let is_there = |line: &str| line.contains(text) && !line.contains("place(");
    let (at, _) = lines.find(|(_, line)| is_there(line)).unwrap();
    assert!(!lines.any(|(_, line)| is_there(line)), "{text:?} is there twice");
    format!("{}:{}:", file!(), at + 1)
}

mod derived {
    use super::*;

    #[derive(Command)]
    pub(super) struct OpenShop;

    #[derive(Query)]
    #[request(response = Vec<T>, name = "stock")]
    pub(super) struct Stocked<T: Send + 'static>(pub(super) T);

    #[derive(Event)]
    pub(super) struct ShopOpened;
}

#[test]
fn derives_name_requests_in_snake_case_by_default() {
    fn command<R: Command<Response = ()>>() -> &'static str {
        R::NAME
    }
    fn query<R: Query<Response = Vec<u8>>>() -> &'static str {
        R::NAME
    }
    assert_eq!(command::<derived::OpenShop>(), "open_shop");
    assert_eq!(query::<derived::Stocked<u8>>(), "stock");
    assert_eq!(derived::Stocked(1).0, 1);
    assert_eq!(<derived::ShopOpened as Event>::NAME, "shop_opened");
}

mod shop {
    use super::*;
    use rialto_bus::behaviour::IsolatePanics;
    use rialto_bus::behaviours;

    #[derive(Command)]
    #[request(response = u32)]
    pub(super) struct Take(pub(super) u32);

    #[derive(Query)]
    #[request(response = u32)]
    pub(super) struct Taken;

    #[derive(Default)]
    struct Till(AtomicU32);

    #[handler(through = behaviours![IsolatePanics])]
    impl HandlerNow<Take> for Till {
        fn handle_now(&self, Take(amount): Take, cx: &Context<'_>) -> Result<u32> {
            assert!(amount > 0, "nothing to take");
            cx.note("amount", &amount);
            Ok(self.0.fetch_add(amount, Ordering::SeqCst) + amount)
        }
    }

    #[handler]
    impl Handler<Taken> for Till {
        async fn handle(&self, _: Taken, _: &Context<'_>) -> Result<u32> {
            tokio::task::yield_now().await;
            Ok(self.0.load(Ordering::SeqCst))
        }
    }
}

#[tokio::test]
async fn a_type_that_handles_several_requests_is_made_once() {
    let bus = Bus::builder().discover_in(concat!(module_path!(), "::shop")).build().unwrap();
    let cx = Context::new();
    assert_eq!(bus.send_now(shop::Take(2), &cx).unwrap(), 2);
    assert_eq!(bus.send(shop::Take(3), &cx).await.unwrap(), 5);
    assert_eq!(bus.query(shop::Taken, &cx).await.unwrap(), 5);
}

#[test]
fn behaviours_that_are_stated_at_a_handler_stand_before_it() {
    let bus = Bus::builder().discover_in(concat!(module_path!(), "::shop")).build().unwrap();
    let error = bus.send_now(shop::Take(0), &Context::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Panicked);
    assert!(error.message().contains("nothing to take"), "{error}");
}

mod functions {
    use super::*;

    #[derive(Command)]
    #[request(response = String)]
    pub(super) struct Greet(pub(super) &'static str);

    #[derive(Query)]
    #[request(response = usize)]
    pub(super) struct Length {
        pub(super) of: &'static str,
    }

    #[derive(Event)]
    pub(super) struct Greeted(pub(super) &'static str);

    pub(super) static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

    /// A function stays one.
    #[handler]
    pub(super) fn greet(Greet(name): Greet) -> Result<String> {
        Ok(format!("Hello, {name}!"))
    }

    #[handler]
    async fn length(super::functions::Length { of }: Length, _: &Context<'_>) -> Result<usize> {
        tokio::task::yield_now().await;
        Ok(of.len())
    }

    #[handler]
    fn first(event: &Greeted) -> Result<()> {
        HEARD.lock().unwrap().push(format!("first {}", event.0));
        Ok(())
    }

    #[handler]
    fn clumsy(event: &Greeted) -> Result<()> {
        panic!("who is {}?", event.0);
    }

    #[handler]
    async fn last(event: &Greeted, cx: &Context<'_>) -> Result<()> {
        tokio::task::yield_now().await;
        HEARD.lock().unwrap().push(format!("last {} in {}", event.0, cx.request_id));
        Ok(())
    }
}

#[tokio::test]
async fn listener_functions_are_discovered_and_called_in_order_even_if_one_panics() {
    let bus = Bus::builder().discover_in(concat!(module_path!(), "::functions")).build().unwrap();
    let mut cx = Context::new();
    cx.request_id = 7;
    assert_eq!(bus.send_now(functions::Greet("Ada"), &cx).unwrap(), "Hello, Ada!");
    assert_eq!(functions::greet(functions::Greet("Bob")).unwrap(), "Hello, Bob!");
    assert_eq!(bus.query(functions::Length { of: "four" }, &cx).await.unwrap(), 4);
    let error = bus.publish(&functions::Greeted("Ada"), &cx).await.unwrap_err();
    let [(who, why)] = error.failures() else { panic!("one of three fails: {error}") };
    assert_eq!(*who, "clumsy");
    assert!(why.message().contains("who is Ada?"), "{why}");
    assert_eq!(*functions::HEARD.lock().unwrap(), ["first Ada", "last Ada in 7"]);
}

mod twice {
    use super::*;

    #[derive(Command)]
    pub(super) struct Ring;

    #[derive(Default)]
    struct Bell;

    #[handler]
    impl HandlerNow<Ring> for Bell {
        fn handle_now(&self, _: Ring, _: &Context<'_>) -> Result<()> {
            Ok(())
        }
    }

    #[handler]
    fn ring_as_well(_: Ring) -> Result<()> {
        Ok(())
    }
}

#[test]
fn duplicate_handlers_are_reported_with_both_locations() {
    let wrong = wrong(Bus::builder().discover_in(concat!(module_path!(), "::twice")));
    let [wrong] = &wrong[..] else { panic!("{wrong:?}") };
    assert!(wrong.starts_with("ring has two handlers"), "{wrong}");
    assert!(wrong.contains(&place("impl HandlerNow<Ring>")), "{wrong}");
    assert!(wrong.contains(&place("fn ring_as_well")), "{wrong}");
}

mod gap {
    use super::*;

    #[derive(Query)]
    pub(super) struct Unanswered;
}

#[test]
fn a_missing_handler_is_reported_with_its_derive_and_module() {
    let module = concat!(module_path!(), "::gap");
    let wrong = wrong(Bus::builder().discover_in(module)); // the gap is seen from here
    let [wrong] = &wrong[..] else { panic!("{wrong:?}") };
    assert!(wrong.starts_with("unanswered, derived at"), "{wrong}");
    assert!(wrong.contains(&place("struct Unanswered")), "{wrong}");
    assert!(wrong.contains(&place("// the gap is seen from here")), "{wrong}");
}

#[test]
fn a_handler_that_is_registered_by_hand_fills_a_gap() {
    struct Silence;
    impl HandlerNow<gap::Unanswered> for Silence {
        fn handle_now(&self, _: gap::Unanswered, _: &Context<'_>) -> Result<()> {
            Ok(())
        }
    }
    let bus = Bus::builder()
        .discover_in(concat!(module_path!(), "::gap"))
        .handle_now((), Silence)
        .build()
        .unwrap();
    bus.query_now(gap::Unanswered, &Context::new()).unwrap();
}

#[test]
fn everything_is_everything_that_the_program_holds() {
    let wrong = wrong(Bus::builder().give(given::Cellar { bottles: 0 }).discover());
    assert!(wrong.iter().any(|wrong| wrong.starts_with("ring has two handlers")), "{wrong:?}");
    assert!(wrong.iter().any(|wrong| wrong.starts_with("unanswered")), "{wrong:?}");
    assert!(wrong.iter().any(|wrong| wrong.starts_with("open_shop")), "{wrong:?}");
    assert_eq!(wrong.len(), 3, "{wrong:?}");
}

mod given {
    use super::*;

    #[derive(Query)]
    #[request(response = u32)]
    pub(super) struct Bottles;

    #[derive(Event)]
    pub(super) struct BottleAdded;

    /// It has no default: somebody has to count.
    pub(super) struct Cellar {
        pub(super) bottles: u32,
    }

    #[handler(given)]
    impl HandlerNow<Bottles> for Cellar {
        fn handle_now(&self, _: Bottles, _: &Context<'_>) -> Result<u32> {
            Ok(self.bottles)
        }
    }

    #[handler(given)]
    impl EventHandlerNow<BottleAdded> for Cellar {
        fn on_now(&self, _: &BottleAdded, _: &Context<'_>) -> Result<()> {
            assert_eq!(self.bottles, 0, "the cellar is full");
            Ok(())
        }
    }
}

#[test]
fn a_handler_is_given_where_none_can_be_made() {
    let module = concat!(module_path!(), "::given");
    let bus =
        Bus::builder().give(given::Cellar { bottles: 6 }).discover_in(module).build().unwrap();
    assert_eq!(bus.query_now(given::Bottles, &Context::new()).unwrap(), 6);
    let error = bus.publish_now(&given::BottleAdded, &Context::new()).unwrap_err();
    assert_eq!(error.failures()[0].0, "Cellar");
}

#[test]
fn a_missing_handler_instance_is_reported_with_its_location() {
    let wrong = wrong(Bus::builder().discover_in(concat!(module_path!(), "::given")));
    assert_eq!(wrong.len(), 2, "the question and the event, and no gap besides: {wrong:?}");
    assert!(wrong[0].contains("Cellar, which handles at"), "{wrong:?}");
    assert!(wrong[0].contains(&place("impl HandlerNow<Bottles>")), "{wrong:?}");
}

#[test]
fn an_unused_handler_instance_is_reported_with_its_location() {
    let wrong = wrong(Bus::builder().give(String::new())); // nobody wants this gift
    assert!(wrong[0].contains("String, given at"), "{wrong:?}");
    assert!(wrong[0].contains(&place("// nobody wants this gift")), "{wrong:?}");
}

#[test]
fn discovering_twice_finds_nothing_new() {
    let (all, inside) = (concat!(module_path!(), "::shop"), concat!(module_path!(), "::shop"));
    assert!(Bus::builder().discover_in(all).discover_in(inside).build().is_ok());
}

#[test]
fn a_module_with_a_common_prefix_is_not_a_submodule() {
    let bus = Bus::builder().discover_in(concat!(module_path!(), "::sho")).build().unwrap();
    assert_eq!(bus.send_now(shop::Take(1), &Context::new()).unwrap_err().code(), "no_handler");
}

mod shared {
    use super::*;
    use rialto_bus::behaviour::IsolatePanics;
    use rialto_bus::{Behaviour, Pipeline, Request, behaviours};
    use std::sync::{Arc, LazyLock};

    #[derive(Default)]
    pub(super) struct SeenRequests(pub(super) Mutex<Vec<&'static str>>);

    impl<R: Request> Behaviour<R> for SeenRequests {
        async fn call<N: Handler<R> + Copy>(
            &self,
            request: R,
            cx: &Context<'_>,
            next: N,
        ) -> Result<R::Response> {
            self.0.lock().unwrap().push(R::NAME);
            next.handle(request, cx).await
        }
    }

    pub(super) static SEEN_REQUESTS: LazyLock<Arc<SeenRequests>> = LazyLock::new(Arc::default);

    fn guarded<R: Request>() -> impl Pipeline<R> {
        behaviours![IsolatePanics, SEEN_REQUESTS.clone()]
    }

    #[derive(Command)]
    pub(super) struct Left;

    #[derive(Command)]
    pub(super) struct Right;

    #[handler(through = guarded::<Left>())]
    async fn left(_: Left) -> Result<()> {
        Ok(())
    }

    #[handler(through = guarded::<Right>())]
    async fn right(_: Right) -> Result<()> {
        panic!("not that way");
    }
}

#[tokio::test]
async fn a_generic_function_states_one_pipeline_for_many_handlers() {
    let bus = Bus::builder().discover_in(concat!(module_path!(), "::shared")).build().unwrap();
    bus.send(shared::Left, &Context::new()).await.unwrap();
    let error = bus.send(shared::Right, &Context::new()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Panicked);
    assert_eq!(*shared::SEEN_REQUESTS.0.lock().unwrap(), ["left", "right"]);
}
