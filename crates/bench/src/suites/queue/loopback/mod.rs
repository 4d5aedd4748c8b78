//! The same messages over loopback, as for brokers: packed batches of a thousand through the
//! gateway's HTTP API, beside JetStream in the same run.

mod bare;
mod client;
mod nats;
mod served;
mod socket;

use super::messages::{Content, Messages};
use super::rounds::Trial;
use crate::drive::both;
use crate::error::BenchError;
use crate::measure::Spread;
use crate::references::{Metric, QueueWork, Work};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Outcome};
use client::{BATCH, OUTSTANDING, consume, produce, read};
use nats::JetStream;
use rialto_queue::Level;
use served::Served;
use std::sync::Arc;

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

fn trial(work: &str, messages: &Arc<Messages>) -> Trial {
    let count = messages.count;
    let work = format!("queue, {count} x 1 KiB over HTTP, batches of {BATCH}, {work}");
    let case = Case { work, risk: Risk::NoOrders, transport: Transport::Loopback };
    Trial::new(case, Level::Buffered, Arc::clone(messages))
}

fn made(trial: &Trial, metric: &str, spread: Spread, work: QueueWork) -> Row {
    trial
        .rate(metric, spread)
        .beside(Work::Queue(work), Metric::Throughput)
        .check("batches_under_way_max", OUTSTANDING)
        .footnote(HTTP)
}

/// All rows.
pub(super) fn measure(context: &mut Context<'_>, outcome: &mut Outcome) {
    let count = context.sized(1_000_000, 2_500);
    let messages = Arc::new(Messages::new(Content::Noise, BYTES, count));
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
    messages: &Arc<Messages>,
    way: Way,
) -> Result<Vec<Row>, BenchError> {
    let (work, footnote) = match way {
        Way::Fetched => ("one producer and one consumer at once", AT_ONCE),
        Way::Pushed => ("one producer and one consumer with a WebSocket at once", PUSHED),
    };
    let trial = trial(work, messages);
    let name = &trial.name;
    let [sent, received] = trial.rounds(context, 3, |context| {
        let served = Served::start(context, name)?;
        served.stage.create_group(GROUP)?;
        let (sent, received) = both(
            || produce(name, &served, messages, 1),
            || match way {
                Way::Fetched => consume(name, &served, GROUP, messages),
                Way::Pushed => socket::consume(name, &served, GROUP, messages),
            },
        );
        let rates = [sent?.0, received?].map(|seconds| trial.per_second(seconds));
        served.end(name)?;
        Ok(rates)
    })?;
    Ok(vec![
        made(&trial, "in", sent, QueueWork::BufferedIn).footnotes([ONE_CONNECTION, footnote]),
        made(&trial, "out", received, QueueWork::BufferedOut).footnote(footnote),
    ])
}

/// One in, and when that is done one out, as the others were measured; and JetStream in turn with
/// it, if there is one.
fn alone(context: &mut Context<'_>, messages: &Arc<Messages>) -> Result<Vec<Row>, BenchError> {
    let trial = trial("one producer, then one reader", messages);
    let name = &trial.name;
    let jetstream = nats::program();
    if jetstream.is_none() {
        context.progress(
            "  no NATS server beside it: scripts/fetch-nats-server.sh builds one, or \
             RIALTO_NATS_SERVER names one",
        );
    }
    let once = |context: &mut Context<'_>| -> Result<[f64; 5], BenchError> {
        let served = Served::start(context, name)?;
        let (sent, order) = produce(name, &served, messages, CONNECTIONS)?;
        let received = read(name, &served, messages, &order)?;
        served.end(name)?;
        let bare = bare::carry(name, messages)?;
        let [sent, received, bare] =
            [sent, received, bare].map(|seconds| trial.per_second(seconds));
        let Some(program) = &jetstream else { return Ok([sent, received, bare, 1.0, 1.0]) };
        let peer = JetStream::start(name, program, context.fresh_directory()?)?;
        let peer_sent = trial.per_second(peer.produce(name, messages)?);
        let peer_received = trial.per_second(peer.consume(name, messages)?);
        Ok([sent, received, bare, sent / peer_sent, received / peer_received])
    };
    let [sent, received, bare, over_sent, over_received] = trial.rounds(context, 3, once)?;
    let mut rows = vec![
        made(&trial, "in", sent, QueueWork::BufferedIn).target(IN).footnote(TWO_CONNECTIONS),
        made(&trial, "out", received, QueueWork::BufferedOut).target(OUT).footnote(READING),
        trial
            .bare_row("the payloads alone over a bare socket", bare, Unit::MessagesPerSecond)
            .footnote(BARE),
    ];
    let over = [("in, over JetStream's", over_sent), ("out, over JetStream's", over_received)];
    rows.extend(over.into_iter().filter(|_| jetstream.is_some()).map(|(metric, over)| {
        trial.row(metric, over, Unit::Ratio).target(OVER_JETSTREAM).footnote(JETSTREAM)
    }));
    Ok(rows)
}
