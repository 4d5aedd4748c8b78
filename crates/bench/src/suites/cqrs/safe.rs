//! Handlers that fail, and that panic.

use super::work::{Brittle, Charge, Expected, Pool, sum_of};
use crate::calls::{Arm, Sums, measure};
use crate::error::BenchError;
use crate::references::{BusWork, Work};
use crate::suite::{Context as Bench, Outcome};
use rialto_bus::behaviour::IsolatePanics;
use rialto_bus::{
    Command, Context, Dispatch, Error, ErrorKind, HandlerNow, Request, Result, behaviours, bus,
};
use std::hint::black_box;
use std::panic;
use std::sync::Arc;

/// A request for an error.
struct Fail(Charge);

impl Request for Fail {
    type Response = u64;
    const NAME: &'static str = "fail";
}

impl Command for Fail {}

/// Fails if there is something to charge.
struct Failing;

impl HandlerNow<Fail> for Failing {
    #[inline]
    fn handle_now(&self, Fail(charge): Fail, _: &Context<'_>) -> Result<u64> {
        match charge.quantity {
            0 => Ok(charge.price),
            _ => Err(Error::new(ErrorKind::Conflict, "already_charged", "It was charged before.")),
        }
    }
}

bus! {
    struct SafeBus {
        all through [IsolatePanics] {
            brittle: Brittle => now Charge;
            failing: Failing => now Fail;
        }
    }
}

const OVER: &str = "The median of the differences, round by round, between a static send through \
    panic isolation and the handler called directly.";
const QUIET: &str = "The panic hook, which would print the message, is out of the way: what remains \
    is the unwinding of the stack.";

pub(super) fn safe(context: &mut Bench<'_>) -> std::result::Result<Outcome, BenchError> {
    let calls = context.sized(1_000_000, 1_000);
    let pool = &Pool::new();
    let cx = &black_box(Context::new());
    let direct = &Brittle::new(u64::MAX);
    let bus = |fee_max| SafeBus {
        all: behaviours![IsolatePanics],
        brittle: Brittle::new(fee_max),
        failing: Failing,
    };
    let (safe, breaking) = (&bus(u64::MAX), &bus(0));
    let charged = |calls: u64| pool.charged_in_all(calls);
    let call_directly = |calls: u64| {
        sum_of(calls, &direct.desk.till, |call| direct.handle_now(pool.charge(call), cx))
    };
    let send = |calls: u64| {
        sum_of(calls, &safe.brittle.desk.till, |call| safe.send_now(pool.charge(call), cx))
    };
    let fail = |calls: u64| {
        failures(calls, ErrorKind::Conflict, |call| safe.send_now(Fail(pool.charge(call)), cx))
    };
    let panicking = |calls: u64| {
        failures(calls, ErrorKind::Panicked, |call| breaking.send_now(pool.charge(call), cx))
    };
    let failed = Work::Bus(BusWork::SafeError);
    let arms = vec![
        Arm::new("handler called directly, success", calls, call_directly, charged)
            .beside(Work::Bus(BusWork::DirectSuccess)),
        Arm::new("panic-safe handler, success", calls, send, charged)
            .beside(Work::Bus(BusWork::SafeSuccess))
            .over(0, "time of a call over that of the handler", |row| {
                row.target(2.0).footnote(OVER)
            }),
        Arm::new("panic-safe handler, error without a panic", calls / 10, fail, Sums::of_answers)
            .beside(failed)
            .within(1_000.0),
        Arm::new("panic-safe handler, panic", calls / 1_000, panicking, Sums::of_answers)
            .beside(failed)
            .note(QUIET),
    ];
    let quiet = QuietPanics::begin();
    let outcome = measure(context, "handlers that fail", arms);
    drop(quiet);
    outcome
}

/// Counts the calls that fail in this way.
fn failures(calls: u64, kind: ErrorKind, mut call: impl FnMut(u64) -> Result<u64>) -> Sums {
    let failed = |number| u64::from(call(number).is_err_and(|error| error.kind() == kind));
    Sums::of_answers((0..calls).map(failed).sum())
}

type Hook = Box<dyn Fn(&panic::PanicHookInfo<'_>) + Sync + Send + 'static>;

/// Suppresses the output of the handler's panics only.
struct QuietPanics {
    before: Arc<Hook>,
}

impl QuietPanics {
    fn begin() -> QuietPanics {
        let before = Arc::new(panic::take_hook());
        let others = Arc::clone(&before);
        panic::set_hook(Box::new(move |panic| {
            if !panic.payload().is::<Expected>() {
                others(panic);
            }
        }));
        QuietPanics { before }
    }
}

impl Drop for QuietPanics {
    fn drop(&mut self) {
        // The hook cannot be changed while the thread panics.
        if !std::thread::panicking() {
            let before = Arc::clone(&self.before);
            panic::set_hook(Box::new(move |panic| before(panic)));
        }
    }
}
