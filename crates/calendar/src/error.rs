//! What is wrong with a calendar.

use std::fmt;

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Place {
    /// The position of the byte at `offset` of `text`.
    pub(crate) fn of(text: &str, offset: usize) -> Place {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
        Place { line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The reason why a calendar is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CalendarError {
    /// Something in the file is wrong.
    #[error("{place}: {message}")]
    Fault {
        /// Where it is.
        place: Place,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// More days were asked for than one expansion covers.
    #[error("{days} days are more than one expansion covers; ask for at most {}", crate::DAYS_MAX)]
    Days {
        /// The number of days.
        days: u32,
    },
}
