//! Files of trading calendars.

use crate::config::ConfigError;
use rialto_calendar::{Calendar, CalendarError, FILE_BYTES_MAX};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A calendar, and what tells its file from another version of it.
#[derive(Clone, Debug)]
pub(crate) struct CalendarFile {
    /// The calendar.
    pub(crate) calendar: Calendar,
    /// The first eight bytes of the BLAKE3 hash of the file.
    pub(crate) digest: u64,
}

/// Reads a file, but not more of it than a calendar may have.
pub(crate) fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = FILE_BYTES_MAX as u64 + 1;
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the content of the file at `path`.
pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<CalendarFile, ConfigError> {
    let calendar = Calendar::from_bytes(bytes).map_err(|error| refused(path, &error))?;
    let hash = *blake3::hash(bytes).as_bytes();
    let digest = hash.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    Ok(CalendarFile { calendar, digest })
}

/// The fault of the file at `path`, with its line.
pub(crate) fn refused(path: &Path, error: &CalendarError) -> ConfigError {
    let file = Some(path.to_path_buf());
    match error {
        CalendarError::Fault { line, column, message } => {
            let (line, column, message) = (*line, *column, message.clone());
            ConfigError::Line { file, line, column, message }
        }
        other => ConfigError::Together { file, message: other.to_string() },
    }
}
