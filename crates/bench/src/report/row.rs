//! A row of a report: a measured value, its target, and references.

use super::unit::{Better, Unit};
use crate::measure::Spread;
use crate::references;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The risk setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Risk {
    /// The system under test has no orders.
    NoOrders,
    /// The system under test has no risk layer.
    None,
    /// The risk layer is disabled for the instrument.
    Off,
    /// Every order is checked against a funded account.
    On,
}

/// The transport of orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A call in the same process.
    InProcess,
    /// A socket on the same machine.
    Loopback,
}

/// A case: the measured work with its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The work.
    pub work: String,
    /// The risk setting.
    pub risk: Risk,
    /// The transport.
    pub transport: Transport,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let risk = match self.risk {
            Risk::NoOrders => "",
            Risk::None => "; no risk layer",
            Risk::Off => "; risk off",
            Risk::On => "; risk on",
        };
        let transport = match self.transport {
            Transport::InProcess => "in-process",
            Transport::Loopback => "loopback",
        };
        write!(f, "{}{risk}; {transport}", self.work)
    }
}

/// The bound of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
}

impl Target {
    /// The bound.
    #[must_use]
    pub fn bound(self) -> f64 {
        match self {
            Target::AtLeast(bound) | Target::AtMost(bound) => bound,
        }
    }

    /// Whether a value meets it.
    #[must_use]
    pub fn is_met_by(self, value: f64) -> bool {
        match self {
            Target::AtLeast(bound) => value >= bound,
            Target::AtMost(bound) => value <= bound,
        }
    }
}

/// The figure of another system at the same work.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The system.
    pub name: String,
    /// The figure, in the unit of the row.
    pub value: f64,
    /// The caveat, if the figure is misleading.
    pub caveat: Option<String>,
}

/// The share of waiting for a processor from which it is noted; on an idle machine it is less.
const WAIT_THAT_MATTERS: f64 = 0.03;

/// One measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The case.
    pub case: Case,
    /// The durability level, if there is one.
    pub level: Option<String>,
    /// The metric: `throughput`, `latency p99`, …
    pub metric: String,
    /// The value; of repeats, the median.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
    /// The spread of the repeats.
    pub spread: Option<Spread>,
    /// The target.
    pub target: Option<Target>,
    /// The figures of other systems.
    pub references: Vec<Reference>,
    /// Values that were verified during the measurement.
    pub checks: BTreeMap<String, Value>,
    /// Footnotes.
    pub footnotes: Vec<String>,
}

impl Row {
    /// A row with only a value.
    #[must_use]
    pub fn new(case: &Case, metric: impl Into<String>, value: f64, unit: Unit) -> Row {
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

    /// A row with the median of repeats.
    #[must_use]
    pub fn of_spread(case: &Case, metric: impl Into<String>, spread: Spread, unit: Unit) -> Row {
        Row { spread: Some(spread), ..Row::new(case, metric, spread.median, unit) }
    }

    /// Sets the durability level.
    #[must_use]
    pub fn level(mut self, level: impl Into<String>) -> Row {
        self.level = Some(level.into());
        self
    }

    /// Sets a target; the unit decides which side meets it.
    #[must_use]
    pub fn target(mut self, bound: f64) -> Row {
        self.target = Some(match self.unit.better() {
            Better::Higher => Target::AtLeast(bound),
            Better::Lower => Target::AtMost(bound),
        });
        self
    }

    /// Adds all figures in [`references`] of this work and metric in this unit.
    #[must_use]
    pub fn beside(mut self, work: references::Work, metric: references::Metric) -> Row {
        let known = references::of(work, metric).filter(|known| known.unit == self.unit);
        self.references.extend(known.map(references::Figure::reference));
        self
    }

    /// Adds a verified value.
    #[must_use]
    pub fn check(mut self, name: impl Into<String>, value: impl Into<Value>) -> Row {
        self.checks.insert(name.into(), value.into());
        self
    }

    /// Adds several verified values.
    #[must_use]
    pub fn checks(mut self, checks: &BTreeMap<String, Value>) -> Row {
        self.checks.extend(checks.iter().map(|(name, value)| (name.clone(), value.clone())));
        self
    }

    /// Adds the share of the time that was spent waiting for a processor, as a footnote if it is
    /// large.
    #[must_use]
    pub fn waited_for_core(self, share: Option<f64>) -> Row {
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

    /// Adds a footnote.
    #[must_use]
    pub fn footnote(mut self, text: impl AsRef<str>) -> Row {
        self.footnotes.push(text.as_ref().to_string());
        self
    }

    /// Whether the target is met; `None` without one.
    #[must_use]
    pub fn is_met(&self) -> Option<bool> {
        self.target.map(|target| target.is_met_by(self.value))
    }

    /// By which factor the value is better than a reference; `None` if they are not comparable.
    #[must_use]
    pub fn times_better(&self, reference: &Reference) -> Option<f64> {
        let times = match self.unit.better() {
            Better::Higher => self.value / reference.value,
            Better::Lower => reference.value / self.value,
        };
        times.is_finite().then_some(times)
    }

    /// The footnotes, then the caveats of references.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let caveats = self.references.iter().filter_map(|reference| {
            reference.caveat.as_ref().map(|caveat| format!("{}: {caveat}", reference.name))
        });
        self.footnotes.iter().cloned().chain(caveats).collect()
    }

    /// The row in a few words, for a list of missed targets.
    #[must_use]
    pub fn title(&self) -> String {
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
