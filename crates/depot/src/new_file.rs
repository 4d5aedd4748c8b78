//! A file that a client wants to store.

use crate::name::{Directory, FileName};
use crate::record::{
    CONTENT_TYPE_BYTES_MAX, METADATA_BYTES_MAX, METADATA_ENTRIES_MAX, SUBMIT_KEY_BYTES_MAX,
};
use crate::{DepotError, DirectoryKind};
use rialto_clock::Timestamp;
use rialto_log::Level;
use std::time::Duration;

/// The longest delay of a work file.
pub(crate) const DELAY_MAX: Duration = Duration::from_secs(366 * 86_400);

/// A file to be stored: everything but its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewFile {
    /// The directory; the root if none is given. It decides whether the file is work, or is kept.
    pub directory: Directory,
    /// The name. A work file without one is named after its id; a file that is kept needs one.
    pub name: Option<FileName>,
    /// The media type of the content; empty for none.
    pub content_type: String,
    /// Names and values to keep with it.
    pub metadata: Vec<(String, String)>,
    /// The length of the content in bytes, if the client declares it.
    pub bytes: Option<u64>,
    /// The SHA-256 of the content, if the client declares it.
    pub sha256: Option<[u8; 32]>,
    /// The CRC-32C of the content, if the client declares it.
    pub crc32c: Option<u32>,
    /// Files of a higher priority are handed out first.
    pub priority: u8,
    /// A work file is not handed out before this time.
    pub deliver_at: Option<Timestamp>,
    /// When the file expires.
    pub expires_at: Option<Timestamp>,
    /// Makes a repeat harmless: a file that was accepted under this key is not accepted again.
    pub submit_key: Option<String>,
    /// Refuses the file if one is kept under its path already.
    pub if_absent: bool,
    /// Refuses the file if its directory is of another kind.
    pub kind: Option<DirectoryKind>,
    /// A durability above that of the pool, for this file alone.
    pub level: Option<Level>,
}

impl NewFile {
    /// A file of a directory, with a name.
    #[must_use]
    pub fn new(directory: Directory, name: FileName) -> Self {
        Self { directory, name: Some(name), ..Self::default() }
    }

    /// Refuses what has no effect in a directory of this kind.
    pub(crate) fn check_kind(&self, kind: DirectoryKind) -> Result<(), DepotError> {
        let (is_shelf, not_claimed) =
            (kind == DirectoryKind::Shelf, "a file that is kept is not claimed");
        let refused = [
            (is_shelf && self.name.is_none(), "name", "a file that is kept needs a name"),
            (is_shelf && self.deliver_at.is_some(), "deliver_at", not_claimed),
            (is_shelf && self.priority > 0, "priority", not_claimed),
            (!is_shelf && self.if_absent, "if_absent", "paths of work files need not differ"),
        ];
        let refused = refused.into_iter().find(|(is_refused, ..)| *is_refused);
        refused.map_or(Ok(()), |(_, field, why)| Err(DepotError::invalid(field, why)))
    }

    /// Checks everything that does not depend on the pool's state.
    pub(crate) fn check(&self, now: Timestamp, priorities: u8) -> Result<(), DepotError> {
        let invalid = |field, why: String| Err(DepotError::invalid(field, why));
        let is_text = |text: &str| !text.chars().any(char::is_control);
        if self.content_type.len() > CONTENT_TYPE_BYTES_MAX || !is_text(&self.content_type) {
            let max = CONTENT_TYPE_BYTES_MAX;
            return invalid("content_type", format!("use at most {max} printable bytes"));
        }
        let entries = self.metadata.len();
        if entries > METADATA_ENTRIES_MAX {
            let max = METADATA_ENTRIES_MAX;
            return invalid("metadata", format!("{entries} entries are more than {max}"));
        }
        let bytes: usize = self.metadata.iter().map(|(name, value)| name.len() + value.len()).sum();
        if bytes > METADATA_BYTES_MAX {
            return invalid(
                "metadata",
                format!("{bytes} bytes of names and values are more than {METADATA_BYTES_MAX}"),
            );
        }
        for (nth, (name, value)) in self.metadata.iter().enumerate() {
            let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            let is_name =
                !name.is_empty() && name.bytes().all(|it| letter(it) || b"-_.".contains(&it));
            if !is_name {
                return invalid(
                    "metadata",
                    format!("{name:?} is not a name: use a to z, 0 to 9, `-`, `_` and `.`"),
                );
            }
            if !is_text(value) {
                return invalid(
                    "metadata",
                    format!("the value of {name:?} has control characters"),
                );
            }
            if self.metadata[..nth].iter().any(|(other, _)| other == name) {
                return invalid("metadata", format!("{name:?} is given twice"));
            }
        }
        if let Some(key) = &self.submit_key {
            let max = SUBMIT_KEY_BYTES_MAX;
            if key.is_empty() || key.len() > max || !is_text(key) {
                return invalid("submit_key", format!("use 1 to {max} printable bytes"));
            }
        }
        if self.priority >= priorities {
            let (priority, last) = (self.priority, priorities - 1);
            return invalid(
                "priority",
                format!("{priority} is above {last}, the highest priority"),
            );
        }
        if self.deliver_at.is_some_and(|at| at > now.after(DELAY_MAX)) {
            let days = DELAY_MAX.as_secs() / 86_400;
            return invalid("deliver_at", format!("use a time at most {days} days from now"));
        }
        if self.expires_at.is_some_and(|at| at <= now) {
            return invalid("expires_at", "the time has passed".to_owned());
        }
        Ok(())
    }
}
