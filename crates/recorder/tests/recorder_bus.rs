//! Requests of a bus are recorded: steps, notes, fields, failures, and nested requests.

#![allow(clippy::unwrap_used)]

use rialto_bus::behaviour::IsolatePanics;
use rialto_bus::{
    Behaviours, Bus, Command, Context, Dispatch, Error, ErrorKind, Handler, HandlerNow, Request,
    Result, behaviours, bus,
};
use rialto_clock::{ManualClock, Timestamp};
use rialto_recorder::{
    Capture, Fields, RecordEnding, RecordId, RecordRequests, RecordVariables, Recorder,
    RecorderBounds, Sampling, StepId,
};
use std::sync::Arc;
use std::time::Duration;

struct Pay {
    amount: u64,
    token: &'static str,
}
impl Request for Pay {
    type Response = u64;
    const NAME: &'static str = "pay";
}
impl Command for Pay {}
impl Capture for Pay {
    fn capture(&self, fields: &mut Fields<'_>) {
        fields.unsigned("amount", self.amount);
        fields.hidden("token");
    }
}

struct Charge(u64);
impl Request for Charge {
    type Response = u64;
    const NAME: &'static str = "charge";
}
impl Command for Charge {}

struct Bank {
    clock: ManualClock,
}
impl HandlerNow<Charge> for Bank {
    fn handle_now(&self, Charge(amount): Charge, cx: &Context<'_>) -> Result<u64> {
        cx.step("look up");
        self.clock.advance(Duration::from_millis(2));
        cx.note("balance", &100);
        if amount == 13 {
            panic!("unlucky");
        }
        if amount > 100 {
            return Err(Error::new(ErrorKind::Conflict, "no_funds", "There is not enough."));
        }
        Ok(100 - amount)
    }
}

/// Asks the bank over a bus of its own.
struct Cashier {
    bank: Inner,
    clock: ManualClock,
}
impl Handler<Pay> for Cashier {
    async fn handle(&self, pay: Pay, cx: &Context<'_>) -> Result<u64> {
        assert!(!pay.token.is_empty());
        cx.step("check");
        self.clock.advance(Duration::from_millis(1));
        cx.step("charge");
        let left = self.bank.send(Charge(pay.amount), cx).await?;
        self.clock.advance(Duration::from_millis(3));
        cx.step("tell");
        cx.note("left", &left);
        Ok(left)
    }
}

bus! {
    struct Inner {
        all through [IsolatePanics, RecordRequests<ManualClock>] {
            bank: Bank => now Charge;
        }
    }
}

bus! {
    struct Outer {
        all through [RecordVariables<ManualClock>] {
            cashier: Cashier => later Pay;
        }
    }
}

fn outer(sampling: Sampling) -> (Outer, Arc<Recorder<ManualClock>>) {
    let clock = ManualClock::new(Timestamp(5_000));
    let recorder = Arc::new(Recorder::new(RecorderBounds::default(), sampling, clock.clone()));
    let inner: Behaviours!(IsolatePanics, RecordRequests<ManualClock>) =
        behaviours!(IsolatePanics, RecordRequests(Arc::clone(&recorder)));
    let bank = Inner { all: inner, bank: Bank { clock: clock.clone() } };
    let all = behaviours!(RecordVariables(Arc::clone(&recorder)));
    (Outer { all, cashier: Cashier { bank, clock } }, recorder)
}

/// Runs what never has to wait.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut cx) {
        std::task::Poll::Ready(answer) => answer,
        std::task::Poll::Pending => panic!("nothing here waits"),
    }
}

fn pay(amount: u64) -> Pay {
    Pay { amount, token: "hunter2" }
}

#[test]
fn a_request_and_what_it_asks_are_one_tree_with_times_and_variables() {
    let (bus, recorder) = outer(Sampling::All);
    let mut cx = Context::new();
    cx.request_id = 77;
    assert_eq!(now(bus.send(pay(30), &cx)).unwrap(), 70);
    let tree = recorder.show(recorder.list()[0].id()).unwrap();
    assert_eq!(
        tree.to_string(),
        "\
pay #1 request 77  took 6ms
  amount = 30
  token = (hidden)
  check  +0ns  took 1ms
  charge  +1ms  took 5ms
    charge #2 request 77  +1ms  took 2ms
      look up  +1ms  took 2ms
        balance = 100
  tell  +6ms  took 0ns
    left = 70
"
    );
}

