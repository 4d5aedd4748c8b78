//! Throughput against the size of the journal's groups.

use super::arm;
use crate::drive::{VenueSettings, submissions};
use crate::error::BenchError;
use crate::references::{Metric, Work};
use crate::report::figure::{Axis, Figure, Scale, Series};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Outcome};
use rialto_engine::{EngineConfig, Level};
use rialto_workload::{Form, commands, random_prices};

/// The most commands in flight, and the orders for a point of the plot: commands that arrive while
/// a group is written form the next one.
const WINDOWS: [(usize, usize); 6] = [
    (1, 10_000),
    (8, 50_000),
    (64, 300_000),
    (512, 1_000_000),
    (4_096, 2_000_000),
    (32_768, 2_000_000),
];
/// Bounds of a group in bytes, with enough in flight to fill it.
const BOUNDS: [usize; 3] = [EngineConfig::GROUP_BYTES_MIN, 512 << 10, 1 << 20];
/// Commands in flight that fill groups.
const PLENTY: usize = 65_536;

const IN_FLIGHT: &str = "What arrives while a group is being written makes up the next one, so the \
    number of commands in flight sets the size of the groups.";

struct Point {
    settings: VenueSettings,
    orders: usize,
    what: String,
}

/// Rows and the plot.
pub(super) fn measure(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    let mut outcome = Outcome::default();
    let mut series = Vec::new();
    for level in [Level::Buffered, Level::Synced] {
        let windows = WINDOWS.map(|(in_flight_max, orders)| Point {
            settings: VenueSettings { in_flight_max, ..VenueSettings::at(context, level) },
            orders,
            what: format!("{in_flight_max} in flight"),
        });
        let name = format!("{level}, by commands in flight");
        series.push(line(context, name, &windows, &mut outcome.rows)?);
    }
    let bounds = BOUNDS.map(|group_bytes_max| Point {
        settings: VenueSettings {
            group_bytes_max,
            in_flight_max: PLENTY,
            ..VenueSettings::at(context, Level::Synced)
        },
        orders: 2_000_000,
        what: format!("groups of at most {} KiB", group_bytes_max >> 10),
    });
    let name = "synced, by the bound of a group".to_string();
    series.push(line(context, name, &bounds, &mut outcome.rows)?);
    outcome.figures.push(Figure::Lines {
        title: "Engine: throughput against group size".into(),
        x: Axis::new("median group, bytes", Scale::Log),
        y: Axis::new("orders/s", Scale::Log),
        series,
    });
    Ok(outcome)
}

fn line(
    context: &mut Context<'_>,
    name: String,
    points: &[Point],
    rows: &mut Vec<Row>,
) -> Result<Series, BenchError> {
    let mut line = Vec::with_capacity(points.len());
    for Point { settings, orders, what } in points {
        let workload = random_prices(Form::A, context.sized(*orders, 500));
        let work = format!("engine, {}, {what}", workload.name);
        let case = Case { work, risk: Risk::On, transport: Transport::InProcess };
        context.progress(&format!("  {}: {}", case.work, settings.level));
        let submissions = submissions(commands(&workload));
        let arm = arm::run(context, &case.to_string(), *settings, &workload, &submissions)?;
        line.push((arm.group_bytes as f64, arm.rate));
        let row = Row::new(&case, "throughput", arm.rate, Unit::OrdersPerSecond)
            .level(settings.level.name())
            .checks(&workload.checks())
            .check("median_group_bytes", arm.group_bytes)
            .check("acknowledge_p50_ns", arm.acknowledge.p50)
            .check("acknowledge_p99_ns", arm.acknowledge.p99)
            .footnote(IN_FLIGHT);
        // perpetual-exchange sent its orders one at a time.
        let work = (settings.in_flight_max == 1).then_some(Work::RandomPrices);
        rows.push(row.beside(work, Metric::Throughput));
    }
    line.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(Series { name, points: line })
}
