//! Positions of values along an axis, and its ticks.

use super::figure::Scale;
use super::unit::{digits, prefixed};

/// The range of an axis, rounded outwards to ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    scale: Scale,
    /// The ends in the space of the scale: values, logarithms, or numbers of nines.
    low: f64,
    high: f64,
    /// The distance of ticks in the same space.
    step: f64,
}

/// A tick with its label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    /// From 0 at the low end to 1 at the high end.
    pub(super) place: f64,
    pub(super) label: String,
}

/// About this many ticks of a linear axis, whose labels are long.
const TICKS_EVEN: f64 = 6.0;
/// The most steps between ticks of the others.
const STEPS_MAX: f64 = 9.0;

impl Range {
    /// A range that covers the values; values that the scale cannot show are ignored.
    pub(super) fn covering(scale: Scale, values: impl Iterator<Item = f64>) -> Range {
        let shown = values.filter_map(|value| project(scale, value));
        let (mut low, mut high) = shown
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| {
                (low.min(at), high.max(at))
            });
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        match scale {
            Scale::Linear => {
                let high = if high > 0.0 { high } else { 1.0 };
                let step = nice_step(high / TICKS_EVEN);
                Range { scale, low: low.min(0.0), high: (high / step).ceil() * step, step }
            }
            Scale::Log | Scale::Nines => {
                let low = low.floor();
                let high = high.ceil().max(low + 1.0);
                Range { scale, low, high, step: ((high - low) / STEPS_MAX).ceil().max(1.0) }
            }
        }
    }

    /// The position of a value, from 0 to 1; `None` if the scale cannot show it.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        project(self.scale, value).map(|at| (at - self.low) / (self.high - self.low))
    }

    /// The ticks, from the low end.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        let first = (self.low / self.step).ceil();
        (0..)
            .map(|count| (first + f64::from(count)) * self.step)
            .take_while(|&at| at <= self.high + self.step * 1e-9)
            .map(|at| Tick {
                place: (at - self.low) / (self.high - self.low),
                label: label(self.scale, at),
            })
            .collect()
    }
}

fn project(scale: Scale, value: f64) -> Option<f64> {
    match scale {
        Scale::Linear => value.is_finite().then_some(value),
        Scale::Log => (value.is_finite() && value > 0.0).then(|| value.log10()),
        Scale::Nines => (0.0..1.0).contains(&value).then(|| -(1.0 - value).log10()),
    }
}

fn label(scale: Scale, at: f64) -> String {
    match scale {
        Scale::Linear => prefixed(at),
        Scale::Log => prefixed(10.0_f64.powf(at)),
        Scale::Nines => match at.round() as i32 {
            0 => "0".to_string(),
            nines => {
                let percent = 100.0 - 10.0_f64.powi(2 - nines);
                let places = (nines - 2).max(0) as usize;
                format!("{percent:.places$}")
            }
        },
    }
}

/// The next of 1, 2, 5, 10, … that is at least `step`.
fn nice_step(step: f64) -> f64 {
    let decade = 10.0_f64.powf(step.log10().floor());
    let within = [1.0, 2.0, 5.0, 10.0].into_iter().find(|nice| nice * decade >= step * 0.999_999);
    within.unwrap_or(10.0) * decade
}

/// The label of a bar.
pub(super) fn bar_label(value: f64) -> String {
    if value.is_finite() { prefixed(value) } else { digits(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(range: &Range) -> Vec<String> {
        range.ticks().into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn a_linear_axis_starts_at_zero_and_has_round_ticks() {
        let range = Range::covering(Scale::Linear, [3.1e6, 23.7e6].into_iter());
        assert_eq!(labels(&range), ["0", "5 M", "10 M", "15 M", "20 M", "25 M"]);
        assert_eq!(range.place(12.5e6), Some(0.5));
    }

    #[test]
    fn a_log_axis_has_whole_decades_and_leaves_out_what_is_not_positive() {
        let range = Range::covering(Scale::Log, [89.0, 250_000.0, 0.0].into_iter());
        assert_eq!(labels(&range), ["10", "100", "1 K", "10 K", "100 K", "1 M"]);
        assert_eq!(range.place(0.0), None);
        assert_eq!(range.place(10.0), Some(0.0));
    }

    #[test]
    fn an_axis_of_nines_puts_each_nine_as_far_from_the_last() {
        let range = Range::covering(Scale::Nines, [0.0, 0.5, 0.999].into_iter());
        assert_eq!(labels(&range), ["0", "90", "99", "99.9"]);
        let place = range.place(0.99).expect("a quantile below one");
        assert!((place - 2.0 / 3.0).abs() < 1e-9, "{place}");
        assert_eq!(range.place(1.0), None);
    }

    #[test]
    fn no_values_still_make_an_axis() {
        for scale in [Scale::Linear, Scale::Log, Scale::Nines] {
            let range = Range::covering(scale, std::iter::empty());
            assert!(!range.ticks().is_empty());
        }
    }
}
