//! Claims of workers.

use super::DepotFile;
use crate::limits::CLAIMS_MAX;
use crate::queue::Base64;
use crate::text::{HexText, Rows, Str, U64Text};
use rialto_model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Claims files.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotClaimRequest {
    /// Most files; left out, 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// How long to wait for the first file: at most 30,000.
    #[serde(default)]
    pub wait_ms: u64,
    /// How long the claims last; left out, a setting of the venue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Whether the answer has the content of files of at most 16 KiB.
    #[serde(default)]
    pub content: bool,
}

/// A file in the hands of a worker.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotClaim<'a> {
    /// The token that names the claim.
    pub claim: String,
    /// The file.
    pub file: DepotFile,
    /// The number of the attempt, from 1.
    pub attempt: u16,
    /// When the claim ends, unless it is renewed.
    pub deadline: Timestamp,
    /// Why the content cannot be read, if it is missing or damaged. Such a file cannot be completed.
    pub problem: Option<String>,
    /// The content, if it was asked for and is small.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Base64<'a>>,
}

/// Claimed files.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotClaimsAnswer<'a> {
    /// The claims; none if no file came in time.
    pub claims: Vec<DepotClaim<'a>>,
}

/// The tokens of a request.
pub type DepotClaimTokens<'a> = Rows<Str<'a>, CLAIMS_MAX>;

/// Claims to complete, or to return.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotSettleRequest<'a> {
    /// The tokens of the claims.
    #[serde(borrow)]
    pub claims: DepotClaimTokens<'a>,
}

/// Claims to renew.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotRenewRequest<'a> {
    /// The tokens of the claims.
    #[serde(borrow)]
    pub claims: DepotClaimTokens<'a>,
    /// How long they last from now; left out, a setting of the venue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// Claims that failed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotFailRequest<'a> {
    /// The tokens of the claims.
    #[serde(borrow)]
    pub claims: DepotClaimTokens<'a>,
    /// Why they failed; it stands in the dead letter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Str<'a>>,
    /// How long the files wait before they are claimed again; left out, the venue's delay, which
    /// doubles with each attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
}

/// Claims whose files become dead letters.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotRefuseRequest<'a> {
    /// The tokens of the claims.
    #[serde(borrow)]
    pub claims: DepotClaimTokens<'a>,
    /// Why they are refused; it stands in the dead letter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Str<'a>>,
}

/// The media type of results: for each, a line of JSON that describes it ([`DepotResult`]) and its
/// content.
pub const RESULTS_MEDIA_TYPE: &str = "application/vnd.rialto.results";

/// A claim to complete together with results, which are the body: for each a line of JSON
/// ([`DepotResult`]), and behind the line feed its content.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotCompleteWithQuery<'a> {
    /// The token of the claim.
    #[serde(borrow)]
    pub claim: Str<'a>,
}

/// A result, before its content.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotResult<'a> {
    /// The directory; left out, the root.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<Str<'a>>,
    /// The name. A file that is kept needs one; left out, a file for workers is named after its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Str<'a>>,
    /// The length of its content.
    pub bytes: U64Text,
    /// The media type of its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<Str<'a>>,
    /// Names and values to keep with it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// The SHA-256 of its content, which is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<HexText>,
}

/// What became of claims. One that is in none of the lists did what was asked.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct DepotSettledAnswer {
    /// The tokens of claims that have ended.
    pub lost: Vec<String>,
    /// Claims whose content is missing or damaged, so that they cannot be completed.
    pub unreadable: Vec<DepotUnreadable>,
    /// Claims that failed for another reason while others did not. They last, and may be sent again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<DepotFailedClaim>,
}

/// A claim whose content cannot be read.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotUnreadable {
    /// The token of the claim.
    pub claim: String,
    /// What is wrong with the content.
    pub problem: String,
}

/// A claim that failed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotFailedClaim {
    /// The token of the claim.
    pub claim: String,
    /// The code of the error.
    pub code: String,
    /// What is wrong.
    pub message: String,
}

/// A renewed claim.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotRenewed {
    /// The token of the claim.
    pub claim: String,
    /// When the claim ends.
    pub deadline: Timestamp,
}

/// Renewed claims.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotRenewedAnswer {
    /// The claims with their new deadlines.
    pub renewed: Vec<DepotRenewed>,
    /// The tokens of claims that have ended.
    pub lost: Vec<String>,
}
