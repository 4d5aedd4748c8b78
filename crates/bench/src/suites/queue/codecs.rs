//! Messages that are compressed, encrypted, or both, written to disk and read back.

use super::messages::{Content, Messages};
use super::rounds::{Trial, case};
use super::stage::{self, Stage};
use crate::error::BenchError;
use crate::references::{Metric, QueueWork, Work};
use crate::report::{Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_queue::{Cipher, Compression, Level};

const FROM_DISK: &str = "In: from the first send until the last is confirmed, by one thread. Out: \
    read by one thread from the files, by a queue that was opened again; every byte is compared, \
    which counts. The topic had its first file before. Messages are compressed and encrypted \
    together, as many as were sent while the disk was busy.";
const BRIEF: &str = "A round lasts about a millisecond, of which one write and one wake-up are much, so \
    that there are 25 of them.";
const REPETITIVE: &str = "One phrase again and again, as in Helianthus' test: it says what the machinery \
    costs, not what your messages will come to.";

/// A codec with its messages.
struct Job {
    what: String,
    content: Content,
    bytes: usize,
    compression: Compression,
    encryption: Option<Cipher>,
    /// Bytes or messages per second.
    unit: Unit,
    beside: [Option<QueueWork>; 2],
    targets: [Option<f64>; 2],
}

/// Text of 4 KiB under every compression, in bytes per second.
pub(super) fn compressed(context: &mut Context<'_>, outcome: &mut Outcome) {
    let gzip = Compression::Gzip { level: Compression::GZIP_LEVEL };
    let zstd = Compression::Zstd { level: Compression::ZSTD_LEVEL };
    for compression in [gzip, Compression::Lz4, zstd, Compression::None] {
        let is_gzip = compression == gzip;
        let job = Job {
            what: format!("x 4 KiB repetitive, compression {compression}"),
            content: Content::Text,
            bytes: 4_096,
            compression,
            encryption: None,
            unit: Unit::BytesPerSecond,
            beside: [is_gzip.then_some(QueueWork::CompressedIn), None],
            targets: [is_gzip.then_some(300e6), is_gzip.then_some(1e9)],
        };
        measure(context, &job, outcome);
    }
}

/// Noise of 1 KiB under every cipher, in messages per second.
pub(super) fn encrypted(context: &mut Context<'_>, outcome: &mut Outcome) {
    for cipher in Cipher::ALL {
        let is_helianthus = cipher == Cipher::Aes128Gcm;
        let job = Job {
            what: format!("x 1 KiB random, {}", cipher.name()),
            content: Content::Noise,
            bytes: 1_024,
            compression: Compression::None,
            encryption: Some(cipher),
            unit: Unit::MessagesPerSecond,
            beside: [is_helianthus.then_some(QueueWork::EncryptedIn), None],
            targets: [is_helianthus.then_some(1e6); 2],
        };
        measure(context, &job, outcome);
    }
}

/// Text of 2 KiB, compressed and then encrypted, in messages per second.
pub(super) fn both(context: &mut Context<'_>, outcome: &mut Outcome) {
    let cipher = Cipher::Aes128Gcm;
    let job = Job {
        what: format!("x 2 KiB repetitive, compression lz4 and {}", cipher.name()),
        content: Content::Text,
        bytes: 2_048,
        compression: Compression::Lz4,
        encryption: Some(cipher),
        unit: Unit::MessagesPerSecond,
        beside: [Some(QueueWork::SealedIn), Some(QueueWork::SealedOut)],
        targets: [Some(300e3), Some(500e3)],
    };
    measure(context, &job, outcome);
}

/// The count of Helianthus, and a hundred times as many.
fn measure(context: &mut Context<'_>, job: &Job, outcome: &mut Outcome) {
    // The small size only tests the code, for which one count is enough.
    let counts = [(context.sized(1_000, 20), 25), (100_000, 3)];
    for (count, full) in counts.into_iter().take(context.sized(2, 1)) {
        outcome.take(measure_count(context, job, count, full));
    }
}

fn measure_count(
    context: &mut Context<'_>,
    job: &Job,
    count: u64,
    full: usize,
) -> Result<Vec<Row>, BenchError> {
    let case = case(format!("{count} {}", job.what));
    let messages = Messages::new(job.content, job.bytes, count);
    let trial = Trial::new(case, Level::Buffered, messages).note(FROM_DISK);
    let amount = match job.unit {
        Unit::BytesPerSecond => trial.messages.bytes_total() as f64,
        _ => count as f64,
    };
    let spreads = trial.rounds(context, full, |context| {
        let mut options = stage::topic(context, Level::Buffered).compression(job.compression);
        options.encryption = job.encryption;
        let mut stage = Stage::on_disk(context, &trial.name, options)?;
        let send = stage.send(&trial.messages)?;
        stage.reopen()?;
        let read = stage.read(&trial.messages)?;
        stage.close()?;
        Ok([send, read].map(|seconds| amount / seconds))
    })?;
    let ways = ["in", "out, from disk"].into_iter().zip(spreads).zip(job.beside).zip(job.targets);
    let rows = ways.map(|(((metric, spread), beside), target)| {
        trial
            .row(metric, spread, job.unit)
            .footnotes((job.content == Content::Text).then_some(REPETITIVE))
            .footnotes((full > 3).then_some(BRIEF))
            .beside(beside.map(Work::Queue), Metric::Throughput)
            .target(target)
    });
    Ok(rows.collect())
}
