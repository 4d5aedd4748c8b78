//! Bytes without a record, on their way to be removed.

use crate::history::Garbage;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// The most that waits; a caller that adds more removes it itself.
const WAITING_MAX: usize = 65_536;

/// A bounded queue of what the housekeeping removes.
#[derive(Default)]
pub(crate) struct Removals {
    waiting: Mutex<VecDeque<Garbage>>,
}

impl Removals {
    /// Adds bytes to be removed, or gives them back if too many wait.
    pub(crate) fn add(&self, garbage: Garbage) -> Option<Garbage> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() >= WAITING_MAX {
            return Some(garbage);
        }
        waiting.push_back(garbage);
        None
    }

    /// Takes up to `max`.
    pub(crate) fn take(&self, max: usize) -> Vec<Garbage> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = max.min(waiting.len());
        waiting.drain(..taken).collect()
    }

    /// Shows what waits.
    pub(crate) fn each(&self, show: impl FnMut(&Garbage)) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(show);
    }
}
