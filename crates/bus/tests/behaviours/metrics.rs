use crate::order::{Buy, Desk, failure};
use rialto_bus::behaviour::{Clock, ManualTimer, Metrics, Outcome, Sink};
use rialto_bus::{
    Behaviours, Bus, Context, Dispatch, ErrorKind, HandlerNow, Result, behaviours, bus,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Default)]
struct Notebook(Mutex<Vec<(&'static str, Outcome, Duration)>>);

impl Sink for Notebook {
    fn observe(&self, request: &'static str, outcome: Outcome, took: Duration) {
        self.0.lock().unwrap().push((request, outcome, took));
    }
}

/// Takes as many milliseconds as are bought.
struct Slow(Arc<ManualTimer>, Desk);

impl HandlerNow<Buy> for Slow {
    fn handle_now(&self, buy: Buy, cx: &Context<'_>) -> Result<u32> {
        self.0.advance(Duration::from_millis(buy.quantity.into()));
        self.1.handle_now(buy, cx)
    }
}

type Timed = Metrics<Arc<Notebook>, Arc<ManualTimer>>;

bus! { struct Shop { all through [Timed] { slow: Slow => now Buy; } } }

fn parts() -> (Arc<Notebook>, Behaviours![Timed], Slow) {
    let (notebook, clock) = (Arc::new(Notebook::default()), Arc::new(ManualTimer::new()));
    let timed = Metrics::with_clock(notebook.clone(), clock.clone());
    (notebook, behaviours![timed], Slow(clock, Desk::failing([failure(ErrorKind::NotFound)])))
}

const EXPECTED: [(&str, Outcome, Duration); 2] = [
    ("buy", Err(ErrorKind::NotFound), Duration::from_millis(7)),
    ("buy", Ok(()), Duration::from_millis(9)),
];

#[test]
fn the_sink_gets_outcome_and_duration_of_each_request() {
    let (notebook, all, slow) = parts();
    let shop = Shop { all, slow };
    for quantity in [7, 9] {
        let _ = shop.send_now(Buy { quantity }, &Context::new());
    }
    assert_eq!(*notebook.0.lock().unwrap(), EXPECTED);
}

#[test]
fn the_sink_is_called_on_a_dynamic_bus() {
    let (notebook, all, slow) = parts();
    let bus = Bus::builder().handle_now::<Buy, _, _>(all, slow).build().unwrap();
    for quantity in [7, 9] {
        let _ = bus.send_now(Buy { quantity }, &Context::new());
    }
    assert_eq!(*notebook.0.lock().unwrap(), EXPECTED);
}

#[test]
fn the_clock_of_a_test_moves_only_by_hand() {
    let clock = ManualTimer::new();
    let before = clock.monotonic();
    assert_eq!(clock.monotonic(), before);
    clock.advance(Duration::from_secs(1));
    assert_eq!(clock.monotonic() - before, Duration::from_secs(1));
}
