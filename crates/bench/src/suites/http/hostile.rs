//! Orders at a steady rate under attack.

use super::attacker::Attacker;
use super::paced::{Paced, paced};
use super::venue::{Served, bodies};
use super::{CONNECTIONS, MEMBERS, OrderIds, case};
use crate::attack::{Attack, AttackPlan, AttackReport, raise_descriptors};
use crate::drive::{VenueSettings, both};
use crate::error::{BenchError, broken, verify};
use crate::measure::{Percentiles, Spread, side_by_side};
use crate::report::{Risk, Row, Unit};
use crate::suite::Context;
use rialto_engine::Level;
use rialto_queue::{Queue, QueueOptions, TopicOptions};
use rialto_workload::{FEES, Form, Workload, opening, random_prices};

/// Orders per second.
const RATE: u64 = 5_000;
/// The largest slowdown of orders under attack: at the median and at 99 %.
const SLOWER_MAX: f64 = 2.0;
/// The topic of long bodies.
const TOPIC: &str = "attacked";
/// Descriptors for both ends of the orders' connections, the attacker's, and files.
const DESCRIPTORS: u64 = 2_048;

/// An arm.
struct Arm {
    name: &'static str,
    /// The attack with its number of connections; `None` for the baseline.
    attack: Option<(Attack, usize)>,
}

const ARMS: [Arm; 5] = [
    Arm { name: "nobody attacks", attack: None },
    Arm { name: "1,000 idle connections", attack: Some((Attack::IdleConnections, 1_000)) },
    Arm { name: "512 silent streams", attack: Some((Attack::SilentStreams, 512)) },
    Arm {
        name: "512 streams of 4 subscriptions that are not read",
        attack: Some((Attack::UnreadStreams, 512)),
    },
    Arm {
        name: "4 connections with 10 bodies of 2 MiB a second each",
        attack: Some((Attack::LongBodies, 4)),
    },
];

const OPEN_LOOP: &str = "Open loop: from the scheduled arrival to the answer, on 64 connections; the \
    load program is one thread that shares the two processors with the server.";
const ATTACKED: &str = "The attacker is a process at nice 19 on the same machine, from 64 addresses. \
    It opens again what the venue closes, and streams that it left unread for 2 s, at most 100 \
    connections a second.";
const OVER: &str = "Over the round without an attack; the median of the rounds, which take turns.";

/// The measurements of an arm in one round.
struct Round {
    percentiles: Percentiles,
    late_ns_max: u64,
    trades: u64,
    report: Option<AttackReport>,
}

pub(super) fn measure(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let Some(attacker) = context.attacker() else {
        context
            .progress("  left out: orders while others attack, for want of an attacker's program");
        return Ok(Vec::new());
    };
    raise_descriptors(DESCRIPTORS);
    let per_second = context.sized(RATE, 500);
    let seconds = context.sized(6, 1);
    let workload = random_prices(Form::A, per_second as usize * seconds);
    let warm_up = workload.operations.len() / 6;
    let mut rounds: Vec<Vec<Round>> = ARMS.iter().map(|_| Vec::new()).collect();
    side_by_side(ARMS.len(), context.sized(5, 1), |at| -> Result<f64, BenchError> {
        context.progress(&format!("  orders while {}", ARMS[at].name));
        let round = run(context, &ARMS[at], attacker, &workload, (per_second, warm_up))?;
        let p50 = round.percentiles.p50 as f64;
        rounds[at].push(round);
        Ok(p50)
    })?;
    let orders = (workload.operations.len() - warm_up) as u64;
    Ok(ARMS
        .iter()
        .enumerate()
        .flat_map(|(at, arm)| rows(arm, &rounds[at], &rounds[0], orders))
        .collect())
}

fn work(arm: &Arm) -> String {
    format!("gateway, POST /v1/orders, {} K orders/s, {}", RATE / 1_000, arm.name)
}

