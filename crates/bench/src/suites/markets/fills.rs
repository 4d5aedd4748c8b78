//! An order over HTTP until its fill arrives on the private stream of its account.

use super::check::{verify_core, verify_tally};
use crate::drive::{VenueSettings, both, disk_sync, median_group_bytes};
use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, Latencies, Pace, Spread, exact_sleeps, percentile_spreads};
use crate::references::{MarketWork, Metric, Work};
use crate::report::figure::{Figure, Series};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Outcome};
use crate::suites::http::connection::{Connection, Requests};
use crate::suites::http::order_id;
use crate::suites::http::stream::FillStream;
use crate::suites::http::venue::{Ended, Served, decimal};
use rialto_engine::Level;
use rialto_model::{Command, OrderSize, Side};
use rialto_threads::wake_promptly;
use rialto_workload::{FEES, MARKET_PRICE_SCALE, MarketFlow, one_maker};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::io;

/// Members, and the orders per second of all of them.
const MEMBERS: [(u32, u64); 2] = [(1, 500), (64, 5_000)];
const SECONDS: u64 = 5;
/// The target at 99 %, in nanoseconds.
const P99_NS: f64 = 950e3;
/// How long an answer or a fill may take.
const PATIENCE_NS: u64 = 30_000_000_000;

const OPEN_LOOP: &str = "Open loop: from the scheduled arrival of an order until its fill has been read \
    from the stream. A member has one order outstanding; later ones wait for it, and the wait counts. \
    The load program is one thread that shares the two processors with the server.";
const SIGNED: &str = "Every request is signed, and every order takes from one large resting order. The \
    order ids of answer and fill are compared. The limits of rate are out of the way.";
const ONE_SYNC: &str = "One disk sync: the median synchronous write of this run's median group \
    size, over space written before, on the same disk right after the run.";

/// The measurements of a pass.
struct Pass {
    fills: Latencies,
    answers: Latencies,
    late_ns_max: u64,
    group_bytes: u64,
    /// The median of the journal's own writes during the pass.
    write_ns: u64,
    sync_ns: u64,
}

pub(super) fn measure(context: &mut Context<'_>, outcome: &mut Outcome) {
    for (members, rate) in MEMBERS {
        outcome.take(with_members(context, members, rate));
    }
}

fn with_members(context: &mut Context<'_>, members: u32, rate: u64) -> Result<Outcome, BenchError> {
    let plural = if members == 1 { "" } else { "s" };
    let work = format!(
        "gateway, POST /v1/orders until the fill is on the stream, {members} member{plural}, {rate} orders/s"
    );
    let case = Case { work, risk: Risk::On, transport: Transport::Loopback };
    let name = case.to_string();
    // Each member needs keys, which are made with a sync.
    let members = context.sized(members, members.min(4));
    let rate = context.sized(rate, rate.min(500));
    let flow = one_maker(members, context.sized(rate * SECONDS, 150));
    let mut passes = Vec::new();
    for pass in 1..=context.sized(3, 1) {
        context.progress(&format!("  {}, pass {pass}", case.work));
        passes.push(run(context, &name, &flow, members, rate)?);
    }
    let mut outcome = Outcome::from(rows(&case, &flow, &passes));
    let mut all = Latencies::new();
    passes.iter().for_each(|pass| all.merge(&pass.fills));
    let curve = Series { name: format!("{members} member{plural}, synced"), points: all.curve() };
    outcome.plot(Figure::percentiles("Gateway: order until fill", vec![curve]));
    Ok(outcome)
}

fn run(
    context: &mut Context<'_>,
    name: &str,
    flow: &MarketFlow,
    members: u32,
    rate: u64,
) -> Result<Pass, BenchError> {
    let directory = context.fresh_directory()?;
    let settings = VenueSettings::at(context, Level::Synced);
    let (maker, orders) = flow.commands.split_at(flow.prefill);
    let before = [&flow.opening(), maker].concat();
    let commands = (before.len() + orders.len()) as u64;
    let served = Served::start(name, settings, directory.path(), before, members, None)?;
    let mut clients = Vec::new();
    for member in 1..=members {
        let stream = served.fills_of(name, member)?;
        let connection = Connection::open(served.address());
        let connection = connection.map_err(broken(name, "open a connection"))?;
        clients.push(Client::new(connection, stream));
    }
    let requests = served.signed(orders.iter().filter_map(body));
    verify(name, "requests", requests.len(), orders.len())?;
    let warm_up = requests.len() as u64 / 6;
    // On a thread of its own, because its sleeps are made exact.
    let loaded = both(|| load(name, &mut clients, &requests, (rate, warm_up)), || ()).0?;
    drop(clients);
    let Ended { events, core, stats } = served.end_with_state(name, commands)?;
    // All orders are alike, so that the trades do not depend on who was first.
    verify_tally(name, flow, &events.tally)?;
    verify_core(name, flow, 1, events.tally.into(), &core)?;
    let group_bytes = median_group_bytes(&stats.group_bytes);
    let writes = context.sized(1_000, 20);
    let sync = disk_sync(name, directory.path(), group_bytes as usize, writes)?;
    let Loaded { fills, answers, late_ns_max } = loaded;
    let sync_ns = sync.percentiles().p50.max(1);
    let write_ns = stats.write_ns.value_at_quantile(0.5);
    Ok(Pass { fills, answers, late_ns_max, group_bytes, write_ns, sync_ns })
}

