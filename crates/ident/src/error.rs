//! What can go wrong when an id is made or read.

use crate::layout::LayoutError;

/// Why there is no id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// The clock stands before the epoch of the layout.
    #[error(
        "the clock stands at {now_ms} ms since 1970, before the epoch of the ids at {epoch_ms} ms: \
         set the clock, or choose an earlier epoch"
    )]
    BeforeEpoch {
        /// What the clock says, in milliseconds since 1970.
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
        /// How far ahead of the clock the next id would be.
        ahead_ms: u64,
    },
    /// More ids were asked for than the layout has for the time that has passed.
    #[error(
        "the ids of this millisecond are used up: the next ones would be {ahead_ms} ms ahead of \
         the clock, which is more than the policy allows"
    )]
    Exhausted {
        /// How far ahead of the clock the last id asked for would be.
        ahead_ms: u64,
    },
    /// The generator was set up with a part that does not fit into the layout.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// Why a text is not an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdTextError {
    /// It has another length than the form.
    #[error("an id in base32 has 13 characters, this text has {found}")]
    Length {
        /// How many characters it has.
        found: usize,
    },
    /// It has a character that the form does not know.
    #[error("{found:?} at character {at} does not belong into an id")]
    Character {
        /// The character.
        found: char,
        /// Which it is, counted from 1.
        at: usize,
    },
    /// It is empty, or has a leading zero, so that two texts would be one id.
    #[error("an id in decimal is 0 or starts with a digit from 1 to 9")]
    NotCanonical,
    /// It is greater than any id.
    #[error("the text stands for more than the 63 bits of an id")]
    TooLarge,
}
