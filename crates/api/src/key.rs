//! API keys.

use crate::depot::DepotGrant;
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
    /// The member that owns the key.
    pub member: MemberId,
    /// The accounts that the key may act for; left out, all accounts that the member has now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accounts: Option<Vec<AccountId>>,
    /// The scopes of the key.
    #[serde(default)]
    pub scopes: Vec<Scope>,
    /// The rights to topics.
    #[serde(default)]
    pub queues: Vec<QueueGrant>,
    /// The rights to tenants of the depot.
    #[serde(default)]
    pub depot: Vec<DepotGrant>,
    /// When the key expires: nanoseconds since 1970, as text; left out is never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// A key whose secret is to be replaced.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyRotateRequest {
    /// How long the previous secret stays valid, in seconds.
    pub overlap_s: u32,
}

/// A key. It has its secret only in the answer to its creation or rotation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KeyAnswer {
    /// Its public id.
    pub id: String,
    /// Its secret. It is shown once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// A name for people.
    pub label: String,
    /// The member that owns the key.
    pub member: MemberId,
    /// The accounts that the key may act for.
    pub accounts: Vec<AccountId>,
    /// The scopes of the key.
    pub scopes: Vec<Scope>,
    /// The rights to topics.
    pub queues: Vec<QueueGrant>,
    /// The rights to tenants of the depot.
    #[serde(default)]
    pub depot: Vec<DepotGrant>,
    /// When the key was created.
    pub created_at: Timestamp,
    /// When the key expires; null is never.
    pub expires_at: Option<Timestamp>,
    /// When the key was revoked.
    pub revoked_at: Option<Timestamp>,
    /// Until when the previous secret stays valid.
    pub previous_until: Option<Timestamp>,
}

/// All keys.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KeysAnswer {
    /// The keys, without their secrets.
    pub keys: Vec<KeyAnswer>,
}
