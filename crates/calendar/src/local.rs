//! Local times and dates as text.

use jiff::civil::{Date, DateTime};
use std::fmt;

/// Seconds of a local day without a change of the clocks.
pub(crate) const DAY_S: u32 = 86_400;

/// Local seconds since the midnight at which a session's date begins. Those of the following date
/// are from [`DAY_S`] on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LocalTime(pub(crate) u32);

impl LocalTime {
    /// The end of a date.
    pub(crate) const MIDNIGHT: LocalTime = LocalTime(DAY_S);

    /// Reads `HH:MM` or `HH:MM:SS`. `24:00` is the end of the date.
    pub(crate) fn parse(text: &str) -> Option<LocalTime> {
        let mut parts = text.split(':');
        let mut part = |max: u32| {
            let digits = parts.next()?;
            let is_pair = digits.len() == 2 && digits.bytes().all(|it| it.is_ascii_digit());
            is_pair.then(|| digits.parse().ok()).flatten().filter(|it| *it <= max)
        };
        let (hour, minute) = (part(24)?, part(59)?);
        let second = if text.len() > 5 { part(59)? } else { 0 };
        let time = LocalTime((hour * 60 + minute) * 60 + second);
        (parts.next().is_none() && time <= Self::MIDNIGHT).then_some(time)
    }

    /// The same time of day on the following date.
    pub(crate) const fn on_the_next_date(self) -> LocalTime {
        LocalTime(self.0 + DAY_S)
    }

    /// The date and time on the clock, for a session that begins on `date`. `None` at the end of
    /// what dates can express.
    pub(crate) fn on(self, date: Date) -> Option<DateTime> {
        let mut date = date;
        for _ in 0..self.0 / DAY_S {
            date = date.tomorrow().ok()?;
        }
        let second = self.0 % DAY_S;
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        Some(date.at(hour as i8, minute as i8, second as i8, 0))
    }
}

impl fmt::Display for LocalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let second = if *self == Self::MIDNIGHT { DAY_S } else { self.0 % DAY_S };
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        match second {
            0 => write!(f, "{hour:02}:{minute:02}"),
            second => write!(f, "{hour:02}:{minute:02}:{second:02}"),
        }
    }
}

/// Reads a date of the form `2026-12-24`, from 1970 to 2499. Times are stored in nanoseconds since
/// 1970, which last until 2554.
#[must_use]
pub fn date(text: &str) -> Option<Date> {
    let is_form = text.len() == 10
        && text.bytes().enumerate().all(|(at, it)| match at {
            4 | 7 => it == b'-',
            _ => it.is_ascii_digit(),
        });
    let date: Date = is_form.then(|| text.parse().ok()).flatten()?;
    (1970..=2499).contains(&date.year()).then_some(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_printed() {
        for (text, second) in
            [("00:00", 0), ("08:50", 31_800), ("23:59:59", 86_399), ("24:00", 86_400)]
        {
            assert_eq!(LocalTime::parse(text), Some(LocalTime(second)));
            assert_eq!(LocalTime(second).to_string(), text);
        }
        assert_eq!(LocalTime::parse("09:00:00"), Some(LocalTime(32_400)));
        let wrong = [
            "",
            "9:00",
            "09:0",
            "09:60",
            "24:01",
            "25:00",
            "09:00:60",
            "09:00:00.5",
            "09:00:",
            "+9:00",
            "09-00",
            "09:00:00:00",
            "09:00Z",
            "24:00:01",
            "٠٩:00",
        ];
        for text in wrong {
            assert_eq!(LocalTime::parse(text), None, "{text}");
        }
    }

    #[test]
    fn dates_are_read_in_one_form() {
        assert_eq!(date("2028-02-29"), Some(jiff::civil::date(2028, 2, 29)));
        let wrong = [
            "2027-02-29",
            "2026-13-01",
            "2026-1-1",
            "1969-12-31",
            "2500-01-01",
            "20260101",
            "2026-01-01T",
            "2026/01/01",
            "-026-01-01",
        ];
        for text in wrong {
            assert_eq!(date(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_after_midnight_is_on_the_next_date() {
        let leap_day = jiff::civil::date(2028, 2, 29);
        let half_past_two = LocalTime(9_000).on_the_next_date();
        assert_eq!(half_past_two.on(leap_day), Some(jiff::civil::date(2028, 3, 1).at(2, 30, 0, 0)));
        assert_eq!(half_past_two.to_string(), "02:30");
        assert_eq!(LocalTime(0).on_the_next_date().on(Date::MAX), None);
    }
}
