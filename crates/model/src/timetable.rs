//! Timetables: the phases that a calendar puts its instruments into, at absolute times.

use crate::{InstrumentState, Timestamp};
use serde::{Deserialize, Serialize};

/// A phase that begins at a time, for all instruments of a calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTransition {
    /// When it begins.
    pub at: Timestamp,
    /// The phase.
    pub state: InstrumentState,
    /// The earliest end of a call; zero for a phase that does not end by itself.
    #[serde(default)]
    pub earliest_end: Timestamp,
    /// How much later the call may end, in milliseconds. The end is not known in advance.
    #[serde(default)]
    pub random_end_ms: u32,
    /// The phase after the auction of a call that ends by itself.
    #[serde(default)]
    pub next: InstrumentState,
    /// From when on members cannot cancel or amend orders in the call; zero is never.
    #[serde(default)]
    pub no_cancel_from: Timestamp,
    /// Whether a session ends here: orders that are good for the session expire.
    #[serde(default)]
    pub ends_session: bool,
    /// Whether a trading day ends here: day orders expire.
    #[serde(default)]
    pub ends_day: bool,
}

/// Why a transition cannot be planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransitionError {
    /// Not a phase of a timetable.
    #[error("state must be pre_open, call, open, closing_call or closed")]
    State,
    /// It begins at zero, or at the time that stands for never.
    #[error("at must be a time after 1970")]
    Time,
    /// A phase other than a call ends by itself, or has the attributes of one that does.
    #[error("only a call with earliest_end has random_end_ms, next and no_cancel_from")]
    NoEnd,
    /// It ends before it begins, or never.
    #[error("earliest_end must be after at")]
    End,
    /// The random end is out of range.
    #[error("random_end_ms must be at most 86400000")]
    RandomEnd,
    /// The phase after the auction does not follow one.
    #[error("next must be open or closed")]
    Next,
    /// The time without cancels does not fit the call.
    #[error("no_cancel_from must be 0 or from at to earliest_end")]
    NoCancel,
}

impl PlannedTransition {
    /// The longest random end, in milliseconds: one day.
    pub const RANDOM_END_MS_MAX: u32 = 86_400_000;

    /// A phase that lasts until the next transition and ends neither a session nor a day.
    #[must_use]
    pub const fn plain(at: Timestamp, state: InstrumentState) -> PlannedTransition {
        PlannedTransition {
            at,
            state,
            earliest_end: Timestamp::ZERO,
            random_end_ms: 0,
            next: InstrumentState::Open,
            no_cancel_from: Timestamp::ZERO,
            ends_session: false,
            ends_day: false,
        }
    }

    /// Whether the phase is a call that ends by itself.
    #[must_use]
    pub fn ends_by_itself(&self) -> bool {
        self.earliest_end != Timestamp::ZERO
    }

    /// The latest end of a call that ends by itself, included.
    #[must_use]
    pub fn latest_end(&self) -> Timestamp {
        self.earliest_end.saturating_add(u64::from(self.random_end_ms) * Timestamp::MILLISECOND)
    }

    /// Whether the transition is consistent in itself.
    pub fn check(&self) -> Result<(), TransitionError> {
        let is_call = matches!(self.state, InstrumentState::Call | InstrumentState::ClosingCall);
        let is_other = matches!(
            self.state,
            InstrumentState::PreOpen | InstrumentState::Open | InstrumentState::Closed
        );
        if !is_call && !is_other {
            return Err(TransitionError::State);
        }
        if self.at == Timestamp::ZERO || self.at == Timestamp::MAX {
            return Err(TransitionError::Time);
        }
        if !self.ends_by_itself() {
            let plain = PlannedTransition {
                ends_session: self.ends_session,
                ends_day: self.ends_day,
                ..PlannedTransition::plain(self.at, self.state)
            };
            return if *self == plain { Ok(()) } else { Err(TransitionError::NoEnd) };
        }
        if !is_call {
            return Err(TransitionError::NoEnd);
        }
        if self.random_end_ms > Self::RANDOM_END_MS_MAX {
            return Err(TransitionError::RandomEnd);
        }
        if self.earliest_end <= self.at || self.latest_end() == Timestamp::MAX {
            return Err(TransitionError::End);
        }
        if !matches!(self.next, InstrumentState::Open | InstrumentState::Closed) {
            return Err(TransitionError::Next);
        }
        let is_within = (self.at..=self.earliest_end).contains(&self.no_cancel_from);
        if self.no_cancel_from != Timestamp::ZERO && !is_within {
            return Err(TransitionError::NoCancel);
        }
        Ok(())
    }

