//! Prices, quantities and amounts: integers at a decimal scale, never floating point.

use crate::text::from_text;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Number of decimal places behind an integer: a [`Price`] of 12345 at scale 2 is 123.45.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Scale(u8);

impl Scale {
    /// The largest scale: 18 decimal places.
    pub const MAX: Scale = Scale(18);

    /// A scale of `places` decimal places, if there is such a scale.
    #[must_use]
    pub const fn new(places: u8) -> Option<Scale> {
        if places <= Self::MAX.0 { Some(Scale(places)) } else { None }
    }

    /// The number of decimal places.
    #[must_use]
    pub const fn places(self) -> u8 {
        self.0
    }

    /// Ten to the power of the number of places.
    #[must_use]
    pub const fn factor(self) -> i64 {
        10_i64.pow(self.0 as u32)
    }
}

impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let places = u8::deserialize(deserializer)?;
        Scale::new(places).ok_or_else(|| serde::de::Error::custom("a scale is at most 18"))
    }
}

/// Why a text is not a number at a given scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    /// Not of the form `-?digits(.digits)?`.
    #[error("is not a decimal number: digits, with at most one point between digits")]
    Malformed,
    /// Has more decimal places than the scale holds.
    #[error("has {got} decimal places; at most {max} are allowed")]
    TooPrecise {
        /// Places given, trailing zeros left out.
        got: usize,
        /// Places allowed.
        max: u8,
    },
    /// Does not fit the integer behind the number.
    #[error("is out of range")]
    OutOfRange,
}

/// Reads a decimal text as an integer at `scale`, exactly or not at all.
///
/// Trailing zeros past the scale are accepted (`1.500` at scale 1); exponents, signs other than a
/// leading minus, spaces and separators are not. A text of more than 60 bytes is malformed.
pub fn parse_decimal(text: &str, scale: Scale) -> Result<i128, DecimalError> {
    if text.len() > 60 {
        return Err(DecimalError::Malformed);
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((_, "")) => return Err(DecimalError::Malformed),
        Some(parts) => parts,
        None => (digits, ""),
    };
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
        return Err(DecimalError::Malformed);
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > usize::from(scale.places()) {
        return Err(DecimalError::TooPrecise { got: fraction.len(), max: scale.places() });
    }
    let padding = usize::from(scale.places()) - fraction.len();
    // Almost every number has few enough digits that it fits 64 bits, where nothing overflows.
    if whole.len() + usize::from(scale.places()) <= 18 {
        let append = |value: i64, digit: u8| value * 10 + i64::from(digit - b'0');
        let written = fraction.bytes().fold(whole.bytes().fold(0, append), append);
        let value = (0..padding).fold(written, |value, _| value * 10);
        return Ok(i128::from(if negative { -value } else { value }));
    }
    let mut value: i128 = 0;
    let all = whole.bytes().chain(fraction.bytes()).chain(std::iter::repeat_n(b'0', padding));
    for digit in all {
        // The sign goes in here, because the least integer has no positive counterpart.
        let digit = i128::from(digit - b'0');
        value = value
            .checked_mul(10)
            .and_then(|value| value.checked_add(if negative { -digit } else { digit }))
            .ok_or(DecimalError::OutOfRange)?;
    }
    Ok(value)
}

/// An integer at a scale. It is printed as decimal text with exactly `scale` places.
///
/// Read from text, it has the scale of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decimal {
    /// The integer.
    pub value: i128,
    /// Its scale.
    pub scale: Scale,
}

/// The longest text of a [`Decimal`]: 39 digits, a point and a sign.
const DECIMAL_BYTES_MAX: usize = 41;

