//! What the pool knows of a file, as it stands in messages, in history and in footers.

use crate::name::{Directory, FileName, TenantName, joined};
use crate::volume::StoredBytes;
use crate::{DepotError, FileId};
use rialto_clock::Timestamp;
use serde::{Deserialize, Serialize};

/// The most entries of a file's metadata.
pub const METADATA_ENTRIES_MAX: usize = 64;
/// The most bytes of names and values of a file's metadata together.
pub const METADATA_BYTES_MAX: usize = 8 << 10;
/// The longest content type, in bytes.
pub const CONTENT_TYPE_BYTES_MAX: usize = 255;
/// The longest submit key, in bytes.
pub const SUBMIT_KEY_BYTES_MAX: usize = 128;

/// What is known of a file besides its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Its id.
    pub id: FileId,
    /// Its directory.
    pub directory: Directory,
    /// Its name.
    pub name: FileName,
    /// Its length in bytes.
    pub bytes: u64,
    /// The media type of its content; empty for none.
    pub content_type: String,
    /// Names and values that the client gave.
    pub metadata: Vec<(String, String)>,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When it expires. An expired file is neither claimed nor read.
    pub expires_at: Option<Timestamp>,
    /// The CRC-32C of its content.
    pub crc32c: u32,
    /// The SHA-256 of its content, if the pool computes it.
    pub sha256: Option<[u8; 32]>,
    /// The key under which it was submitted.
    pub submit_key: Option<String>,
    /// Where its bytes are.
    pub place: Place,
}

/// What the footer of a stored file says of it, so that it can be adopted if its record is lost.
/// format: docs/formats/depot.md
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Description {
    pub(crate) tenant: TenantName,
    /// Without its place, and without the SHA-256 that the footer has.
    pub(crate) record: FileRecord,
}

/// Where the bytes of a file are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// Behind the record, in the message.
    Inline,
    /// On a volume.
    Volume(StoredBytes),
}

impl Place {
    /// The bytes on a volume, if they are on one.
    #[must_use]
    pub fn stored(&self) -> Option<&StoredBytes> {
        match self {
            Self::Inline => None,
            Self::Volume(stored) => Some(stored),
        }
    }
}

impl FileRecord {
    /// Directory and name.
    #[must_use]
    pub fn path(&self) -> String {
        joined(&self.directory, &self.name)
    }

    /// Whether it had expired by `now`.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// Tells the content under a submit key from another one.
    pub(crate) fn fingerprint(&self) -> u64 {
        let path = u64::from(crc32c::crc32c(self.path().as_bytes()));
        u64::from(self.crc32c) << 32 ^ self.bytes.rotate_left(17) ^ path
    }

    /// The description of its stored bytes.
    pub(crate) fn describe(&self, tenant: &TenantName) -> Result<Vec<u8>, DepotError> {
        let record = Self { place: Place::Inline, sha256: None, ..self.clone() };
        let description = Description { tenant: tenant.clone(), record };
        postcard::to_allocvec(&description).map_err(|error| DepotError::Internal(error.to_string()))
    }

    pub(crate) fn encode(&self) -> Result<Vec<u8>, DepotError> {
        postcard::to_allocvec(self).map_err(|error| DepotError::Internal(error.to_string()))
    }
}

/// The payload of a message: a record, and the bytes of an inline file.
pub(crate) fn split_payload(payload: &[u8]) -> Option<(FileRecord, &[u8])> {
    let (record, rest) = postcard::take_from_bytes::<FileRecord>(payload).ok()?;
    let fits = match &record.place {
        Place::Inline => rest.len() as u64 == record.bytes && crc32c::crc32c(rest) == record.crc32c,
        Place::Volume(_) => rest.is_empty(),
    };
    fits.then_some((record, rest))
}
