//! API keys: creating, listing, rotating, revoking.

use super::venue::administrator;
use super::{Handled, respond};
use crate::ApiError;
use crate::auth::{CreateKey, KeyInfo, KeyRequest, ListKeys, RevokeKey, RotateKey, Secret};
use crate::call::Call;
use crate::gate::Gate;
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::{KeyAnswer, KeyCreateRequest, KeyRotateRequest, KeysAnswer, Nothing};
use rialto_bus::Dispatch;
use rialto_desk::{Freshness, ListAccounts};
use rialto_model::{AccountId, MemberId, Timestamp};
use std::collections::BTreeSet;

/// `POST /v1/admin/keys`
pub(super) async fn create(gate: &Gate, request: Request) -> Handled {
    let call = administrator(gate, request).await?;
    let body: KeyCreateRequest<'_> = call.json()?;
    let request = KeyRequest {
        label: body.label.as_deref().unwrap_or_default().to_owned(),
        member: body.member,
        accounts: accounts(gate, &call, body.member, body.accounts).await?,
        scopes: body.scopes.into_iter().collect(),
        queues: body.queues,
        depot: body.depot,
        expires_us: body.expires_at.map(|time| time.0 / 1_000),
    };
    let (info, secret) = gate.keys.send(CreateKey(request), &call.cx()).await?;
    Ok(respond(StatusCode::CREATED, &key_answer(&info, Some(&secret)), 512))
}

/// The requested accounts, which must be the member's; by default all of the member.
async fn accounts(
    gate: &Gate,
    call: &Call,
    member: MemberId,
    asked: Option<Vec<AccountId>>,
) -> Result<Vec<AccountId>, ApiError> {
    // Member and accounts may be new.
    let own = gate.read(&call.cx(), ListAccounts { member }, Freshness::Released).await?.answer;
    let own = own.iter().map(|account| account.account);
    let Some(mut accounts) = asked else { return Ok(own.collect()) };
    accounts.sort_unstable();
    accounts.dedup();
    let own: BTreeSet<AccountId> = own.collect();
    match accounts.iter().find(|account| !own.contains(account)) {
        None => Ok(accounts),
        Some(stranger) => {
            let message = format!("The member has no account {stranger}.");
            Err(ApiError::invalid("accounts", message))
        }
    }
}

/// `GET /v1/admin/keys`
pub(super) async fn list(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let keys = gate.keys.query(ListKeys, &call.cx()).await?;
    let response = KeysAnswer { keys: keys.iter().map(|key| key_answer(key, None)).collect() };
    Ok(respond(StatusCode::OK, &response, 64 + 512 * keys.len()))
}

/// `POST /v1/admin/keys/{id}/rotate`
pub(super) async fn rotate(gate: &Gate, request: Request) -> Handled {
    let call = administrator(gate, request).await?;
    let body: KeyRotateRequest = call.json()?;
    let id = call.name_after("/v1/admin/keys/")?;
    let id = id.strip_suffix("/rotate").unwrap_or(&id).to_owned();
    let rotate = RotateKey { id, overlap_s: body.overlap_s };
    let (info, secret) = gate.keys.send(rotate, &call.cx()).await?;
    Ok(respond(StatusCode::OK, &key_answer(&info, Some(&secret)), 512))
}

/// `DELETE /v1/admin/keys/{id}`
pub(super) async fn revoke(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let id = call.name_after("/v1/admin/keys/")?.into_owned();
    let info = gate.keys.send(RevokeKey { id }, &call.cx()).await?;
    Ok(respond(StatusCode::OK, &key_answer(&info, None), 512))
}

fn key_answer(key: &KeyInfo, secret: Option<&Secret>) -> KeyAnswer {
    let time = |us: u64| Timestamp(us.saturating_mul(1_000));
    KeyAnswer {
        id: key.id.clone(),
        secret: secret.map(|secret| secret.reveal().to_string()),
        label: key.label.clone(),
        member: key.member,
        accounts: key.accounts.clone(),
        scopes: key.scopes.iter().collect(),
        queues: key.queues.clone(),
        depot: key.depot.clone(),
        created_at: time(key.created_us),
        expires_at: key.expires_us.map(time),
        revoked_at: key.revoked_us.map(time),
        previous_until: key.previous_until_us.map(time),
    }
}
