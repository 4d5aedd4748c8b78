//! Measures calls that are too short to time one by one: arms that make a call many times, take
//! turns, and verify the results.

use crate::error::{BenchError, verify};
use crate::measure::{Clock, CoreWait, SideBySide, side_by_side};
use crate::references::{Metric, Work};
use crate::report::{Case, Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_disk::{Allocated, allocated_by};
use serde_json::Value;
use std::collections::BTreeMap;

/// The sums that verify many calls: of the answers, and of the effects on state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// The sum of the answers.
    pub(crate) answers: u64,
    /// The growth of the state behind the calls.
    pub(crate) effects: u64,
}

impl Sums {
    /// Answers that leave nothing behind.
    pub(crate) fn of_answers(answers: u64) -> Sums {
        Sums { answers, effects: 0 }
    }
}

/// What is called, how often, what that must come to, and what its rows say besides.
pub(crate) struct Arm<'a> {
    case: Case,
    calls: u64,
    run: Box<dyn FnMut(u64) -> Sums + 'a>,
    expected: Box<dyn Fn(u64) -> Sums + 'a>,
    pub(crate) work: Option<Work>,
    target_ns: Option<f64>,
    target_bytes: Option<f64>,
    notes: Vec<&'static str>,
    checks: BTreeMap<String, Value>,
    is_allocation_shown: bool,
    over: Option<Over>,
}

/// By how much a call takes longer than one of another arm.
struct Over {
    arm: usize,
    metric: &'static str,
    said: fn(Row) -> Row,
}

impl<'a> Arm<'a> {
    /// `run` makes the given number of calls and returns their sums; `expected` computes the sums
    /// independently. Each run makes `calls`.
    pub(crate) fn new(
        work: impl Into<String>,
        calls: u64,
        run: impl FnMut(u64) -> Sums + 'a,
        expected: impl Fn(u64) -> Sums + 'a,
    ) -> Arm<'a> {
        Arm {
            case: Case::without_orders(work),
            calls,
            run: Box::new(run),
            expected: Box::new(expected),
            work: None,
            target_ns: None,
            target_bytes: None,
            notes: Vec::new(),
            checks: BTreeMap::new(),
            is_allocation_shown: true,
            over: None,
        }
    }

    /// Beside the figures of others at this work.
    pub(crate) fn beside(self, work: impl Into<Option<Work>>) -> Arm<'a> {
        Arm { work: work.into(), ..self }
    }

    /// A call should take at most so long.
    pub(crate) fn within(self, ns: impl Into<Option<f64>>) -> Arm<'a> {
        Arm { target_ns: ns.into(), ..self }
    }

    /// A call should allocate nothing.
    pub(crate) fn without_allocation(self) -> Arm<'a> {
        Arm { target_bytes: Some(0.0), ..self }
    }

    /// With one more footnote at each row.
    pub(crate) fn note(mut self, note: &'static str) -> Arm<'a> {
        self.notes.push(note);
        self
    }

    /// With these checks at each row.
    pub(crate) fn checks(self, checks: BTreeMap<String, Value>) -> Arm<'a> {
        Arm { checks, ..self }
    }

    /// With a row of how much longer a call takes, round by round, than one of the arm at this place;
    /// `said` completes the row.
    pub(crate) fn over(self, arm: usize, metric: &'static str, said: fn(Row) -> Row) -> Arm<'a> {
        Arm { over: Some(Over { arm, metric, said }), ..self }
    }

    /// Without a row of what is allocated: on other threads nobody counts that.
    pub(crate) fn on_other_threads(self) -> Arm<'a> {
        Arm { is_allocation_shown: false, ..self }
    }

    /// Runs once, and returns how long it took.
    fn verified(&mut self) -> Result<u64, BenchError> {
        let clock = Clock::start();
        let sums = (self.run)(self.calls);
        let elapsed_ns = clock.now_ns();
        let expected = (self.expected)(self.calls);
        verify(&self.case.to_string(), "what the calls came to", sums, expected)?;
        Ok(elapsed_ns)
    }
}

/// What an arm came to, besides its times.
struct MeasuredArm<'a> {
    arm: Arm<'a>,
    answers: u64,
    waited: Option<f64>,
    allocated: Option<Allocated>,
}

/// Runs every arm once to warm up, once to count allocations, and then in turns for the time.
pub(crate) fn measure(
    context: &mut Context<'_>,
    what: &str,
    arms: Vec<Arm<'_>>,
) -> Result<Outcome, BenchError> {
    let rounds = context.sized(11, 2);
    context.progress(&format!("  {what}: {} arms in {rounds} rounds", arms.len()));
    let arms = arms.into_iter().map(MeasuredArm::counted);
    let mut arms = arms.collect::<Result<Vec<_>, BenchError>>()?;
    let side = side_by_side(arms.len(), rounds, |at| -> Result<f64, BenchError> {
        let MeasuredArm { arm, waited, .. } = &mut arms[at];
        let wait = CoreWait::start();
        let elapsed_ns = arm.verified()?;
        *waited = wait.longest(*waited);
        Ok(elapsed_ns as f64 / arm.calls as f64)
    })?;
    let rows = arms.iter().enumerate().flat_map(|(at, arm)| arm.rows(at, &side));
    Ok(Outcome::from(rows.collect::<Vec<_>>()))
}

impl<'a> MeasuredArm<'a> {
    fn counted(mut arm: Arm<'a>) -> Result<MeasuredArm<'a>, BenchError> {
        arm.verified()?;
        let mut sums = Sums::default();
        let allocated = allocated_by(|| sums = (arm.run)(arm.calls));
        let expected = (arm.expected)(arm.calls);
        verify(&arm.case.to_string(), "what the counted calls came to", sums, expected)?;
        Ok(MeasuredArm { arm, answers: expected.answers, waited: None, allocated })
    }

    /// How long a call takes, what it allocates if anybody counts, and how much longer it takes than
    /// another.
    fn rows(&self, at: usize, side: &SideBySide) -> Vec<Row> {
        let MeasuredArm { arm, answers, waited, allocated } = self;
        let checked = |row: Row| {
            let row = row.check("calls", arm.calls).check("sum_of_answers", *answers);
            row.checks(&arm.checks)
        };
        let timed = |metric: &str, spread| {
            checked(Row::of_spread(&arm.case, metric, spread, Unit::Nanoseconds))
        };
        let time = timed("time of a call", side.spread(at)).beside(arm.work, Metric::Mean);
        let time = time.waited_for_core(*waited).target(arm.target_ns);
        let mut rows = vec![time.footnotes(&arm.notes)];
        if let Some(allocated) = allocated.filter(|_| arm.is_allocation_shown) {
            let row = checked(Row::of_allocated(&arm.case, allocated, arm.calls));
            let row = row.beside(arm.work, Metric::Allocated).target(arm.target_bytes);
            rows.push(row.footnotes(&arm.notes));
        }
        rows.extend(arm.over.as_ref().map(|Over { arm: other, metric, said }| {
            said(timed(metric, side.difference(at, *other)))
        }));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::Size;

    fn run(answer: impl Fn(u64) -> u64) -> Result<Outcome, BenchError> {
        let answers = move |calls| Sums::of_answers(answer(calls));
        let arm = Arm::new("doubling", 100, answers, |calls| Sums::of_answers(calls * 2));
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
        let rows = measured.rows;
        assert_eq!(rows[0].checks.get("calls"), Some(&100.into()));
        assert_eq!(rows[0].checks.get("sum_of_answers"), Some(&200.into()));
    }
}
