//! Messages of complete files: mapped, compared with read and copied.

use super::messages::{Content, Messages};
use super::rounds::{Trial, case};
use crate::error::BenchError;
use crate::report::{Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_queue::Level;

/// The sizes in bytes, that of Helianthus second.
const SIZES: [u64; 4] = [256, 2 << 10, 16 << 10, 64 << 10];
/// The count of Helianthus; smaller messages are more, of this many bytes in all.
const COUNT: u64 = 5_000;
const BYTES_MIN: u64 = 64 << 20;
/// The factor from which mapping pays even for a single read.
const PAYS: f64 = 1.1;
/// The most mapped files of a queue: more than there are.
const KEPT: usize = 64;

const PASSES: &str = "A topic on disk that was closed and opened again, so that none of its files but \
    an empty one is still written; the files are in the page cache. All compare every byte, which \
    counts.";
const COPYING: &str = "The copying reader reads them into its own memory, checks them, and copies what \
    it hands out once more; the queue is opened with mapped_segments_max = 0 for it. The mapping \
    reader hands out the mapped bytes: checked in the first pass, and checked already in the second.";

pub(super) fn measure(context: &mut Context<'_>, outcome: &mut Outcome) {
    let mut pays_from = None;
    for bytes in SIZES {
        outcome.take(of_size(context, bytes, &mut pays_from));
    }
    outcome.rows.extend(pays_from.map(pays));
}

fn of_size(
    context: &mut Context<'_>,
    bytes: u64,
    pays_from: &mut Option<u64>,
) -> Result<Vec<Row>, BenchError> {
    let count = context.sized(COUNT.max(BYTES_MIN / bytes), 40);
    let case = case(format!("{count} x {bytes} B from finished files"));
    let messages = Messages::new(Content::Noise, bytes as usize, count);
    let trial = Trial::new(case, Level::Buffered, messages).note(PASSES).note(COPYING);
    let mut stage = trial.stage(context)?;
    stage.send(&trial.messages)?;
    let [copied, first, again, over_first, over_again] = trial.rounds(context, 5, |_| {
        stage.reopen_mapping(0)?;
        let copied = stage.read(&trial.messages)?;
        stage.reopen_mapping(KEPT)?;
        let first = stage.read(&trial.messages)?;
        let again = stage.read(&trial.messages)?;
        let [a, b, c] = [copied, first, again].map(|seconds| trial.per_second(seconds));
        Ok([a, b, c, copied / first, copied / again])
    })?;
    stage.close()?;
    *pays_from = match over_first.median >= PAYS {
        true => pays_from.or(Some(bytes)),
        false => None,
    };
    Ok(vec![
        trial.rate("receive, copying", copied),
        trial.rate("receive, mapping and checking", first),
        trial.rate("receive, mapped and checked before", again),
        trial.row("mapping over copying", over_first, Unit::Ratio),
        trial
            .row("mapped before over copying", over_again, Unit::Ratio)
            .target((bytes == SIZES[3]).then_some(1.8)),
    ])
}

/// The smallest size from which on mapping was faster in the first pass, at that and all larger
/// sizes.
fn pays(bytes: u64) -> Row {
    let case = case("messages mapped and copied");
    Row::new(&case, "size from which mapping pays", bytes as f64, Unit::Bytes)
        .level(Level::Buffered.name())
        .check("times_as_fast_at_least", PAYS)
        .footnote(
            "The smallest of the sizes above from which on the first pass, which maps and checks, is \
             1.1 times as fast as copying.",
        )
}
