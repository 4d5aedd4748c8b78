//! Which dates are trading days, and with which sessions.

use crate::CalendarError;
use crate::error::Place;
use crate::schedule::{Begins, Held, Session};
use crate::zone::Zone;
use jiff::civil::{Date, DateTime, Weekday};
use rialto_clock::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The trading days of a venue. It does not change; a changed file is read as another calendar.
#[derive(Clone, Debug)]
pub struct Calendar {
    pub(crate) zone: Zone,
    /// By offset from Monday. At least one is set.
    pub(crate) weekdays: [bool; 7],
    /// The sessions of an ordinary trading day, in order.
    pub(crate) sessions: Vec<Session>,
    pub(crate) special_days: BTreeMap<Date, SpecialDay>,
}

/// A date that is not as its weekday.
#[derive(Clone, Debug)]
pub(crate) struct SpecialDay {
    pub(crate) name: Option<String>,
    /// The sessions of a half day, shared by its dates; none on a holiday.
    pub(crate) sessions: Option<Arc<[Session]>>,
    /// Where the file has the date.
    pub(crate) place: Place,
}

/// What a date is to a venue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayKind<'c> {
    /// A trading day with the usual sessions.
    Ordinary,
    /// A trading day with sessions of its own.
    HalfDay {
        /// Its name, if the file has one.
        name: Option<&'c str>,
    },
    /// A date without trading that the file lists.
    Holiday {
        /// Its name, if the file has one.
        name: Option<&'c str>,
    },
    /// A date without trading because of its weekday.
    OffWeekday,
}

impl DayKind<'_> {
    /// Whether there is trading.
    #[must_use]
    pub const fn is_trading_day(self) -> bool {
        matches!(self, DayKind::Ordinary | DayKind::HalfDay { .. })
    }
}

impl Calendar {
    /// The name of the time zone.
    #[must_use]
    pub fn zone(&self) -> &str {
        self.zone.name()
    }

    /// What the clocks of the time zone show at `time`.
    #[must_use]
    pub fn local(&self, time: Timestamp) -> DateTime {
        self.zone.local(time)
    }

    /// The weekdays of trading, from Monday on.
    pub fn weekdays(&self) -> impl Iterator<Item = Weekday> + '_ {
        let days = Weekday::Monday.cycle_forward().take(7);
        days.filter(|day| self.trades_on(*day))
    }

    /// The number of sessions of an ordinary trading day.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Holidays and half days, in order.
    pub fn special_days(&self) -> impl Iterator<Item = (Date, DayKind<'_>)> {
        self.special_days.iter().map(|(date, day)| (*date, day.kind()))
    }

    /// What `date` is.
    #[must_use]
    pub fn kind(&self, date: Date) -> DayKind<'_> {
        match self.special_days.get(&date) {
            Some(day) => day.kind(),
            None if self.trades_on(date.weekday()) => DayKind::Ordinary,
            None => DayKind::OffWeekday,
        }
    }

    /// Refuses a calendar whose special days are all before `today`: the next ones have not been
    /// added. A calendar without special days is accepted.
    ///
    /// # Errors
    /// [`CalendarError::Fault`] at the last special day.
    pub fn check_special_days(&self, today: Date) -> Result<(), CalendarError> {
        match self.special_days.last_key_value() {
            Some((last, day)) if *last < today => {
                let message = format!(
                    "the last holiday or half day is {last}, before today, {today}; add the \
                     next ones"
                );
                Err(day.place.fault(message))
            }
            _ => Ok(()),
        }
    }

    fn trades_on(&self, day: Weekday) -> bool {
        let at = usize::try_from(day.to_monday_zero_offset()).unwrap_or_default();
        self.weekdays.get(at).copied().unwrap_or_default()
    }

    /// The first trading day from `date` on. The bound on special days bounds the search.
    pub(crate) fn trading_day_from(&self, date: Date) -> Option<Date> {
        let mut date = date;
        while !self.kind(date).is_trading_day() {
            date = date.tomorrow().ok()?;
        }
        Some(date)
    }

    /// The last trading day before `date`.
    pub(crate) fn trading_day_before(&self, date: Date) -> Option<Date> {
        let mut date = date.yesterday().ok()?;
        while !self.kind(date).is_trading_day() {
            date = date.yesterday().ok()?;
        }
        Some(date)
    }

    /// The sessions of the trading day `date`, except for what a holiday leaves out.
    pub(crate) fn held_on(&self, date: Date) -> Vec<Held<'_>> {
        let special = self.special_days.get(&date);
        let sessions =
            special.map_or(Some(self.sessions.as_slice()), |day| day.sessions.as_deref());
        let held = |session| {
            let begins_on = self.begins_on(session, date)?;
            Some(Held { session, begins_on })
        };
        sessions.map_or_else(Vec::new, |sessions| sessions.iter().filter_map(held).collect())
    }

    fn begins_on(&self, session: &Session, date: Date) -> Option<Date> {
        let begins_on = match session.begins {
            Begins::TradingDay => return Some(date),
            Begins::DayBefore => date.yesterday().ok()?,
            Begins::TradingDayBefore => self.trading_day_before(date)?,
        };
        let mut between = self.special_days.range(begins_on..date);
        let is_holiday_eve = between.any(|(_, day)| day.sessions.is_none());
        (session.on_holiday_eve || !is_holiday_eve).then_some(begins_on)
    }
}

impl SpecialDay {
    fn kind(&self) -> DayKind<'_> {
        let name = self.name.as_deref();
        match self.sessions {
            Some(_) => DayKind::HalfDay { name },
            None => DayKind::Holiday { name },
        }
    }
}
