//! API keys and the admin key.

use super::link::LinkKey;
use crate::limits::Share;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use rialto_api::sign::{Secret, Signer, from_hex, sha256, to_hex};
use rialto_api::{DepotGrant, QueueGrant};
use rialto_broker::Principal;
use rialto_depot_desk::DepotPrincipal;
use rialto_desk::{Grant, Scope, Scopes, TokenBucket};
use rialto_model::{AccountId, KeyId, MemberId};
use serde::{Deserialize, Serialize};
use std::fmt;

pub(super) fn random_secret() -> Secret {
    Secret::new(random())
}

pub(super) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("a system without random numbers cannot keep secrets");
    bytes
}

/// The properties of a new API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRequest {
    /// A label; at most 100 bytes.
    pub label: String,
    /// The member that owns it.
    pub member: MemberId,
    /// The accounts that it may act for.
    pub accounts: Vec<AccountId>,
    /// The scopes.
    pub scopes: Scopes,
    /// The grants of topics.
    pub queues: Vec<QueueGrant>,
    /// The grants of tenants of the depot.
    pub depot: Vec<DepotGrant>,
    /// The expiry, in microseconds since 1970; `None` for none.
    pub expires_us: Option<u64>,
}

/// The public data of an API key: all but its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    /// Its public id.
    pub id: String,
    /// A label.
    pub label: String,
    /// The member that owns it.
    pub member: MemberId,
    /// The accounts that it may act for.
    pub accounts: Vec<AccountId>,
    /// The scopes.
    pub scopes: Scopes,
    /// The grants of topics.
    pub queues: Vec<QueueGrant>,
    /// The grants of tenants of the depot.
    pub depot: Vec<DepotGrant>,
    /// The time of creation, in microseconds since 1970.
    pub created_us: u64,
    /// The expiry; `None` for none.
    pub expires_us: Option<u64>,
    /// The time of revocation, if it is revoked.
    pub revoked_us: Option<u64>,
    /// The time until which the previous secret still works.
    pub previous_until_us: Option<u64>,
}

/// A key as it is stored in the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyRecord {
    pub(super) id: String,
    pub(super) label: String,
    pub(super) member: MemberId,
    pub(super) accounts: Vec<AccountId>,
    pub(super) scopes: Vec<Scope>,
    /// Omitted if empty, so that a binary without queues can read the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) queues: Vec<QueueGrant>,
    /// Omitted if empty, so that a binary without a depot can read the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) depot: Vec<DepotGrant>,
    pub(super) created_us: u64,
    pub(super) expires_us: Option<u64>,
    pub(super) revoked_us: Option<u64>,
    pub(super) secret: Secret,
    pub(super) previous: Option<PreviousSecret>,
}

/// The previous secret after a rotation.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PreviousSecret {
    pub(super) secret: Secret,
    pub(super) until_us: u64,
}

impl KeyRecord {
    pub(super) fn info(&self) -> KeyInfo {
        KeyInfo {
            id: self.id.clone(),
            label: self.label.clone(),
            member: self.member,
            accounts: self.accounts.clone(),
            scopes: self.scopes.iter().copied().collect(),
            queues: self.queues.clone(),
            depot: self.depot.clone(),
            created_us: self.created_us,
            expires_us: self.expires_us,
            revoked_us: self.revoked_us,
            previous_until_us: self.previous.as_ref().map(|previous| previous.until_us),
        }
    }
}

/// A secret prepared for verifying signatures.
pub(super) struct LiveSecret {
    pub(super) secret: Secret,
    pub(super) signer: Signer,
    pub(super) links: LinkKey,
    /// The change of the store that made it; 0 if it is older than the opening of the store.
    pub(super) made: u64,
}

/// A key prepared for authenticating requests.
pub(super) struct LiveKey {
    pub(super) info: KeyInfo,
    pub(super) grant: Grant,
    pub(super) queue_principal: Principal,
    pub(super) depot_principal: DepotPrincipal,
    pub(super) current: LiveSecret,
    /// The previous secret, and until when it works.
    pub(super) previous: Option<(LiveSecret, u64)>,
    pub(super) allowance: Allowance,
}

