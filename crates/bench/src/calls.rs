//! Measures calls that are too short to time one by one: arms that make a call many times, take
//! turns, and verify the results.

use crate::error::{BenchError, verify};
use crate::measure::{Clock, CoreWait, SideBySide, side_by_side};
use crate::references::{Metric, Work};
use crate::report::{Case, Row, Unit};
use crate::suite::Context;
use rialto_disk::{Allocated, allocated_by};

/// The sums that verify many calls: of the answers, and of the effects on state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// The sum of the answers.
    pub(crate) answers: u64,
    /// The growth of the state behind the calls.
    pub(crate) effects: u64,
}

/// A call to measure, its number of repetitions, and the expected sums.
pub(crate) struct Arm<'a> {
    case: Case,
    calls: u64,
    run: Box<dyn FnMut(u64) -> Sums + 'a>,
    expected: Box<dyn Fn(u64) -> Sums + 'a>,
}

impl<'a> Arm<'a> {
    /// `run` makes the given number of calls and returns their sums; `expected` computes the sums
    /// independently. Each run makes `calls`.
    pub(crate) fn new(
        case: Case,
        calls: u64,
        run: impl FnMut(u64) -> Sums + 'a,
        expected: impl Fn(u64) -> Sums + 'a,
    ) -> Arm<'a> {
        Arm { case, calls, run: Box::new(run), expected: Box::new(expected) }
    }

    fn verified(&mut self, calls: u64) -> Result<(), BenchError> {
        let sums = (self.run)(calls);
        verify(&self.case.to_string(), "what the calls came to", sums, (self.expected)(calls))
    }

    /// Nanoseconds per call.
    fn timed(&mut self) -> Result<f64, BenchError> {
        let clock = Clock::start();
        let sums = (self.run)(self.calls);
        let elapsed_ns = clock.now_ns();
        let expected = (self.expected)(self.calls);
        verify(&self.case.to_string(), "what the calls came to", sums, expected)?;
        Ok(elapsed_ns as f64 / self.calls as f64)
    }
}

/// The measurements of several arms.
pub(crate) struct Measured {
    arms: Vec<MeasuredArm>,
    side: SideBySide,
}

struct MeasuredArm {
    case: Case,
    calls: u64,
    answers: u64,
    waited: Option<f64>,
    allocated: Option<Allocated>,
}

/// Runs every arm once to warm up, once to count allocations, and then in turns for the time.
pub(crate) fn measure(
    context: &mut Context<'_>,
    what: &str,
    mut arms: Vec<Arm<'_>>,
) -> Result<Measured, BenchError> {
    let rounds = context.sized(11, 2);
    context.progress(&format!("  {what}: {} arms in {rounds} rounds", arms.len()));
    let mut measured = Vec::with_capacity(arms.len());
    for arm in &mut arms {
        arm.verified(arm.calls)?;
        let mut sums = Sums::default();
        let allocated = allocated_by(|| sums = (arm.run)(arm.calls));
        let expected = (arm.expected)(arm.calls);
        verify(&arm.case.to_string(), "what the counted calls came to", sums, expected)?;
        let (case, calls, answers) = (arm.case.clone(), arm.calls, expected.answers);
        measured.push(MeasuredArm { case, calls, answers, waited: None, allocated });
    }
    let side = side_by_side(arms.len(), rounds, |arm| {
        let wait = CoreWait::start();
        let time = arms[arm].timed()?;
        let waited = &mut measured[arm].waited;
        *waited = wait.share().map(|share| share.max(waited.unwrap_or(0.0)));
        Ok(time)
    })?;
    Ok(Measured { arms: measured, side })
}

/// The targets of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Targets {
    /// In nanoseconds.
    pub(crate) time_ns: Option<f64>,
    /// Bytes allocated.
    pub(crate) bytes: Option<f64>,
}

impl Targets {
    /// A bound of time, and no allocation.
    pub(crate) fn without_allocation(time_ns: f64) -> Targets {
        Targets { time_ns: Some(time_ns), bytes: Some(0.0) }
    }

    /// A bound of time only.
    pub(crate) fn time(time_ns: f64) -> Targets {
        Targets { time_ns: Some(time_ns), bytes: None }
    }
}

impl Measured {
    /// The rows of an arm: the time of a call, and its allocations if they are counted.
    pub(crate) fn rows(&self, arm: usize, work: Option<Work>, targets: Targets) -> Vec<Row> {
        let measured = &self.arms[arm];
        let checked =
            |row: Row| row.check("calls", measured.calls).check("sum_of_answers", measured.answers);
        let beside = |row: Row, metric| match work {
            Some(work) => row.beside(work, metric),
            None => row,
        };
        let spread = self.side.spread(arm).expect("every arm ran in every round");
        let time = Row::of_spread(&measured.case, "time of a call", spread, Unit::Nanoseconds);
        let time = checked(beside(time, Metric::Mean)).waited_for_core(measured.waited);
        let mut rows = vec![match targets.time_ns {
            Some(target) => time.target(target),
            None => time,
        }];
        rows.extend(measured.allocated.map(|allocated| {
            let calls = measured.calls as f64;
            let bytes = allocated.bytes as f64 / calls;
            let row = Row::new(&measured.case, "memory allocated", bytes, Unit::BytesPerCall)
                .check("allocations_per_call", allocated.count as f64 / calls);
            let row = checked(beside(row, Metric::Allocated));
            match targets.bytes {
                Some(target) => row.target(target),
                None => row,
            }
        }));
        rows
    }

    /// The difference of two arms' times of a call, round by round.
    pub(crate) fn over(&self, arm: usize, other: usize, metric: &str) -> Row {
        let spread = self.side.difference(arm, other).expect("every arm ran in every round");
        Row::of_spread(&self.arms[arm].case, metric, spread, Unit::Nanoseconds)
            .check("calls", self.arms[arm].calls)
            .check("sum_of_answers", self.arms[arm].answers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Risk, Transport};
    use crate::suite::Size;

    fn run(answer: impl Fn(u64) -> u64) -> Result<Measured, BenchError> {
        let case =
            Case { work: "doubling".into(), risk: Risk::NoOrders, transport: Transport::InProcess };
        let sums = |answers| Sums { answers, effects: 0 };
        let arm =
            Arm::new(case, 100, move |calls| sums(answer(calls)), move |calls| sums(calls * 2));
        let mut silent = |_: &str| {};
        let mut context = Context::new(Size::Small, std::path::Path::new("."), &mut silent);
        measure(&mut context, "test", vec![arm])
    }

    #[test]
    fn an_arm_with_a_wrong_result_has_no_rows() {
        assert!(run(|calls| calls * 2).is_ok());
        let error = run(|calls| calls * 2 - 1).err().map(|error| error.to_string());
        assert!(
            error.is_some_and(|error| error.starts_with("doubling; in-process: what the calls"))
        );
    }

    #[test]
    fn a_row_has_its_number_of_calls() {
        let measured = run(|calls| calls * 2).expect("the answers are right");
        let rows = measured.rows(0, None, Targets::without_allocation(1e9));
        assert_eq!(rows[0].checks.get("calls"), Some(&100.into()));
        assert_eq!(rows[0].checks.get("sum_of_answers"), Some(&200.into()));
    }
}
