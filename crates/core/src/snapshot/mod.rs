//! Snapshots: the whole state as bytes, and back.
//!
//! The content is logical and canonical: it does not depend on the layout in memory, and one state
//! has one form. `docs/formats/snapshot.md` describes it byte by byte.

mod formats;
mod read;
mod read_background;
mod read_links;
mod read_markets;
mod read_timetable;
mod read_transfers;
mod read_triggers;
mod reader;
mod write;
mod write_links;
mod write_timetable;
mod write_triggers;

use crate::Core;
use crate::phases::WITH_AUCTIONS;
use std::fmt;

/// The newest version of the snapshot format; this build reads all up to this one, and writes the
/// one that belongs to the rules in force.
pub const FORMAT_VERSION: u32 = 10;

const MAGIC: [u8; 8] = *b"RIALTOSN";
/// Magic, format version, rules version, length of the content, hash of the content, padding.
const HEADER_BYTES: usize = 64;

/// BLAKE3 of the canonical content of a snapshot: two cores with the same hash are the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StateHash(pub [u8; 32]);

impl fmt::Display for StateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for StateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The reason that a snapshot cannot be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// They do not begin like a snapshot.
    #[error("this is not a Rialto snapshot")]
    NotASnapshot,
    /// A newer build wrote it.
    #[error(
        "the snapshot has format version {got}, and this build reads up to {known}: \
         use the build that wrote it, or a newer one"
    )]
    NewerFormat {
        /// The snapshot's version.
        got: u32,
        /// The newest version that can be read.
        known: u32,
    },
    /// Its rules version is not implemented by this build.
    #[error(
        "the snapshot was decided by rules version {got}, and this build implements \
         {first} to {last}: use a build that implements it"
    )]
    UnknownRules {
        /// The snapshot's version of the rules.
        got: u32,
        /// The oldest version that is implemented.
        first: u32,
        /// The newest version that is implemented.
        last: u32,
    },
    /// The length differs from the header.
    #[error("the snapshot has {got} bytes of content where its header says {expected}")]
    Length {
        /// The length in the header.
        expected: u64,
        /// The length of the content.
        got: u64,
    },
    /// The content is damaged.
    #[error("the snapshot is damaged: its content hashes to {got}, not to {expected}")]
    Checksum {
        /// The hash in the header.
        expected: StateHash,
        /// The hash of the content.
        got: StateHash,
    },
    /// The content is whole, but not what any core would write.
    #[error("the content of the snapshot is invalid at offset {offset}: {what}")]
    Malformed {
        /// The offset from the start of the content.
        offset: usize,
        /// The fault.
        what: &'static str,
    },
}

impl Core {
    /// The format of a state under the rules in force. A state keeps its form, and so its hash, as
    /// long as the rules version stays: builds that know later rules agree with older ones on a
    /// state that both can have.
    fn format(&self) -> u32 {
        match self.rules_version {
            ..2 => 2,
            2..WITH_AUCTIONS => 3,
            4 => 4,
            5 => 5,
            6 => 6,
            7 => 7,
            8 => 8,
            9 => 9,
            10.. => 10,
        }
    }

    /// BLAKE3 of the canonical content of a snapshot taken now.
    #[must_use]
    pub fn state_hash(&self) -> StateHash {
        hash(&self.content())
    }

    /// The whole state: canonical, versioned and checksummed.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        let content = self.content();
        let mut bytes = Vec::with_capacity(HEADER_BYTES + content.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&self.format().to_le_bytes());
        bytes.extend_from_slice(&self.rules_version.to_le_bytes());
        bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&hash(&content).0);
        bytes.resize(HEADER_BYTES, 0);
        bytes.extend_from_slice(&content);
        bytes
    }

    /// The core that a snapshot was taken of: it decides every later command as that one would.
    /// `hash_key` is that of [`CoreConfig`](crate::CoreConfig).
    ///
    /// # Errors
    /// If the snapshot is damaged, or of a version that this build does not know.
    pub fn restore(bytes: &[u8], hash_key: u64) -> Result<Core, SnapshotError> {
        let (format, content) = checked_content(bytes)?;
        read::content(format, content, hash_key)
    }
}

fn hash(content: &[u8]) -> StateHash {
    StateHash(*blake3::hash(content).as_bytes())
}

/// Checks the header; returns the format version and the content.
fn checked_content(bytes: &[u8]) -> Result<(u32, &[u8]), SnapshotError> {
    let Some((header, content)) = bytes.split_at_checked(HEADER_BYTES) else {
        return Err(SnapshotError::NotASnapshot);
    };
    let (magic, header) = header.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(SnapshotError::NotASnapshot);
    }
    let word = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let format = word(0);
    if format > FORMAT_VERSION {
        return Err(SnapshotError::NewerFormat { got: format, known: FORMAT_VERSION });
    }
    if format == 0 {
        return Err(SnapshotError::NotASnapshot);
    }
    check_rules(word(4))?;
    let expected = u64::from(word(8)) | u64::from(word(12)) << 32;
    if expected != content.len() as u64 {
        return Err(SnapshotError::Length { expected, got: content.len() as u64 });
    }
    let mut expected = StateHash([0; 32]);
    expected.0.copy_from_slice(&header[16..48]);
    let got = hash(content);
    if got != expected {
        return Err(SnapshotError::Checksum { expected, got });
    }
    Ok((format, content))
}

fn check_rules(got: u32) -> Result<(), SnapshotError> {
    let (first, last) = (*crate::RULES_VERSIONS.start(), *crate::RULES_VERSIONS.end());
    if (first..=last).contains(&got) {
        return Ok(());
    }
    Err(SnapshotError::UnknownRules { got, first, last })
}
