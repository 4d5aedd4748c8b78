//! API keys: making, listing, rotating, revoking.

use super::venue::operator;
use super::{Handled, respond};
use crate::auth::{KeyInfo, KeyRequest, KeyStore, KeyStoreError, Secret, now_us};
use crate::call::Call;
use crate::gate::Gate;
use crate::json::{JsonOut, Str};
use crate::{ApiError, decimal};
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_desk::Scope;
use rialto_model::{AccountId, MemberId, RejectReason};
use serde::Deserialize;
use std::sync::Arc;

/// The longest that an old secret may work on after a rotation: a week.
const OVERLAP_S_MAX: u32 = 7 * 86_400;
/// The most accounts of one key.
const ACCOUNTS_MAX: usize = 1_000;

/// Body of `POST /v1/admin/keys`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateRequest<'a> {
    #[serde(borrow)]
    label: Option<Str<'a>>,
    member: MemberId,
    /// Left out: all that the member has now.
    accounts: Option<Vec<AccountId>>,
    scopes: Vec<Scope>,
    /// Microseconds since 1970, as a string.
    expires_us: Option<Str<'a>>,
}

/// Body of `POST /v1/admin/keys/{id}/rotate`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RotateRequest {
    overlap_s: u32,
}

/// `POST /v1/admin/keys`
pub(super) async fn create(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: CreateRequest<'_> = call.json()?;
    if body.scopes.is_empty() {
        return Err(ApiError::invalid("scopes", "A key has at least one scope."));
    }
    let expires_us = match &body.expires_us {
        Some(text) => Some(decimal::whole("expires_us", text)?),
        None => None,
    };
    if expires_us.is_some_and(|end| end <= now_us()) {
        return Err(ApiError::invalid("expires_us", "The expiry must be in the future."));
    }
    let request = KeyRequest {
        label: body.label.as_deref().unwrap_or_default().to_owned(),
        member: body.member,
        accounts: accounts(gate, body.member, body.accounts).await?,
        scopes: body.scopes.into_iter().collect(),
        expires_us,
    };
    let (info, secret) = change(gate, move |keys| keys.create(request)).await?;
    Ok(respond(StatusCode::CREATED, told(&info, Some(&secret))))
}

/// The accounts asked for, which must be the member's, or all that it has.
async fn accounts(
    gate: &Gate,
    member: MemberId,
    asked: Option<Vec<AccountId>>,
) -> Result<Vec<AccountId>, ApiError> {
    // Member and accounts may have been made a moment ago.
    gate.catch_up().await;
    let feed = gate.live.read();
    if feed.member(member).is_none() {
        return Err(ApiError::unknown(RejectReason::UnknownMember));
    }
    let accounts = match asked {
        None => feed.accounts_of(member).map(|account| account.account).collect(),
        Some(mut accounts) => {
            accounts.sort_unstable();
            accounts.dedup();
            for account in &accounts {
                let owner = feed.account(*account).map(|account| account.member);
                if owner != Some(member) {
                    let message = format!("The member has no account {account}.");
                    return Err(ApiError::invalid("accounts", message));
                }
            }
            accounts
        }
    };
    if accounts.len() > ACCOUNTS_MAX {
        let message = format!("A key acts for at most {ACCOUNTS_MAX} accounts.");
        return Err(ApiError::invalid("accounts", message));
    }
    Ok(accounts)
}

/// `GET /v1/admin/keys`
pub(super) async fn list(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    call.query()?.finish()?;
    call.caller.require(Scope::Admin)?;
    let keys = change(gate, |keys| Ok(keys.list())).await?;
    let mut out = JsonOut::with_capacity(64 + 256 * keys.len());
    out.open_object();
    out.key("keys").open_array();
    for key in &keys {
        write_key(&mut out, key, None);
    }
    out.close_array();
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `POST /v1/admin/keys/{id}/rotate`
pub(super) async fn rotate(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: RotateRequest = call.json()?;
    if body.overlap_s > OVERLAP_S_MAX {
        let message = format!("The old secret may work on for at most {OVERLAP_S_MAX} s.");
        return Err(ApiError::invalid("overlap_s", message));
    }
    let id = call.name_after("/v1/admin/keys/")?;
    let id = id.strip_suffix("/rotate").unwrap_or(&id).to_owned();
    let overlap_us = u64::from(body.overlap_s) * 1_000_000;
    let (info, secret) = change(gate, move |keys| keys.rotate(&id, overlap_us)).await?;
    Ok(respond(StatusCode::OK, told(&info, Some(&secret))))
}

/// `DELETE /v1/admin/keys/{id}`
pub(super) async fn revoke(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    call.query()?.finish()?;
    call.caller.require(Scope::Admin)?;
    let id = call.name_after("/v1/admin/keys/")?.into_owned();
    let info = change(gate, move |keys| keys.revoke(&id)).await?;
    Ok(respond(StatusCode::OK, told(&info, None)))
}

/// Changes the store where waiting for its disk holds up nobody.
async fn change<T: Send + 'static>(
    gate: &Gate,
    change: impl FnOnce(&KeyStore) -> Result<T, KeyStoreError> + Send + 'static,
) -> Result<T, ApiError> {
    let keys = Arc::clone(gate.gatekeeper.keys());
    let changed = tokio::task::spawn_blocking(move || change(&keys)).await;
    let failed = |message: String| {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "key_store_failed", message)
    };
    let changed = changed.map_err(|error| failed(format!("The change broke off: {error}.")))?;
    changed.map_err(|error| {
        let message = format!("{error}.");
        match error {
            KeyStoreError::UnknownKey(_) => {
                ApiError::new(StatusCode::NOT_FOUND, "unknown_key", message).of("id")
            }
            KeyStoreError::Revoked(_) => {
                ApiError::new(StatusCode::CONFLICT, "key_revoked", message).of("id")
            }
            KeyStoreError::Full => {
                ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "venue_full", message)
            }
            KeyStoreError::LabelTooLong => ApiError::invalid("label", message),
            KeyStoreError::File { .. } => failed(message),
        }
    })
}

fn told(key: &KeyInfo, secret: Option<&Secret>) -> JsonOut {
    let mut out = JsonOut::with_capacity(512);
    write_key(&mut out, key, secret);
    out
}

fn write_key(out: &mut JsonOut, key: &KeyInfo, secret: Option<&Secret>) {
    out.open_object();
    out.key("id").text(&key.id);
    if let Some(secret) = secret {
        out.key("secret").text(&secret.reveal());
    }
    out.key("label").text(&key.label);
    out.key("member").number(key.member.0);
    out.key("accounts").open_array();
    for account in &key.accounts {
        out.number(account.0);
    }
    out.close_array();
    out.key("scopes").open_array();
    for scope in key.scopes.iter() {
        out.text(scope.name());
    }
    out.close_array();
    out.key("created_us").quoted(key.created_us);
    let times = [
        ("expires_us", key.expires_us),
        ("revoked_us", key.revoked_us),
        ("previous_until_us", key.previous_until_us),
    ];
    for (name, time) in times {
        out.key(name);
        match time {
            Some(time) => out.quoted(time),
            None => out.null(),
        }
    }
    out.close_object();
}
