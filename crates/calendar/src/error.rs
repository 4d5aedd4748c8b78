//! What is wrong with a calendar.

/// A position in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// From 1.
    pub(crate) line: usize,
    /// In characters, from 1.
    pub(crate) column: usize,
}

impl Place {
    /// The position of the byte at `offset` of `text`.
    pub(crate) fn of(text: &str, offset: usize) -> Place {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
        Place { line, column }
    }

    pub(crate) fn fault(self, message: impl Into<String>) -> CalendarError {
        CalendarError::Fault { line: self.line, column: self.column, message: message.into() }
    }
}

/// The reason why a calendar is refused, or an expansion of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CalendarError {
    /// Something in the file is wrong.
    #[error("{line}:{column}: {message}")]
    Fault {
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
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
