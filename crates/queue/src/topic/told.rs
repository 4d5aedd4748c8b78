//! Files go when the control log knows the numbers of producers and transactions that they hold:
//! otherwise what is sent again after a failure would not be recognised.

use super::{Lane, Topic};
use crate::error::QueueError;
use rialto_log::Level;
use std::sync::{MutexGuard, PoisonError};

/// What the control log knows.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The numbers of each lane's messages below these, the lane of what is put off the last.
    upto: Vec<u64>,
    /// What it will know when a round has been synced.
    telling: Option<(u64, Vec<u64>)>,
}

impl Topic {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The control log knows all numbers below these.
    pub(crate) fn numbers_told(&self, upto: &[u64]) {
        self.told().upto = upto.to_vec();
    }

    /// It will, when this round has been synced.
    pub(crate) fn telling_numbers(&self, round: u64, upto: Vec<u64>) {
        self.told().telling = Some((round, upto));
    }

    /// Whether there are files that only wait for the control log to be told of their numbers, where
    /// all rounds up to `safe_rounds` are synced.
    pub(crate) fn has_numbers_to_tell(&self, safe_rounds: u64) -> bool {
        if self.level() == Level::Memory || self.filling().producers.is_empty() {
            return false;
        }
        let mut told = self.told();
        if let Some((round, upto)) = told.telling.take() {
            if round > safe_rounds {
                told.telling = Some((round, upto));
                return false;
            }
            told.upto = upto;
        }
        let waits = |(nth, lane): (usize, &Lane)| {
            let known = told.upto.get(nth).copied().unwrap_or_default();
            lane.reclaimable().is_some_and(|below| below > known)
        };
        self.lanes.iter().enumerate().any(|(nth, lane)| waits((nth, lane)))
    }

    /// Deletes the files that nobody needs.
    pub(super) fn reclaim(&self) -> Result<(), QueueError> {
        let has_numbers = !self.filling().producers.is_empty();
        let upto = if has_numbers { self.told().upto.clone() } else { Vec::new() };
        for (nth, lane) in self.lanes.iter().enumerate() {
            let known =
                if has_numbers { upto.get(nth).copied().unwrap_or_default() } else { u64::MAX };
            lane.reclaim(known)?;
        }
        Ok(())
    }
}
