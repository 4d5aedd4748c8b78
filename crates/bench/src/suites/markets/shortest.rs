//! Times of runs that do the same, command by command.

use crate::error::{BenchError, verify};
use crate::measure::{Latencies, Percentiles};

pub(super) const SHORTEST: &str = "Every run does the same, so that what a command takes beyond its \
    shortest time of the runs is not its own: interrupts, caches, the hypervisor. Of each command the \
    shortest time, and of these the longest.";

/// The longest of the times that each command took at its shortest.
pub(super) fn longest_of_shortest(case: &str, runs: &[&[u64]]) -> Result<u64, BenchError> {
    let (first, others) = runs.split_first().expect("at least one run was made");
    let mut shortest = first.to_vec();
    for run in others {
        verify(case, "commands of a run", run.len(), shortest.len())?;
        shortest.iter_mut().zip(*run).for_each(|(least, ns)| *least = (*least).min(*ns));
    }
    Ok(shortest.into_iter().max().unwrap_or(0))
}

/// The percentiles of the times of a run.
pub(super) fn percentiles(times: &[u64]) -> Percentiles {
    let mut all = Latencies::new();
    times.iter().for_each(|ns| all.record(*ns));
    all.percentiles()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_of_one_run_does_not_count_and_a_long_command_does() {
        let runs: [&[u64]; 3] = [&[10, 900, 50], &[800, 12, 52], &[11, 13, 700]];
        assert_eq!(longest_of_shortest("case", &runs).expect("they are alike"), 50);
    }

    #[test]
    fn runs_that_differ_are_refused() {
        assert!(longest_of_shortest("case", &[&[1, 2], &[1]]).is_err());
    }
}
