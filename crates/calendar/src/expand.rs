//! From a calendar to absolute times.

use crate::local::LocalTime;
use crate::schedule::{Held, ScheduledPhase};
use crate::{Calendar, CalendarError, CallTimes, Phase, Transition};
use jiff::civil::Date;
use rialto_clock::Timestamp;

/// The largest number of days in one expansion.
pub const DAYS_MAX: u32 = 366;

/// A trading day with all its transitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TradingDay {
    /// The date.
    pub date: Date,
    /// The transitions, in order. Those of a night session are on an earlier date.
    pub transitions: Vec<Transition>,
}

impl Calendar {
    /// The transitions from `now` on, for `days` times 24 hours: those with
    /// `now <= at < now + days`. Their times strictly ascend.
    ///
    /// Another `now` gives the same transitions wherever both windows reach. The phase at `now`
    /// itself is that of [`Calendar::in_force`].
    ///
    /// # Errors
    /// [`CalendarError::Days`] for more than [`DAYS_MAX`] days.
    pub fn transitions(&self, now: Timestamp, days: u32) -> Result<Vec<Transition>, CalendarError> {
        if days > DAYS_MAX {
            return Err(CalendarError::Days { days });
        }
        let end = now.saturating_add(u64::from(days) * Timestamp::DAY);
        let last_date = self.zone.local(end).date();
        let mut found = Vec::new();
        // A trading day ends with its date at the latest: at the first instant of the next one.
        let mut next = self.zone.local(now).date().yesterday().ok();
        while let Some(day) = next.and_then(|date| self.trading_day_from(date)) {
            let transitions = self.transitions_of(day);
            // A day after the last date may have a night session within the window.
            if day > last_date && transitions.first().is_none_or(|first| first.at >= end) {
                break;
            }
            found.extend(transitions.into_iter().filter(|it| (now..end).contains(&it.at)));
            next = day.tomorrow().ok();
        }
        Ok(found)
    }

    /// The last transition at or before `now`: it began the phase that the market is in. `None` if
    /// no phase has begun since 1970.
    #[must_use]
    pub fn in_force(&self, now: Timestamp) -> Option<Transition> {
        let tomorrow = self.zone.local(now).date().tomorrow().ok()?;
        // The night session of the next trading day may have begun. Where clocks go back over
        // midnight, that of the one after it may have, too.
        let mut next = self.trading_day_from(self.trading_day_from(tomorrow)?.tomorrow().ok()?);
        while let Some(day) = next {
            let transitions = self.transitions_of(day);
            if let Some(last) = transitions.into_iter().rfind(|it| it.at <= now) {
                return Some(last);
            }
            next = self.trading_day_before(day).filter(|day| day.year() >= 1970);
        }
        None
    }

    /// The trading day `date`, whole. `None` if it is none.
    #[must_use]
    pub fn trading_day(&self, date: Date) -> Option<TradingDay> {
        let is_one = self.kind(date).is_trading_day();
        is_one.then(|| TradingDay { date, transitions: self.transitions_of(date) })
    }

    fn transitions_of(&self, day: Date) -> Vec<Transition> {
        let held = self.held_on(day);
        let mut all = Vec::new();
        for (nth, Held { session, begins_on }) in held.iter().enumerate() {
            let begun = session.phases.iter().filter_map(|it| self.phase(it, *begins_on, day));
            all.extend(begun);
            let phase = if nth + 1 == held.len() { Phase::Closed } else { Phase::Break };
            let end = self.instant(session.end, *begins_on);
            all.extend(end.map(|at| Transition { at, phase, day, call: None }));
        }
        // A phase without length is left out: of a session that follows without a break, and of
        // times that the clocks skip.
        let mut next = self.begin_of_the_day_after(day);
        let mut kept = Vec::with_capacity(all.len());
        for transition in all.into_iter().rev() {
            if next != Some(transition.at) {
                next = Some(transition.at);
                kept.push(transition);
            }
        }
        kept.reverse();
        kept
    }

    fn begin_of_the_day_after(&self, day: Date) -> Option<Timestamp> {
        let after = self.trading_day_from(day.tomorrow().ok()?)?;
        let first = self.held_on(after).into_iter().next()?;
        self.instant(first.session.begin(), first.begins_on)
    }

    fn phase(&self, scheduled: &ScheduledPhase, on: Date, day: Date) -> Option<Transition> {
        let at = self.instant(scheduled.at, on)?;
        let call = match scheduled.call {
            None => None,
            Some(call) => Some(CallTimes {
                no_cancel_from: match call.no_cancel_from {
                    None => None,
                    Some(time) => Some(self.instant(time, on)?),
                },
                earliest_end: self.instant(call.earliest_end, on)?,
                latest_end: self.instant(call.latest_end, on)?,
            }),
        };
        Some(Transition { at, phase: scheduled.phase, day, call })
    }

    fn instant(&self, time: LocalTime, on: Date) -> Option<Timestamp> {
        self.zone.first_instant(time.on(on)?)
    }
}