    /// The same transition at another time, with the times of its call as far from it as before.
    /// `None` if a time cannot be expressed.
    #[must_use]
    pub fn moved_to(&self, to: Timestamp) -> Option<PlannedTransition> {
        let shifted = |time: Timestamp| match time {
            Timestamp::ZERO => Some(Timestamp::ZERO),
            time => to.0.checked_add(time.0.checked_sub(self.at.0)?).map(Timestamp),
        };
        let moved = PlannedTransition {
            at: to,
            earliest_end: shifted(self.earliest_end)?,
            no_cancel_from: shifted(self.no_cancel_from)?,
            ..*self
        };
        moved.check().is_ok().then_some(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> PlannedTransition {
        PlannedTransition {
            earliest_end: Timestamp(200),
            random_end_ms: 30_000,
            next: InstrumentState::Closed,
            no_cancel_from: Timestamp(150),
            ..PlannedTransition::plain(Timestamp(100), InstrumentState::ClosingCall)
        }
    }

    #[test]
    fn a_timetable_sets_the_phases_of_a_trading_day_only() {
        for &state in InstrumentState::ALL {
            let allowed = ["pre_open", "call", "open", "closing_call", "closed"];
            let is_allowed = allowed.contains(&state.name());
            let planned = PlannedTransition::plain(Timestamp(1), state);
            assert_eq!(planned.check().is_ok(), is_allowed, "{state:?}");
        }
    }

    #[test]
    fn only_a_call_ends_by_itself() {
        let planned = call();
        assert_eq!(planned.check(), Ok(()));
        for state in [InstrumentState::Open, InstrumentState::PreOpen, InstrumentState::Closed] {
            let planned = PlannedTransition { state, ..call() };
            assert_eq!(planned.check(), Err(TransitionError::NoEnd));
        }
        for at in [Timestamp::ZERO, Timestamp::MAX] {
            let planned = PlannedTransition::plain(at, InstrumentState::Open);
            assert_eq!(planned.check(), Err(TransitionError::Time));
        }
    }

    #[test]
    fn the_times_of_a_call_are_in_order_and_within_bounds() {
        let refused = [
            (PlannedTransition { earliest_end: Timestamp(100), ..call() }, TransitionError::End),
            (PlannedTransition { earliest_end: Timestamp::MAX, ..call() }, TransitionError::End),
            (PlannedTransition { earliest_end: Timestamp::ZERO, ..call() }, TransitionError::NoEnd),
            (PlannedTransition { random_end_ms: 86_400_001, ..call() }, TransitionError::RandomEnd),
            (PlannedTransition { next: InstrumentState::Call, ..call() }, TransitionError::Next),
            (
                PlannedTransition { no_cancel_from: Timestamp(99), ..call() },
                TransitionError::NoCancel,
            ),
            (
                PlannedTransition { no_cancel_from: Timestamp(201), ..call() },
                TransitionError::NoCancel,
            ),
        ];
        for (planned, error) in refused {
            assert_eq!(planned.check(), Err(error), "{planned:?}");
        }
    }

    #[test]
    fn a_moved_call_keeps_its_length() {
        let moved = call().moved_to(Timestamp(1_100)).unwrap();
        let times = (moved.at, moved.no_cancel_from, moved.earliest_end);
        assert_eq!(times, (Timestamp(1_100), Timestamp(1_150), Timestamp(1_200)));
        assert_eq!(call().moved_to(Timestamp(u64::MAX - 50)), None);
        let plain = PlannedTransition::plain(Timestamp(1), InstrumentState::Open);
        assert_eq!(plain.moved_to(Timestamp(7)).unwrap().at, Timestamp(7));
    }
}
