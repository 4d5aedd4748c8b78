//! A control: the same schedule on this machine with almost nothing between sender and receiver.

use super::disk_sync::OverwrittenFile;
use super::threads::joined;
use crate::error::{BenchError, broken, verify};
use crate::measure::{
    Clock, Latencies, Pace, Percentiles, Spread, exact_sleeps, percentile_spreads,
};
use crate::report::{Case, Row, Unit};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

/// A message of the control: its position, and as many bytes as the real message.
type Carried = (u64, Vec<u8>);

/// The schedule of a measurement.
#[derive(Clone, Copy)]
pub(crate) struct Schedule {
    pub(crate) per_second: u64,
    pub(crate) count: u64,
    /// Arrivals before the measurement.
    pub(crate) warm_up: u64,
    /// The bytes of an arrival.
    pub(crate) bytes: usize,
}

/// Sends the schedule through a channel to another thread. With a directory, a thread in between
/// writes the messages synchronously to a file there. Every idle thread sleeps.
pub(crate) fn control(
    case: &str,
    schedule: Schedule,
    directory: Option<&Path>,
) -> Result<Latencies, BenchError> {
    let file = directory.map(|directory| OverwrittenFile::create(case, directory, 1 << 20));
    let file = file.transpose()?;
    let (sender, arrived) = channel::<Carried>();
    let (written, received) = channel::<Carried>();
    let clock = Clock::start();
    let mut pace = Pace::new(clock, schedule.per_second, schedule.count);
    let planned = pace.clone();
    let (latencies, ends) = std::thread::scope(|scope| {
        let sending = scope.spawn(move || send(case, &mut pace, schedule.bytes, &sender));
        let (arrived, writing) = match file {
            None => (arrived, None),
            Some(file) => {
                (received, Some(scope.spawn(move || write(case, &file, &arrived, &written))))
            }
        };
        let mut latencies = Latencies::new();
        let mut count = 0;
        for (position, bytes) in arrived {
            let now = clock.now_ns();
            count += u64::from(bytes.len() == schedule.bytes);
            if position >= schedule.warm_up {
                latencies.record(now.saturating_sub(planned.scheduled_ns(position)));
            }
        }
        let verified = verify(case, "messages of the control", count, schedule.count);
        let threads = [Some(sending), writing].into_iter().flatten();
        let ends = threads.map(joined).chain([verified]);
        (latencies, ends.collect::<Result<(), BenchError>>())
    });
    ends.map(|()| latencies)
}

fn send(
    case: &str,
    pace: &mut Pace,
    bytes: usize,
    sender: &Sender<Carried>,
) -> Result<(), BenchError> {
    exact_sleeps().map_err(broken(case, "have exact sleeps"))?;
    while let Some(due) = pace.due() {
        for position in due {
            // The receiver counts, so that a failed send is noticed.
            let _ = sender.send((position, vec![0; bytes]));
        }
    }
    Ok(())
}

fn write(
    case: &str,
    file: &OverwrittenFile,
    arrived: &Receiver<Carried>,
    written: &Sender<Carried>,
) -> Result<(), BenchError> {
    while let Ok(first) = arrived.recv() {
        let group: Vec<Carried> = std::iter::once(first).chain(arrived.try_iter()).collect();
        file.write(case, group.iter().map(|(_, bytes)| bytes.len()).sum())?;
        for message in group {
            let _ = written.send(message);
        }
    }
    Ok(())
}

/// The largest p99, as a multiple of the control's.
const P99_OVER_CONTROL: f64 = 1.5;

const CONTROL: &str = "The same schedule in turn with the row, with nothing but a channel between \
    the ends.";
const CONTROL_WRITER: &str = "The same schedule in turn with the row, with nothing but a channel \
    between the ends and a thread that writes all that has come synchronously, over space written \
    before.";
const OVER: &str = "Of runs right after each other. What the machine does to both of them is no \
    property of either.";

/// The rows of a control, and the p99 of the run beside it as a multiple.
pub(crate) fn control_rows(
    case: &Case,
    level: &str,
    passes: &[(&Latencies, &Latencies)],
    is_written: bool,
) -> Vec<Row> {
    let row = |metric: String, spread, unit| {
        let row = Row::of_spread(case, metric, spread, unit).level(level);
        row.check("arrivals_counted", passes[0].1.count())
    };
    let controls: Vec<Percentiles> = passes.iter().map(|(_, it)| it.percentiles()).collect();
    let rows =
        percentile_spreads(controls.iter()).map(|(name, spread)| {
            row(format!("latency {name}, control"), spread, Unit::Nanoseconds)
                .footnote(if is_written { CONTROL_WRITER } else { CONTROL })
        });
    let over = Spread::over(passes.iter().zip(&controls), |((ours, _), control)| {
        ours.percentiles().p99 as f64 / control.p99.max(1) as f64
    });
    let over = row("latency p99 over the control's".into(), over, Unit::Slowdown);
    rows.chain([over.target(P99_OVER_CONTROL).footnote(OVER)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arrival_reaches_the_other_end_with_and_without_a_disk() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let schedule = Schedule { per_second: 50_000, count: 600, warm_up: 100, bytes: 1_024 };
        for directory in [None, Some(home.path())] {
            let latencies = control("test", schedule, directory).expect("the control runs");
            assert_eq!(latencies.count(), 500);
        }
        assert_eq!(std::fs::read_dir(home.path()).expect("it is there").count(), 0);
    }
}
