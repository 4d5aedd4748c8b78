//! Messages that share the topic's memory, compared with copied ones.

use super::messages::{Content, FIRST_SEQ, Messages};
use super::rounds::{Trial, case};
use super::stage::{self, Stage, seconds};
use crate::error::{BenchError, broken, verify};
use crate::measure::Clock;
use crate::references::{Metric, QueueWork, Work};
use crate::report::{Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_queue::{Level, Message, Read};

/// The sizes in KiB, that of Helianthus first.
const SIZES_KIB: [u64; 4] = [2, 16, 64, 256];
/// The count of Helianthus; larger messages are fewer, of this many bytes in all.
const COUNT: u64 = 5_000;
const BYTES_MAX: u64 = 320 << 20;
/// The factor from which sharing pays.
const PAYS: f64 = 1.1;

const KEPT: &str = "A reader that keeps every message until the last has come, sharing the memory \
    in which the topic holds it, against one that copies each payload into memory of its own. Both \
    compare every byte of what they keep, which counts. A topic in memory.";

pub(super) fn measure(context: &mut Context<'_>, outcome: &mut Outcome) {
    let mut pays_from = None;
    for kib in SIZES_KIB {
        outcome.take(of_size(context, kib, &mut pays_from));
    }
    outcome.rows.extend(pays_from.map(pays));
}

fn of_size(
    context: &mut Context<'_>,
    kib: u64,
    pays_from: &mut Option<u64>,
) -> Result<Vec<Row>, BenchError> {
    let bytes = kib << 10;
    let count = context.sized(COUNT.min(BYTES_MAX / bytes), 10);
    let messages = Messages::new(Content::Noise, bytes as usize, count);
    let case = case(format!("{count} x {kib} KiB, kept and copied"));
    let trial = Trial::new(case, Level::Memory, messages).note(KEPT);
    let stage = Stage::in_memory(&trial.name, 0)?;
    let mut is_shared_first = false;
    let [shared, copied, ratio] = trial.rounds(context, 5, |context| {
        stage.create(stage::topic(context, Level::Memory))?;
        stage.send(&trial.messages)?;
        // The second runs with warmer caches, so that they take turns.
        is_shared_first = !is_shared_first;
        let share = || keep(&stage, &trial.messages, |message| message, Message::payload);
        let copy =
            || keep(&stage, &trial.messages, |message| message.payload().to_vec(), Vec::as_slice);
        let [shared, copied] = match is_shared_first {
            true => [share()?, copy()?],
            false => {
                let copied = copy()?;
                [share()?, copied]
            }
        };
        stage.delete()?;
        Ok([trial.per_second(shared), trial.per_second(copied), copied / shared])
    })?;
    *pays_from = match ratio.median >= PAYS {
        true => pays_from.or(Some(bytes)),
        false => None,
    };
    let known = (kib == SIZES_KIB[0]).then_some(Work::Queue(QueueWork::KeepOverCopy));
    Ok(vec![
        trial.rate("receive and keep", shared),
        trial.rate("receive and copy", copied),
        trial.row("keeping over copying", ratio, Unit::Ratio).beside(known, Metric::Throughput),
    ])
}

/// The smallest size from which on sharing was faster, at that and all larger sizes.
fn pays(bytes: u64) -> Row {
    let case = case("messages kept and copied");
    Row::new(&case, "size from which keeping pays", bytes as f64, Unit::Bytes)
        .level(Level::Memory.name())
        .check("times_as_fast_at_least", PAYS)
        .footnote("The smallest of the sizes above from which on keeping is 1.1 times as fast.")
}

/// Receives all messages and keeps something of each, then compares all of it. Returns the seconds.
fn keep<K>(
    stage: &Stage,
    messages: &Messages,
    kept_of: impl Fn(Message) -> K,
    payload: impl Fn(&K) -> &[u8],
) -> Result<f64, BenchError> {
    let case = &stage.case;
    let mut reader = stage.reader(FIRST_SEQ)?;
    let clock = Clock::start();
    let mut kept = Vec::with_capacity(messages.count as usize);
    while let Some(read) = reader.try_next().map_err(broken(case, "read a message"))? {
        if let Read::Message(message) = read {
            kept.push((message.id().seq, kept_of(message)));
        }
    }
    verify(case, "the number of messages read", kept.len() as u64, messages.count)?;
    for (position, (seq, kept)) in (0..).zip(&kept) {
        messages.check_bytes(case, position, *seq, payload(kept))?;
    }
    Ok(seconds(&clock))
}
