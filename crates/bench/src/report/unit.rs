//! Units of values, and their formatting.

use serde::Deserialize;
use std::fmt;

/// Which value is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Better {
    /// The larger.
    Higher,
    /// The smaller.
    Lower,
}

/// The unit of a measured value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unit {
    /// Operations on a book per second.
    OperationsPerSecond,
    /// Orders per second.
    OrdersPerSecond,
    /// Journaled commands per second.
    CommandsPerSecond,
    /// Requests over a network per second.
    RequestsPerSecond,
    /// Durable flows per second.
    FlowsPerSecond,
    /// Messages of a queue per second.
    MessagesPerSecond,
    /// Files of a pool per second.
    FilesPerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// Nanoseconds of latency.
    Nanoseconds,
    /// Seconds of duration.
    Seconds,
    /// A ratio of values; more is better.
    Ratio,
    /// A ratio of latencies; less is better.
    Slowdown,
    /// A later value over an earlier one; less is better.
    Growth,
    /// A latency in units of one disk sync in the same run.
    DiskSyncs,
    /// Allocations per order.
    AllocationsPerOrder,
    /// Bytes allocated per call.
    BytesPerCall,
    /// Bytes of memory in use.
    Bytes,
}

impl Unit {
    /// The unit as the JSON lines name it, and which way is better.
    const fn about(self) -> (&'static str, Better) {
        use Better::{Higher, Lower};
        match self {
            Unit::OperationsPerSecond => ("op/s", Higher),
            Unit::OrdersPerSecond => ("orders/s", Higher),
            Unit::CommandsPerSecond => ("commands/s", Higher),
            Unit::RequestsPerSecond => ("req/s", Higher),
            Unit::FlowsPerSecond => ("flows/s", Higher),
            Unit::MessagesPerSecond => ("messages/s", Higher),
            Unit::FilesPerSecond => ("files/s", Higher),
            Unit::BytesPerSecond => ("B/s", Higher),
            Unit::Nanoseconds => ("ns", Lower),
            Unit::Seconds => ("s", Lower),
            Unit::Ratio => ("ratio", Higher),
            Unit::Slowdown => ("slowdown", Lower),
            Unit::Growth => ("growth", Lower),
            Unit::DiskSyncs => ("disk syncs", Lower),
            Unit::AllocationsPerOrder => ("allocations/order", Lower),
            Unit::BytesPerCall => ("B/call", Lower),
            Unit::Bytes => ("B", Lower),
        }
    }

    /// The unit as the JSON lines name it.
    pub(crate) fn symbol(self) -> &'static str {
        self.about().0
    }

    /// Which way is better.
    pub(crate) fn better(self) -> Better {
        self.about().1
    }

    /// A value in this unit, for a person: three digits and a prefix.
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Unit::Nanoseconds => time(value),
            Unit::Seconds => time(value * 1e9),
            Unit::Ratio | Unit::Slowdown | Unit::Growth => digits(value),
            _ => format!("{} {}", prefixed(value), self.symbol()),
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

fn time(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        ns_abs if ns_abs < 1e3 => (ns, "ns"),
        ns_abs if ns_abs < 1e6 => (ns / 1e3, "us"),
        ns_abs if ns_abs < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// A value with K, M or G if it is large.
pub(crate) fn prefixed(value: f64) -> String {
    match value.abs() {
        abs if abs < 1e3 => digits(value),
        abs if abs < 1e6 => format!("{} K", digits(value / 1e3)),
        abs if abs < 1e9 => format!("{} M", digits(value / 1e6)),
        _ => format!("{} G", digits(value / 1e9)),
    }
}

/// A value with three digits, or rounded to an integer if it has more before the point.
pub(crate) fn digits(value: f64) -> String {
    let places = match value.abs() {
        abs if abs >= 99.95 => 0,
        abs if abs >= 9.995 => 1,
        abs if abs >= 0.1 || abs == 0.0 => 2,
        _ => 4,
    };
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_with_three_digits_and_a_prefix() {
        assert_eq!(Unit::OperationsPerSecond.show(24_312_345.0), "24.3 M op/s");
        assert_eq!(Unit::OrdersPerSecond.show(9_780.0), "9.78 K orders/s");
        assert_eq!(Unit::Nanoseconds.show(89.0), "89 ns");
        assert_eq!(Unit::Nanoseconds.show(46_788_500.0), "46.8 ms");
        assert_eq!(Unit::Seconds.show(10.0), "10 s");
        assert_eq!(Unit::Ratio.show(0.9534), "0.95");
        assert_eq!(Unit::AllocationsPerOrder.show(0.0), "0 allocations/order");
    }

    #[test]
    fn small_values_do_not_vanish() {
        assert_eq!(digits(0.0204), "0.0204");
    }
}
