//! Operations and components, repeated.

use crate::calls::{Arm, Sums, measure};
use crate::error::{BenchError, broken};
use crate::references::{LifecycleWork, Work};
use crate::suite::{Context, Outcome};
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

pub(super) fn rows(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
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
    let every = |calls: u64| Sums { answers: calls, effects: calls };
    let begin_only = |calls: u64| {
        let before = begun.running();
        for _ in 0..calls {
            std::mem::forget(black_box(begun).begin());
        }
        Sums::of_answers(begun.running() - before)
    };
    let begin_and_end = |calls: u64| {
        let good = (0..calls).filter(|_| black_box(call.begin()).is_ok()).count();
        Sums { answers: good as u64, effects: call.running() }
    };
    let begin_owned = |calls: u64| {
        let good = (0..calls).filter(|_| black_box(owned.begin_owned()).is_ok()).count();
        Sums { answers: good as u64, effects: owned.running() }
    };
    let begin_timed = |calls: u64| {
        let good = (0..calls).filter(|_| black_box(timed.begin_timed()).is_ok()).count();
        Sums { answers: good as u64, effects: timed.running() }
    };
    let register = |calls: u64| {
        let first = processes.len();
        for _ in 0..calls / COMPONENTS {
            let mut process = Lifecycle::new();
            for number in 0..COMPONENTS {
                process.register("component", Idle(number));
            }
            processes.push(process);
        }
        let registered = processes[first..].iter().map(|process| process.components() as u64);
        Sums::of_answers(registered.sum())
    };
    let restart = |calls: u64| {
        let before = starts.load(Ordering::Relaxed);
        let mut ready = 0;
        for _ in 0..calls {
            is_failed.store(true, Ordering::Relaxed);
            let now = Instant::now();
            black_box(restarted.tend(now));
            black_box(restarted.tend(now));
            // The third look forgets the failure, so that the next one has its attempt.
            ready += u64::from(restarted.is_ready() && restarted.tend(now).is_empty());
        }
        Sums { answers: ready, effects: starts.load(Ordering::Relaxed) - before }
    };
    let work = Work::Lifecycle;
    let may_move = "begin and end an operation that may move between threads";
    let of_known_age = "begin and end an operation whose age is known";
    let all = Sums::of_answers;
    let arms = vec![
        Arm::new("begin an operation", calls, begin_only, all)
            .beside(work(LifecycleWork::Begin))
            .within(BEGIN_NS)
            .without_allocation()
            .note(BEGIN),
        Arm::new("begin and end an operation", calls, begin_and_end, all)
            .beside(work(LifecycleWork::Begin))
            .without_allocation()
            .note(BEGIN_AND_END),
        Arm::new(may_move, calls, begin_owned, all).without_allocation(),
        Arm::new(of_known_age, calls / 10, begin_timed, all),
        Arm::new("register a component", registrations, register, all)
            .beside(work(LifecycleWork::Register))
            .within(REGISTER_NS)
            .note(REGISTER),
        Arm::new("restart a component that failed", recoveries, restart, every)
            .beside(work(LifecycleWork::Recover))
            .note(RECOVER),
    ];
    measure(context, "operations and components", arms)
}