/// A key's use of its allowances; clones share it.
#[derive(Clone, Default)]
pub(super) struct Allowance {
    pub(super) requests: TokenBucket,
    pub(super) bodies: Share,
}

impl LiveKey {
    /// The key after this change of the store. Its allowances, and the changes that made its
    /// secrets, are taken over from `before`.
    pub(super) fn new(record: &KeyRecord, before: Option<&LiveKey>, change: u64) -> LiveKey {
        let live = |secret: &Secret| {
            let known = before.and_then(|before| before.secrets().find(|it| it.secret == *secret));
            LiveSecret {
                secret: secret.clone(),
                signer: Signer::new(secret.as_bytes()),
                links: LinkKey::of(secret.as_bytes()),
                made: known.map_or(change, |known| known.made),
            }
        };
        LiveKey {
            info: record.info(),
            queue_principal: match record.scopes.contains(&Scope::Admin) {
                true => Principal::operator(&record.id),
                false => Principal::new(&record.id, &*record.queues),
            },
            depot_principal: match record.scopes.contains(&Scope::Admin) {
                true => DepotPrincipal::operator(&record.id),
                false => DepotPrincipal::new(&record.id, &*record.depot),
            },
            grant: Grant::new(record.scopes.iter().copied().collect(), &*record.accounts)
                .held_by(key_id(&record.id))
                .of_member(record.member),
            current: live(&record.secret),
            previous: record.previous.as_ref().map(|old| (live(&old.secret), old.until_us)),
            allowance: before.map(|before| before.allowance.clone()).unwrap_or_default(),
        }
    }

    fn secrets(&self) -> impl Iterator<Item = &LiveSecret> {
        let previous = self.previous.as_ref().map(|(secret, _)| secret);
        std::iter::once(&self.current).chain(previous)
    }

    /// The secrets that work at this time, independent of the key.
    pub(super) fn working(&self, now_us: u64) -> impl Iterator<Item = &LiveSecret> {
        let previous = self.previous.as_ref().filter(move |(_, until_us)| now_us < *until_us);
        std::iter::once(&self.current).chain(previous.map(|(secret, _)| secret))
    }

    /// Whether the key is valid at this time.
    pub(super) fn is_valid_at(&self, now_us: u64) -> bool {
        self.info.revoked_us.is_none() && self.info.expires_us.is_none_or(|end| now_us < end)
    }
}

/// The id as commands carry it. Ids that the venue makes fit; a longer one, of an edited file, is cut.
fn key_id(id: &str) -> KeyId {
    let bytes: Vec<u8> = id.bytes().filter(u8::is_ascii_graphic).take(KeyId::BYTES_MAX).collect();
    KeyId::new(&bytes).unwrap_or_default()
}

/// The operator's key: `ra_` and 64 hexadecimal digits. It is shown once; the venue keeps a hash.
#[derive(Clone, PartialEq, Eq)]
pub struct AdminKey(String);

impl AdminKey {
    pub(super) fn random() -> AdminKey {
        AdminKey(format!("ra_{}", to_hex(&random::<32>())))
    }

    /// The key as text, to show it once.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub(super) fn hash(&self) -> AdminHash {
        AdminHash::of(&self.0)
    }
}

impl fmt::Debug for AdminKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminKey(…)")
    }
}

/// SHA-256 of the admin key. A slow hash is needed only for passwords, which can be guessed; a
/// random key of 256 bits cannot.
#[derive(Clone, Debug)]
pub(super) struct AdminHash(pub(super) [u8; 32]);

impl AdminHash {
    pub(super) fn of(text: &str) -> AdminHash {
        AdminHash(sha256(text.as_bytes()))
    }

    /// Whether this text is the key, compared in constant time.
    pub(super) fn matches(&self, text: &str) -> bool {
        verify_slices_are_equal(&self.0, &AdminHash::of(text).0).is_ok()
    }
}

impl Serialize for AdminHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for AdminHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        from_hex(&text).map(AdminHash).ok_or_else(|| serde::de::Error::custom("64 hex digits"))
    }
}
