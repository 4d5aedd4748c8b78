//! `http`: order entry over loopback, beside a bare route, and under attack.

mod attacker;
mod bare;
pub(crate) mod connection;
mod hostile;
mod load;
mod paced;
pub(crate) mod stream;
pub(crate) mod venue;

use crate::drive::VenueSettings;
use crate::error::{BenchError, verify};
use crate::measure::{Percentiles, SideBySide, side_by_side};
use crate::references::{Metric, Work};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Suite, part};
use bare::BareServer;
use connection::Requests;
use load::load;
use rialto_engine::Level;
use rialto_gateway::GatewayConfig;
use rialto_workload::{FEES, Form, Workload, opening, random_prices};
use std::collections::HashSet;
use venue::{Served, bodies, head};

const CONNECTIONS: usize = 64;
/// The members that send orders, each with its own key.
const MEMBERS: u32 = 64;
/// The target of the venue, as a share of the bare route.
const SHARE: f64 = 0.5;
const BARE: usize = 0;
const VENUE: usize = 1;

const LOAD: &str = "The load program is one thread with blocking sockets that shares the two \
    processors with the server; every answer's status and order id are checked.";
const SIGNED: &str = "Every request is signed (HMAC-SHA256, made before the run) and answered when \
    its order is on disk; the limits of rate are out of the way.";
const PAIRS: &str = "Both of a pair ran right after each other; the median of the pairs.";

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "http",
    about: "signed order entry over loopback on 64 connections, beside a bare axum route and under attack",
    parts: &[
        part("orders", |context, outcome| outcome.take(orders(context))),
        part("hostile", |context, outcome| outcome.take(hostile::measure(context))),
    ],
};

/// Maximum throughput of orders, beside a bare route.
fn orders(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let workload = random_prices(Form::A, context.sized(200_000, 300));
    let work = format!("gateway, POST /v1/orders, {}", workload.name);
    let cases =
        [case("bare axum route, POST of an order as JSON", Risk::None), case(&work, Risk::On)];
    let mut closed = [Percentiles { p50: 0, p90: 0, p99: 0, p99_9: 0, max: 0 }; 2];
    let rounds = context.sized(5, 1);
    let mut trades = 0;
    let side = side_by_side(cases.len(), rounds, |arm| {
        context.progress(&format!("  {}", cases[arm].work));
        let name = cases[arm].to_string();
        let (loaded, traded) = match arm {
            BARE => (bare_arm(&name, &workload)?, 0),
            _ => venue_arm(context, &name, &workload)?,
        };
        trades = trades.max(traded);
        closed[arm] = loaded.latencies.percentiles();
        Ok(loaded.rate)
    })?;
    let orders = workload.operations.len() as u64;
    Ok(rows(&cases, &side, &closed, orders, trades))
}

fn case(work: &str, risk: Risk) -> Case {
    let work = format!("{work}, {CONNECTIONS} connections");
    Case { work, risk, transport: Transport::Loopback }
}

fn bare_arm(name: &str, workload: &Workload) -> Result<load::Loaded, BenchError> {
    let server = BareServer::start(name, GatewayConfig::default().worker_threads)?;
    let mut requests = Requests::default();
    for body in bodies(workload) {
        requests.push(&head(bare::PATH, body.len()), body.as_bytes());
    }
    let mut ids = OrderIds::default();
    let loaded = load(name, server.address, CONNECTIONS, &requests, &mut |status, body| {
        ids.take(name, status, 200, body)
    })?;
    verify(name, "orders answered, each once", ids.seen.len(), requests.len())?;
    Ok(loaded)
}

/// The measurements of the load, and the number of trades of its orders.
fn venue_arm(
    context: &mut Context<'_>,
    name: &str,
    workload: &Workload,
) -> Result<(load::Loaded, u64), BenchError> {
    let directory = context.fresh_directory()?;
    let settings = VenueSettings::at(context, Level::Synced);
    let served = Served::start(name, settings, directory.path(), opening(workload), MEMBERS, None)?;
    let requests = served.signed(bodies(workload));
    let mut ids = OrderIds::default();
    let loaded = load(name, served.address(), CONNECTIONS, &requests, &mut |status, body| {
        ids.take(name, status, 201, body)
    })?;
    verify(name, "orders answered, each once", ids.seen.len(), requests.len())?;
    let commands = opening(workload).len() + requests.len();
    Ok((loaded, served.end(name, commands as u64)?))
}

/// The order ids of answers, which must be distinct.
#[derive(Default)]
struct OrderIds {
    seen: HashSet<u64>,
}

impl OrderIds {
    fn take(
        &mut self,
        name: &str,
        status: u16,
        expected: u16,
        body: &[u8],
    ) -> Result<(), BenchError> {
        if status != expected {
            let said = String::from_utf8_lossy(body);
            return verify(name, "an answer", format!("{status}: {said}"), expected.to_string());
        }
        let is_new = order_id(body).is_some_and(|id| self.seen.insert(id));
        verify(name, "whether an answer has an order id of its own", is_new, true)
    }
}

/// The order id of an answer: the digits after its name. A JSON parser would take longer than the
/// server.
pub(crate) fn order_id(body: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(body).ok()?;
    let (_, behind) = text.split_once(r#""order_id":""#)?;
    behind.split_once('"')?.0.parse().ok()
}

fn rows(
    cases: &[Case; 2],
    side: &SideBySide,
    closed: &[Percentiles; 2],
    orders: u64,
    trades: u64,
) -> Vec<Row> {
    let rate = |arm: usize, work: Work| {
        Row::of_spread(&cases[arm], "throughput", side.spread(arm), Unit::RequestsPerSecond)
            .beside(work, Metric::Throughput)
            .check("requests", orders)
            .check("distinct_order_ids", orders)
            .check("closed_loop_p50_ns", closed[arm].p50)
            .check("closed_loop_p99_ns", closed[arm].p99)
            .footnote(LOAD)
    };
    let venue = |row: Row| {
        row.level(Level::Synced.name()).check("trades", trades).footnote(SIGNED).footnote(FEES)
    };
    let (metric, ratio) = ("throughput over that of the bare route", side.ratio(VENUE, BARE));
    let ratio = venue(Row::of_spread(&cases[VENUE], metric, ratio, Unit::Ratio));
    vec![
        rate(BARE, Work::HttpBareRoute),
        venue(rate(VENUE, Work::HttpOrders)).target(48_000.0),
        ratio.target(SHARE).footnote(PAIRS),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_an_order_id_or_with_that_of_another_does_not_pass() {
        let mut ids = OrderIds::default();
        let body = br#"{"order_id":"281474976710657","status":"resting"}"#;
        assert!(ids.take("case", 201, 201, body).is_ok());
        assert!(ids.take("case", 201, 201, body).is_err());
        assert!(ids.take("case", 201, 201, b"{}").is_err());
        let said = ids.take("case", 429, 201, b"slow down").expect_err("it was refused");
        assert!(said.to_string().contains("429: slow down"), "{said}");
    }
}
