//! Files.

use crate::text::{HexText, Str, U64Text};
use rialto_model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DepotFileState {
    /// It waits for a worker.
    Waiting,
    /// A worker has it.
    Claimed,
    /// It is a dead letter.
    Dead,
    /// It is kept on a shelf.
    Kept,
    /// It was completed, and stays readable for a while.
    Completed,
    /// It has ended: it was completed or deleted, or expired.
    Ended,
}

/// A file of a tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DepotFile {
    /// Its id: 32 hexadecimal digits.
    pub id: HexText,
    /// The tenant.
    pub tenant: String,
    /// Directory and name.
    pub path: String,
    /// The directory; empty for the root.
    pub directory: String,
    /// The name.
    pub name: String,
    /// The length of its content.
    pub bytes: U64Text,
    /// The media type of its content; empty for none.
    pub content_type: String,
    /// The names and values that the client gave.
    pub metadata: BTreeMap<String, String>,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When it expires; null is never.
    pub expires_at: Option<Timestamp>,
    /// The SHA-256 of its content.
    pub sha256: Option<HexText>,
    /// The CRC-32C of its content: 8 hexadecimal digits.
    pub crc32c: HexText,
    /// Its state.
    pub state: DepotFileState,
    /// How often it was claimed.
    pub attempts: u16,
    /// When its claim ends, if it is claimed.
    pub claimed_until: Option<Timestamp>,
}

/// Where a file is stored, and how. The body is the content. The headers `X-Rialto-Meta-NAME` are its
/// metadata, and `Idempotency-Key` makes a repeat harmless.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotPutQuery<'a> {
    /// The directory; left out, the root.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub directory: Option<Str<'a>>,
    /// The name. A file that is kept needs one; left out, a file for workers is named after its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Str<'a>>,
    /// Files of a higher priority are claimed first: 0 to 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// It is not claimed before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deliver_at: Option<Timestamp>,
    /// When it expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Whether the file is refused if one is kept under its path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_absent: Option<bool>,
    /// A link that permits the request instead of a signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Str<'a>>,
}

/// How a file is read.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotGetQuery<'a> {
    /// A link that permits the request instead of a signature.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub link: Option<Str<'a>>,
}

/// The path of a kept file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotShelfQuery<'a> {
    /// Directory and name.
    #[serde(borrow)]
    pub path: Str<'a>,
}

/// Which files a list has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DepotFileKind {
    /// Files for workers, in the order of their arrival.
    #[default]
    Work,
    /// Kept files, in the order of their paths.
    Shelf,
}

/// A page of files.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotFilesQuery<'a> {
    /// Which files; left out, those for workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<DepotFileKind>,
    /// Only files whose path begins so.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Str<'a>>,
    /// `next` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Str<'a>>,
    /// Most files; left out, 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// A page of files.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotFilesAnswer {
    /// The files.
    pub files: Vec<DepotFile>,
    /// `after` of the next page; null at the end.
    pub next: Option<String>,
}

/// A page of dead letters.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotDeadLettersQuery {
    /// Most dead letters; left out, 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// A file that was claimed as often as it may be, or was refused.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotDeadLetter {
    /// The file.
    pub file: DepotFile,
    /// Why it was given up: `rejected`, `refused` or `unanswered`.
    pub reason: String,
    /// The reason that the last worker gave.
    pub detail: String,
}

/// Dead letters, oldest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotDeadLettersAnswer {
    /// The dead letters.
    pub dead_letters: Vec<DepotDeadLetter>,
}

/// How many dead letters are given to workers again.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotRedriveQuery {
    /// Most dead letters; left out, 1,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// How many dead letters were given to workers again.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotRedriveAnswer {
    /// Their number.
    pub redriven: U64Text,
}
