//! The sessions of a trading day in local times.

use crate::Phase;
use crate::error::Place;
use crate::local::{DAY_S, LocalTime};
use jiff::civil::Date;

/// The most sessions of a trading day.
pub const SESSIONS_MAX: usize = 8;

/// The most phases of a session.
pub const PHASES_MAX: usize = 16;

/// The date on which a session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begins {
    /// The date of its trading day.
    TradingDay,
    /// The date before that.
    DayBefore,
    /// The date of the trading day before.
    TradingDayBefore,
}

impl Begins {
    pub(crate) const ALL: [Begins; 3] =
        [Begins::TradingDay, Begins::DayBefore, Begins::TradingDayBefore];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Begins::TradingDay => "trading_day",
            Begins::DayBefore => "day_before",
            Begins::TradingDayBefore => "trading_day_before",
        }
    }
}

/// Phases in a row.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) begins: Begins,
    /// Whether a session of an earlier date is held although a holiday lies between.
    pub(crate) on_holiday_eve: bool,
    /// At least one; their times ascend.
    pub(crate) phases: Vec<ScheduledPhase>,
    /// After the begin of the last phase.
    pub(crate) end: LocalTime,
    /// Where the file has the begin of the first phase.
    pub(crate) begin_place: Place,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ScheduledPhase {
    pub(crate) phase: Phase,
    pub(crate) at: LocalTime,
    pub(crate) call: Option<ScheduledCall>,
}

/// The times of a call: from its begin to that of the next phase, in the order of the fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScheduledCall {
    pub(crate) no_cancel_from: Option<LocalTime>,
    pub(crate) earliest_end: LocalTime,
    pub(crate) latest_end: LocalTime,
}

impl Session {
    pub(crate) fn begin(&self) -> LocalTime {
        self.phases.first().map_or(self.end, |phase| phase.at)
    }

    /// Whether a holiday can make the day do without it.
    pub(crate) fn can_be_left_out(&self) -> bool {
        self.begins != Begins::TradingDay && !self.on_holiday_eve
    }

    /// Begin and end in seconds since the midnight at which the trading day's date begins, if the
    /// date before is a trading day too. No dates bring a session closer to its day.
    pub(crate) fn span_s(&self) -> (i64, i64) {
        let base = match self.begins {
            Begins::TradingDay => 0,
            Begins::DayBefore | Begins::TradingDayBefore => -i64::from(DAY_S),
        };
        (base + i64::from(self.begin().0), base + i64::from(self.end.0))
    }
}

/// A session that is held, with the date on which it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held<'c> {
    pub(crate) session: &'c Session,
    pub(crate) begins_on: Date,
}
