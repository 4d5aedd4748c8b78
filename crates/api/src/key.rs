//! API keys.

use crate::grant::QueueGrant;
use crate::text::Str;
use rialto_model::{AccountId, MemberId, Scope, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A key to create.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyCreateRequest<'a> {
    /// A name for people, at most 100 bytes.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub label: Option<Str<'a>>,
    /// Whose key.
    pub member: MemberId,
    /// The accounts that it may act for; left out, all that the member has now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accounts: Option<Vec<AccountId>>,
    /// What it may do.
    #[serde(default)]
    pub scopes: Vec<Scope>,
    /// What it may do with topics.
    #[serde(default)]
    pub queues: Vec<QueueGrant>,
    /// When it stops working: nanoseconds since 1970, as text; left out is never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// A key whose secret is to be replaced.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyRotateRequest {
    /// How long the secret before works too, in seconds.
    pub overlap_s: u32,
}

/// A key; with its secret only where that was just made.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KeyAnswer {
    /// Its public id.
    pub id: String,
    /// Its secret. It is shown once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// A name for people.
    pub label: String,
    /// Whose key.
    pub member: MemberId,
    /// The accounts that it may act for.
    pub accounts: Vec<AccountId>,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// What it may do with topics.
    pub queues: Vec<QueueGrant>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops working; null is never.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// Until when the secret before the last rotation works too.
    pub previous_until: Option<Timestamp>,
}

/// All keys.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KeysAnswer {
    /// The keys, without their secrets.
    pub keys: Vec<KeyAnswer>,
}
