//! One run of a workload through an engine, from an empty directory to a verified end.

use crate::drive::{Venue, VenueSettings, feed, median_group_bytes, read_back};
use crate::error::{BenchError, verify};
use crate::measure::Percentiles;
use crate::suite::Context;
use rialto_engine::{Stats, Submission};
use rialto_workload::{Workload, opening};

/// The measurements of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arm {
    /// Commands per second, first submission to last acknowledgement.
    pub(super) rate: f64,
    /// The times from the stamp of a command to its release, in the same run.
    pub(super) acknowledge: Percentiles,
    /// The number of journal groups.
    pub(super) groups: u64,
    /// The median size of a group, padding included.
    pub(super) group_bytes: u64,
    /// The bytes of journal and event log per command.
    pub(super) bytes_per_command: f64,
}

/// Feeds a workload to a new engine as fast as it accepts it, verifies the results, and returns the
/// measurements of the main part.
pub(super) fn run(
    context: &mut Context<'_>,
    case: &str,
    settings: VenueSettings,
    workload: &Workload,
    submissions: &[Submission],
) -> Result<Arm, BenchError> {
    let directory = context.fresh_directory()?;
    let mut venue = Venue::open(case, settings, directory.path(), opening(workload))?;
    let (warm_up, measured) = submissions.split_at(workload.prefill);
    feed(case, &mut venue.producer, warm_up)?;
    let before = venue.engine.stats();
    let fed = feed(case, &mut venue.producer, measured)?;
    let after = venue.engine.stats();
    verify(case, "answers", fed.answered, measured.len() as u64)?;
    let Venue { engine, producer } = venue;
    drop(producer);
    let totals = read_back(case, engine, fed.last)?;
    verify(case, "the result", totals, workload.expected)?;
    Ok(Arm::of(fed.answered as f64 * 1e9 / fed.elapsed_ns as f64, before, after))
}

impl Arm {
    fn of(rate: f64, before: Stats, after: Stats) -> Arm {
        let (mut acknowledge, mut sizes) = (after.acknowledge_ns, after.group_bytes);
        acknowledge
            .subtract(&before.acknowledge_ns)
            .expect("the later histogram counts all that the earlier one does");
        sizes
            .subtract(&before.group_bytes)
            .expect("the later histogram counts all that the earlier one does");
        let bytes = after.journal_bytes + after.event_bytes;
        let bytes = bytes - before.journal_bytes - before.event_bytes;
        let commands = (after.commands - before.commands).max(1);
        Arm {
            rate,
            acknowledge: Percentiles::of(&acknowledge),
            groups: after.groups - before.groups,
            group_bytes: median_group_bytes(&sizes),
            bytes_per_command: (bytes as f64 / commands as f64 * 10.0).round() / 10.0,
        }
    }
}
