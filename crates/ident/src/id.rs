//! The id itself.

use crate::error::IdTextError;
use crate::text::{self, Base32};
use std::fmt;
use std::str::FromStr;

/// An id: 63 bits, so that it fits into the signed integers of databases and other languages.
///
/// Ids compare as they were made: by time first, then by place, then by sequence. Its text is
/// decimal; [`Id::base32`] is shorter and sorts as the id does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(u64);

impl Id {
    /// The greatest id there can be.
    pub const MAX: Id = Id(u64::MAX >> 1);

    /// The id of this number, unless it has more than 63 bits.
    #[must_use]
    pub const fn new(number: u64) -> Option<Id> {
        if number <= Id::MAX.0 { Some(Id(number)) } else { None }
    }

    /// Parts that were checked against a layout make no more than 63 bits.
    pub(crate) const fn of_parts(number: u64) -> Id {
        debug_assert!(number <= Id::MAX.0);
        Id(number)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number as a signed integer; it is never negative.
    #[must_use]
    pub const fn get_signed(self) -> i64 {
        self.0 as i64
    }

    /// Its 13 characters in Crockford's base32, which sort as the ids do.
    #[must_use]
    pub fn base32(self) -> Base32 {
        Base32::of(self.0)
    }

    /// Reads what [`Id::base32`] wrote; small letters are as good as capital ones. The characters
    /// I, L, O and U are refused rather than guessed at.
    ///
    /// # Errors
    /// The text is not an id in this form.
    pub fn from_base32(text: &str) -> Result<Id, IdTextError> {
        Id::new(text::from_base32(text)?).ok_or(IdTextError::TooLarge)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for Id {
    type Err = IdTextError;

    /// Reads decimal digits, without sign, blanks or leading zeros: one id has one text.
    fn from_str(text: &str) -> Result<Id, IdTextError> {
        Id::new(text::from_decimal(text)?).ok_or(IdTextError::TooLarge)
    }
}
