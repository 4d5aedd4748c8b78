//! Queries of calendars, which are public.

use super::{FeedQuery, QueryError};
use rialto_feed::{BegunTransition, BreakerView, Feed, TimetableView};
use rialto_model::{InstrumentId, Name, PlannedTransition, RejectReason, Timestamp};

/// All calendars, without their transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListCalendars;

/// A calendar with its next transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetCalendar {
    /// Its name.
    pub name: Name,
    /// Only transitions after this time.
    pub after: Timestamp,
    /// The most transitions to return.
    pub limit: usize,
}

/// A calendar with a part of its transitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalendarPage {
    /// Its name.
    pub name: Name,
    /// The last transition that has begun.
    pub begun: Option<BegunTransition>,
    /// The next transition.
    pub next: Option<PlannedTransition>,
    /// The last transition that is planned.
    pub last: Option<PlannedTransition>,
    /// How many transitions are planned.
    pub planned: usize,
    /// The transitions of the page, in order.
    pub transitions: Vec<PlannedTransition>,
    /// The instruments that follow it.
    pub instruments: Vec<InstrumentId>,
    /// Its circuit breaker.
    pub breaker: Option<BreakerView>,
}

impl CalendarPage {
    fn of(feed: &Feed, calendar: &TimetableView, after: Timestamp, limit: usize) -> CalendarPage {
        let planned = &calendar.planned;
        let page = planned.iter().skip_while(|it| it.at <= after).take(limit);
        CalendarPage {
            name: calendar.name,
            begun: calendar.begun,
            next: planned.first().copied(),
            last: planned.last().copied(),
            planned: planned.len(),
            transitions: page.copied().collect(),
            instruments: feed.instruments_of(calendar.name).collect(),
            breaker: calendar.breaker,
        }
    }
}

impl FeedQuery for ListCalendars {
    type Answer = Vec<CalendarPage>;
    const NAME: &'static str = "list_calendars";

    fn read(&self, feed: &Feed) -> Result<Vec<CalendarPage>, QueryError> {
        let page = |calendar| CalendarPage::of(feed, calendar, Timestamp::ZERO, 0);
        Ok(feed.calendars().iter().map(page).collect())
    }
}

impl FeedQuery for GetCalendar {
    type Answer = CalendarPage;
    const NAME: &'static str = "get_calendar";

    fn read(&self, feed: &Feed) -> Result<CalendarPage, QueryError> {
        let unknown = QueryError::Unknown(RejectReason::UnknownCalendar);
        let calendar = feed.calendar(self.name).ok_or(unknown)?;
        Ok(CalendarPage::of(feed, calendar, self.after, self.limit))
    }
}
