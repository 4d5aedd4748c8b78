//! The begin of a phase.

use crate::Phase;
use jiff::civil::Date;
use rialto_clock::Timestamp;

/// A phase begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// When it begins.
    pub at: Timestamp,
    /// The phase.
    pub phase: Phase,
    /// The trading day that the phase belongs to. [`Phase::Closed`] belongs to the one that ended.
    pub day: Date,
    /// The times of a call, and only of a call.
    pub call: Option<CallTimes>,
}

/// When a call ends, and until when its orders can be cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallTimes {
    /// From when on cancels are not accepted; `None` if they are until the end. At most
    /// [`CallTimes::earliest_end`].
    pub no_cancel_from: Option<Timestamp>,
    /// The earliest end.
    pub earliest_end: Timestamp,
    /// The latest end, included: the earliest one for a call without a random end. At most the
    /// begin of the next phase.
    pub latest_end: Timestamp,
}
