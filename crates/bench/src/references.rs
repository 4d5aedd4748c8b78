//! Figures of other systems, printed beside ours: `references/figures.toml`.
//!
//! A misleading figure has a caveat.

mod work;

pub(crate) use work::{
    BusWork, CodecWork, DepotWork, FlowWork, IdWork, LifecycleWork, MarketWork, QueueWork, Work,
};

use crate::report::{Reference, Unit};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The kind of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Metric {
    /// Work per second.
    Throughput,
    /// The average latency.
    Mean,
    /// The median latency.
    P50,
    /// The latency at 90 %.
    P90,
    /// The latency at 99 %.
    P99,
    /// The latency at 99.9 %.
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
    /// The system.
    pub(crate) name: String,
    /// The work.
    pub(crate) work: Work,
    /// The metric.
    pub(crate) metric: Metric,
    /// The value.
    pub(crate) value: f64,
    /// Its unit.
    pub(crate) unit: Unit,
    /// The publication, or who measured it.
    pub(crate) source: String,
    /// The caveat, if the figure is misleading.
    pub(crate) caveat: Option<String>,
}

impl Figure {
    /// The figure as it stands beside a row.
    pub(crate) fn reference(&self) -> Reference {
        Reference { name: self.name.clone(), value: self.value, caveat: self.caveat.clone() }
    }
}

/// The file of figures, which has each source and caveat once.
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

/// All figures of a work and metric.
pub(crate) fn of(work: Work, metric: Metric) -> impl Iterator<Item = &'static Figure> {
    all().filter(move |figure| figure.work == work && figure.metric == metric)
}

/// All figures.
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
    fn every_published_figure_of_perpetual_exchange_has_a_caveat() {
        let bare = FIGURES
            .iter()
            .find(|figure| figure.work == Work::RandomPrices && figure.caveat.is_none());
        assert_eq!(bare, None);
    }
}
