//! Objects of 1 MiB over S3, beside a bare route that computes the same hash.

mod bare;
mod client;
mod served;

use super::pool::LEVELS;
use crate::error::{BenchError, verify};
use crate::measure::{CoreWait, SideBySide, side_by_side};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Outcome};
use bare::BareServer;
use client::{Call, load};
use rialto_queue::Level;
use served::Served;

const CONNECTIONS: usize = 16;
const OBJECT_BYTES: usize = 1 << 20;
/// Threads of either server: the default of S3.
const WORKERS: usize = 2;
/// The target, as a share of the bare route.
const SHARE: f64 = 0.5;
/// The arms.
const BARE: usize = 0;
const S3: usize = 1;

const BESIDE: &str = "The bare route is axum: it reads a body, computes its SHA-256 and compares it \
    with that of the request; of a get it computes that of the answer. Nothing is stored. Both \
    servers have two threads; the 16 connections are threads of the same process.";

/// A way of objects.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Put,
    Get,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Put => "put",
            Way::Get => "get",
        }
    }
}

pub(super) fn rows(context: &mut Context<'_>, outcome: &mut Outcome) {
    for level in LEVELS {
        for way in [Way::Put, Way::Get] {
            // The level says when a put is acknowledged.
            if way == Way::Put || level == Level::Buffered {
                outcome.take(beside_bare(context, way, level));
            }
        }
    }
}

fn beside_bare(context: &mut Context<'_>, way: Way, level: Level) -> Result<Vec<Row>, BenchError> {
    let each: u64 = context.sized(60, 2);
    let rounds = context.sized(5, 1) as usize;
    let work = format!("S3, {} of 1 MiB, {CONNECTIONS} connections", way.name());
    context.progress(&format!("  {work}, {}", level.name()));
    let content = super::pool::content(OBJECT_BYTES, 11);
    let objects = CONNECTIONS as u64 * each;
    let wait = CoreWait::start();
    let done = side_by_side(2, rounds, |arm| {
        let elapsed_ns = match arm {
            BARE => {
                let bare = BareServer::start(&work, &content, WORKERS)?;
                let calls = calls(each, |nth| bare.call(way, nth));
                load(&work, bare.address, &calls, &content, way)?
            }
            _ => {
                let served = Served::start(context, &work, level, WORKERS)?;
                if way == Way::Get {
                    let puts = calls(each, |nth| served.call(Way::Put, nth, &content));
                    load(&work, served.address(), &puts, &content, Way::Put)?;
                }
                let calls = calls(each, |nth| served.call(way, nth, &content));
                let elapsed_ns = load(&work, served.address(), &calls, &content, way)?;
                verify(&work, "objects of the pool", served.objects(), objects)?;
                served.end()?;
                elapsed_ns
            }
        };
        Ok::<_, BenchError>(objects as f64 * 1e9 / elapsed_ns as f64)
    })?;
    let longest = wait.longest(None);
    Ok(rows_of(&work, level, &done, objects).map(|row| row.waited_for_core(longest)).collect())
}

/// The calls of each connection.
fn calls(each: u64, call: impl Fn(u64) -> Call) -> Vec<Vec<Call>> {
    let of = |connection: u64| (0..each).map(|nth| call(connection * each + nth)).collect();
    (0..CONNECTIONS as u64).map(of).collect()
}

fn rows_of(work: &str, level: Level, done: &SideBySide, objects: u64) -> impl Iterator<Item = Row> {
    let case = Case { work: work.to_owned(), risk: Risk::NoOrders, transport: Transport::Loopback };
    let row = move |metric: &str, spread, unit| {
        let row = Row::of_spread(&case, metric, spread, unit).level(level.name());
        row.check("objects_a_round", objects).footnote(BESIDE)
    };
    [
        row("throughput of the bare route", done.spread(BARE), Unit::RequestsPerSecond),
        row("throughput", done.spread(S3), Unit::RequestsPerSecond),
        row("throughput over that of the bare route", done.ratio(S3, BARE), Unit::Ratio)
            .target(SHARE),
    ]
    .into_iter()
}
