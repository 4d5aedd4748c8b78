//! Watching runs from outside.

use crate::history::{Ending, Kind};
use crate::store::RunNumber;
use crate::{FlowId, Timestamp};

/// The events of an [`Observer`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Observed<'a> {
    /// A run begins, or is resumed.
    Began {
        /// Its flow.
        flow: &'static str,
        /// The version of the code.
        version: u32,
        /// Whether it has a history already.
        resumed: bool,
    },
    /// A step, wait or child begins.
    StepBegan {
        /// The kind of the operation.
        kind: Kind,
        /// The name.
        name: &'static str,
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// It has finished.
    StepFinished {
        /// The kind of the operation.
        kind: Kind,
        /// The name.
        name: &'static str,
        /// The result, encoded.
        output: &'a [u8],
    },
    /// An attempt has failed.
    StepFailed {
        /// The kind of the operation.
        kind: Kind,
        /// The name.
        name: &'static str,
        /// The error's message.
        message: &'a str,
        /// Whether there will be no other attempt.
        for_good: bool,
    },
    /// A finished step has been undone.
    Undone {
        /// The name.
        name: &'static str,
    },
    /// The run has ended.
    Ended {
        /// The ending.
        ending: &'a Ending,
    },
}

/// Watches runs: a recorder, metrics. It is called while a run is being polled, so it
/// must be quick. Steps that are replayed from the history are not observed again.
pub trait Observer: Send + Sync + 'static {
    /// Handles an event of a run, which may not be confirmed yet.
    fn observe(&self, run: RunNumber, id: &FlowId, at: Timestamp, what: Observed<'_>);
}
