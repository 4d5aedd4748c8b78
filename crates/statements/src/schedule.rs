//! The time of the day at which statements are made.

use rialto_model::Timestamp;
use std::fmt;
use std::str::FromStr;

/// A time of the day in UTC, to the minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DayTime {
    minutes: u16,
}

/// A text that is no time of the day.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no time of the day; use one from 00:00 to 23:59, in UTC")]
pub struct InvalidDayTime(String);

impl DayTime {
    /// The last time at or before `now` that this time of the day came.
    #[must_use]
    pub fn last_before(self, now: Timestamp) -> Timestamp {
        let of_day = u64::from(self.minutes) * 60 * Timestamp::SECOND;
        let today = now.0 - now.0 % Timestamp::DAY + of_day;
        match today <= now.0 {
            true => Timestamp(today),
            false => Timestamp(today.saturating_sub(Timestamp::DAY)),
        }
    }
}

impl Default for DayTime {
    /// Five past midnight.
    fn default() -> DayTime {
        DayTime { minutes: 5 }
    }
}

impl FromStr for DayTime {
    type Err = InvalidDayTime;

    fn from_str(text: &str) -> Result<DayTime, InvalidDayTime> {
        let invalid = || InvalidDayTime(text.to_owned());
        let (hours, minutes) = text.split_once(':').ok_or_else(invalid)?;
        let two_digits = |part: &str, limit: u16| {
            let sound = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
            let number = sound.then(|| part.parse().ok()).flatten();
            number.filter(|number: &u16| *number < limit).ok_or_else(invalid)
        };
        let minutes = two_digits(hours, 24)? * 60 + two_digits(minutes, 60)?;
        Ok(DayTime { minutes })
    }
}

impl fmt::Display for DayTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.minutes / 60, self.minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_the_day_has_two_digits_each() {
        for text in ["00:00", "00:05", "09:30", "23:59"] {
            assert_eq!(text.parse::<DayTime>().unwrap().to_string(), text);
        }
        for text in
            ["", "5", "0:05", "00:5", "24:00", "12:60", "-1:00", "+1:00", "12:00:00", "ab:cd"]
        {
            assert!(text.parse::<DayTime>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn before_its_time_the_last_one_was_yesterday() {
        let at: DayTime = "00:05".parse().unwrap();
        let (day, minute) = (Timestamp::DAY, 60 * Timestamp::SECOND);
        let last = |now| at.last_before(Timestamp(now)).0;
        assert_eq!(last(20_000 * day + 5 * minute), 20_000 * day + 5 * minute);
        assert_eq!(last(20_000 * day + 5 * minute - 1), 19_999 * day + 5 * minute);
        assert_eq!(last(20_000 * day + 23 * 60 * minute), 20_000 * day + 5 * minute);
    }
}
