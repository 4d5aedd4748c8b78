//! The spread of repeated measurements.

/// Median, lowest and highest of several values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The number of values.
    pub runs: usize,
    /// The median; of an even number, the mean of the middle two.
    pub median: f64,
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
}

impl Spread {
    /// The spread of values; `None` without values.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Spread> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let upper = sorted[sorted.len() / 2];
        let lower = sorted[(sorted.len() - 1) / 2];
        Some(Spread { runs: sorted.len(), median: f64::midpoint(lower, upper), min, max })
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
