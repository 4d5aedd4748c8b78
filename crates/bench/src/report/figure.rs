//! What a suite wants plotted.

/// How a quantity is laid along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// From zero, evenly.
    Linear,
    /// By powers of ten; values must be positive.
    Log,
    /// Quantiles from 0 to below 1, by the number of nines: 0, 0.9, 0.99 are evenly apart.
    Nines,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    /// What is laid along it, with its unit.
    pub(crate) label: String,
    /// How.
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
    /// What the legend calls it.
    pub(crate) name: String,
    /// Its points, in order of x.
    pub(crate) points: Vec<(f64, f64)>,
}

/// A plot of the report.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Figure {
    /// Lines over two axes: percentile curves, throughput against group size.
    Lines {
        /// What it shows.
        title: String,
        /// The horizontal axis.
        x: Axis,
        /// The vertical axis.
        y: Axis,
        /// The lines.
        series: Vec<Series>,
    },
    /// Horizontal bars, one a name: throughput against durability level, or against peers.
    Bars {
        /// What it shows.
        title: String,
        /// The axis of values.
        value: Axis,
        /// Names and values; ours are drawn stronger.
        bars: Vec<Bar>,
    },
}

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    /// What it stands for.
    pub(crate) name: String,
    /// Its length.
    pub(crate) value: f64,
    /// Whether it is our own figure.
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

    /// Takes the lines or bars of another plot of the same kind and title; whether it was one.
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