#[test]
fn a_secret_is_nowhere_in_the_record() {
    let (bus, recorder) = outer(Sampling::All);
    now(bus.send(pay(30), &Context::new())).unwrap();
    let record = &recorder.list()[0];
    assert!(record.variables_at(StepId::BEGIN).any(|told| told.path == "token"));
    assert!(!format!("{record:?}").contains("hunter2"));
}

#[test]
fn a_failure_is_recorded_with_its_code_and_sentence() {
    let (bus, recorder) = outer(Sampling::All);
    assert!(now(bus.send(pay(500), &Context::new())).is_err());
    for record in recorder.list() {
        let failed = RecordEnding::Failed { code: "no_funds", message: "There is not enough." };
        assert_eq!(record.ending(), Some(failed), "{}", record.name());
    }
}

#[test]
fn a_panic_and_an_abandoned_request_are_distinguished() {
    let (bus, recorder) = outer(Sampling::All);
    assert!(now(bus.send(pay(13), &Context::new())).is_err());
    let charge = recorder.find(|record| record.name() == "charge");
    assert_eq!(charge[0].ending(), Some(RecordEnding::Panicked));

    let waits = Recording(RecordRequests(Arc::clone(&recorder)));
    drop(waits.begin_and_leave());
    let left = recorder.find(|record| record.name() == "never");
    assert_eq!(left[0].ending(), Some(RecordEnding::Abandoned));
}

struct Never;
impl Request for Never {
    type Response = ();
    const NAME: &'static str = "never";
}
impl Command for Never {}

struct Nobody;
impl Handler<Never> for Nobody {
    async fn handle(&self, _: Never, cx: &Context<'_>) -> Result<()> {
        cx.step("wait");
        std::future::pending().await
    }
}

/// A dynamic bus behind the same behaviour.
struct Recording(RecordRequests<ManualClock>);
impl Recording {
    fn begin_and_leave(&self) -> Bus {
        let through = behaviours!(self.0.clone());
        let bus = Bus::builder().handle::<Never, _, _>(through, Nobody).build().unwrap();
        {
            let cx = Context::new();
            let mut waiting = Box::pin(bus.send(Never, &cx));
            let mut task = std::task::Context::from_waker(std::task::Waker::noop());
            assert!(waiting.as_mut().poll(&mut task).is_pending());
            let under_way = self.0.0.find(|record| record.name() == "never");
            assert_eq!(under_way[0].ending(), None);
            assert_eq!(under_way[0].steps()[0].name(), "wait");
        }
        bus
    }
}

#[test]
fn where_only_failures_are_kept_success_leaves_nothing() {
    let (bus, recorder) = outer(Sampling::Failures);
    now(bus.send(pay(30), &Context::new())).unwrap();
    assert_eq!(recorder.list().len(), 0);
    assert!(now(bus.send(pay(500), &Context::new())).is_err());
    assert_eq!(recorder.list().len(), 2);
    assert_eq!(recorder.statistics().forgotten, 2);
}

#[test]
fn nested_requests_follow_the_sampling_of_the_outer_request() {
    let (bus, recorder) = outer(Sampling::Share { per_million: 500_000 });
    for _ in 0..200 {
        now(bus.send(pay(30), &Context::new())).unwrap();
    }
    let records = recorder.list();
    let (roots, children): (Vec<_>, Vec<_>) =
        records.iter().partition(|record| record.subject().parent == RecordId::NONE);
    assert!((40..160).contains(&roots.len()), "{} of 200 at a share of one half", roots.len());
    let parents: Vec<_> = children.iter().map(|record| record.subject().parent).collect();
    assert_eq!(parents, roots.iter().map(|record| record.id()).collect::<Vec<_>>());
    assert_eq!(recorder.statistics().left_out, 2 * (200 - roots.len() as u64));
}
