//! Handlers that fail, and that panic.

use super::case;
use super::work::{Brittle, Charge, Expected, Pool, sum_of};
use crate::calls::{Arm, Sums, Targets, measure};
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
    let charged = |calls| pool.charged_in_all(calls);
    let failed = |calls| Sums { answers: calls, effects: 0 };
    let quiet = QuietPanics::begin();
    let measured = measure(
        context,
        "handlers that fail",
        vec![
            Arm::new(
                case("handler called directly, success"),
                calls,
                |calls| {
                    sum_of(calls, &direct.desk.till, |call| {
                        direct.handle_now(pool.charge(call), cx)
                    })
                },
                charged,
            ),
            Arm::new(
                case("panic-safe handler, success"),
                calls,
                |calls| {
                    sum_of(calls, &safe.brittle.desk.till, |call| {
                        safe.send_now(pool.charge(call), cx)
                    })
                },
                charged,
            ),
            Arm::new(
                case("panic-safe handler, error without a panic"),
                calls / 10,
                |calls| {
                    failures(calls, ErrorKind::Conflict, |call| {
                        safe.send_now(Fail(pool.charge(call)), cx)
                    })
                },
                failed,
            ),
            Arm::new(
                case("panic-safe handler, panic"),
                calls / 1_000,
                |calls| {
                    failures(calls, ErrorKind::Panicked, |call| {
                        breaking.send_now(pool.charge(call), cx)
                    })
                },
                failed,
            ),
        ],
    );
    drop(quiet);
    let measured = measured?;
    let none = Targets::default();
    let mut outcome = Outcome::default();
    outcome.rows.extend(measured.rows(0, Some(Work::Bus(BusWork::DirectSuccess)), none));
    outcome.rows.extend(measured.rows(1, Some(Work::Bus(BusWork::SafeSuccess)), none));
    outcome.rows.push(
        measured.over(1, 0, "time of a call over that of the handler").target(2.0).footnote(OVER),
    );
    let error = Some(Work::Bus(BusWork::SafeError));
    outcome.rows.extend(measured.rows(2, error, Targets::time(1_000.0)));
    let panics = measured.rows(3, error, none).into_iter();
    outcome.rows.extend(panics.map(|row| row.footnote(QUIET)));
    Ok(outcome)
}

/// Counts the calls that fail in this way.
fn failures(calls: u64, kind: ErrorKind, mut call: impl FnMut(u64) -> Result<u64>) -> Sums {
    let mut answers = 0;
    for number in 0..calls {
        answers += u64::from(call(number).is_err_and(|error| error.kind() == kind));
    }
    Sums { answers, effects: 0 }
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
