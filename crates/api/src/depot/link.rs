//! Links that permit one request to everyone who has them.

use crate::text::{HexText, Str};
use rialto_model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a link permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DepotLinkVerb {
    /// Reading a file.
    Get,
    /// Storing files under a name.
    Put,
}

/// A link to make.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotLinkRequest<'a> {
    /// What it permits.
    pub verb: DepotLinkVerb,
    /// The file to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<HexText>,
    /// The directory of files to store; left out, the root.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub directory: Option<Str<'a>>,
    /// The name of files to store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Str<'a>>,
    /// How long the link lives: at most 7 days; left out, an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<u64>,
}

/// A link.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotLinkAnswer {
    /// The path with the query, to be sent behind the address of the venue.
    pub url: String,
    /// The method of the request.
    pub method: String,
    /// When the link expires.
    pub expires_at: Timestamp,
}
