//! Trading days must not overlap.

use crate::local::DAY_S;
use crate::schedule::{Held, Session};
use crate::{Calendar, CalendarError};
use jiff::civil::{Date, DateTime};

/// Refuses a calendar in which a trading day begins before the one before it has ended.
pub(super) fn check(calendar: &Calendar) -> Result<(), CalendarError> {
    check_ordinary(&calendar.sessions)?;
    for (date, _) in calendar.special_days().filter(|(_, kind)| kind.is_trading_day()) {
        let neighbours = [
            calendar.trading_day_before(date).map(|before| (before, date)),
            date.tomorrow().ok().and_then(|it| calendar.trading_day_from(it)).map(|it| (date, it)),
        ];
        for (first, second) in neighbours.into_iter().flatten() {
            check_pair(calendar, first, second)?;
        }
    }
    Ok(())
}

/// Two ordinary days in a row. Others are further apart.
fn check_ordinary(sessions: &[Session]) -> Result<(), CalendarError> {
    let (Some(first), Some(last)) = (sessions.first(), sessions.last()) else { return Ok(()) };
    if first.span_s().0 >= last.span_s().1 - i64::from(DAY_S) {
        return Ok(());
    }
    let message = format!(
        "the session begins at {} of the date before, and the last session of a trading day ends at \
         {}; the next trading day must not begin before",
        first.begin(),
        last.end,
    );
    Err(first.begin_place.fault(message))
}

fn check_pair(calendar: &Calendar, first: Date, second: Date) -> Result<(), CalendarError> {
    let (before, after) = (calendar.held_on(first), calendar.held_on(second));
    let (Some(last), Some(next)) = (before.last(), after.first()) else { return Ok(()) };
    let (Some(ends), Some(begins)) = (end(last), begin(next)) else { return Ok(()) };
    if begins >= ends {
        return Ok(());
    }
    let message = format!(
        "the trading day {second} begins here at {begins}, before the trading day {first} ends at \
         {ends}; begin it then or later"
    );
    Err(next.session.begin_place.fault(message))
}

fn begin(held: &Held<'_>) -> Option<DateTime> {
    held.session.begin().on(held.begins_on)
}

fn end(held: &Held<'_>) -> Option<DateTime> {
    held.session.end.on(held.begins_on)
}
