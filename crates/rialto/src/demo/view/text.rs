//! Numbers and times as people read them.

use rialto_model::{Decimal, Timestamp};

/// A number with a comma before every three digits of its whole part.
pub(crate) fn grouped(number: impl ToString) -> String {
    let text = number.to_string();
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
    let (whole, fraction) = digits.find('.').map_or((digits, ""), |at| digits.split_at(at));
    let mut shown = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown.push_str(fraction);
    shown
}

/// A large amount, rounded to hundredths.
pub(crate) fn short(amount: Decimal) -> String {
    let whole = amount.value / i128::from(amount.scale.factor());
    match whole.unsigned_abs() {
        0..10_000 => {
            let text = amount.to_string();
            let end = text.find('.').map_or(text.len(), |at| (at + 3).min(text.len()));
            grouped(&text[..end])
        }
        10_000..10_000_000 => grouped(whole),
        10_000_000..10_000_000_000 => format!("{}M", grouped(whole / 1_000_000)),
        _ => format!("{}B", grouped(whole / 1_000_000_000)),
    }
}

/// A length of time that is mostly well below a second.
pub(crate) fn latency(nanoseconds: u64) -> String {
    match nanoseconds {
        0 => "-".to_string(),
        1..1_000_000 => format!("{} µs", nanoseconds / 1_000),
        1_000_000..10_000_000 => {
            format!("{}.{:02} ms", nanoseconds / 1_000_000, nanoseconds / 10_000 % 100)
        }
        _ => format!("{} ms", nanoseconds / 1_000_000),
    }
}

/// A number of bytes, in megabytes or gigabytes.
pub(crate) fn megabytes(bytes: u64) -> String {
    match bytes / 1_000_000 {
        megabytes @ 0..10_000 => format!("{megabytes} MB"),
        megabytes => format!("{}.{} GB", megabytes / 1_000, megabytes / 100 % 10),
    }
}

/// The time of day in UTC.
pub(crate) fn time_of_day(time: Timestamp) -> String {
    let second = time.0 / Timestamp::SECOND % 86_400;
    format!("{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_model::{Amount, Scale};

    #[test]
    fn numbers_are_grouped_by_three() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(-1_000), "-1,000");
        assert_eq!(grouped("1234567.891"), "1,234,567.891");
    }

    #[test]
    fn large_amounts_are_short() {
        let shown = |value| short(Amount(value).decimal(Scale::new(3).unwrap()));
        assert_eq!(shown(1_234_567), "1,234.56");
        assert_eq!(shown(12_345_678), "12,345");
        assert_eq!(shown(12_345_678_000), "12M");
        assert_eq!(shown(12_345_678_000_000), "12B");
        assert_eq!(shown(5), "0.00");
    }

    #[test]
    fn latencies_have_a_unit_that_fits() {
        let shown = [0, 950, 123_456, 1_234_567, 12_345_678].map(latency);
        assert_eq!(shown, ["-", "0 µs", "123 µs", "1.23 ms", "12 ms"]);
    }

    #[test]
    fn bytes_are_counted_in_what_fits() {
        let shown = [1, 9_999_999_999, 12_345_678_901].map(megabytes);
        assert_eq!(shown, ["0 MB", "9999 MB", "12.3 GB"]);
    }

    #[test]
    fn the_day_begins_at_midnight_utc() {
        assert_eq!(time_of_day(Timestamp(Timestamp::DAY * 3)), "00:00:00");
        assert_eq!(time_of_day(Timestamp(Timestamp::DAY - 1)), "23:59:59");
    }
}