fn run(
    context: &mut Context<'_>,
    arm: &Arm,
    attacker: fn() -> std::process::Command,
    workload: &Workload,
    pace: (u64, usize),
) -> Result<Round, BenchError> {
    let name = case(&work(arm), Risk::On).to_string();
    let directory = context.fresh_directory()?;
    let settings = VenueSettings::at(context, Level::Synced);
    let queue = Queue::open(QueueOptions::in_memory()).map_err(broken(&name, "open a queue"))?;
    let topic = TopicOptions::stream().level(rialto_queue::Level::Memory);
    queue.create_topic(TOPIC, topic).map_err(broken(&name, "make a topic"))?;
    let queue_of_venue = Some(queue.clone());
    let served = Served::start(
        &name,
        settings,
        directory.path(),
        opening(workload),
        MEMBERS,
        queue_of_venue,
    )?;
    let attacker = match arm.attack {
        Some((attack, connections)) => {
            let (key, secret) = served.producer_of(&name, TOPIC)?;
            let plan = AttackPlan {
                attack,
                address: served.address(),
                connections: context.sized(connections, 4),
                key,
                secret,
                path: format!("/v1/queues/{TOPIC}/messages"),
                instrument: "BTC-USD".to_string(),
            };
            Some(Attacker::start(&name, attacker(), &plan)?)
        }
        None => None,
    };
    let requests = served.signed(bodies(workload));
    let mut ids = OrderIds::default();
    let address = served.address();
    // A thread of its own, because its sleeps are made exact.
    let load = || {
        paced(&name, address, CONNECTIONS, &requests, pace, &mut |status, body| {
            ids.take(&name, status, 201, body)
        })
    };
    let Paced { latencies, late_ns_max } = both(load, || ()).0?;
    let report = attacker.map(|attacker| attacker.end(&name)).transpose()?;
    verify(&name, "orders answered, each once", ids.seen.len(), requests.len())?;
    if let Some(report) = &report {
        let did_something = report.held > 0 || !report.answers.is_empty();
        verify(&name, "whether the attacker held or sent something", did_something, true)?;
    }
    let commands = opening(workload).len() + requests.len();
    let trades = served.end(&name, commands as u64)?;
    queue.close().map_err(broken(&name, "close the queue"))?;
    Ok(Round { percentiles: latencies.percentiles(), late_ns_max, trades, report })
}

fn rows(arm: &Arm, rounds: &[Round], alone: &[Round], orders: u64) -> Vec<Row> {
    let case = case(&work(arm), Risk::On);
    let row = |metric: String, spread: Spread, unit: Unit| {
        let late = rounds.iter().map(|round| round.late_ns_max).max().unwrap_or(0);
        let mut row = Row::of_spread(&case, metric, spread, unit)
            .level(Level::Synced.name())
            .check("requests", orders)
            .check("trades", rounds[0].trades)
            .check("client_late_ns_max", late)
            .footnote(OPEN_LOOP)
            .footnote(FEES);
        if let Some(report) = &rounds[0].report {
            row = row
                .check("attacker_opened", report.opened)
                .check("attacker_held", report.held)
                .check("attacker_answers", format!("{:?}", report.answers))
                .check("attacker_broken_off", report.broken_off)
                .footnote(ATTACKED);
        }
        row
    };
    type Pick = fn(&Percentiles) -> u64;
    let picks: [(&str, Pick); 2] = [("p50", |all| all.p50), ("p99", |all| all.p99)];
    let mut rows = Vec::new();
    for (name, pick) in picks {
        let own = Spread::over(rounds, |round| pick(&round.percentiles) as f64);
        rows.push(row(format!("latency {name}"), own, Unit::Nanoseconds));
        if arm.attack.is_some() {
            let ratios = Spread::over(rounds.iter().zip(alone), |(round, alone)| {
                pick(&round.percentiles) as f64 / pick(&alone.percentiles).max(1) as f64
            });
            let metric = format!("latency {name} over that without");
            rows.push(row(metric, ratios, Unit::Slowdown).target(SLOWER_MAX).footnote(OVER));
        }
    }
    rows
}
