//! Errors of making and reading ids.

use crate::layout::LayoutError;

/// The error of making an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// The clock stands before the epoch of the layout.
    #[error(
        "the clock shows {now_ms} ms since 1970, before the epoch of the ids at {epoch_ms} ms: \
         set the clock, or choose an earlier epoch"
    )]
    BeforeEpoch {
        /// The time of the clock, in milliseconds since 1970.
        now_ms: u64,
        /// The epoch, in milliseconds since 1970.
        epoch_ms: u64,
    },
    /// The time bits of the layout are used up.
    #[error(
        "the layout has no ids for times after {last_ms} ms since 1970: choose a layout with more \
         time bits, or a later epoch"
    )]
    AfterLastTime {
        /// The last millisecond since 1970 that the layout can express.
        last_ms: u64,
    },
    /// The clock stepped back by more than the policy allows to wait for or to borrow.
    #[error(
        "the clock stepped back: the next id would be {ahead_ms} ms ahead of it, which is more \
         than the policy allows; ids go on when the clock has caught up"
    )]
    SteppedBack {
        /// The lead of the next id over the clock.
        ahead_ms: u64,
    },
    /// More ids were requested than the layout has for the time that has passed.
    #[error(
        "the ids of this millisecond are used up: the next ones would be {ahead_ms} ms ahead of \
         the clock, which is more than the policy allows"
    )]
    Exhausted {
        /// The lead of the last requested id over the clock.
        ahead_ms: u64,
    },
    /// The generator was set up with a part that does not fit into the layout.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// The error of reading an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdTextError {
    /// It has another length than the form.
    #[error("an id in base32 has 13 characters, this text has {found}")]
    Length {
        /// The number of characters.
        found: usize,
    },
    /// It has a character that is not a digit of the form.
    #[error("{found:?} at character {at} is not a character of an id")]
    Character {
        /// The character.
        found: char,
        /// Its position, from 1.
        at: usize,
    },
    /// It is empty, or has a leading zero, so that two texts would be one id.
    #[error("an id in decimal is 0 or starts with a digit from 1 to 9")]
    NotCanonical,
    /// It is greater than any id.
    #[error("the text stands for more than the 63 bits of an id")]
    TooLarge,
}
