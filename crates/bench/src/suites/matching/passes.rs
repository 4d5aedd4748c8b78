//! The passes over a workload: one verifies everything, some are timed as a whole, some time every
//! operation.

use crate::error::{BenchError, verify};
use crate::measure::{Clock, CoreWait, Latencies};
use crate::report::Risk;
use rialto_disk::allocations_of;
use rialto_workload::{Fill, Standing, Tally, Totals, Workload};
use std::borrow::Cow;

/// A system that matches the orders of one instrument.
pub(super) trait Matcher: Sized {
    /// Its name in the report.
    const NAME: &'static str;
    /// Its risk setting in the report.
    const RISK: Risk;
    /// An operation in its own form.
    type Step: Clone;
    /// The error of a refused operation.
    type Refusal: std::error::Error + Send + Sync + 'static;

    /// Makes an empty one, with room for all resting orders of the workload.
    fn fresh(workload: &Workload) -> Self;

    /// The operations of a workload in its form, made before the measurement.
    fn steps(workload: &Workload) -> Cow<'_, [Self::Step]>;

    /// Performs one operation and passes every fill to `sink`.
    fn apply(
        &mut self,
        step: &Self::Step,
        sink: &mut impl FnMut(&Fill),
    ) -> Result<(), Self::Refusal>;

    /// Its resting orders.
    fn standing(&self) -> Standing;
}

fn refused(
    case: &str,
    position: usize,
    refusal: impl std::error::Error + Send + Sync + 'static,
) -> BenchError {
    BenchError::Refused { case: case.to_string(), position, source: Box::new(refusal) }
}

/// Runs the whole workload and compares everything, the digest of the fills included.
pub(super) fn verified<M: Matcher>(
    case: &str,
    workload: &Workload,
    steps: &[M::Step],
) -> Result<(), BenchError> {
    let mut matcher = M::fresh(workload);
    let mut tally = Tally::default();
    for (position, step) in steps.iter().enumerate() {
        matcher
            .apply(step, &mut |fill| tally.take(fill))
            .map_err(|refusal| refused(case, position, refusal))?;
    }
    let totals = Totals { tally, standing: matcher.standing() };
    verify(case, "the result", totals, workload.expected)
}

/// The measurements of a timed run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Operations per second.
    pub(super) rate: f64,
    /// The share of the time that was spent waiting for a processor.
    pub(super) waited: Option<f64>,
}

/// Runs the workload on a new matcher and times the part after the prefill. It verifies the number
/// of fills, the quantity and the resting orders.
pub(super) fn timed<M: Matcher>(
    case: &str,
    workload: &Workload,
    steps: &[M::Step],
) -> Result<Run, BenchError> {
    let mut matcher = M::fresh(workload);
    let (mut trades, mut quantity) = (0_u64, 0_i64);
    let mut count = |fill: &Fill| {
        trades += 1;
        quantity = quantity.wrapping_add(fill.quantity.0);
    };
    let mut position = 0;
    let (prefill, measured) = steps.split_at(workload.prefill);
    for step in prefill {
        matcher.apply(step, &mut count).map_err(|refusal| refused(case, position, refusal))?;
        position += 1;
    }
    let wait = CoreWait::start();
    let clock = Clock::start();
    for step in measured {
        if let Err(refusal) = matcher.apply(step, &mut count) {
            return Err(refused(case, position, refusal));
        }
        position += 1;
    }
    let elapsed_ns = clock.now_ns().max(1);
    let waited = wait.share();
    let expected = &workload.expected;
    verify(case, "the number of trades", trades, expected.tally.trades)?;
    verify(case, "the traded quantity", i128::from(quantity), expected.tally.traded_quantity)?;
    verify(case, "what rests", matcher.standing(), expected.standing)?;
    Ok(Run { rate: measured.len() as f64 * 1e9 / elapsed_ns as f64, waited })
}