/// An order as JSON.
fn body(command: &Command) -> Option<String> {
    let Command::Place(order) = command else { return None };
    let OrderSize::Base(quantity) = order.size else { return None };
    let side = if order.side == Side::Buy { "buy" } else { "sell" };
    let symbol = MarketFlow::symbol(order.instrument);
    let price = decimal(order.price.0, MARKET_PRICE_SCALE);
    Some(format!(
        r#"{{"instrument":"{symbol}","side":"{side}","quantity":"{}","price":"{price}"}}"#,
        quantity.0
    ))
}

/// A member's connection and stream, with at most one order outstanding.
struct Client {
    connection: Connection,
    stream: FillStream,
    /// Requests that are due and wait for the one outstanding.
    due: VecDeque<u64>,
    outstanding: Option<Outstanding>,
}

/// An order that was sent.
struct Outstanding {
    request: u64,
    answered: Option<u64>,
    filled: Option<u64>,
}

impl Outstanding {
    /// Whether answer and fill have come, which must name one order.
    fn is_done(&self, case: &str) -> Result<bool, BenchError> {
        let (Some(answered), Some(filled)) = (self.answered, self.filled) else { return Ok(false) };
        verify(case, "the order id of a fill", filled, answered)?;
        Ok(true)
    }

    /// Takes a fill, of which an order has one.
    fn take_fill(&mut self, case: &str, order: u64) -> Result<(), BenchError> {
        verify(case, "a fill of the order before this one", self.filled.replace(order), None)
    }
}

impl Client {
    fn new(connection: Connection, stream: FillStream) -> Client {
        Client { connection, stream, due: VecDeque::new(), outstanding: None }
    }

    /// Sends the next due request, unless one is outstanding.
    fn send_next(&mut self, requests: &Requests) -> io::Result<()> {
        if self.outstanding.is_none()
            && let Some(request) = self.due.pop_front()
        {
            self.connection.send(requests.get(request as usize))?;
            self.outstanding = Some(Outstanding { request, answered: None, filled: None });
        }
        Ok(())
    }
}

/// The measurements of the load.
struct Loaded {
    fills: Latencies,
    answers: Latencies,
    late_ns_max: u64,
}

/// Sends all requests at a rate, each on the connection of its member, and takes answers and fills.
fn load(
    case: &str,
    clients: &mut [Client],
    requests: &Requests,
    (per_second, warm_up): (u64, u64),
) -> Result<Loaded, BenchError> {
    let failed = || broken::<io::Error>(case, "send an order and read its answer and its fill");
    exact_sleeps().map_err(broken(case, "have exact sleeps"))?;
    wake_promptly();
    let clock = Clock::start();
    let mut pace = Pace::new(clock, per_second, requests.len() as u64);
    let schedule = pace.clone();
    let (mut fills, mut answers) = (Latencies::new(), Latencies::new());
    let (mut arrived, mut done) = (0, 0);
    while done < requests.len() {
        for request in pace.due_now().into_iter().flatten() {
            let client = request as usize % clients.len();
            clients[client].due.push_back(request);
            clients[client].send_next(requests).map_err(failed())?;
            arrived = request + 1;
        }
        let wait_ns = match arrived < requests.len() as u64 {
            true => schedule.scheduled_ns(arrived).saturating_sub(clock.now_ns()),
            false => PATIENCE_NS,
        };
        for (at, is_stream) in ready(clients, wait_ns).map_err(failed())? {
            let client = &mut clients[at];
            if is_stream {
                let orders = client.stream.read().map_err(failed())?;
                let now = clock.now_ns();
                for order in orders {
                    let sent = client.outstanding.as_mut();
                    let sent = sent.ok_or("none of its orders is outstanding");
                    let sent = sent.map_err(broken(case, "match a fill"))?;
                    sent.take_fill(case, order)?;
                    if sent.request >= warm_up {
                        fills.record(now - schedule.scheduled_ns(sent.request));
                    }
                }
            } else if let Some((status, body)) = client.connection.read().map_err(failed())? {
                let said = || String::from_utf8_lossy(body).into_owned();
                if status != 201 {
                    verify(case, "an answer", format!("{status}: {}", said()), "201".into())?;
                }
                let id = order_id(body).ok_or_else(|| broken(case, "find an order id")(said()))?;
                let now = clock.now_ns();
                if let Some(sent) = &mut client.outstanding {
                    sent.answered = Some(id);
                    if sent.request >= warm_up {
                        answers.record(now - schedule.scheduled_ns(sent.request));
                    }
                }
            }
            let outstanding = client.outstanding.as_ref();
            if outstanding.map(|sent| sent.is_done(case)).transpose()? == Some(true) {
                client.outstanding = None;
                done += 1;
                client.send_next(requests).map_err(failed())?;
            }
        }
    }
    verify(case, "fills", fills.count(), requests.len() as u64 - warm_up)?;
    Ok(Loaded { fills, answers, late_ns_max: pace.late_ns_max() })
}

