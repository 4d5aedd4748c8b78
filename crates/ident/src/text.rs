//! Decimal and sortable base32.

use crate::error::IdTextError;
use std::fmt;

/// Crockford's digits in ascending order of their ASCII codes, so that texts sort as numbers.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// 13 digits of 5 bits hold 65.
const LENGTH: usize = 13;

/// The base32 text of an id, on the stack.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Base32([u8; LENGTH]);

impl Base32 {
    pub(crate) fn of(number: u64) -> Base32 {
        let mut rest = number;
        let mut text = [b'0'; LENGTH];
        for place in text.iter_mut().rev() {
            *place = DIGITS[(rest % 32) as usize];
            rest /= 32;
        }
        Base32(text)
    }

    /// The 13 characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("all digits are ASCII")
    }
}

impl fmt::Display for Base32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Base32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

pub(crate) fn from_base32(text: &str) -> Result<u64, IdTextError> {
    let found = text.chars().count();
    if found != LENGTH {
        return Err(IdTextError::Length { found });
    }
    let mut number = 0_u64;
    for (place, found) in text.chars().enumerate() {
        let capital = found.to_ascii_uppercase();
        let digit = DIGITS
            .iter()
            .position(|&digit| char::from(digit) == capital)
            .ok_or(IdTextError::Character { found, at: place + 1 })?;
        number = number.checked_mul(32).ok_or(IdTextError::TooLarge)? + digit as u64;
    }
    Ok(number)
}

pub(crate) fn from_decimal(text: &str) -> Result<u64, IdTextError> {
    for (place, found) in text.chars().enumerate() {
        if !found.is_ascii_digit() {
            return Err(IdTextError::Character { found, at: place + 1 });
        }
    }
    if text.is_empty() || (text.len() > 1 && text.starts_with('0')) {
        return Err(IdTextError::NotCanonical);
    }
    // Only digits are left, so that nothing but their number can be wrong.
    text.parse().map_err(|_| IdTextError::TooLarge)
}

#[cfg(test)]
mod tests {
    use crate::{Id, IdTextError};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_forms_parse_back_and_base32_sorts(a in 0..=Id::MAX.get(), b in 0..=Id::MAX.get()) {
            let (a, b) = (Id::new(a).unwrap(), Id::new(b).unwrap());
            prop_assert_eq!(a.to_string().parse(), Ok(a));
            prop_assert_eq!(Id::from_base32(a.base32().as_str()), Ok(a));
            prop_assert_eq!(Id::from_base32(&a.base32().to_string().to_lowercase()), Ok(a));
            prop_assert_eq!(a.base32().to_string().cmp(&b.base32().to_string()), a.cmp(&b));
        }

        #[test]
        fn no_text_panics_and_what_parses_is_canonical(text in "[0-9a-zA-Z+ é-]{0,22}") {
            if let Ok(id) = text.parse::<Id>() {
                prop_assert_eq!(id.to_string(), text.clone());
            }
            if let Ok(id) = Id::from_base32(&text) {
                prop_assert_eq!(id.base32().to_string(), text.to_uppercase());
            }
        }
    }

    #[test]
    fn bad_texts_are_refused_with_the_reason() {
        let decimal = |text: &str| text.parse::<Id>().unwrap_err();
        assert_eq!(decimal(""), IdTextError::NotCanonical);
        assert_eq!(decimal("007"), IdTextError::NotCanonical);
        assert_eq!(decimal("-7"), IdTextError::Character { found: '-', at: 1 });
        assert_eq!(decimal("7 "), IdTextError::Character { found: ' ', at: 2 });
        assert_eq!(decimal("9223372036854775808"), IdTextError::TooLarge);
        assert_eq!(decimal("99999999999999999999999"), IdTextError::TooLarge);
        let base32 = |text: &str| Id::from_base32(text).unwrap_err();
        assert_eq!(base32("7ZZZZ"), IdTextError::Length { found: 5 });
        assert_eq!(base32("0000000000O00"), IdTextError::Character { found: 'O', at: 11 });
        assert_eq!(base32("8000000000000"), IdTextError::TooLarge);
        assert_eq!(base32("ZZZZZZZZZZZZZ"), IdTextError::TooLarge);
    }

    #[test]
    fn the_greatest_id_has_the_greatest_texts() {
        assert_eq!(Id::MAX.to_string(), "9223372036854775807");
        assert_eq!(Id::MAX.base32().to_string(), "7ZZZZZZZZZZZZ");
        assert_eq!(Id::from_base32("7zzzzzzzzzzzz"), Ok(Id::MAX));
    }
}
