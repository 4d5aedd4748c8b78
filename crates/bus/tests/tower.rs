//! Layers of `tower` work around a bus of either kind.

#![allow(clippy::unwrap_used)]
#![cfg(feature = "tower")]

use rialto_bus::{
    Bus, Command, Context, Envelope, Error, Handler, HandlerNow, Query, Request, RequestService,
    Result, bus,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use tower::limit::ConcurrencyLimitLayer;
use tower::timeout::TimeoutLayer;
use tower::{Service, ServiceBuilder, ServiceExt};

struct Knock;
impl Request for Knock {
    type Response = usize;
    const NAME: &'static str = "knock";
}
impl Command for Knock {}

struct WhoAsks;
impl Request for WhoAsks {
    type Response = String;
    const NAME: &'static str = "who_asks";
}
impl Query for WhoAsks {}

/// Answers when the gate lets it, with how many were inside at once.
struct Gate {
    open: Semaphore,
    inside: AtomicUsize,
}
impl Gate {
    fn with(permits: usize) -> Arc<Gate> {
        Arc::new(Gate { open: Semaphore::new(permits), inside: AtomicUsize::new(0) })
    }
}
impl Handler<Knock> for Gate {
    async fn handle(&self, _: Knock, _: &Context<'_>) -> Result<usize> {
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        let pass = self.open.acquire().await.unwrap();
        pass.forget();
        self.inside.fetch_sub(1, Ordering::SeqCst);
        Ok(inside)
    }
}

struct Porter;
impl HandlerNow<WhoAsks> for Porter {
    fn handle_now(&self, _: WhoAsks, cx: &Context<'_>) -> Result<String> {
        let who = cx.principal::<String>().map_or("nobody", String::as_str);
        Ok(format!("{who} in {} with {:?}", cx.request_id, cx.idempotency_key))
    }
}

bus! {
    struct TestBus {
        all through [] {
            gate: Arc<Gate> => later Knock;
            porter: Porter => now WhoAsks;
        }
    }
}

fn route_to(gate: &Arc<Gate>) -> RequestService<Knock, TestBus> {
    RequestService::new(Arc::new(TestBus { all: (), gate: gate.clone(), porter: Porter }))
}

#[tokio::test]
async fn a_concurrency_limit_around_the_bus_applies() {
    let gate = Gate::with(0);
    let service =
        ServiceBuilder::new().layer(ConcurrencyLimitLayer::new(2)).service(route_to(&gate));
    let calls: Vec<_> =
        (0..6).map(|_| tokio::spawn(service.clone().oneshot(Envelope::of(Knock)))).collect();
    while gate.inside.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    gate.open.add_permits(6);
    let mut inside_max = 0;
    for call in calls {
        inside_max = inside_max.max(call.await.unwrap().unwrap());
    }
    assert_eq!(inside_max, 2);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_around_the_bus_gives_up_on_a_handler() {
    let gate = Gate::with(0);
    let layer = TimeoutLayer::new(Duration::from_secs(5));
    let mut service = ServiceBuilder::new().layer(layer).service(route_to(&gate));
    let error = service.ready().await.unwrap().call(Envelope::of(Knock)).await.unwrap_err();
    assert!(error.is::<tower::timeout::error::Elapsed>(), "{error}");
    gate.open.add_permits(1);
    assert!(service.ready().await.unwrap().call(Envelope::of(Knock)).await.is_ok());
}

#[tokio::test]
async fn the_context_of_the_envelope_arrives() {
    let bus = TestBus { all: (), gate: Gate::with(0), porter: Porter };
    let route = RequestService::new(Arc::new(bus));
    let mut envelope = Envelope::of(WhoAsks).with_principal(Arc::new("Ada".to_owned()));
    envelope.request_id = 7;
    envelope.idempotency_key = Some("once".into());
    let answer = route.oneshot(envelope).await.unwrap();
    assert_eq!(answer, "Ada in 7 with Some(\"once\")");
}

#[tokio::test]
async fn a_bus_that_finds_handlers_by_type_is_a_service_too() {
    let bus = Arc::new(Bus::builder().handle_now((), Porter).build().unwrap());
    let answer = RequestService::new(bus.clone()).oneshot(Envelope::of(WhoAsks)).await.unwrap();
    assert_eq!(answer, "nobody in 0 with None");
    let error: Error = RequestService::new(bus).oneshot(Envelope::of(Knock)).await.unwrap_err();
    assert_eq!(error.code(), "no_handler");
}
