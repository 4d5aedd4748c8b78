//! The same messages over loopback, as for brokers: packed batches of a thousand through the
//! gateway's HTTP API, beside JetStream in the same run.

mod bare;
mod client;
mod nats;
mod served;
mod socket;

use super::messages::{Content, Messages};
use super::rounds::{rounds, row};
use crate::error::BenchError;
use crate::measure::Spread;
use crate::references::{Metric, QueueWork, Work};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Outcome};
use client::{BATCH, OUTSTANDING, consume, produce, read};
use nats::JetStream;
use rialto_queue::Level;
use served::Served;

const BYTES: usize = 1_024;
const GROUP: &str = "readers";
/// The best figure of a peer over sockets on such a machine.
const IN: f64 = 620e3;
const OUT: f64 = 1.5e6;
const OVER_JETSTREAM: f64 = 3.0;

/// The connections of a producer that does not need the order of batches: the server handles the
/// requests of one connection in turn, so that a single one would be idle while a batch is written.
const CONNECTIONS: u64 = 2;

const HTTP: &str = "Packed messages over HTTP with the admin key; server, clients and the disk's \
    writer share the processors. The producer has 4 batches under way, each confirmed when its \
    write has returned; every answer is compared, and every byte that was received.";
const ONE_CONNECTION: &str = "The producer has one connection, so that batches stand in the order \
    in which they were sent.";
const TWO_CONNECTIONS: &str = "The producer is one thread with two connections, in turn; batches \
    stand in the order in which they were taken, which the answers say.";
const AT_ONCE: &str = "The consumer is the only member of a group and acknowledges each batch with \
    its next request. Both clocks start together.";
const JETSTREAM: &str = "The NATS server runs with its usual settings (a sync every 2 minutes), its \
    stream on the same disk; a client without a runtime publishes with 4,096 acknowledgements \
    outstanding, then fetches 500 at a time from a consumer that acknowledges nothing. It compares \
    every byte. Both of a pair ran right after each other.";
const PUSHED: &str = "The consumer is the only member of a group; messages are pushed to it on a \
    WebSocket, with a prefetch of 4,000, and it acknowledges each frame in a frame of its own. Both \
    clocks start together.";
const READING: &str = "Without a group, from the oldest message on, two requests under way.";
const BARE: &str = "One thread sends the payloads from where they lie, a thousand in a call; another \
    receives and compares every byte. No HTTP, no queue and no disk.";

fn case(work: &str, count: u64) -> Case {
    let work = format!("queue, {count} x 1 KiB over HTTP, batches of {BATCH}, {work}");
    Case { work, risk: Risk::NoOrders, transport: Transport::Loopback }
}

fn made(case: &Case, metric: &str, spread: Spread, messages: &Messages, work: QueueWork) -> Row {
    row(case, metric, spread, Unit::MessagesPerSecond, messages)
        .level(Level::Buffered.name())
        .beside(Work::Queue(work), Metric::Throughput)
        .check("batches_under_way_max", OUTSTANDING)
        .footnote(HTTP)
}

/// All rows.
pub(super) fn measure(context: &mut Context<'_>, outcome: &mut Outcome) {
    let count = context.sized(1_000_000, 2_500);
    let messages = Messages::new(Content::Noise, BYTES, count);
    outcome.take(at_once(context, &messages, Way::Fetched));
    outcome.take(at_once(context, &messages, Way::Pushed));
    outcome.take(alone(context, &messages));
}

/// How the consumer gets messages.
#[derive(Clone, Copy)]
enum Way {
    Fetched,
    Pushed,
}

/// One producer and one consumer concurrently.
fn at_once(
    context: &mut Context<'_>,
    messages: &Messages,
    way: Way,
) -> Result<Vec<Row>, BenchError> {
    let count = messages.count;
    let (work, footnote) = match way {
        Way::Fetched => ("one producer and one consumer at once", AT_ONCE),
        Way::Pushed => ("one producer and one consumer with a WebSocket at once", PUSHED),
    };
    let case = case(work, count);
    let name = case.to_string();
    let [sent, received] = rounds(context, &case, 3, |context| {
        let served = Served::start(context, &name)?;
        served.stage.create_group(GROUP)?;
        let (sent, received) = std::thread::scope(|scope| {
            let sending = scope.spawn(|| produce(&name, &served, messages, 1));
            let received = match way {
                Way::Fetched => consume(&name, &served, GROUP, messages),
                Way::Pushed => socket::consume(&name, &served, GROUP, messages),
            };
            (sending.join(), received)
        });
        let (sent, _) = sent.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let rates = [sent, received?].map(|seconds| count as f64 / seconds);
        served.end(&name)?;
        Ok(rates)
    })?;
    Ok(vec![
        made(&case, "in", sent, messages, QueueWork::BufferedIn)
            .footnote(ONE_CONNECTION)
            .footnote(footnote),
        made(&case, "out", received, messages, QueueWork::BufferedOut).footnote(footnote),
    ])
}

/// One producer, then one reader, as in the other measurements; with JetStream in turn, if it is
/// installed.
fn alone(context: &mut Context<'_>, messages: &Messages) -> Result<Vec<Row>, BenchError> {
    let count = messages.count;
    let case = case("one producer, then one reader", count);
    let name = case.to_string();
    let jetstream = nats::program();
    if jetstream.is_none() {
        context.progress(
            "  no NATS server beside it: scripts/fetch-nats-server.sh builds one, or \
             RIALTO_NATS_SERVER names one",
        );
    }
    let once = |context: &mut Context<'_>| -> Result<[f64; 5], BenchError> {
        let served = Served::start(context, &name)?;
        let (sent, order) = produce(&name, &served, messages, CONNECTIONS)?;
        let received = read(&name, &served, messages, &order)?;
        served.end(&name)?;
        let bare = bare::carry(&name, messages)?;
        let [sent, received, bare] = [sent, received, bare].map(|seconds| count as f64 / seconds);
        let Some(program) = &jetstream else { return Ok([sent, received, bare, 1.0, 1.0]) };
        let directory = context.fresh_directory()?;
        let peer = JetStream::start(&name, program, directory)?;
        let peer_sent = count as f64 / peer.produce(&name, messages)?;
        let peer_received = count as f64 / peer.consume(&name, messages)?;
        Ok([sent, received, bare, sent / peer_sent, received / peer_received])
    };
    let [sent, received, bare, over_sent, over_received] = rounds(context, &case, 3, once)?;
    let mut rows = vec![
        made(&case, "in", sent, messages, QueueWork::BufferedIn)
            .target(IN)
            .footnote(TWO_CONNECTIONS),
        made(&case, "out", received, messages, QueueWork::BufferedOut)
            .target(OUT)
            .footnote(READING),
        row(
            &case,
            "the payloads alone over a bare socket",
            bare,
            Unit::MessagesPerSecond,
            messages,
        )
        .footnote(BARE),
    ];
    if jetstream.is_some() {
        for (metric, over) in
            [("in, over JetStream's", over_sent), ("out, over JetStream's", over_received)]
        {
            let over = row(&case, metric, over, Unit::Ratio, messages)
                .level(Level::Buffered.name())
                .target(OVER_JETSTREAM)
                .footnote(JETSTREAM);
            rows.push(over);
        }
    }
    Ok(rows)
}
