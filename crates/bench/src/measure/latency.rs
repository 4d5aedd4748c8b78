//! Latencies as percentiles; an average hides outliers.

use super::spread::Spread;
use hdrhistogram::Histogram;

/// The largest latency; longer ones count as this.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;
/// Three digits: the error of a percentile is at most a thousandth.
const DIGITS: u8 = 3;

/// A histogram of latencies in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Latencies {
    histogram: Histogram<u64>,
}

/// The percentiles that the suites report, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Percentiles {
    /// The median.
    pub(crate) p50: u64,
    /// 90 % of the latencies are at most this.
    pub(crate) p90: u64,
    /// 99 % are at most this.
    pub(crate) p99: u64,
    /// 99.9 % are at most this.
    pub(crate) p99_9: u64,
    /// The longest latency.
    pub(crate) max: u64,
}

impl Percentiles {
    /// The percentiles of a histogram in nanoseconds; all zero if nothing was counted.
    pub(crate) fn of(histogram: &Histogram<u64>) -> Percentiles {
        Percentiles {
            p50: histogram.value_at_quantile(0.5),
            p90: histogram.value_at_quantile(0.9),
            p99: histogram.value_at_quantile(0.99),
            p99_9: histogram.value_at_quantile(0.999),
            max: histogram.max(),
        }
    }

    /// The percentiles with the names that rows call them by.
    pub(crate) fn named(&self) -> [(&'static str, u64); 5] {
        [
            ("p50", self.p50),
            ("p90", self.p90),
            ("p99", self.p99),
            ("p99.9", self.p99_9),
            ("max", self.max),
        ]
    }
}

/// The spread of each percentile over some passes, with the name that rows call it by.
///
/// # Panics
/// There was no pass.
pub(crate) fn percentile_spreads<'a>(
    passes: impl Iterator<Item = &'a Percentiles> + Clone,
) -> impl Iterator<Item = (&'static str, Spread)> {
    let names = passes.clone().next().expect("at least one pass was made").named();
    let at = move |at: usize| Spread::over(passes.clone(), |pass| pass.named()[at].1 as f64);
    names.into_iter().enumerate().map(move |(place, (name, _))| (name, at(place)))
}

impl Latencies {
    /// No latencies yet.
    pub(crate) fn new() -> Latencies {
        let histogram = Histogram::new_with_bounds(1, LATENCY_NS_MAX, DIGITS)
            .expect("the bounds and the digits are constants that the histogram accepts");
        Latencies { histogram }
    }

    /// Adds a latency.
    #[inline]
    pub(crate) fn record(&mut self, latency_ns: u64) {
        self.histogram.saturating_record(latency_ns);
    }

    /// Adds all latencies of another histogram.
    pub(crate) fn merge(&mut self, other: &Latencies) {
        self.histogram
            .add(&other.histogram)
            .expect("both histograms have the same bounds, so every value fits");
    }

    /// How many were counted.
    pub(crate) fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The average, for comparison with reports that have nothing else.
    pub(crate) fn mean_ns(&self) -> f64 {
        self.histogram.mean()
    }

    /// The percentiles that are reported; all zero if nothing was counted.
    pub(crate) fn percentiles(&self) -> Percentiles {
        Percentiles::of(&self.histogram)
    }

    /// The curve of latency over quantile, for a plot: at most 10 points for each further nine, and
    /// none where fewer than one latency would lie beyond.
    pub(crate) fn curve(&self) -> Vec<(f64, f64)> {
        let count = self.count() as f64;
        (0_u32..)
            .map(|step| 1.0 - 10.0_f64.powf(-f64::from(step) / 10.0))
            .take_while(|quantile| (1.0 - quantile) * count >= 1.0)
            .map(|quantile| (quantile, self.histogram.value_at_quantile(quantile) as f64))
            .collect()
    }
}

impl Default for Latencies {
    fn default() -> Self {
        Latencies::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(latencies: impl IntoIterator<Item = u64>) -> Latencies {
        let mut all = Latencies::new();
        latencies.into_iter().for_each(|latency| all.record(latency));
        all
    }

    fn is_about(got: u64, expected: u64) -> bool {
        got.abs_diff(expected) * 500 <= expected
    }

    #[test]
    fn percentiles_are_right_to_three_digits() {
        let percentiles = counted(1..=100_000).percentiles();
        for ((name, got), expected) in
            percentiles.named().into_iter().zip([50_000, 90_000, 99_000, 99_900, 100_000])
        {
            assert!(is_about(got, expected), "{name} is {got}");
        }
    }

    #[test]
    fn one_slow_answer_in_a_thousand_shows_at_the_end_only() {
        let percentiles = counted((0..1_999).map(|_| 100).chain([1_000_000])).percentiles();
        assert_eq!(percentiles.p99, 100);
        assert!(is_about(percentiles.max, 1_000_000));
    }

    #[test]
    fn merging_counts_both() {
        let mut all = counted([100; 10]);
        all.merge(&counted([200; 30]));
        assert_eq!((all.count(), all.percentiles().p50), (40, 200));
    }

    #[test]
    fn the_curve_rises_and_ends_where_one_latency_is_left() {
        let curve = counted(1..=1_000).curve();
        assert!(curve.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{curve:?}");
        let (last, _) = curve[curve.len() - 1];
        assert!((last - 0.999).abs() < 1e-4, "{last}");
    }

    #[test]
    fn latencies_beyond_the_range_count_as_its_end() {
        assert!(is_about(counted([u64::MAX]).percentiles().max, LATENCY_NS_MAX));
    }
}
