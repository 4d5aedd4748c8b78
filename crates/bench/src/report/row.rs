//! A row of a report: a measured value, its target, and references.

use super::unit::{Better, Unit};
use crate::measure::Spread;
use crate::references::{self, Metric, Work};
use rialto_disk::Allocated;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The risk setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Risk {
    /// The system under test has no orders.
    NoOrders,
    /// The system under test has no risk layer.
    None,
    /// Every order is checked against a funded account.
    On,
}

/// The transport of orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// A call in the same process.
    InProcess,
    /// A socket on the same machine.
    Loopback,
}

/// A case: the measured work with its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    /// The work.
    pub(crate) work: String,
    /// The risk setting.
    pub(crate) risk: Risk,
    /// The transport.
    pub(crate) transport: Transport,
}

impl Case {
    /// Work in this process that has no orders in it.
    pub(crate) fn without_orders(work: impl Into<String>) -> Case {
        Case { work: work.into(), risk: Risk::NoOrders, transport: Transport::InProcess }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let risk = match self.risk {
            Risk::NoOrders => "",
            Risk::None => "; no risk layer",
            Risk::On => "; risk on",
        };
        let transport = match self.transport {
            Transport::InProcess => "in-process",
            Transport::Loopback => "loopback",
        };
        write!(f, "{}{risk}; {transport}", self.work)
    }
}

/// What somebody else came to at the same work.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reference {
    /// The system.
    pub(crate) name: String,
    /// The figure, in the unit of the row.
    pub(crate) value: f64,
    /// The caveat, if the figure is misleading.
    pub(crate) caveat: Option<String>,
}

/// The share of waiting for a processor from which it is noted; on an idle machine it is less.
const WAIT_THAT_MATTERS: f64 = 0.03;

/// One measured value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// The case.
    pub(crate) case: Case,
    /// The durability level, if there is one.
    pub(crate) level: Option<String>,
    /// The metric: `throughput`, `latency p99`, …
    pub(crate) metric: String,
    /// The value; of repeats, the median.
    pub(crate) value: f64,
    /// Its unit.
    pub(crate) unit: Unit,
    /// The spread of the repeats.
    pub(crate) spread: Option<Spread>,
    /// What it should be at least, or at most, whichever is better.
    pub(crate) target: Option<f64>,
    /// The figures of other systems.
    pub(crate) references: Vec<Reference>,
    /// Values that were verified during the measurement.
    pub(crate) checks: BTreeMap<String, Value>,
    /// Footnotes.
    pub(crate) footnotes: Vec<String>,
}

impl Row {
    /// A row with a value and nothing beside it.
    pub(crate) fn new(case: &Case, metric: impl Into<String>, value: f64, unit: Unit) -> Row {
        Row {
            case: case.clone(),
            level: None,
            metric: metric.into(),
            value,
            unit,
            spread: None,
            target: None,
            references: Vec::new(),
            checks: BTreeMap::new(),
            footnotes: Vec::new(),
        }
    }

    /// A row for the median of some repeats.
    pub(crate) fn of_spread(
        case: &Case,
        metric: impl Into<String>,
        spread: Spread,
        unit: Unit,
    ) -> Row {
        Row { spread: Some(spread), ..Row::new(case, metric, spread.median, unit) }
    }

    /// The memory that one call allocates: the average over `calls`.
    pub(crate) fn of_allocated(case: &Case, allocated: Allocated, calls: u64) -> Row {
        let each = |all: u64| all as f64 / calls as f64;
        Row::new(case, "memory allocated", each(allocated.bytes), Unit::BytesPerCall)
            .check("allocations_per_call", each(allocated.count))
    }

    /// At a durability level.
    pub(crate) fn level(mut self, level: impl Into<String>) -> Row {
        self.level = Some(level.into());
        self
    }

    /// With a target if there is one, on the better side of which it is met.
    pub(crate) fn target(mut self, bound: impl Into<Option<f64>>) -> Row {
        self.target = bound.into().or(self.target);
        self
    }

    /// Beside every figure that [`references`] knows of this work, if it is of any, and of this
    /// metric in this unit.
    pub(crate) fn beside(
        mut self,
        work: impl Into<Option<Work>>,
        metric: impl Into<Option<Metric>>,
    ) -> Row {
        if let (Some(work), Some(metric)) = (work.into(), metric.into()) {
            let known = references::of(work, metric).filter(|known| known.unit == self.unit);
            self.references.extend(known.map(references::Figure::reference));
        }
        self
    }

