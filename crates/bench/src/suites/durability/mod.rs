//! `durability`: the whole engine on the real disk, at every level.

mod acknowledge;
mod arm;
mod group_size;
mod levels;

use crate::error::BenchError;
use crate::references::{self, Metric, Work};
use crate::report::Unit;
use crate::report::figure::{Axis, Bar, Figure, Scale};
use crate::suite::{Context, Outcome, Suite, part};
use levels::{Job, Levels, Targets};
use rialto_engine::Level;
use rialto_workload::{Form, exchange_core_mix, random_prices};

/// The seed of exchange-core's mix.
const MIX_SEED: u64 = 1;

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "durability",
    about: "the engine on the real disk: perpetual-exchange's orders at random prices and exchange-core's mix at every level",
    parts: &[
        part("prices", prices),
        part("mix", |context, outcome| outcome.take(mix(context))),
        part("acknowledge", |context, outcome| outcome.take(acknowledge::measure(context))),
        part("groups", |context, outcome| outcome.take(group_size::measure(context))),
    ],
};

fn prices(context: &mut Context<'_>, outcome: &mut Outcome) {
    let main = Targets { buffered: Some(2.5e6), synced: None, ratio: Some(0.95) };
    let none = Targets::default();
    for (form, orders, rounds, targets) in [
        (Form::A, 5_000_000, 3, main),
        (Form::A, 50_000, 7, none),
        (Form::B, 5_000_000, 1, none),
        (Form::B, 50_000, 7, none),
    ] {
        context.progress("  random prices: generating");
        let job = Job {
            workload: &random_prices(form, context.sized(orders, (orders / 2_000).max(200))),
            unit: Unit::OrdersPerSecond,
            work: Work::RandomPrices,
            targets,
            rounds: context.sized(rounds, 1),
            latencies: targets.buffered.is_some(),
        };
        outcome.take(at_every_level(context, &job, targets.buffered.is_some()));
    }
}

fn mix(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    context.progress("  exchange-core's mix: generating");
    let (resting, commands) = context.sized((1_000, 3_000_000), (100, 2_000));
    let job = Job {
        workload: &exchange_core_mix(MIX_SEED, resting, commands),
        unit: Unit::CommandsPerSecond,
        work: Work::MixPipeline,
        targets: Targets { synced: Some(2.5e6), ..Targets::default() },
        rounds: context.sized(3, 1),
        latencies: false,
    };
    at_every_level(context, &job, true)
}

fn at_every_level(
    context: &mut Context<'_>,
    job: &Job<'_>,
    is_plotted: bool,
) -> Result<Outcome, BenchError> {
    let measured = levels::measure(context, job)?;
    let mut outcome = Outcome::from(measured.rows(job));
    if is_plotted {
        outcome.plot(by_level(job, &measured));
    }
    Ok(outcome)
}

/// Throughput by level, with the figures of other systems.
fn by_level(job: &Job<'_>, measured: &Levels) -> Figure {
    let ours = Level::ALL.into_iter().map(|level| Bar {
        name: format!("Rialto, {level}"),
        value: measured.rate(level),
        ours: true,
    });
    let others = references::of(job.work, Metric::Throughput)
        .filter(|figure| figure.unit == job.unit)
        .map(|figure| Bar { name: figure.name.to_string(), value: figure.value, ours: false });
    Figure::Bars {
        title: format!("Engine, {}: throughput against durability level", job.workload.name),
        value: Axis::new(job.unit.symbol(), Scale::Linear),
        bars: ours.chain(others).collect(),
    }
}