/// Runs the workload on a new matcher and times each operation after the prefill.
pub(super) fn latencies<M: Matcher>(
    case: &str,
    workload: &Workload,
    steps: &[M::Step],
    clock: Clock,
) -> Result<Latencies, BenchError> {
    let mut matcher = M::fresh(workload);
    let mut trades = 0_u64;
    let mut count = |_: &Fill| trades += 1;
    let (prefill, measured) = steps.split_at(workload.prefill);
    for (position, step) in prefill.iter().enumerate() {
        matcher.apply(step, &mut count).map_err(|refusal| refused(case, position, refusal))?;
    }
    let mut latencies = Latencies::new();
    for (position, step) in measured.iter().enumerate() {
        let before = clock.now_ns();
        let done = matcher.apply(step, &mut count);
        latencies.record(clock.now_ns() - before);
        done.map_err(|refusal| refused(case, workload.prefill + position, refusal))?;
    }
    verify(case, "the number of trades", trades, workload.expected.tally.trades)?;
    Ok(latencies)
}

/// Counts allocations over the steps after the first `warm_up`: their number, and the number of
/// steps. `None` if allocations are not counted. All steps together must make this many trades.
pub(super) fn allocations<M: Matcher>(
    case: &str,
    mut matcher: M,
    steps: &[M::Step],
    warm_up: usize,
    expected_trades: u64,
) -> Result<Option<(u64, u64)>, BenchError> {
    let mut trades = 0_u64;
    let mut count = |_: &Fill| trades += 1;
    let (before, counted) = steps.split_at(warm_up);
    let mut position = 0;
    let mut run = |steps: &[M::Step]| {
        for step in steps {
            matcher.apply(step, &mut count).map_err(|refusal| refused(case, position, refusal))?;
            position += 1;
        }
        Ok(())
    };
    run(before)?;
    let mut done = Ok(());
    let allocations = allocations_of(|| done = run(counted));
    done?;
    verify(case, "the number of trades", trades, expected_trades)?;
    Ok(allocations.map(|allocations| (allocations, counted.len() as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_workload::{Operation, ReferenceBook, obw};

    /// A correct book with one defect.
    struct Broken<const LOSES_FILLS: bool>(ReferenceBook);

    impl<const LOSES_FILLS: bool> Matcher for Broken<LOSES_FILLS> {
        const NAME: &'static str = "broken book";
        const RISK: Risk = Risk::None;
        type Step = Operation;
        type Refusal = std::fmt::Error;

        fn fresh(_: &Workload) -> Self {
            Broken(ReferenceBook::default())
        }

        fn steps(workload: &Workload) -> Cow<'_, [Operation]> {
            Cow::Borrowed(&workload.operations)
        }

        fn apply(
            &mut self,
            operation: &Operation,
            sink: &mut impl FnMut(&Fill),
        ) -> Result<(), std::fmt::Error> {
            let mut seen = 0;
            self.0.apply(operation, &mut |fill| {
                seen += 1;
                if !LOSES_FILLS || seen < 2 {
                    sink(&Fill { price: rialto_model::Price(fill.price.0 + 1), ..*fill });
                }
            });
            Ok(())
        }

        fn standing(&self) -> Standing {
            self.0.standing()
        }
    }

    #[test]
    fn a_wrong_price_does_not_pass_the_verification() {
        let workload = obw::generate(1, 50, 500).workload();
        let said = verified::<Broken<false>>("case", &workload, &workload.operations)
            .expect_err("prices are wrong");
        assert!(said.to_string().starts_with("case: the result is"), "{said}");
    }

    #[test]
    fn a_lost_fill_does_not_pass_any_pass() {
        let workload = obw::generate(1, 50, 500).workload();
        let steps = &workload.operations;
        assert!(verified::<Broken<true>>("case", &workload, steps).is_err());
        assert!(timed::<Broken<true>>("case", &workload, steps).is_err());
        assert!(latencies::<Broken<true>>("case", &workload, steps, Clock::start()).is_err());
    }
}
