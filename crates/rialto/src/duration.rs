//! Durations as people write them.

use std::time::Duration;

/// Parses `250ms`, `5s`, `10m`, `2h` or `7d` of the command line.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let millis = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => 0,
    };
    let number: Option<u64> = number.parse().ok();
    match number.and_then(|number| number.checked_mul(millis)) {
        Some(total) if millis > 0 => Ok(Duration::from_millis(total)),
        _ => Err(format!("{text:?} is not a duration; write 250ms, 5s, 10m, 2h or 7d")),
    }
}

/// Writes a duration so that [`parse`] reads it, to a millisecond.
pub(crate) fn show(duration: Duration) -> String {
    let millis = duration.as_millis();
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms")];
    let fits = |(unit, _): &&(u128, &str)| millis >= *unit && millis.is_multiple_of(*unit);
    match units.iter().find(fits) {
        Some((unit, name)) => format!("{}{name}", millis / unit),
        None => "0s".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_data_is_read_back() {
        for text in ["250ms", "5s", "10m", "2h", "7d", "0s", "90s"] {
            assert_eq!(show(parse(text).expect("it is a duration")), text);
        }
        for bad in ["", "5", "s", "-5s", "5 s", "5y", "99999999999999999999s", "9999999999999999d"]
        {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
