//! What is wrong with an order file.

use std::fmt;

/// The most errors of a file that are listed; all of them are counted.
pub const FAULTS_LISTED_MAX: usize = 100;

/// The most characters of a wrong field that an error repeats.
const SHOWN_CHARS: usize = 40;

/// An error in an order file, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFault {
    /// The line, from 1; 0 if the error is about the file as a whole.
    pub line: u64,
    /// The position of the field in its line, from 1; 0 if the error is about the line.
    pub column: usize,
    /// The name of the column, as the first line has it; empty without one.
    pub name: String,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (0, _) => {}
            (line, 0) => write!(f, "line {line}: ")?,
            (line, column) if self.name.is_empty() => write!(f, "line {line}, column {column}: ")?,
            (line, column) => write!(f, "line {line}, column {column} ({}): ", self.name)?,
        }
        f.write_str(&self.message)
    }
}

/// The errors of a file: the first ones, and their number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFaults {
    listed: Vec<FileFault>,
    total: u64,
}

impl FileFaults {
    /// One error about the whole file.
    #[must_use]
    pub fn of_file(message: impl Into<String>) -> FileFaults {
        let mut faults = FileFaults::default();
        faults.add(FileFault { line: 0, column: 0, name: String::new(), message: message.into() });
        faults
    }

    pub(crate) fn add(&mut self, fault: FileFault) {
        self.total += 1;
        if self.listed.len() < FAULTS_LISTED_MAX {
            self.listed.push(fault);
        }
    }

    /// The first errors, at most [`FAULTS_LISTED_MAX`].
    #[must_use]
    pub fn listed(&self) -> &[FileFault] {
        &self.listed
    }

    /// The number of all errors.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }
}

impl fmt::Display for FileFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.listed.first() else { return f.write_str("no errors") };
        match self.total {
            1 => write!(f, "{first}"),
            total => write!(f, "{total} errors; {first}"),
        }
    }
}

/// The text of a field as an error repeats it.
pub(crate) fn shown(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN_CHARS).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown:?}{more}")
}
