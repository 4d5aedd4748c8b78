//! Figures of Helianthus and of message brokers.
//!
//! Helianthus' report (seed 003) is of September 2025, on a machine that it does not name. Its
//! benchmark was read beside it: it times one pass without a warm-up, ignores every return code and
//! never looks at what was received. Where that makes a figure one of something else than its name
//! says, the figure carries the reason.

use super::{Figure, MEASURED, Metric, Work, figure};
use crate::report::Unit;

/// Messages through a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueWork {
    /// 1 KiB in memory, in.
    MemoryIn,
    /// 1 KiB in memory, out.
    MemoryOut,
    /// 4 KiB that repeat themselves, compressed with gzip, in.
    CompressedIn,
    /// 1 KiB of noise, encrypted with AES-128, in.
    EncryptedIn,
    /// 512 bytes in memory, one at a time.
    Single,
    /// 512 bytes in memory, a hundred at a time.
    Batch,
    /// Not copying 2 KiB over copying them.
    KeepOverCopy,
    /// 2 KiB of text, compressed and encrypted, in.
    SealedIn,
    /// 2 KiB of text, compressed and encrypted, out.
    SealedOut,
    /// 1 KiB on disk without waiting for it, in.
    BufferedIn,
    /// 1 KiB on disk without waiting for it, out.
    BufferedOut,
    /// 1 KiB on disk, each confirmed when it is durable, many under way.
    SyncedMany,
    /// 1 KiB on disk, each confirmed when it is durable before the next is sent.
    SyncedOne,
}

const SEED: &str = "seed 003 Helianthus";
const SEED_003: &str = "report of September 2025, hardware not stated";
const JETSTREAM: &str = "NATS JetStream 2.15";
const REDIS: &str = "Redis 7 streams";
const IGGY: &str = "Apache Iggy 0.8";

const ONE_PASS: &str = "one pass without a warm-up; what was received was not looked at.";
const SWAPPED_GZIP: &str = "from 37.35 ms, which its report calls the time without compression: \
    the transform works in place and was set up before that run, and the run called compressed \
    sent the same, already compressed messages again. Nothing was received; it cannot restore \
    more than 16 times what it stored and 4 KiB.";
const SWAPPED_AES: &str = "from 25.45 ms, which its report calls the time without encryption (the \
    labels are swapped, as with compression). CBC with a fixed initialisation vector and no check \
    of integrity; nothing was received.";
const REJECTED: &str = "a rate of refusals: the single sends before it had filled the queue to its \
    limit, and every batch was rejected as full, which nobody looked at.";
const BOTH_COPY: &str = "both of its paths copy.";
const LEFT_OVER: &str = "its rounds leave messages in the queue, so that later rounds receive those \
    of earlier ones.";
const ASYNC: &str =
    "over a socket; 4,096 acknowledgements outstanding, and a sync every 2 minutes.";
const FETCH: &str = "over a socket; fetched 500 at a time and not acknowledged, not at the same \
    time as the publishing.";
const PIPELINE: &str = "over a socket; 50 clients with 16 commands under way each, and a sync every \
    second.";
const RANGE: &str = "over a socket; XRANGE of 500.";
const IGGY_BATCH: &str = "over a socket; batches of 1,000, no sync.";
const EACH_SYNC: &str = "over a socket; sync_interval always, which is one sync a message.";
const GROUP_SYNC: &str = "over a socket; 50 clients with 16 commands under way each, appendfsync \
    always, which is one sync a turn of its loop.";
const IGGY_SYNC: &str = "over a socket; enforce_fsync, one producer with batches of 1,000.";
const ONE_CLIENT: &str = "over a socket.";

const fn rate(
    name: &'static str,
    work: QueueWork,
    value: f64,
    source: &'static str,
    caveat: &'static str,
) -> Figure {
    let unit = Unit::MessagesPerSecond;
    figure(name, Work::Queue(work), Metric::Throughput, value, unit, source, Some(caveat))
}

pub(super) static FIGURES: &[Figure] = &[
    rate(SEED, QueueWork::MemoryIn, 57_245.0, SEED_003, ONE_PASS),
    rate(SEED, QueueWork::MemoryOut, 59_430.0, SEED_003, ONE_PASS),
    figure(
        SEED,
        Work::Queue(QueueWork::CompressedIn),
        Metric::Throughput,
        1_000.0 * 4_096.0 / 0.037_35,
        Unit::BytesPerSecond,
        SEED_003,
        Some(SWAPPED_GZIP),
    ),
    rate(SEED, QueueWork::EncryptedIn, 1_000.0 / 0.025_45, SEED_003, SWAPPED_AES),
    rate(SEED, QueueWork::Single, 10_000.0 / 0.168_39, SEED_003, ONE_PASS),
    rate(SEED, QueueWork::Batch, 217_065.0, SEED_003, REJECTED),
    figure(
        SEED,
        Work::Queue(QueueWork::KeepOverCopy),
        Metric::Throughput,
        0.92,
        Unit::Ratio,
        SEED_003,
        Some(BOTH_COPY),
    ),
    rate(SEED, QueueWork::SealedIn, 26_333.0, SEED_003, LEFT_OVER),
    rate(SEED, QueueWork::SealedOut, 56_844.0, SEED_003, LEFT_OVER),
    rate(JETSTREAM, QueueWork::BufferedIn, 187_000.0, MEASURED, ASYNC),
    rate(JETSTREAM, QueueWork::BufferedOut, 231_000.0, MEASURED, FETCH),
    rate(REDIS, QueueWork::BufferedIn, 273_000.0, MEASURED, PIPELINE),
    rate(REDIS, QueueWork::BufferedOut, 1_060_000.0, MEASURED, RANGE),
    rate(IGGY, QueueWork::BufferedIn, 620_000.0, MEASURED, IGGY_BATCH),
    rate(IGGY, QueueWork::BufferedOut, 1_490_000.0, MEASURED, IGGY_BATCH),
    rate(JETSTREAM, QueueWork::SyncedMany, 5_800.0, MEASURED, EACH_SYNC),
    rate(REDIS, QueueWork::SyncedMany, 258_000.0, MEASURED, GROUP_SYNC),
    rate(IGGY, QueueWork::SyncedMany, 441_000.0, MEASURED, IGGY_SYNC),
    rate(JETSTREAM, QueueWork::SyncedOne, 3_300.0, MEASURED, EACH_SYNC),
    rate(REDIS, QueueWork::SyncedOne, 6_000.0, MEASURED, ONE_CLIENT),
    rate(IGGY, QueueWork::SyncedOne, 2_160.0, MEASURED, ONE_CLIENT),
];
