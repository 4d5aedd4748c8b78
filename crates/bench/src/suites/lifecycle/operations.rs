//! Operations and components, repeated.

use super::case;
use crate::calls::{Arm, Sums, Targets, measure};
use crate::error::{BenchError, broken};
use crate::references::{LifecycleWork, Work};
use crate::report::Row;
use crate::suite::Context;
use rialto_lifecycle::{Component, Failure, Health, Lifecycle, Operations, Restart};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Components of one process before the next process is set up.
const COMPONENTS: u64 = 100;
/// Targets, in nanoseconds.
const BEGIN_NS: f64 = 5.0;
const REGISTER_NS: f64 = 200.0;

const BEGIN: &str = "Begun and never ended, so that only the beginning is timed; the kind then says \
    how many there are.";
const BEGIN_AND_END: &str = "Both. The operation goes through `std::hint::black_box`, so that an \
    addition and the subtraction after it stay two.";
const REGISTER: &str = "A hundred components a process, with names that are known when the program is \
    compiled; setting the process up is part of it, dropping it is not.";
const RECOVER: &str = "One look that finds the failure, one that stops and starts the component, and \
    one that finds it well; no pause.";

struct Part {
    is_failed: Arc<AtomicBool>,
    starts: Arc<AtomicU64>,
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        self.is_failed.store(false, Ordering::Relaxed);
        self.starts.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn health(&mut self) -> Health {
        match self.is_failed.load(Ordering::Relaxed) {
            true => Health::Failed(String::new()),
            false => Health::Up,
        }
    }
}

struct Idle(u64);

impl Component for Idle {
    fn start(&mut self) -> Result<(), Failure> {
        self.0 += 1;
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn health(&mut self) -> Health {
        Health::Up
    }
}

pub(super) fn rows(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let calls = context.sized(2_000_000, 1_000);
    let registrations = context.sized(10_000, 200);
    let recoveries = context.sized(10_000, 100);
    let operations = Operations::new();
    let kinds = ["begun", "call", "owned", "timed"].map(|name| operations.kind(name));
    let [begun, call, owned, timed] = &kinds;
    let (is_failed, starts) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let mut restarted = Lifecycle::new();
    let part = Part { is_failed: Arc::clone(&is_failed), starts: Arc::clone(&starts) };
    let at_once = Restart {
        attempts: 1,
        first: Duration::ZERO,
        longest: Duration::ZERO,
        forgotten_after: Duration::ZERO,
    };
    restarted.register("part", part).restart(at_once);
    restarted.start().map_err(broken("recovery", "start the component"))?;
    let restarted = &restarted;
    // Kept, so that none is dropped during a measurement.
    let mut processes = Vec::with_capacity(20 * (registrations / COMPONENTS) as usize);
    let all = |calls| Sums { answers: calls, effects: 0 };
    let every = |calls| Sums { answers: calls, effects: calls };
    let arms = vec![
        Arm::new(
            case("begin an operation"),
            calls,
            move |calls| {
                let before = begun.running();
                for _ in 0..calls {
                    std::mem::forget(black_box(begun).begin());
                }
                all(begun.running() - before)
            },
            all,
        ),
        Arm::new(
            case("begin and end an operation"),
            calls,
            move |calls| {
                let good = (0..calls).filter(|_| black_box(call.begin()).is_ok()).count();
                Sums { answers: good as u64, effects: call.running() }
            },
            all,
        ),
        Arm::new(
            case("begin and end an operation that may move between threads"),
            calls,
            move |calls| {
                let good = (0..calls).filter(|_| black_box(owned.begin_owned()).is_ok()).count();
                Sums { answers: good as u64, effects: owned.running() }
            },
            all,
        ),
        Arm::new(
            case("begin and end an operation whose age is known"),
            calls / 10,
            move |calls| {
                let good = (0..calls).filter(|_| black_box(timed.begin_timed()).is_ok()).count();
                Sums { answers: good as u64, effects: timed.running() }
            },
            all,
        ),
        Arm::new(
            case("register a component"),
            registrations,
            move |calls| {
                let first = processes.len();
                for _ in 0..calls / COMPONENTS {
                    let mut process = Lifecycle::new();
                    for number in 0..COMPONENTS {
                        process.register("component", Idle(number));
                    }
                    processes.push(process);
                }
                let registered =
                    processes[first..].iter().map(|process| process.components() as u64);
                all(registered.sum())
            },
            all,
        ),
        Arm::new(
            case("restart a component that failed"),
            recoveries,
            move |calls| {
                let before = starts.load(Ordering::Relaxed);
                let mut ready = 0;
                for _ in 0..calls {
                    is_failed.store(true, Ordering::Relaxed);
                    let now = Instant::now();
                    black_box(restarted.tend(now));
                    black_box(restarted.tend(now));
                    // The third call forgets the failure, so that the next one has its attempt.
                    ready += u64::from(restarted.is_ready() && restarted.tend(now).is_empty());
                }
                Sums { answers: ready, effects: starts.load(Ordering::Relaxed) - before }
            },
            every,
        ),
    ];
    let measured = measure(context, "operations and components", arms)?;
    let begin = Some(LifecycleWork::Begin);
    let free = Targets { time_ns: None, bytes: Some(0.0) };
    let about = [
        (begin, Targets::without_allocation(BEGIN_NS), Some(BEGIN)),
        (begin, free, Some(BEGIN_AND_END)),
        (None, free, None),
        (None, Targets::default(), None),
        (Some(LifecycleWork::Register), Targets::time(REGISTER_NS), Some(REGISTER)),
        (Some(LifecycleWork::Recover), Targets::default(), Some(RECOVER)),
    ];
    let mut rows = Vec::new();
    for (arm, (work, targets, note)) in about.into_iter().enumerate() {
        let found = measured.rows(arm, work.map(Work::Lifecycle), targets).into_iter();
        rows.extend(found.map(|row| match note {
            Some(note) => row.footnote(note),
            None => row,
        }));
    }
    Ok(rows)
}
