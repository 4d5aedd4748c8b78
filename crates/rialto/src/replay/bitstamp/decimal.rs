//! Decimal text as Python writes it: `78318.0`, `0.075`, `1e-08`.

use crate::replay::error::InputError;
use crate::replay::rows::Row;
use rialto_model::{Price, Quantity, Scale};
use std::borrow::Cow;

/// The places of prices: US dollars and cents.
pub(super) const PRICE_SCALE: Scale = scale(2);
/// The places of quantities: the hundred-millionth part of a bitcoin.
pub(super) const QUANTITY_SCALE: Scale = scale(8);

const fn scale(places: u8) -> Scale {
    match Scale::new(places) {
        Some(scale) => scale,
        None => panic!("a constant of at most 18"),
    }
}

pub(super) fn price(row: Row<'_>, field: usize) -> Result<Price, InputError> {
    let text = row.text(field);
    Price::parse(&plain(text), PRICE_SCALE)
        .map_err(|error| row.error(field, format!("{text:?} {error}")))
}

pub(super) fn quantity(row: Row<'_>, field: usize) -> Result<Quantity, InputError> {
    let text = row.text(field);
    Quantity::parse(&plain(text), QUANTITY_SCALE)
        .map_err(|error| row.error(field, format!("{text:?} {error}")))
}

/// The same number without an exponent; other text is returned unchanged.
fn plain(text: &str) -> Cow<'_, str> {
    without_exponent(text).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn without_exponent(text: &str) -> Option<String> {
    let (mantissa, exponent) = text.split_once(['e', 'E'])?;
    let exponent: i32 = exponent.parse().ok().filter(|exponent| (-30..=30).contains(exponent))?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if whole.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let point = i32::try_from(whole.len()).ok()? + exponent;
    let len = i32::try_from(digits.len()).ok()?;
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    Some(if point <= 0 {
        format!("0.{}{digits}", zeros(-point))
    } else if point >= len {
        format!("{digits}{}", zeros(point - len))
    } else {
        let (whole, fraction) = digits.split_at(usize::try_from(point).ok()?);
        format!("{whole}.{fraction}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_read_exactly() {
        let read = |text| Quantity::parse(&plain(text), QUANTITY_SCALE);
        assert_eq!(read("1e-08"), Ok(Quantity(1)));
        assert_eq!(read("1.25e-06"), Ok(Quantity(125)));
        assert_eq!(read("1.5e1"), Ok(Quantity(1_500_000_000)));
        assert_eq!(read("12.5e+00"), Ok(Quantity(1_250_000_000)));
        assert_eq!(read("0.075"), Ok(Quantity(7_500_000)));
    }

    #[test]
    fn an_invalid_number_is_an_error() {
        for text in ["e5", ".5e1", "1e", "1e99", "--1e1", "nan", "1e-09", ""] {
            assert!(Quantity::parse(&plain(text), QUANTITY_SCALE).is_err(), "{text:?}");
        }
    }
}
