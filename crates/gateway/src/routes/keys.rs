//! API keys: making, listing, rotating, revoking.

use super::venue::operator;
use super::{Handled, respond};
use crate::auth::{CreateKey, KeyInfo, KeyRequest, ListKeys, RevokeKey, RotateKey, Secret};
use crate::call::Call;
use crate::gate::Gate;
use crate::json::{JsonOut, Str};
use crate::queues::QueueGrant;
use crate::{ApiError, decimal};
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_bus::Dispatch;
use rialto_desk::{Fresh, ListAccounts, Scope};
use rialto_model::{AccountId, MemberId};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Body of `POST /v1/admin/keys`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateRequest<'a> {
    #[serde(borrow)]
    label: Option<Str<'a>>,
    member: MemberId,
    /// Left out: all that the member has now.
    accounts: Option<Vec<AccountId>>,
    #[serde(default)]
    scopes: Vec<Scope>,
    #[serde(default)]
    queues: Vec<QueueGrant>,
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
    let expires_us = match &body.expires_us {
        Some(text) => Some(decimal::whole("expires_us", text)?),
        None => None,
    };
    let request = KeyRequest {
        label: body.label.as_deref().unwrap_or_default().to_owned(),
        member: body.member,
        accounts: accounts(gate, &call, body.member, body.accounts).await?,
        scopes: body.scopes.into_iter().collect(),
        queues: body.queues,
        expires_us,
    };
    let (info, secret) = gate.keys.send(CreateKey(request), &call.cx()).await?;
    Ok(respond(StatusCode::CREATED, told(&info, Some(&secret))))
}

/// The accounts asked for, which must be the member's, or all that it has.
async fn accounts(
    gate: &Gate,
    call: &Call,
    member: MemberId,
    asked: Option<Vec<AccountId>>,
) -> Result<Vec<AccountId>, ApiError> {
    // Member and accounts may have been made a moment ago.
    let own = gate.ask(&call.cx(), ListAccounts { member }, Fresh::Released).await?.answer;
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
    call.query()?.finish()?;
    let keys = gate.keys.query(ListKeys, &call.cx()).await?;
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
    let id = call.name_after("/v1/admin/keys/")?;
    let id = id.strip_suffix("/rotate").unwrap_or(&id).to_owned();
    let rotate = RotateKey { id, overlap_s: body.overlap_s };
    let (info, secret) = gate.keys.send(rotate, &call.cx()).await?;
    Ok(respond(StatusCode::OK, told(&info, Some(&secret))))
}

/// `DELETE /v1/admin/keys/{id}`
pub(super) async fn revoke(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    call.query()?.finish()?;
    let id = call.name_after("/v1/admin/keys/")?.into_owned();
    let info = gate.keys.send(RevokeKey { id }, &call.cx()).await?;
    Ok(respond(StatusCode::OK, told(&info, None)))
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
    out.key("queues").open_array();
    for grant in &key.queues {
        out.open_object();
        out.key("topics").text(&grant.topics.to_string());
        out.key("rights").open_array();
        for right in &grant.rights {
            out.text(right.name());
        }
        out.close_array();
        if let Some(topics) = grant.topics_max {
            out.key("topics_max").number(topics);
        }
        if let Some(groups) = grant.groups_max {
            out.key("groups_max").number(groups);
        }
        if let Some(bytes) = grant.bytes_max {
            out.key("bytes_max").number(i64::try_from(bytes).unwrap_or(i64::MAX));
        }
        out.close_object();
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
