//! Who sent an operator's command, and why.

use crate::text::from_text;
use crate::{CommandKind, Text};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The id of the key that sent a command, or another name that the venue gives to a sender.
pub type KeyId = Text<31>;

/// Why text is not an [`AuditReason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuditReasonError {
    /// Longer than the field holds.
    #[error("is {got} bytes long; at most {max} are allowed", max = AuditReason::BYTES_MAX)]
    TooLong {
        /// Bytes given.
        got: usize,
    },
    /// Holds a character that does not show.
    #[error("holds the character U+{:04X} at byte {at}, which does not print", u32::from(*found))]
    NotPrintable {
        /// The character.
        found: char,
        /// Its offset in bytes.
        at: usize,
    },
}

/// An operator's reason for a command: at most 100 bytes of printable UTF-8, held in place. Empty
/// means that none was given.
///
/// Bytes past the length are zero, so that equality may use the whole array.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AuditReason {
    bytes: [u8; AuditReason::BYTES_MAX],
    len: u8,
}

impl AuditReason {
    /// Bytes of the longest reason.
    pub const BYTES_MAX: usize = 100;

    /// No reason.
    pub const EMPTY: AuditReason = AuditReason { bytes: [0; AuditReason::BYTES_MAX], len: 0 };

    /// The reason as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Only whole strings get in, so this never falls back.
        std::str::from_utf8(&self.bytes[..self.len()]).unwrap_or("")
    }

    /// Whether no reason was given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// All bytes that the reason could have; zero past its length.
    pub(crate) fn padded(&self) -> &[u8; AuditReason::BYTES_MAX] {
        &self.bytes
    }
}

/// Control characters, line breaks, and characters that change the direction of the text around
/// them: in a trail they could forge an entry, or hide a part of one.
fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

impl FromStr for AuditReason {
    type Err = AuditReasonError;

    fn from_str(text: &str) -> Result<AuditReason, AuditReasonError> {
        if text.len() > AuditReason::BYTES_MAX {
            return Err(AuditReasonError::TooLong { got: text.len() });
        }
        if let Some((at, found)) = text.char_indices().find(|(_, it)| !is_printable(*it)) {
            return Err(AuditReasonError::NotPrintable { found, at });
        }
        let mut reason = AuditReason::EMPTY;
        reason.bytes[..text.len()].copy_from_slice(text.as_bytes());
        reason.len = text.len() as u8;
        Ok(reason)
    }
}

impl Default for AuditReason {
    fn default() -> AuditReason {
        AuditReason::EMPTY
    }
}

impl fmt::Debug for AuditReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

impl fmt::Display for AuditReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for AuditReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for AuditReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AuditReason, D::Error> {
        from_text(deserializer)
    }
}

/// Who sent an operator's command, and why. It goes with the command into the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribution {
    /// The sender, as the venue knows it.
    pub by: KeyId,
    /// The sender's reason.
    pub reason: AuditReason,
}

/// An operator sent the command. It is the first event of the command, also of a refused one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributed {
    /// The kind of the command.
    pub command: CommandKind,
    /// Who sent it, and why.
    #[serde(flatten)]
    pub attribution: Attribution,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_of_full_length_fits_and_one_more_byte_does_not() {
        let full = "é".repeat(50);
        assert_eq!(full.parse::<AuditReason>().map(|it| it.to_string()), Ok(full.clone()));
        let got = full.len() + 1;
        let longer = format!("{full}!").parse::<AuditReason>();
        assert_eq!(longer, Err(AuditReasonError::TooLong { got }));
    }

    #[test]
    fn characters_that_could_forge_an_entry_are_refused() {
        for found in ['\n', '\r', '\u{1b}', '\0', '\u{85}', '\u{2028}', '\u{202e}', '\u{2066}'] {
            let refused = format!("so {found}").parse::<AuditReason>();
            assert_eq!(refused, Err(AuditReasonError::NotPrintable { found, at: 3 }));
        }
        assert!("Störung, ticket #7 – «早い»".parse::<AuditReason>().is_ok());
    }
}
