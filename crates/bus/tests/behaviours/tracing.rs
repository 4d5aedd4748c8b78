use crate::order::{Buy, failure};
use crate::poll::at_once;
use rialto_bus::behaviour::Tracing;
use rialto_bus::{
    Bus, Context, Dispatch, ErrorKind, HandlerNow, Ready, Result, TraceContext, behaviours, bus,
};
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::with_default;
use tracing::{Event, Metadata, Subscriber};

/// Writes down every field of every span.
#[derive(Clone, Default)]
struct Notebook(Arc<Mutex<Vec<String>>>);

impl Visit for Notebook {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.lock().unwrap().push(format!("{}={value:?}", field.name()));
    }
}

impl Subscriber for Notebook {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.clone());
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {
        self.0.lock().unwrap().push("enter".to_owned());
    }
    fn exit(&self, _: &Id) {
        self.0.lock().unwrap().push("exit".to_owned());
    }
}

/// Notes where in a trace it is asked, and fails.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<TraceContext>>>);

impl HandlerNow<Buy> for Seen {
    fn handle_now(&self, _: Buy, cx: &Context<'_>) -> Result<u32> {
        self.0.lock().unwrap().push(cx.trace);
        Err(failure(ErrorKind::NotFound))
    }
}

/// Counts from 10.
fn ids() -> impl Fn() -> u64 {
    let next = AtomicU64::new(10);
    move || next.fetch_add(1, Ordering::Relaxed)
}

type Ids = fn() -> u64;

bus! { struct Shop { all through [Tracing<Ids>] { seen: Seen => now Buy; } } }

#[test]
fn a_request_is_a_span_of_its_trace() {
    let shop = Shop { all: behaviours![Tracing((|| 0xab) as Ids)], seen: Seen::default() };
    let notebook = Notebook::default();
    let mut cx = Context::new();
    cx.trace = TraceContext { trace_id: 7, span_id: 8, flags: 0 };
    cx.request_id = 9;
    with_default(notebook.clone(), || shop.send_now(Buy { quantity: 1 }, &cx)).unwrap_err();

    let handed_down = TraceContext { trace_id: 7, span_id: 0xab, flags: 0 };
    assert_eq!(*shop.seen.0.lock().unwrap(), [handed_down]);
    let expected = [
        "name=\"buy\"",
        "trace_id=00000000000000000000000000000007",
        "span_id=00000000000000ab",
        "parent_span_id=0000000000000008",
        "request_id=9",
        "enter",
        "exit",
        "error=\"as_told\"",
    ];
    assert_eq!(*notebook.0.lock().unwrap(), expected);
}

#[test]
fn a_request_without_a_trace_begins_one_on_a_dynamic_bus() {
    let seen = Seen::default();
    let bus = Bus::builder()
        .handle::<Buy, _, _>(behaviours![Tracing(ids()), Tracing(ids())], Ready(seen.clone()))
        .build()
        .unwrap();
    let notebook = Notebook::default();
    with_default(notebook.clone(), || at_once(bus.send(Buy { quantity: 1 }, &Context::new())))
        .unwrap_err();

    // The inner span belongs to the trace that the outer one has begun.
    let trace_id = (10 << 64) | 11;
    assert_eq!(*seen.0.lock().unwrap(), [TraceContext { trace_id, span_id: 10, flags: 1 }]);
    assert!(notebook.0.lock().unwrap().contains(&"parent_span_id=000000000000000c".to_owned()));
}
