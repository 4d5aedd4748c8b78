//! Figures of the seeds and of peers, for printing beside ours.
//!
//! A figure that cannot mean what it says carries the reason. Seeds' figures are as published, on
//! hardware that was not stated; peers' were measured by us on one machine of 2 virtual cores
//! (Intel Xeon, family 6 model 207), the median of three runs.

mod catga;
mod queue;

pub use catga::{BusWork, CodecWork, FlowWork, IdWork, LifecycleWork};
pub use queue::QueueWork;

use crate::report::{Reference, Unit};

/// The work that a figure was measured at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A book alone on the OBW1 stream of seed 1 at this depth, a million operations.
    Obw {
        /// Orders that rest.
        depth: u64,
    },
    /// A book alone on the flow of exchange-core's own generator, 1,000 orders resting.
    MixBook,
    /// A core with ledger, risk and events on an OBW1 stream, which nobody published a figure of.
    ObwCore,
    /// The same on the flow of exchange-core's own generator.
    MixCore,
    /// A whole engine on that flow: risk, matching, results; no journal.
    MixPipeline,
    /// An engine that keeps what it does, on the workload of seed 002.
    Seed002,
    /// A book alone on the orders of seed 002, which nobody published a figure of.
    Seed002Book,
    /// HTTP order entry with keep-alive on 64 connections, and durable acknowledgements.
    HttpOrders,
    /// A bare HTTP route that parses an order and does nothing with it.
    HttpBareRoute,
    /// Recovery: applying a recorded log at start.
    Replay,
    /// A call of a command bus.
    Bus(BusWork),
    /// A message made into bytes, or read from them.
    Codec(CodecWork),
    /// Making ids.
    Id(IdWork),
    /// Starting, ending and stopping.
    Lifecycle(LifecycleWork),
    /// Flows of steps.
    Flow(FlowWork),
    /// Messages through a queue.
    Queue(QueueWork),
}

/// Which figure of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
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
    P99_9,
    /// The longest latency.
    Max,
    /// Memory allocated.
    Allocated,
}

impl Metric {
    /// The metric of a percentile by the name that [`crate::measure::Percentiles::named`] gives it.
    #[must_use]
    pub fn of_percentile(name: &str) -> Option<Metric> {
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

/// A figure of somebody else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Who.
    pub name: &'static str,
    /// At what work.
    pub work: Work,
    /// Which figure.
    pub metric: Metric,
    /// The figure.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
    /// Where it stands, or who measured it.
    pub source: &'static str,
    /// Why it cannot mean what it says, if it cannot.
    pub caveat: Option<&'static str>,
}

impl Figure {
    /// The figure as it stands beside a row.
    #[must_use]
    pub fn reference(&self) -> Reference {
        Reference {
            name: self.name.to_string(),
            value: self.value,
            caveat: self.caveat.map(str::to_string),
        }
    }
}

/// Every figure of a work and metric.
pub fn of(work: Work, metric: Metric) -> impl Iterator<Item = &'static Figure> {
    all().filter(move |figure| figure.work == work && figure.metric == metric)
}

/// Every figure that is known.
pub fn all() -> impl Iterator<Item = &'static Figure> {
    FIGURES.iter().chain(catga::FIGURES).chain(queue::FIGURES)
}

const SEED_002: &str = "report of 2025-12-18: 50,000 orders, Docker on linux/amd64";
const MEASURED: &str = "measured by us, 2 virtual cores";
const SEED_004: &str = "published report: Ryzen 9 5950X, 32 threads, 64 GB";

const NO_STORE: &str = "its event store was never opened, so nothing was recorded; its trade rate \
    of 0.02 % is a defect (emptied price levels stay as the best price), not a property of the orders.";
const NO_SYNC: &str = "it never waits for fsync, so the figure is of writes that a power failure may \
    undo; its trade rate of 0.02 % is a defect (emptied price levels stay as the best price).";
const ONE_STALL: &str = "the longest of one run on a directory shared with the host; says little \
    about the engine.";
const IN_MEMORY: &str = "in memory, no journal; it wants six cores and had two.";
const NOT_REPLAYED: &str = "nothing in its program replays the log that its gateway writes, and its \
    recovery benchmark times the adding of constants.";
const NO_AUTHENTICATION: &str = "100 connections; no authentication, and a reply that waits for no \
    particular durability.";
const CANCEL_WALKS: &str = "a cancel walks its price level, which is long at this depth.";

const fn figure(
    name: &'static str,
    work: Work,
    metric: Metric,
    value: f64,
    unit: Unit,
    source: &'static str,
    caveat: Option<&'static str>,
) -> Figure {
    Figure { name, work, metric, value, unit, source, caveat }
}

/// A rate of a book on an OBW1 stream.
const fn rate(name: &'static str, depth: u64, millions: f64) -> Figure {
    let (work, unit) = (Work::Obw { depth }, Unit::OperationsPerSecond);
    figure(name, work, Metric::Throughput, millions * 1e6, unit, MEASURED, None)
}

/// A latency of one operation of a book on an OBW1 stream.
const fn book_ns(name: &'static str, depth: u64, metric: Metric, ns: f64) -> Figure {
    figure(name, Work::Obw { depth }, metric, ns, Unit::Nanoseconds, MEASURED, None)
}

/// A latency of seed 002.
const fn seed_us(name: &'static str, metric: Metric, us: f64, caveat: &'static str) -> Figure {
    let unit = Unit::Nanoseconds;
    figure(name, Work::Seed002, metric, us * 1e3, unit, SEED_002, Some(caveat))
}

/// A throughput of seed 002.
const fn seed_rate(name: &'static str, per_second: f64, caveat: &'static str) -> Figure {
    let unit = Unit::OrdersPerSecond;
    figure(name, Work::Seed002, Metric::Throughput, per_second, unit, SEED_002, Some(caveat))
}

