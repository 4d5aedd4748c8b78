//! A full topic: files are dropped as fast as they are created, and recycled or not.

use super::messages::{Content, FIRST_SEQ, Messages};
use super::rounds::{case, rounds, row};
use super::stage::{self, Stage, seconds};
use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, Latencies};
use crate::report::{Row, Unit};
use crate::suite::Context;
use rialto_queue::{Level, Producer, Publish, Read, Receipt, TopicOptions};
use std::collections::VecDeque;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

const BYTES: usize = 1_024;
const PRODUCERS: u64 = 64;
const OUTSTANDING: usize = 16;
/// The offset of the flags that say whether a file is recycled; `docs/formats/log.md` has the
/// header.
const GROUND_AT: u64 = 94;
const GROUND_USED: u8 = 2;

const STEADY: &str = "The topic keeps 64 MiB in files of 16 MiB and was filled before the clock \
    started. The next file is made of one that retention has dropped, which it does whenever a file \
    is full, or, with spare_bytes_max = 0, written full of zeros, and then retention drops files \
    every second. Both of a pair ran right after each other, on a directory of their own.";
const TIMED: &str = "A producer is a task; confirmations are timed from the call that sends. The newest \
    half of what the topic keeps, which retention cannot drop meanwhile, is read back and compared \
    afterwards.";

pub(super) fn measure(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let case = case(format!(
        "1 KiB, {PRODUCERS} producers as tasks with {OUTSTANDING} outstanding each, a full topic"
    ));
    let name = case.to_string();
    let (before, counted) = (context.sized(2_500, 60), context.sized(20_000, 60));
    let messages = Messages::new(Content::Noise, BYTES, PRODUCERS * (before + counted));
    let messages = Arc::new(messages);
    let mut nth = 0_usize;
    let [zeroed, recycled, rate_ratio, zeroed_p99, recycled_p99, p99_ratio] =
        rounds(context, &case, 3, |context| {
            let mut arms = [(0.0, 0.0); 2];
            nth += 1;
            // The second arm finds the disk as the first has left it.
            for turn in 0..arms.len() {
                let arm = (turn + nth) % arms.len();
                arms[arm] = run(context, &name, &messages, before, arm == 1)?;
            }
            let [(zeroed, zeroed_p99), (recycled, recycled_p99)] = arms;
            let ratios = [recycled / zeroed, zeroed_p99 / recycled_p99];
            Ok([zeroed, recycled, ratios[0], zeroed_p99, recycled_p99, ratios[1]])
        })?;
    let made = |metric, spread, unit| {
        row(&case, metric, spread, unit, &messages)
            .level(Level::Synced.name())
            .footnote(STEADY)
            .footnote(TIMED)
    };
    let (per_second, ns) = (Unit::MessagesPerSecond, Unit::Nanoseconds);
    Ok(vec![
        made("confirmed, files zeroed", zeroed, per_second),
        made("confirmed, files recycled", recycled, per_second),
        made("confirmed, recycled over zeroed", rate_ratio, Unit::Ratio),
        made("confirmation p99, files zeroed", zeroed_p99, ns),
        made("confirmation p99, files recycled", recycled_p99, ns),
        made("confirmation p99, zeroed over recycled", p99_ratio, Unit::Ratio),
    ])
}

/// Messages per second, and the p99 of a confirmation in nanoseconds. Each producer first sends
/// `before` messages that are not counted.
fn run(
    context: &mut Context<'_>,
    case: &str,
    messages: &Arc<Messages>,
    before: u64,
    recycles: bool,
) -> Result<(f64, f64), BenchError> {
    let each = messages.count / PRODUCERS;
    let topic = TopicOptions {
        segment_bytes: context.sized(16 << 20, (1 << 20) + 8_192),
        ..stage::topic(context, Level::Synced)
    };
    let bytes_max = context.sized(64 << 20, 2 << 20);
    let topic = topic.bytes_max(bytes_max);
    let stage = Stage::on_disk_with(context, case, topic, |options| {
        if !recycles {
            options.spare_bytes_max = 0;
        }
    })?;
    let runtime = tokio::runtime::Runtime::new().map_err(broken(case, "start a runtime"))?;
    let all = |range: std::ops::Range<u64>| -> Result<Latencies, BenchError> {
        let ends = (0..PRODUCERS).map(|nth| {
            let (case, producer) = (case.to_string(), stage.producer()?);
            let positions = nth * each + range.start..nth * each + range.end;
            Ok(runtime.spawn(produce(case, producer, Arc::clone(messages), positions)))
        });
        let ends = ends.collect::<Result<Vec<_>, BenchError>>()?;
        let mut latencies = Latencies::new();
        for end in ends {
            let end = runtime.block_on(end);
            let end = end.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
            latencies.merge(&end?);
        }
        Ok(latencies)
    };
    let _not_counted = all(0..before)?;
    let clock = Clock::start();
    let latencies = all(before..each)?;
    let rate = (PRODUCERS * (each - before)) as f64 / seconds(&clock);
    verify(case, "whether files were used again", has_used_files(case, &stage)?, recycles)?;
    read_newest(case, &stage, messages, bytes_max / (2 * BYTES as u64))?;
    stage.close()?;
    Ok((rate, latencies.percentiles().p99.max(1) as f64))
}

