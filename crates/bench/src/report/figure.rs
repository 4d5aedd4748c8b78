//! Plots of a suite.

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Linear, from zero.
    Linear,
    /// Logarithmic; values must be positive.
    Log,
    /// Quantiles from 0 to below 1 by the number of nines: 0, 0.9 and 0.99 have equal distances.
    Nines,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    /// The label, with the unit.
    pub(crate) label: String,
    /// The scale.
    pub(crate) scale: Scale,
}

impl Axis {
    /// An axis.
    pub(crate) fn new(label: impl Into<String>, scale: Scale) -> Axis {
        Axis { label: label.into(), scale }
    }
}

/// A named line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    /// The name in the legend.
    pub(crate) name: String,
    /// The points, in order of x.
    pub(crate) points: Vec<(f64, f64)>,
}

/// A plot of the report.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Figure {
    /// Lines: percentile curves, throughput against group size.
    Lines {
        /// The title.
        title: String,
        /// The horizontal axis.
        x: Axis,
        /// The vertical axis.
        y: Axis,
        /// The lines.
        series: Vec<Series>,
    },
    /// Horizontal bars: throughput by durability level, or by system.
    Bars {
        /// The title.
        title: String,
        /// The axis of values.
        value: Axis,
        /// The bars; ours are emphasised.
        bars: Vec<Bar>,
    },
}

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    /// The name.
    pub(crate) name: String,
    /// Its length.
    pub(crate) value: f64,
    /// Whether the figure is ours.
    pub(crate) ours: bool,
}

impl Figure {
    /// Percentile curves of latency, each from [`crate::measure::Latencies::curve`].
    pub(crate) fn percentiles(title: impl Into<String>, series: Vec<Series>) -> Figure {
        Figure::Lines {
            title: title.into(),
            x: Axis::new("percentile", Scale::Nines),
            y: Axis::new("latency, ns", Scale::Log),
            series,
        }
    }

    /// Adds the lines or bars of another plot of the same kind and title; false if it is another
    /// plot.
    pub(crate) fn take_from(&mut self, other: &Figure) -> bool {
        match (self, other) {
            (
                Figure::Lines { title, series, .. },
                Figure::Lines { title: same, series: more, .. },
            ) if title == same => series.extend(more.iter().cloned()),
            (Figure::Bars { title, bars, .. }, Figure::Bars { title: same, bars: more, .. })
                if title == same =>
            {
                bars.extend(more.iter().cloned());
            }
            _ => return false,
        }
        true
    }
}