const fn with_caveat(figure: Figure, caveat: &'static str) -> Figure {
    Figure { caveat: Some(caveat), ..figure }
}

const PRODUCTION_SAFE: &str = "seed 002 production_safe";
const EVENT_SOURCING: &str = "seed 002 event_sourcing";
const EXCHANGE_CORE: &str = "exchange-core direct book";
const LIQUIBOOK: &str = "Liquibook";
const ORDERBOOK_RS: &str = "orderbook-rs";

static FIGURES: &[Figure] = &[
    seed_rate(PRODUCTION_SAFE, 9_780.0, NO_SYNC),
    figure(
        "seed 002 production_safe over event_sourcing",
        Work::Seed002,
        Metric::Throughput,
        9_780.0 / 418_800.0,
        Unit::Ratio,
        SEED_002,
        Some(NO_STORE),
    ),
    seed_us(PRODUCTION_SAFE, Metric::Mean, 99.68, NO_SYNC),
    seed_us(PRODUCTION_SAFE, Metric::P50, 78.17, NO_SYNC),
    seed_us(PRODUCTION_SAFE, Metric::P90, 147.96, NO_SYNC),
    seed_us(PRODUCTION_SAFE, Metric::P99, 397.0, NO_SYNC),
    seed_us(PRODUCTION_SAFE, Metric::Max, 46_788.5, ONE_STALL),
    seed_rate(EVENT_SOURCING, 418_800.0, NO_STORE),
    seed_us(EVENT_SOURCING, Metric::Mean, 1.75, NO_STORE),
    seed_us(EVENT_SOURCING, Metric::P50, 1.54, NO_STORE),
    seed_us(EVENT_SOURCING, Metric::P90, 2.08, NO_STORE),
    seed_us(EVENT_SOURCING, Metric::P99, 3.08, NO_STORE),
    seed_us(EVENT_SOURCING, Metric::Max, 2_344.33, NO_STORE),
    rate(EXCHANGE_CORE, 1_000, 13.0),
    rate(EXCHANGE_CORE, 10_000, 11.7),
    rate(EXCHANGE_CORE, 100_000, 7.49),
    book_ns(EXCHANGE_CORE, 10_000, Metric::P50, 89.0),
    book_ns(EXCHANGE_CORE, 10_000, Metric::P99, 1_250.0),
    book_ns(EXCHANGE_CORE, 10_000, Metric::P99_9, 1_700.0),
    rate(LIQUIBOOK, 1_000, 6.61),
    rate(LIQUIBOOK, 10_000, 3.11),
    with_caveat(rate(LIQUIBOOK, 100_000, 0.158), CANCEL_WALKS),
    rate(ORDERBOOK_RS, 1_000, 1.23),
    rate(ORDERBOOK_RS, 10_000, 0.97),
    rate(ORDERBOOK_RS, 100_000, 0.62),
    book_ns(ORDERBOOK_RS, 10_000, Metric::P50, 945.0),
    book_ns(ORDERBOOK_RS, 10_000, Metric::P99, 3_150.0),
    book_ns(ORDERBOOK_RS, 10_000, Metric::P99_9, 5_389.0),
    figure(
        EXCHANGE_CORE,
        Work::MixBook,
        Metric::Throughput,
        11.2e6,
        Unit::OperationsPerSecond,
        MEASURED,
        Some("on the very bytes of its own generator; ours has the same shape and other bytes."),
    ),
    figure(
        "exchange-core pipeline, yielding",
        Work::MixPipeline,
        Metric::Throughput,
        4.41e6,
        Unit::CommandsPerSecond,
        MEASURED,
        Some(IN_MEMORY),
    ),
    figure(
        "exchange-core pipeline, as its tests set it",
        Work::MixPipeline,
        Metric::Throughput,
        1.25e6,
        Unit::CommandsPerSecond,
        MEASURED,
        Some(IN_MEMORY),
    ),
    figure(
        "seed 004 replay of its log",
        Work::Replay,
        Metric::Throughput,
        45_000.0,
        Unit::CommandsPerSecond,
        SEED_004,
        Some(NOT_REPLAYED),
    ),
    figure(
        "seed 004 POST order",
        Work::HttpOrders,
        Metric::Throughput,
        48_000.0,
        Unit::RequestsPerSecond,
        SEED_004,
        Some(NO_AUTHENTICATION),
    ),
    figure(
        "bare axum, POST with JSON",
        Work::HttpBareRoute,
        Metric::Throughput,
        137_000.0,
        Unit::RequestsPerSecond,
        MEASURED,
        None,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_figure_is_given_twice() {
        for (position, figure) in all().enumerate() {
            let same = all().skip(position + 1).find(|other| {
                (other.name, other.work, other.metric) == (figure.name, figure.work, figure.metric)
            });
            assert_eq!(same, None);
        }
    }

    #[test]
    fn the_factor_that_the_seed_lost_to_durability_is_as_published() {
        let rate = |name| {
            of(Work::Seed002, Metric::Throughput)
                .find(|figure| figure.name == name)
                .map(|figure| figure.value)
        };
        let safe = rate(PRODUCTION_SAFE).expect("a published figure");
        let fast = rate(EVENT_SOURCING).expect("a published figure");
        assert!((fast / safe - 42.8).abs() < 0.05);
    }

    #[test]
    fn every_published_figure_of_seed_002_says_why_it_cannot_be_taken_at_its_word() {
        let bare =
            FIGURES.iter().find(|figure| figure.work == Work::Seed002 && figure.caveat.is_none());
        assert_eq!(bare, None);
    }
}
