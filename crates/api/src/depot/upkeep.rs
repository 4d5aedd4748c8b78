//! Damage, bytes without a record, and their adoption.

use crate::text::{HexText, U64Text};
use rialto_model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A file whose stored bytes are damaged or missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DepotDamage {
    /// Its id.
    pub id: HexText,
    /// Its tenant.
    pub tenant: String,
    /// Its path.
    pub path: String,
    /// The volume of its bytes.
    pub volume: String,
    /// When the damage was found.
    pub found_at: Timestamp,
    /// What is wrong.
    pub problem: String,
}

/// What the scrub read since the start of the venue, and what is known to be wrong.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotScrubAnswer {
    /// Passes through all files that came to their end.
    pub passes: U64Text,
    /// Stored files that were read.
    pub files: U64Text,
    /// Bytes of content that were read.
    pub bytes: U64Text,
    /// Files that were found damaged or missing.
    pub damaged: U64Text,
    /// Files that could not be read, because of their volume.
    pub unreadable: U64Text,
    /// When the last pass ended.
    pub last_pass_at: Option<Timestamp>,
    /// The files that are known to be damaged, at most 1,000.
    pub damage: Vec<DepotDamage>,
    /// Stored bytes without a record that were found.
    pub orphans: U64Text,
    /// How many were moved into a quarantine.
    pub quarantined: U64Text,
}

/// Whether quarantined bytes are adopted, or only looked at.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotAdoptRequest {
    /// Whether everything but the adoption is done.
    #[serde(default)]
    pub dry_run: bool,
}

/// Quarantined bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DepotAdoption {
    /// The id of the bytes, which the file keeps.
    pub id: HexText,
    /// The volume whose quarantine has them.
    pub volume: String,
    /// The tenant of the file, if the bytes name it.
    pub tenant: Option<String>,
    /// The path of the file, if the bytes name it.
    pub path: Option<String>,
    /// The length of the content, if it is known.
    pub bytes: U64Text,
    /// The reason for which no file was made of them: `damaged`, `unreadable`, `undescribed`, `ended`,
    /// `present`, `path_taken` or `refused`.
    pub not_adopted: Option<String>,
    /// What exactly is wrong.
    pub detail: Option<String>,
}

/// What became of the bytes of all quarantines.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotAdoptAnswer {
    /// Files that were adopted; of a dry run, that would be.
    pub adopted: U64Text,
    /// Their bytes.
    pub bytes: U64Text,
    /// The number of the others, by reason.
    pub not_adopted: BTreeMap<String, U64Text>,
    /// The first 1,000 of them all.
    pub files: Vec<DepotAdoption>,
}
