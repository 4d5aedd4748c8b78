//! Files go when no failure can make the control log need them again. It must know the numbers of
//! producers and transactions that they hold: otherwise what is sent again after a failure would not
//! be recognised. And it must say, durably, that the groups of a work queue have acknowledged them: what
//! moved a message to another topic may still be lost, and then this is the only place that has it.

use super::{DELAYED_LANE, Lane, Topic};
use crate::error::QueueError;
use rialto_log::Level;
use std::sync::{Arc, MutexGuard, PoisonError};

/// What the control log knows.
#[derive(Debug, Default)]
pub(super) struct ControlProgress {
    /// The numbers of each lane's messages below these, the lane of delayed messages last.
    upto: Vec<u64>,
    /// What it will know when a round has been synced.
    telling: Option<(u64, Vec<u64>)>,
    /// It says that all groups of a work queue have acknowledged everything of each lane below these.
    done: Vec<u64>,
    /// What it will say when a round has been synced.
    finishing: Option<(u64, Vec<u64>)>,
}

/// Takes what was to be known with a round once that is synced. False while it is awaited.
fn settle(known: &mut Vec<u64>, telling: &mut Option<(u64, Vec<u64>)>, safe_rounds: u64) -> bool {
    match telling.take() {
        Some((round, upto)) if round > safe_rounds => {
            *telling = Some((round, upto));
            return false;
        }
        Some((_, upto)) => *known = upto,
        None => {}
    }
    true
}

/// Whether there are files of these lanes, of messages that were dropped, from these numbers on.
fn has_files_from(lanes: &[Lane], upto: &[u64]) -> bool {
    let known = upto.iter().copied().chain(std::iter::repeat(0));
    lanes.iter().zip(known).any(|(lane, known)| lane.reclaimable().is_some_and(|it| it > known))
}

impl Topic {
    fn control_progress(&self) -> MutexGuard<'_, ControlProgress> {
        self.control_progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The control log knows all numbers below these.
    pub(crate) fn numbers_recorded(&self, upto: &[u64]) {
        self.control_progress().upto = upto.to_vec();
    }

    /// It will, when this round has been synced.
    pub(crate) fn recording_numbers(&self, round: u64, upto: Vec<u64>) {
        self.control_progress().telling = Some((round, upto));
    }

    /// Whether there are files that only wait for the control log to record their numbers, where
    /// all rounds up to `safe_rounds` are synced.
    pub(crate) fn has_numbers_to_record(&self, safe_rounds: u64) -> bool {
        if self.level() == Level::Memory || self.filling().producers.is_empty() {
            return false;
        }
        let mut control_progress = self.control_progress();
        let ControlProgress { upto, telling, .. } = &mut *control_progress;
        settle(upto, telling, safe_rounds) && has_files_from(&self.lanes, upto)
    }

    /// Whether there are files that only wait for the control log to say that groups have acknowledged
    /// them, where all rounds up to `safe_rounds` are synced.
    pub(crate) fn has_acknowledged_to_record(&self, safe_rounds: u64) -> bool {
        if self.level() == Level::Memory || !self.drops_acknowledged() {
            return false;
        }
        let mut control_progress = self.control_progress();
        let ControlProgress { done, finishing, .. } = &mut *control_progress;
        // Delayed messages have no groups, and are dropped only when that is safe.
        let lanes = &self.lanes[..self.lanes.len() - 1];
        settle(done, finishing, safe_rounds) && has_files_from(lanes, done)
    }

    /// The control log will say that groups have acknowledged everything below these, when this round
    /// has been synced.
    pub(crate) fn recording_acknowledged(&self, round: u64, firsts: Vec<u64>) {
        self.control_progress().finishing = Some((round, firsts));
    }

    /// It says so now.
    pub(super) fn acknowledged_recorded(&self, firsts: &[u64]) {
        let mut control_progress = self.control_progress();
        let lanes = firsts.len().max(control_progress.done.len());
        control_progress.done.resize(lanes, 0);
        for (done, first) in control_progress.done.iter_mut().zip(firsts) {
            *done = (*done).max(*first);
        }
    }

    /// Deletes the files that are not needed.
    pub(super) fn reclaim(self: &Arc<Self>) -> Result<(), QueueError> {
        let has_numbers = !self.filling().producers.is_empty();
        for (nth, lane) in self.lanes.iter().enumerate() {
            let below = {
                let control_progress = self.control_progress();
                let known = |upto: &[u64]| upto.get(nth).copied().unwrap_or_default();
                let numbered = if has_numbers { known(&control_progress.upto) } else { u64::MAX };
                let has_groups = self.drops_acknowledged() && lane.number != DELAYED_LANE;
                let done = if has_groups { known(&control_progress.done) } else { u64::MAX };
                numbered.min(done)
            };
            if lane.reclaim(&self.runtime, below)? {
                self.runtime.woke(self, nth);
            }
        }
        Ok(())
    }
}
