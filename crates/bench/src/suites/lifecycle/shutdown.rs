//! Shutdown with operations in progress.

use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, Spread};
use crate::references::{LifecycleWork, Metric, Work};
use crate::report::{Case, Row, Unit};
use crate::suite::Context;
use rialto_disk::allocated_by;
use rialto_lifecycle::{Lifecycle, OwnedOperation};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const REQUESTS: usize = 1_000;
const WORKERS: usize = 8;
/// Only a hanging shutdown reaches it.
const DEADLINE: Duration = Duration::from_secs(60);

const AFTER_END: &str = "From the end of the operation to the return of the shutdown.";
const ONE_THOUSAND: &str = "From the call of the shutdown, when all requests are under way and none is \
    answered, to its return; 8 threads answer them. A request that comes later is refused.";

/// One operation continues for a while after the shutdown was requested.
pub(super) fn with_a_slow_operation(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let mut rows = Vec::new();
    for (ms, work) in [(10, LifecycleWork::Shutdown10Ms), (100, LifecycleWork::Shutdown100Ms)] {
        let case = Case::without_orders(format!("shutdown while an operation takes {ms} ms"));
        let name = case.to_string();
        context.progress(&format!("  {}", case.work));
        let takes = Duration::from_millis(context.sized(ms, 1));
        let (mut whole_ns, mut after_ns) = (Vec::new(), Vec::new());
        let mut allocated = None;
        for _ in 0..context.sized(7, 1) {
            let lifecycle = Lifecycle::new();
            let operation = begun(&name, &lifecycle)?;
            let clock = Clock::start();
            let slow = thread::spawn(move || {
                thread::sleep(takes);
                let ended_ns = clock.now_ns();
                drop(operation);
                ended_ns
            });
            let began_ns = clock.now_ns();
            let mut report = None;
            allocated = allocated_by(|| report = Some(lifecycle.shutdown(DEADLINE)));
            let returned_ns = clock.now_ns();
            verify(&name, "clean", report.map(|report| report.is_clean()), Some(true))?;
            let ended_ns = slow.join().unwrap_or(u64::MAX);
            verify(&name, "returned after the operation", returned_ns >= ended_ns, true)?;
            whole_ns.push((returned_ns - began_ns) as f64);
            after_ns.push((returned_ns - ended_ns) as f64);
        }
        let row = |metric: &str, values: &[f64]| {
            Row::of_spread(&case, metric, Spread::over(values, |ns| *ns), Unit::Nanoseconds)
        };
        let work = Work::Lifecycle(work);
        rows.push(row("time of the shutdown", &whole_ns).beside(work, Metric::Mean));
        rows.push(row("time after the operation", &after_ns).footnote(AFTER_END));
        rows.extend(allocated.map(|allocated| {
            let bytes = allocated.bytes as f64;
            Row::new(&case, "memory allocated", bytes, Unit::BytesPerCall)
                .beside(work, Metric::Allocated)
        }));
    }
    Ok(rows)
}

/// A thousand requests are in progress when the shutdown begins.
pub(super) fn with_a_thousand_requests(context: &mut Context<'_>) -> Result<Row, BenchError> {
    let case = Case::without_orders("shutdown while 1,000 requests are under way");
    let name = case.to_string();
    context.progress(&format!("  {}", case.work));
    let runs = context.sized(11, 1);
    let took_ns = (0..runs).map(|_| a_thousand(&name)).collect::<Result<Vec<_>, _>>()?;
    let spread = Spread::over(took_ns, |ns| ns as f64);
    let row = Row::of_spread(&case, "time of the shutdown", spread, Unit::Nanoseconds);
    let answered = (REQUESTS * runs) as u64;
    Ok(row.check("runs", runs).check("answered", answered).check("lost", 0).footnote(ONE_THOUSAND))
}

fn a_thousand(name: &str) -> Result<u64, BenchError> {
    let lifecycle = Lifecycle::new();
    let late = lifecycle.operations().kind("request");
    let (answer, answers) = mpsc::channel();
    let mut work = Vec::with_capacity(WORKERS);
    for worker in 0..WORKERS {
        let share: Vec<_> = (worker..REQUESTS)
            .step_by(WORKERS)
            .map(|number| Ok((number, begun(name, &lifecycle)?)))
            .collect::<Result<_, BenchError>>()?;
        work.push(share);
    }
    let mut workers = Vec::with_capacity(WORKERS);
    for share in work {
        let answer = answer.clone();
        let operations = lifecycle.operations().clone();
        workers.push(thread::spawn(move || {
            while !operations.is_stopping() {
                thread::yield_now();
            }
            for (number, request) in share {
                // The receiver exists until all are answered.
                let _ = answer.send(number);
                drop(request);
            }
        }));
    }
    drop(answer);
    let clock = Clock::start();
    let report = lifecycle.shutdown(DEADLINE);
    let took_ns = clock.now_ns();
    verify(name, "clean", report.is_clean(), true)?;
    verify(name, "late request refused", late.begin().is_err(), true)?;
    for worker in workers {
        verify(name, "worker ended", worker.join().is_ok(), true)?;
    }
    let mut answered: Vec<usize> = answers.iter().collect();
    answered.sort_unstable();
    verify(name, "answers", answered.into_iter().eq(0..REQUESTS), true)?;
    Ok(took_ns)
}

fn begun(name: &str, lifecycle: &Lifecycle) -> Result<OwnedOperation, BenchError> {
    lifecycle.operations().kind("request").begin_owned().map_err(broken(name, "begin an operation"))
}
