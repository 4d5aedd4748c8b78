//! Tenants and their directories.

use crate::text::{Str, U64Text};
use rialto_model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The quota of a tenant. A limit that is left out, or 0, is none.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotTenantRequest {
    /// Most files.
    #[serde(default)]
    pub files_max: U64Text,
    /// Most bytes.
    #[serde(default)]
    pub bytes_max: U64Text,
}

/// What becomes of the files of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DepotDirectoryKind {
    /// Workers claim them.
    Work,
    /// They are kept under their paths.
    Shelf,
}

/// The settings of a directory.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotDirectoryRequest<'a> {
    /// The directory; empty for the root.
    #[serde(borrow)]
    pub directory: Str<'a>,
    /// What becomes of its files; left out, as in the directory above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<DepotDirectoryKind>,
    /// Most files; 0 is no limit.
    #[serde(default)]
    pub files_max: U64Text,
    /// Most bytes; 0 is no limit.
    #[serde(default)]
    pub bytes_max: U64Text,
}

/// Whether a tenant takes files and hands them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DepotTenantState {
    /// It takes files and hands them out.
    Enabled,
    /// It neither takes files nor hands them out.
    Disabled,
    /// It takes no files, and hands out the files that it has.
    Draining,
    /// Its files are being removed.
    Deleting,
}

/// A directory with settings of its own.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotDirectory {
    /// The directory; empty for the root.
    pub directory: String,
    /// What becomes of its files, if that is set here.
    pub kind: Option<DepotDirectoryKind>,
    /// Most files; 0 is no limit.
    pub files_max: U64Text,
    /// Most bytes; 0 is no limit.
    pub bytes_max: U64Text,
    /// Files in it and below it.
    pub files: U64Text,
    /// Their bytes.
    pub bytes: U64Text,
}

/// A tenant. The counts of what happened begin with the start of the venue.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotTenant {
    /// Its name.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// Whether it takes files and hands them out.
    pub state: DepotTenantState,
    /// Most files; 0 is no limit.
    pub files_max: U64Text,
    /// Most bytes; 0 is no limit.
    pub bytes_max: U64Text,
    /// Its files, those being stored included.
    pub files: U64Text,
    /// Their bytes.
    pub bytes: U64Text,
    /// Files that wait for workers.
    pub waiting: U64Text,
    /// Files in the hands of workers.
    pub claimed: U64Text,
    /// Dead letters.
    pub dead: U64Text,
    /// When the oldest waiting file was accepted.
    pub oldest_waiting_at: Option<Timestamp>,
    /// Files that were accepted.
    pub accepted: U64Text,
    /// Their bytes.
    pub accepted_bytes: U64Text,
    /// Claims.
    pub claims: U64Text,
    /// Files that were completed.
    pub completed: U64Text,
    /// Claims that failed.
    pub failed: U64Text,
    /// Files that expired.
    pub expired: U64Text,
    /// Files that were deleted.
    pub deleted: U64Text,
    /// The directories with settings of their own.
    pub directories: Vec<DepotDirectory>,
}

/// A page of tenants.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotTenantsQuery<'a> {
    /// `next` of the previous page.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub after: Option<Str<'a>>,
    /// Most tenants; left out, 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// The tenants to which the key has a right, by name.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotTenantsAnswer {
    /// The tenants.
    pub tenants: Vec<DepotTenant>,
    /// `after` of the next page; null at the end.
    pub next: Option<String>,
}