/// The connections and streams that have received bytes, after at most this time.
fn ready(clients: &[Client], wait_ns: u64) -> io::Result<Vec<(usize, bool)>> {
    let mut polled: Vec<PollFd<'_>> = Vec::with_capacity(2 * clients.len());
    for client in clients {
        polled.push(PollFd::new(&client.stream, PollFlags::IN));
        polled.push(PollFd::new(&client.connection, PollFlags::IN));
    }
    let timeout = Timespec {
        tv_sec: (wait_ns / 1_000_000_000) as i64,
        tv_nsec: (wait_ns % 1_000_000_000) as i64,
    };
    let count = poll(&mut polled, Some(&timeout))?;
    if count == 0 && wait_ns >= PATIENCE_NS {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let came = polled.iter().enumerate().filter(|(_, polled)| !polled.revents().is_empty());
    Ok(came.map(|(at, _)| (at / 2, at % 2 == 0)).collect())
}

fn rows(case: &Case, flow: &MarketFlow, passes: &[Pass]) -> Vec<Row> {
    let beside = Work::Market(MarketWork::Fill);
    let late = passes.iter().map(|pass| pass.late_ns_max).max();
    let answer = passes[passes.len() / 2].answers.percentiles();
    let row = |metric: String, spread: Spread, unit: Unit| {
        Row::of_spread(case, metric, spread, unit)
            .level(Level::Synced.name())
            .checks(&flow.checks(1))
            .check("fills_measured", passes[0].fills.count())
            .check("answer_p50_ns", answer.p50)
            .check("answer_p99_ns", answer.p99)
            .check("median_group_bytes", passes[0].group_bytes)
            .check("engine_write_p50_ns", passes[passes.len() / 2].write_ns)
            .check("client_late_ns_max", late)
            .footnote(OPEN_LOOP)
            .footnote(SIGNED)
            .footnote(FEES)
    };
    let sync = Spread::over(passes, |pass| pass.sync_ns as f64);
    let mut rows = vec![row("one disk sync".into(), sync, Unit::Nanoseconds).footnote(ONE_SYNC)];
    let percentiles: Vec<_> = passes.iter().map(|pass| pass.fills.percentiles()).collect();
    for (name, spread) in percentile_spreads(percentiles.iter()) {
        let ns = row(format!("latency {name}"), spread, Unit::Nanoseconds);
        let target = (name == "p99").then_some(P99_NS);
        rows.push(ns.beside(beside, Metric::of_percentile(name)).target(target));
        if matches!(name, "p50" | "p99") {
            let in_syncs = Spread::over(passes.iter().zip(&percentiles), |(pass, of)| {
                let ns = if name == "p50" { of.p50 } else { of.p99 };
                ns as f64 / pass.sync_ns as f64
            });
            let metric = format!("latency {name} in disk syncs");
            rows.push(row(metric, in_syncs, Unit::DiskSyncs).footnote(ONE_SYNC));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_and_fill_must_name_one_order_and_an_order_has_one_fill() {
        let mut sent = Outstanding { request: 0, answered: None, filled: None };
        sent.take_fill("case", 7).expect("the first fill");
        assert!(!sent.is_done("case").expect("there is no answer yet"));
        sent.answered = Some(7);
        assert!(sent.is_done("case").expect("both name one order"));
        sent.answered = Some(8);
        assert!(sent.is_done("case").is_err());
        assert!(sent.take_fill("case", 7).is_err());
    }

    #[test]
    fn an_order_is_written_with_its_decimals() {
        let flow = one_maker(1, 1);
        let body = body(&flow.commands[1]).expect("it places an order");
        let expected = r#"{"instrument":"IX01-USD","side":"buy","quantity":"10","price":"100.0"}"#;
        assert_eq!(body, expected);
    }
}
