//! Figures of other systems, for printing beside ours: `references/figures.toml`.
//!
//! A figure that cannot mean what its name says carries the reason.

mod work;

pub(crate) use work::{BusWork, CodecWork, FlowWork, IdWork, LifecycleWork, QueueWork, Work};

use crate::report::{Reference, Unit};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Which figure of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Metric {
    /// Work a second.
    Throughput,
    /// Average latency.
    Mean,
    /// Latency at the median.
    P50,
    /// Latency at 90 %.
    P90,
    /// Latency at 99 %.
    P99,
    /// Latency at 99.9 %.
    #[serde(rename = "p99-9")]
    P99_9,
    /// The longest latency.
    Max,
    /// Memory allocated.
    Allocated,
}

impl Metric {
    /// The metric of a percentile by the name that [`crate::measure::Percentiles::named`] gives it.
    pub(crate) fn of_percentile(name: &str) -> Option<Metric> {
        Some(match name {
            "p50" => Metric::P50,
            "p90" => Metric::P90,
            "p99" => Metric::P99,
            "p99.9" => Metric::P99_9,
            "max" => Metric::Max,
            _ => return None,
        })
    }
}

/// A figure of another system.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figure {
    /// Which system.
    pub(crate) name: String,
    /// At what work.
    pub(crate) work: Work,
    /// Which figure.
    pub(crate) metric: Metric,
    /// The figure.
    pub(crate) value: f64,
    /// Its unit.
    pub(crate) unit: Unit,
    /// Where it stands, or who measured it.
    pub(crate) source: String,
    /// Why it cannot mean what it says, if it cannot.
    pub(crate) caveat: Option<String>,
}

impl Figure {
    /// The figure as it stands beside a row.
    pub(crate) fn reference(&self) -> Reference {
        Reference { name: self.name.clone(), value: self.value, caveat: self.caveat.clone() }
    }
}

/// The file of figures, whose sources and caveats stand there once each.
#[derive(Deserialize)]
struct File {
    figures: Vec<Figure>,
    sources: BTreeMap<String, String>,
    caveats: BTreeMap<String, String>,
}

static FIGURES: LazyLock<Vec<Figure>> = LazyLock::new(|| {
    let file: File = toml::from_str(include_str!("references/figures.toml"))
        .expect("the file is part of the program, and a test reads it");
    let text = |texts: &BTreeMap<String, String>, key: &str| {
        texts.get(key).cloned().expect("every source and caveat has a text; a test looks them up")
    };
    let resolved = file.figures.into_iter().map(|figure| Figure {
        source: text(&file.sources, &figure.source),
        caveat: figure.caveat.as_deref().map(|key| text(&file.caveats, key)),
        ..figure
    });
    resolved.collect()
});

/// Every figure of a work and metric.
pub(crate) fn of(work: Work, metric: Metric) -> impl Iterator<Item = &'static Figure> {
    all().filter(move |figure| figure.work == work && figure.metric == metric)
}

/// Every figure that is known.
pub(crate) fn all() -> impl Iterator<Item = &'static Figure> {
    FIGURES.iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_figure_is_given_twice() {
        for (position, figure) in all().enumerate() {
            let same = all().skip(position + 1).find(|other| {
                (&other.name, other.work, other.metric)
                    == (&figure.name, figure.work, figure.metric)
            });
            assert_eq!(same, None);
        }
    }

    #[test]
    fn the_factor_that_was_lost_to_durability_is_as_published() {
        let rate = |name| {
            of(Work::RandomPrices, Metric::Throughput)
                .find(|figure| figure.name == name)
                .map(|figure| figure.value)
        };
        let safe = rate("perpetual-exchange production_safe").expect("a published figure");
        let fast = rate("perpetual-exchange event_sourcing").expect("a published figure");
        assert!((fast / safe - 42.8).abs() < 0.05);
    }

    #[test]
    fn every_published_figure_of_perpetual_exchange_says_why_it_cannot_be_taken_at_its_word() {
        let bare = FIGURES
            .iter()
            .find(|figure| figure.work == Work::RandomPrices && figure.caveat.is_none());
        assert_eq!(bare, None);
    }
}
