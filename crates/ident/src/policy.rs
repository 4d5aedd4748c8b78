//! What happens when the clock does not allow the next id.

use std::time::Duration;

/// What a generator does when the next id would be ahead of its clock, which it is for one of two
/// reasons: the ids of the millisecond are used up, or the clock has stepped back.
///
/// Whatever is chosen, the ids of a generator are distinct and ascend. The default waits: up to a
/// second when ids are used up, up to 10 ms for a clock that stepped back, beyond which it borrows
/// up to a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// More ids were requested than the layout has for the time that has passed.
    pub exhausted: Exhausted,
    /// The clock stepped back.
    pub stepped_back: SteppedBack,
}

/// What to do when the ids of a millisecond are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// Wait for the millisecond of the id, so that no id is ahead of the clock. If that would take
    /// longer than this, or the clock does not move for so long, it is an error.
    Wait {
        /// The longest wait.
        at_most: Duration,
    },
    /// Take ids of later milliseconds at once, so long as they are no further ahead of the clock
    /// than this, and refuse beyond. A generator that is started again within the time that its
    /// predecessor had borrowed, with the same worker id, would repeat ids.
    Borrow {
        /// The largest lead of ids over the clock.
        at_most: Duration,
    },
    /// Refuse at once.
    Refuse,
}

impl Default for Exhausted {
    fn default() -> Exhausted {
        Exhausted::Wait { at_most: Duration::from_secs(1) }
    }
}

/// What to do when the clock steps back: wait if the step is small, borrow if it is larger, refuse
/// if it is larger still. Zero switches a stage off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteppedBack {
    /// If the clock can catch up within this time, wait for it. A longer wait is not begun.
    pub wait_max: Duration,
    /// If not, continue with the sequence where it was, and let it carry into later milliseconds,
    /// while ids are no further ahead of the clock than this. Beyond, it is an error.
    pub borrow_max: Duration,
}

impl Default for SteppedBack {
    fn default() -> SteppedBack {
        SteppedBack { wait_max: Duration::from_millis(10), borrow_max: Duration::from_secs(1) }
    }
}

/// The reason that an id would be ahead of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Exhausted,
    SteppedBack,
}

/// What to do about an id that is ahead of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It may go out as it is.
    Take,
    /// It may go out when the clock has reached it, or after this time if `then_take` says so.
    Wait { at_most: Duration, then_take: bool },
    /// It may not go out.
    Refuse,
}

impl Policy {
    /// What to do about an id that is `ahead_ms` ahead of the clock. It is at least 1.
    pub(crate) fn judge(&self, cause: Cause, ahead_ms: u64) -> Verdict {
        let ahead = Duration::from_millis(ahead_ms);
        match (cause, self.exhausted) {
            (Cause::Exhausted, Exhausted::Wait { at_most }) if ahead <= at_most => {
                Verdict::Wait { at_most, then_take: false }
            }
            (Cause::Exhausted, Exhausted::Borrow { at_most }) if ahead <= at_most => Verdict::Take,
            (Cause::Exhausted, _) => Verdict::Refuse,
            (Cause::SteppedBack, _) => {
                let SteppedBack { wait_max, borrow_max } = self.stepped_back;
                let may_borrow = ahead <= borrow_max;
                if ahead <= wait_max {
                    Verdict::Wait { at_most: wait_max, then_take: may_borrow }
                } else if may_borrow {
                    Verdict::Take
                } else {
                    Verdict::Refuse
                }
            }
        }
    }
}
