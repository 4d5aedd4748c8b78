//! A full topic: files are dropped as fast as they are created, and recycled or not.

use super::messages::{Content, Messages};
use super::producers::{PRODUCERS, Tasks, read_newest};
use super::rounds::{Trial, case};
use super::stage::{self, Stage, seconds};
use crate::error::{BenchError, broken, verify};
use crate::measure::Clock;
use crate::report::{Row, Unit};
use crate::suite::Context;
use rialto_queue::{Level, TopicOptions};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;

const BYTES: usize = 1_024;
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
    let (before, counted) = (context.sized(2_500, 60), context.sized(20_000, 60));
    let messages = Messages::new(Content::Noise, BYTES, PRODUCERS * (before + counted));
    let trial = Trial::new(case, Level::Synced, messages).note(STEADY).note(TIMED);
    let mut nth = 0_usize;
    let [zeroed, recycled, rate_ratio, zeroed_p99, recycled_p99, p99_ratio] =
        trial.rounds(context, 3, |context| {
            let mut arms = [(0.0, 0.0); 2];
            nth += 1;
            // The second arm finds the disk as the first has left it.
            for turn in 0..arms.len() {
                let arm = (turn + nth) % arms.len();
                arms[arm] = run(context, &trial, before, arm == 1)?;
            }
            let [(zeroed, zeroed_p99), (recycled, recycled_p99)] = arms;
            let ratios = [recycled / zeroed, zeroed_p99 / recycled_p99];
            Ok([zeroed, recycled, ratios[0], zeroed_p99, recycled_p99, ratios[1]])
        })?;
    let ns = Unit::Nanoseconds;
    Ok(vec![
        trial.rate("confirmed, files zeroed", zeroed),
        trial.rate("confirmed, files recycled", recycled),
        trial.row("confirmed, recycled over zeroed", rate_ratio, Unit::Ratio),
        trial.row("confirmation p99, files zeroed", zeroed_p99, ns),
        trial.row("confirmation p99, files recycled", recycled_p99, ns),
        trial.row("confirmation p99, zeroed over recycled", p99_ratio, Unit::Ratio),
    ])
}

/// Messages per second, and the p99 of a confirmation in nanoseconds. Each producer first sends
/// `before` messages that are not counted.
fn run(
    context: &mut Context<'_>,
    Trial { name: case, messages, .. }: &Trial,
    before: u64,
    recycles: bool,
) -> Result<(f64, f64), BenchError> {
    let each = messages.count / PRODUCERS;
    let topic = TopicOptions {
        segment_bytes: context.sized(16 << 20, (1 << 20) + 8_192),
        ..stage::topic(context, Level::Synced)
    };
    let bytes_max = context.sized(64 << 20, 2 << 20);
    let stage = Stage::on_disk_with(context, case, topic.bytes_max(bytes_max), |options| {
        if !recycles {
            options.spare_bytes_max = 0;
        }
    })?;
    let runtime = tokio::runtime::Runtime::new().map_err(broken(case, "start a runtime"))?;
    let tasks = Tasks { outstanding: OUTSTANDING, is_timed: true };
    let _not_counted = tasks.produce(&runtime, &stage, messages, 0..before)?;
    let clock = Clock::start();
    let latencies = tasks.produce(&runtime, &stage, messages, before..each)?;
    let rate = (PRODUCERS * (each - before)) as f64 / seconds(&clock);
    verify(case, "whether files were used again", has_used_files(case, &stage)?, recycles)?;
    read_newest(&stage, messages, bytes_max / (2 * BYTES as u64))?;
    stage.close()?;
    Ok((rate, latencies.percentiles().p99.max(1) as f64))
}

/// Whether a file of the topic stands where another stood before.
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