/// Sends the messages at some positions, waits for each, and returns the time of each.
async fn produce(
    case: String,
    producer: Producer,
    messages: Arc<Messages>,
    positions: std::ops::Range<u64>,
) -> Result<Latencies, BenchError> {
    let failed = || broken(&case, "publish a message");
    let clock = Clock::start();
    let mut latencies = Latencies::new();
    let mut payload = Vec::with_capacity(BYTES);
    let mut receipts: VecDeque<(u64, Receipt)> = VecDeque::with_capacity(OUTSTANDING);
    for position in positions {
        if receipts.len() == OUTSTANDING
            && let Some((sent, oldest)) = receipts.pop_front()
        {
            oldest.confirmed().await.map_err(failed())?;
            latencies.record(clock.now_ns() - sent);
        }
        payload.clear();
        payload.extend_from_slice(&position.to_le_bytes());
        payload.extend_from_slice(&messages.payload(position)[8..]);
        let sent = clock.now_ns();
        receipts.push_back((sent, producer.try_send(&Publish::new(&payload)).map_err(failed())?));
    }
    for (sent, receipt) in receipts {
        receipt.confirmed().await.map_err(failed())?;
        latencies.record(clock.now_ns() - sent);
    }
    Ok(latencies)
}

/// Whether a file of the topic is recycled.
fn has_used_files(case: &str, stage: &Stage) -> Result<bool, BenchError> {
    let failed = || broken(case, "look at the files of the topic");
    let directory = stage.directory().expect("a stage on disk has a directory");
    let lane = directory.path().join("topics/000001/lane-0");
    let mut has_used = false;
    for file in std::fs::read_dir(lane).map_err(failed())? {
        let path = file.map_err(failed())?.path();
        if path.extension().is_some_and(|extension| extension == "log") {
            let mut ground = [0];
            let looked =
                File::open(path).and_then(|file| file.read_exact_at(&mut ground, GROUND_AT));
            match looked {
                // Retention has dropped it meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                looked => looked.map_err(failed())?,
            }
            has_used |= ground == [GROUND_USED];
        }
    }
    Ok(has_used)
}

/// Reads the newest messages of the topic, as many as retention never drops meanwhile.
fn read_newest(
    case: &str,
    stage: &Stage,
    messages: &Messages,
    kept: u64,
) -> Result<(), BenchError> {
    let last = FIRST_SEQ + messages.count - 1;
    let first = last - kept.min(messages.count) + 1;
    let mut reader = stage.reader(first)?;
    let mut newest = Newest::new(case, messages);
    for seq in first..=last {
        match reader.try_next().map_err(broken(case, "read a message"))? {
            Some(Read::Message(message)) => {
                newest.take(seq, message.id().seq, message.payload())?;
            }
            other => {
                let got = format!("{other:?}");
                verify(case, &format!("message {seq}"), got, "the message".to_owned())?;
            }
        }
    }
    newest.end()
}

/// The check of a topic's newest messages: consecutive, those of each producer in order and through
/// its last.
struct Newest<'a> {
    case: &'a str,
    messages: &'a Messages,
    /// The position of each seen producer's next message.
    next: Vec<Option<u64>>,
}

impl<'a> Newest<'a> {
    fn new(case: &'a str, messages: &'a Messages) -> Newest<'a> {
        Newest { case, messages, next: vec![None; PRODUCERS as usize] }
    }

    fn take(&mut self, expected: u64, seq: u64, payload: &[u8]) -> Result<(), BenchError> {
        let case = self.case;
        verify(case, "the number of a message", seq, expected)?;
        let (position, rest) = payload.split_first_chunk().unwrap_or((&[0xff; 8], &[]));
        let position = u64::from_le_bytes(*position);
        let each = self.messages.count / PRODUCERS;
        let Some(next) = self.next.get_mut((position / each) as usize) else {
            let unknown = format!("message {seq} of {} bytes with {position}", payload.len());
            return verify(case, "whose message it is", unknown, "a producer's".to_owned());
        };
        verify(case, "a message's place", position, next.unwrap_or(position))?;
        verify(case, "a message's bytes", rest == &self.messages.payload(position)[8..], true)?;
        *next = Some(position + 1);
        Ok(())
    }

    fn end(self) -> Result<(), BenchError> {
        let each = self.messages.count / PRODUCERS;
        for (next, end) in self.next.into_iter().zip((1..).map(|producer| producer * each)) {
            verify(self.case, "the last message of a producer", next.unwrap_or(end), end)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of the check for the messages at these positions, each with its number in the
    /// topic.
    fn checked(newest: impl IntoIterator<Item = (u64, u64)>) -> Result<(), BenchError> {
        let messages = Messages::new(Content::Noise, BYTES, PRODUCERS * 4);
        let mut check = Newest::new("test", &messages);
        for (expected, (seq, position)) in (10..).zip(newest) {
            let mut payload = position.to_le_bytes().to_vec();
            payload.extend_from_slice(&messages.payload(position)[8..]);
            check.take(expected, seq, &payload)?;
        }
        check.end()
    }

    #[test]
    fn a_gap_is_noticed_wherever_it_is() {
        // Two producers of four messages each, from their third and second message on.
        let whole = [(10, 2), (11, 5), (12, 3), (13, 6), (14, 7)];
        assert!(checked(whole).is_ok());
        assert!(checked([(10, 2), (12, 3), (13, 6), (14, 7)]).is_err(), "a number is left out");
        assert!(checked([(10, 2), (11, 5), (12, 3), (13, 7)]).is_err(), "a message is lost");
        assert!(checked([(10, 2), (11, 5), (12, 3), (13, 6)]).is_err(), "the last is lost");
        assert!(checked([(10, 2), (11, 2)]).is_err(), "one comes twice");
    }
}
