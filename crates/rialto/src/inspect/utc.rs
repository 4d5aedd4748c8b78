//! Times as people write them: RFC 3339 in UTC, to the nanosecond.

use rialto_model::Timestamp;

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
    text.strip_suffix(['Z', 'z'])?;
    let time: jiff::Timestamp = text.parse().ok()?;
    let time = Timestamp(u64::try_from(time.as_nanosecond()).ok()?);
    // The parser also takes shorter forms of ISO 8601, a comma and second 60.
    let same = |(shown, given)| shown == given || shown == b'T';
    let is_whole = show(time).bytes().zip(text.bytes()).take(19).all(same);
    (is_whole && !text.contains(',')).then_some(time)
}

/// A time as [`parse`] reads it.
pub(crate) fn show(time: Timestamp) -> String {
    let time = jiff::Timestamp::from_nanosecond(time.0.into());
    let time = time.expect("64 bits of nanoseconds end in the year 2554, long before jiff's 9999");
    format!("{time:.9}")
}

/// The same without a fraction of a second that is zero.
pub(crate) fn brief(time: Timestamp) -> String {
    show(time).replace(".000000000", "")
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
            ("2554-07-21T23:34:33.709551615Z", u64::MAX),
        ] {
            assert_eq!(parse(text), Ok(Timestamp(ns)));
            assert_eq!(show(Timestamp(ns)), text);
        }
        assert_eq!(parse("2026-05-02T02:36:23Z"), Ok(Timestamp(1_777_689_383_000_000_000)));
        assert_eq!(parse("2026-05-02 02:36:23z"), Ok(Timestamp(1_777_689_383_000_000_000)));
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
            "2026-05-02T02:36:60Z",
            "2026-05-02T02:36Z",
            "2026-05-02T02Z",
            "2026-05-02Z",
            "20260502T023623Z",
            "+002026-05-02T02:36:23Z",
            "2026-05-02T02:36:23,5Z",
            "2026-05-02T02:36:23 Z",
            "1969-12-31T23:59:59Z",
            "2554-07-22T00:00:00Z",
            "2026-05-02T02:36:23.Z",
            "2026-05-02T02:36:23.0000000001Z",
            "99999999999999999999",
            "-1",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
