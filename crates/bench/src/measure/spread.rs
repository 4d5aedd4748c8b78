//! The spread of repeated measurements.

/// Median, lowest and highest of several values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// The number of values.
    pub(crate) runs: usize,
    /// The median; of an even number, the mean of the middle two.
    pub(crate) median: f64,
    /// The lowest.
    pub(crate) min: f64,
    /// The highest.
    pub(crate) max: f64,
}

impl Spread {
    /// The spread of some values; `None` of no values.
    pub(crate) fn of(values: &[f64]) -> Option<Spread> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let upper = sorted[sorted.len() / 2];
        let lower = sorted[(sorted.len() - 1) / 2];
        Some(Spread { runs: sorted.len(), median: f64::midpoint(lower, upper), min, max })
    }

    /// The spread of one value of each repeat.
    ///
    /// # Panics
    /// There was no repeat.
    pub(crate) fn over<T>(
        repeats: impl IntoIterator<Item = T>,
        value: impl Fn(T) -> f64,
    ) -> Spread {
        let values: Vec<f64> = repeats.into_iter().map(value).collect();
        Spread::of(&values).expect("every measurement is made at least once")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_does_not_follow_an_outlier() {
        let spread = Spread::of(&[3.0, 1_000.0, 1.0, 2.0, 2.5]);
        assert_eq!(spread, Some(Spread { runs: 5, median: 2.5, min: 1.0, max: 1_000.0 }));
    }

    #[test]
    fn of_an_even_number_it_is_between_the_two_in_the_middle() {
        assert_eq!(Spread::of(&[4.0, 1.0]).map(|spread| spread.median), Some(2.5));
        assert_eq!(Spread::of(&[]), None);
    }
}
