//! Files are deleted when recovery cannot need them again. The control log must hold the numbers of
//! producers and transactions in them: otherwise a repetition after a failure would not be
//! recognised. And it must hold, durably, that the groups of a work queue have acknowledged them:
//! the transaction that moved a message to another topic may still be lost, and then this file has
//! the only copy.

use super::{DELAYED_LANE, Lane, Topic};
use crate::error::QueueError;
use rialto_log::Level;
use std::sync::{Arc, MutexGuard, PoisonError};

/// What the control log has recorded of a topic.
#[derive(Debug, Default)]
pub(super) struct ControlProgress {
    /// The numbers of each lane's messages below these, the lane of delayed messages last.
    upto: Vec<u64>,
    /// The numbers that will be recorded when a round has been synced.
    telling: Option<(u64, Vec<u64>)>,
    /// The numbers of each lane below which all groups of a work queue have acknowledged
    /// everything.
    done: Vec<u64>,
    /// The same when a round has been synced.
    finishing: Option<(u64, Vec<u64>)>,
}

/// Applies the pending numbers if their round is synced. False while it is awaited.
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

    /// Notes that the control log holds all numbers below these.
    pub(crate) fn numbers_recorded(&self, upto: &[u64]) {
        self.control_progress().upto = upto.to_vec();
    }

    /// Notes that it will when this round has been synced.
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

    /// Whether there are files that only wait for the control log to record their acknowledgement,
    /// where all rounds up to `safe_rounds` are synced.
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

    /// Notes that the control log will hold the acknowledgement of everything below these when this
    /// round has been synced.
    pub(crate) fn recording_acknowledged(&self, round: u64, firsts: Vec<u64>) {
        self.control_progress().finishing = Some((round, firsts));
    }

    /// Notes that it holds it now.
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