    /// With something that was verified.
    pub(crate) fn check(mut self, name: impl Into<String>, value: impl Into<Value>) -> Row {
        self.checks.insert(name.into(), value.into());
        self
    }

    /// With several things that were verified.
    pub(crate) fn checks(mut self, checks: &BTreeMap<String, Value>) -> Row {
        self.checks.extend(checks.iter().map(|(name, value)| (name.clone(), value.clone())));
        self
    }

    /// With the share of the measured time that was spent waiting for a processor, which is noted
    /// where it is large enough to matter.
    pub(crate) fn waited_for_core(self, share: Option<f64>) -> Row {
        let Some(share) = share else { return self };
        let row = self.check("waited_for_core", (share * 1e4).round() / 1e4);
        if share < WAIT_THAT_MATTERS {
            return row;
        }
        let percent = share * 100.0;
        row.footnote(format!(
            "The machine was busy: a run spent {percent:.0} % of its time waiting for a processor."
        ))
    }

    /// With one more footnote.
    pub(crate) fn footnote(mut self, text: impl AsRef<str>) -> Row {
        self.footnotes.push(text.as_ref().to_string());
        self
    }

    /// With several more footnotes.
    pub(crate) fn footnotes(mut self, texts: impl IntoIterator<Item = impl AsRef<str>>) -> Row {
        self.footnotes.extend(texts.into_iter().map(|text| text.as_ref().to_string()));
        self
    }

    /// Whether the target is met; `None` without one.
    pub(crate) fn is_met(&self) -> Option<bool> {
        self.target.map(|bound| match self.unit.better() {
            Better::Higher => self.value >= bound,
            Better::Lower => self.value <= bound,
        })
    }

    /// How many times better than a reference the value is; `None` where nothing is compared with
    /// something.
    pub(crate) fn times_better(&self, reference: &Reference) -> Option<f64> {
        let times = match self.unit.better() {
            Better::Higher => self.value / reference.value,
            Better::Lower => reference.value / self.value,
        };
        times.is_finite().then_some(times)
    }

    /// The footnotes, and behind them why references cannot mean what they say.
    pub(crate) fn notes(&self) -> Vec<String> {
        let caveats = self.references.iter().filter_map(|reference| {
            reference.caveat.as_ref().map(|caveat| format!("{}: {caveat}", reference.name))
        });
        self.footnotes.iter().cloned().chain(caveats).collect()
    }

    /// The row in a few words, for a list of missed targets.
    pub(crate) fn title(&self) -> String {
        match &self.level {
            Some(level) => format!("{}; {level}; {}", self.case, self.metric),
            None => format!("{}; {}", self.case, self.metric),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn case() -> Case {
        Case {
            work: "book alone, OBW1 depth 10000".into(),
            risk: Risk::None,
            transport: Transport::InProcess,
        }
    }

    #[test]
    fn a_target_is_met_on_the_better_side_of_it() {
        let rate = Row::new(&case(), "throughput", 24e6, Unit::OperationsPerSecond);
        assert_eq!(rate.clone().target(24e6).is_met(), Some(true));
        assert_eq!(rate.clone().target(25e6).is_met(), Some(false));
        assert_eq!(rate.is_met(), None);
        let latency = Row::new(&case(), "latency p99.9", 290.0, Unit::Nanoseconds);
        assert_eq!(latency.clone().target(300.0).is_met(), Some(true));
        assert_eq!(latency.target(280.0).is_met(), Some(false));
    }

    #[test]
    fn a_shorter_latency_is_that_many_times_better() {
        let row = Row::new(&case(), "latency p50", 50.0, Unit::Nanoseconds);
        let reference = Reference { name: "peer".into(), value: 100.0, caveat: None };
        assert_eq!(row.times_better(&reference), Some(2.0));
        let nothing = Row::new(&case(), "allocated", 0.0, Unit::BytesPerCall);
        assert_eq!(nothing.times_better(&reference), None);
    }

    #[test]
    fn a_busy_machine_is_noted() {
        let row = Row::new(&case(), "throughput", 1.0, Unit::OrdersPerSecond);
        assert_eq!(row.clone().waited_for_core(Some(0.001)).footnotes, Vec::<String>::new());
        let busy = row.waited_for_core(Some(0.48));
        assert!(busy.footnotes[0].contains("48 %"));
        assert_eq!(busy.checks.get("waited_for_core"), Some(&Value::from(0.48)));
    }

    #[test]
    fn the_settings_are_part_of_the_case() {
        let settings = "book alone, OBW1 depth 10000; no risk layer; in-process";
        assert_eq!(case().to_string(), settings);
    }
}
