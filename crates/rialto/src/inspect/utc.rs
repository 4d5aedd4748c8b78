//! Times as people write them: RFC 3339 in UTC, to the nanosecond.

use rialto_model::Timestamp;

const SECONDS_A_DAY: u64 = 86_400;

/// Reads `2026-05-02T02:36:23.201Z`, or nanoseconds since 1970 as an integer.
pub(crate) fn parse(text: &str) -> Result<Timestamp, String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().map_err(|_| format!("{text} ns is out of range"));
    }
    rfc3339(text).ok_or_else(|| {
        format!(
            "{text:?} is neither a time such as 2026-05-02T02:36:23.201Z (always UTC) nor \
             nanoseconds since 1970"
        )
    })
}

fn rfc3339(text: &str) -> Option<Timestamp> {
    let text = text.strip_suffix(['Z', 'z'])?;
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    let is_sound = (1970..=2500).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_in(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    let digits = fraction.bytes().all(|byte| byte.is_ascii_digit());
    if !is_sound || !digits || fraction.is_empty() || fraction.len() > 9 {
        return None;
    }
    let nanos: u64 = format!("{fraction:0<9}").parse().ok()?;
    let years: u64 = (1970..year).map(|year| 365 + u64::from(is_leap(year))).sum();
    let months: u64 = (1..month).map(|month| days_in(year, month)).sum();
    let seconds = (years + months + day - 1) * SECONDS_A_DAY + hour * 3_600 + minute * 60 + second;
    seconds.checked_mul(Timestamp::SECOND)?.checked_add(nanos).map(Timestamp)
}

/// A time as [`parse`] reads it.
pub(crate) fn show(time: Timestamp) -> String {
    let (mut days, seconds) = (time.0 / Timestamp::DAY, time.0 / Timestamp::SECOND % SECONDS_A_DAY);
    let (mut year, mut month) = (1970, 1);
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    while days >= days_in(year, month) {
        days -= days_in(year, month);
        month += 1;
    }
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let nanos = time.0 % Timestamp::SECOND;
    format!("{year}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z", days + 1)
}

/// Three numbers of exactly these lengths.
fn numbers(text: &str, separator: char, lengths: [usize; 3]) -> Option<[u64; 3]> {
    let mut numbers = [0; 3];
    let mut parts = text.split(separator);
    for (number, length) in numbers.iter_mut().zip(lengths) {
        let part = parts.next()?;
        if part.len() != length || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400)
}

fn days_in(year: u64, month: u64) -> u64 {
    match month {
        2 => 28 + u64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times_go_both_ways() {
        for (text, ns) in [
            ("1970-01-01T00:00:00.000000000Z", 0),
            ("2000-02-29T23:59:59.000000001Z", 951_868_799_000_000_001),
            ("2026-05-02T02:36:23.201000000Z", 1_777_689_383_201_000_000),
            ("2100-03-01T00:00:00.000000000Z", 4_107_542_400_000_000_000),
        ] {
            assert_eq!(parse(text), Ok(Timestamp(ns)));
            assert_eq!(show(Timestamp(ns)), text);
        }
        assert_eq!(parse("2026-05-02T02:36:23Z"), Ok(Timestamp(1_777_689_383_000_000_000)));
        assert_eq!(parse("17"), Ok(Timestamp(17)));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "yesterday",
            "2026-05-02",
            "2026-05-02T02:36:23",
            "2026-05-02T02:36:23+02:00",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-05-02T24:00:00Z",
            "2026-05-02T02:36:23.Z",
            "2026-05-02T02:36:23.0000000001Z",
            "99999999999999999999",
            "-1",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