impl Decimal {
    /// The text, written into the end of `buffer`.
    fn write(self, buffer: &mut [u8; DECIMAL_BYTES_MAX]) -> &str {
        let mut at = buffer.len();
        let mut put = |digit: u8| {
            at -= 1;
            buffer[at] = digit;
        };
        let places = usize::from(self.scale.places());
        let mut rest = self.value.unsigned_abs();
        let mut written = 0;
        // Almost every number fits 64 bits, where a division costs a tenth.
        while rest > u128::from(u64::MAX) {
            put(b'0' + (rest % 10) as u8);
            rest /= 10;
            written += 1;
            if written == places {
                put(b'.');
            }
        }
        let mut rest = rest as u64;
        // Two digits at a time, because each division waits for the one before.
        if written < places {
            while written + 2 <= places {
                put(b'0' + (rest % 10) as u8);
                put(b'0' + (rest / 10 % 10) as u8);
                rest /= 100;
                written += 2;
            }
            if written < places {
                put(b'0' + (rest % 10) as u8);
                rest /= 10;
            }
            put(b'.');
        }
        while rest >= 100 {
            put(b'0' + (rest % 10) as u8);
            put(b'0' + (rest / 10 % 10) as u8);
            rest /= 100;
        }
        if rest >= 10 {
            put(b'0' + (rest % 10) as u8);
            rest /= 10;
        }
        put(b'0' + rest as u8);
        if self.value < 0 {
            put(b'-');
        }
        std::str::from_utf8(&buffer[at..]).expect("digits are ASCII")
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = [0; DECIMAL_BYTES_MAX];
        let text = self.write(&mut buffer);
        // Padding never cuts digits off, whatever the precision.
        f.pad_integral(self.value >= 0, "", text.trim_start_matches('-'))
    }
}

impl std::str::FromStr for Decimal {
    type Err = DecimalError;
    fn from_str(text: &str) -> Result<Self, DecimalError> {
        let places = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let scale = u8::try_from(places).ok().and_then(Scale::new);
        let scale = scale.ok_or(DecimalError::TooPrecise { got: places, max: Scale::MAX.0 })?;
        Ok(Decimal { value: parse_decimal(text, scale)?, scale })
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.write(&mut [0; DECIMAL_BYTES_MAX]))
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(deserializer)
    }
}

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($int:ty)) => {
        $(#[$doc])*
        ///
        /// In JSON it is a string that holds the integer.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub $int);

        impl $name {
            /// Zero.
            pub const ZERO: Self = Self(0);
            /// The largest value.
            pub const MAX: Self = Self(<$int>::MAX);

            /// Reads decimal text at `scale`, exactly or not at all.
            pub fn parse(text: &str, scale: Scale) -> Result<Self, DecimalError> {
                let value = parse_decimal(text, scale)?;
                <$int>::try_from(value).map(Self).map_err(|_| DecimalError::OutOfRange)
            }

            /// The value as decimal text at `scale`.
            #[must_use]
            pub fn decimal(self, scale: Scale) -> Decimal {
                Decimal { value: i128::from(self.0), scale }
            }

            /// The sum, unless it does not fit.
            #[must_use]
            #[inline]
            pub fn checked_add(self, other: Self) -> Option<Self> {
                self.0.checked_add(other.0).map(Self)
            }

            /// The difference, unless it does not fit.
            #[must_use]
            #[inline]
            pub fn checked_sub(self, other: Self) -> Option<Self> {
                self.0.checked_sub(other.0).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = std::num::ParseIntError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                from_text(deserializer)
            }
        }
    };
}

