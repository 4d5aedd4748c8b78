//! Arms that take turns, so that disturbances of the machine affect all of them.

use super::spread::Spread;

/// The values of each arm in each round.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SideBySide {
    /// One list per arm, one value per round.
    values: Vec<Vec<f64>>,
}

impl SideBySide {
    /// The values of an arm.
    ///
    /// # Panics
    /// There was no such arm, or no round. The other methods panic likewise.
    pub(crate) fn spread(&self, arm: usize) -> Spread {
        Spread::over(&self.values[arm], |value| *value)
    }

    /// The values of one arm over those of another, round by round. Both of a pair ran right after
    /// each other, so this is steadier than the ratio of their medians.
    pub(crate) fn ratio(&self, arm: usize, over: usize) -> Spread {
        Spread::over(self.values[arm].iter().zip(&self.values[over]), |(value, over)| value / over)
    }

    /// The values of one arm less those of another, round by round.
    pub(crate) fn difference(&self, arm: usize, less: usize) -> Spread {
        Spread::over(self.values[arm].iter().zip(&self.values[less]), |(value, less)| value - less)
    }
}

/// Runs every arm once per round. Every other round is in reverse order, so that no arm always runs
/// on a warmer or fuller machine. Ends at the first error.
pub(crate) fn side_by_side<E>(
    arms: usize,
    rounds: usize,
    mut run: impl FnMut(usize) -> Result<f64, E>,
) -> Result<SideBySide, E> {
    let mut values = vec![Vec::with_capacity(rounds); arms];
    for round in 0..rounds {
        for turn in 0..arms {
            let arm = if round % 2 == 0 { turn } else { arms - 1 - turn };
            values[arm].push(run(arm)?);
        }
    }
    Ok(SideBySide { values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_round_goes_backwards() {
        let mut turns = Vec::new();
        let done: Result<_, ()> = side_by_side(2, 3, |arm| {
            turns.push(arm);
            Ok(1.0)
        });
        assert!(done.is_ok());
        assert_eq!(turns, [0, 1, 1, 0, 0, 1]);
    }

    #[test]
    fn a_ratio_is_taken_within_each_round() {
        // The machine gets ten times slower in the second round; the ratio does not change.
        let mut calls = 0;
        let done: Result<_, ()> = side_by_side(2, 3, |arm| {
            let speed = if (2..4).contains(&calls) { 10.0 } else { 100.0 };
            calls += 1;
            Ok(if arm == 0 { speed } else { speed / 2.0 })
        });
        let done = done.expect("no arm fails");
        let ratio = done.ratio(1, 0);
        assert_eq!((ratio.min, ratio.max), (0.5, 0.5));
        assert_eq!(done.spread(0).min, 10.0);
        assert_eq!(done.difference(0, 1).max, 50.0);
    }

    #[test]
    fn ends_at_the_first_error() {
        let mut calls = 0;
        let done = side_by_side(2, 3, |_| {
            calls += 1;
            if calls == 2 { Err("broken") } else { Ok(1.0) }
        });
        assert_eq!((done, calls), (Err("broken"), 2));
    }
}