number! {
    /// Price of one unit of base currency in quote currency, an integer at the instrument's price scale.
    Price(i64)
}
number! {
    /// Quantity of base currency, an integer at the instrument's quantity scale.
    Quantity(i64)
}
number! {
    /// Amount of one currency in its smallest unit.
    Amount(i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(places: u8) -> Scale {
        Scale::new(places).expect("at most 18")
    }

    #[test]
    fn a_scale_has_at_most_18_places() {
        assert_eq!(Scale::new(18).map(Scale::factor), Some(1_000_000_000_000_000_000));
        assert_eq!(Scale::new(19), None);
        assert!(serde_json::from_str::<Scale>("18").is_ok());
        assert!(serde_json::from_str::<Scale>("19").is_err());
    }

    #[test]
    fn decimal_text_is_read_exactly() {
        let read = |text| parse_decimal(text, scale(2));
        assert_eq!(read("0"), Ok(0));
        assert_eq!(read("-0.00"), Ok(0));
        assert_eq!(read("1.5"), Ok(150));
        assert_eq!(read("-1.05"), Ok(-105));
        assert_eq!(read("007.10"), Ok(710));
        assert_eq!(read("1.23000"), Ok(123));
    }

    #[test]
    fn more_places_than_the_scale_holds_are_refused_not_rounded() {
        assert_eq!(
            parse_decimal("1.2340", scale(2)),
            Err(DecimalError::TooPrecise { got: 3, max: 2 })
        );
        assert_eq!(
            parse_decimal("0.1", scale(0)),
            Err(DecimalError::TooPrecise { got: 1, max: 0 })
        );
    }

    #[test]
    fn text_that_is_not_a_decimal_is_malformed() {
        let texts = [
            "", "-", ".", "-.", "1.", ".5", "-.5", "+1", "--1", "1-", "1e3", "1,000", "1 ", " 1",
            "1.2.3", "0x10", "NaN", "inf", "１", "1_000", "1.-5", "\u{0}",
        ];
        for text in texts {
            assert_eq!(parse_decimal(text, scale(2)), Err(DecimalError::Malformed), "{text:?}");
        }
        let long = "0".repeat(61);
        assert_eq!(parse_decimal(&long[..60], scale(2)), Ok(0));
        assert_eq!(parse_decimal(&long, scale(2)), Err(DecimalError::Malformed));
    }

    #[test]
    fn the_limits_of_the_integers_can_be_read_and_nothing_beyond() {
        let none = scale(0);
        assert_eq!(parse_decimal(&i128::MAX.to_string(), none), Ok(i128::MAX));
        assert_eq!(parse_decimal(&i128::MIN.to_string(), none), Ok(i128::MIN));
        let beyond = "170141183460469231731687303715884105728";
        assert_eq!(parse_decimal(beyond, none), Err(DecimalError::OutOfRange));
        let below = "-170141183460469231731687303715884105729";
        assert_eq!(parse_decimal(below, none), Err(DecimalError::OutOfRange));

        assert_eq!(Price::parse("9223372036854775807", none), Ok(Price::MAX));
        assert_eq!(Price::parse("-9223372036854775808", none), Ok(Price(i64::MIN)));
        assert_eq!(Price::parse("9223372036854775808", none), Err(DecimalError::OutOfRange));
        assert_eq!(Price::parse("9.223372036854775807", scale(18)), Ok(Price::MAX));
        assert_eq!(Price::parse("9.223372036854775808", scale(18)), Err(DecimalError::OutOfRange));
    }

    #[test]
    fn a_decimal_shows_all_its_places_and_obeys_width_but_not_precision() {
        let shown = |value, places| Price(value).decimal(scale(places));
        assert_eq!(shown(5, 2).to_string(), "0.05");
        assert_eq!(shown(-5, 2).to_string(), "-0.05");
        assert_eq!(shown(500, 0).to_string(), "500");
        assert_eq!(format!("{:>8}", shown(-12_345, 2)), " -123.45");
        assert_eq!(format!("{:.1}", shown(12_345, 2)), "123.45");
    }

    #[test]
    fn sums_and_differences_that_do_not_fit_are_none() {
        assert_eq!(Price(1).checked_add(Price(2)), Some(Price(3)));
        assert_eq!(Price::MAX.checked_add(Price(1)), None);
        assert_eq!(Quantity(i64::MIN).checked_sub(Quantity(1)), None);
        assert_eq!(Amount::MAX.checked_add(Amount(1)), None);
    }
}
