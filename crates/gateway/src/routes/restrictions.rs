//! Restrictions of operators, and the kill switch of members.

use super::orders::cancelling;
use super::venue::operator;
use super::{Handled, count, respond};
use crate::ApiError;
use crate::call::Call;
use crate::gate::Gate;
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::{
    AccountQuery, KillAnswer, KillRequest, KillResult, KillStateAnswer, RestrictedBy,
    RestrictionAnswer, RestrictionInfo, RestrictionRequest, RestrictionsAnswer, RestrictionsQuery,
};
use rialto_desk::{
    Answer, AsOf, GetRestriction, Kill, LiftKill, ListRestrictions, NameTable, Scope,
    SetRestriction,
};
use rialto_feed::RestrictionKey;
use rialto_model::{AccountId, RejectReason, Restrict, RestrictionTarget, Symbol};

/// `PUT /v1/admin/restrictions`
pub(super) async fn set(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: RestrictionRequest<'_> = call.json()?;
    let level = call.level(gate, None)?;
    let (target, symbol) = target(gate, &call, &body).await?;
    let RestrictionRequest { restriction, cancel, .. } = body;
    let request = SetRestriction { target, restriction, cancel, level };
    let answer = gate.send(&call.cx(), request).await;
    let answer = answer.map_err(|error| error.names(RejectReason::HasOpenOrders, "restriction"))?;
    let (cancelled, pending) = cancelling(&answer);
    let restrict = Restrict { target, restriction, by_member: false, cancel };
    let response = RestrictionAnswer {
        restriction: info(&restrict, symbol),
        cancelled,
        pending,
        seq: answer.seq,
        time: answer.time,
    };
    Ok(respond(StatusCode::OK, &response, 192))
}

/// The one target that the request names, and its symbol if it is an instrument.
async fn target(
    gate: &Gate,
    call: &Call,
    body: &RestrictionRequest<'_>,
) -> Result<(RestrictionTarget, Option<Symbol>), ApiError> {
    let RestrictionRequest { venue, member, account, instrument, .. } = body;
    match (*venue, *member, *account, instrument) {
        (true, None, None, None) => Ok((RestrictionTarget::Venue, None)),
        (false, Some(member), None, None) => Ok((RestrictionTarget::Member(member), None)),
        (false, None, Some(account), None) => Ok((RestrictionTarget::Account(account), None)),
        (false, None, None, Some(symbol)) => {
            let on = gate.listing(&call.cx(), symbol).await?;
            Ok((RestrictionTarget::Instrument(on.id), Some(on.symbol)))
        }
        (false, None, None, None) => {
            let message =
                "The target is missing: name one of venue, member, account and instrument.";
            Err(ApiError::new(StatusCode::BAD_REQUEST, "missing_field", message).of("account"))
        }
        _ => {
            let message = "A restriction has one target: venue, member, account or instrument.";
            let second = match (member, account, instrument) {
                (_, _, Some(_)) => "instrument",
                (_, Some(_), None) => "account",
                _ => "member",
            };
            Err(ApiError::invalid(second, message))
        }
    }
}

fn info(restrict: &Restrict, symbol: Option<Symbol>) -> RestrictionInfo {
    let (mut member, mut account) = (None, None);
    match restrict.target {
        RestrictionTarget::Member(id) => member = Some(id),
        RestrictionTarget::Account(id) => account = Some(id),
        RestrictionTarget::Venue | RestrictionTarget::Instrument(_) => {}
    }
    RestrictionInfo {
        venue: restrict.target == RestrictionTarget::Venue,
        member,
        account,
        instrument: symbol,
        restriction: restrict.restriction,
        by: match restrict.by_member {
            true => RestrictedBy::Member,
            false => RestrictedBy::Operator,
        },
    }
}

fn symbol_of(restrict: &Restrict, names: &NameTable) -> Option<Symbol> {
    match restrict.target {
        RestrictionTarget::Instrument(id) => names.instrument(id).map(|on| on.symbol),
        _ => None,
    }
}

/// Parses the position of a page.
fn read_cursor(text: &str) -> Option<RestrictionKey> {
    let mut parts = text.split(':');
    let (kind, id) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let by_member = match parts.next()? {
        "operator" => false,
        "member" => true,
        _ => return None,
    };
    let target = RestrictionTarget::from_number(kind, id)?;
    parts.next().is_none().then_some((target, by_member))
}

fn cursor(restrict: &Restrict) -> String {
    let (kind, id) = restrict.target.number();
    let by = if restrict.by_member { "member" } else { "operator" };
    format!("{kind}:{id}:{by}")
}

/// `GET /v1/admin/restrictions`
pub(super) async fn list(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let query: RestrictionsQuery<'_> = call.query()?;
    call.caller.require(Scope::Admin)?;
    let limit = count("limit", query.limit, 100, gate.config.page_max)?;
    let after = match &query.after {
        None => None,
        Some(text) => Some(read_cursor(text).ok_or_else(|| {
            let message = "The parameter after is the value of next in the page before.";
            ApiError::invalid("after", message)
        })?),
    };
    let question = ListRestrictions { after, limit };
    let AsOf { at, names, answer: page } = gate.read(&call.cx(), question, query.min_seq).await?;
    let restrictions = page.rows.iter().map(|restrict| info(restrict, symbol_of(restrict, &names)));
    let response = RestrictionsAnswer {
        seq: at.seq,
        time: at.time,
        restrictions: restrictions.collect(),
        next: page.next_after().map(cursor),
    };
    Ok(respond(StatusCode::OK, &response, 128 + 96 * page.rows.len()))
}

/// `GET /v1/kill`
pub(super) async fn state(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let query: AccountQuery = call.query()?;
    let account = call.caller.account(query.account, Scope::Read)?;
    let question = GetRestriction { account };
    let AsOf { at, answer, .. } = gate.read(&call.cx(), question, query.min_seq).await?;
    let response = KillStateAnswer {
        account,
        restriction: answer.in_force,
        killed: answer.by_member != rialto_model::Restriction::None,
        seq: at.seq,
        time: at.time,
    };
    Ok(respond(StatusCode::OK, &response, 128))
}

/// `POST /v1/kill`
pub(super) async fn kill(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let rialto_api::Nothing {} = call.query()?;
    let body: KillRequest = call.json()?;
    let level = call.level(gate, None)?;
    let mut results = Vec::new();
    for account in accounts(&call, body.account)? {
        let answer = gate.send_order(&call, Kill { account, level }).await;
        results.push(result(account, answer));
    }
    answered(results)
}

/// `DELETE /v1/kill`
pub(super) async fn lift(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let query: KillRequest = call.query()?;
    let level = call.level(gate, None)?;
    let mut results = Vec::new();
    for account in accounts(&call, query.account)? {
        let answer = gate.send_order(&call, LiftKill { account, level }).await;
        results.push(result(account, answer));
    }
    answered(results)
}

/// The named account, or all of the key.
fn accounts(call: &Call, named: Option<AccountId>) -> Result<Vec<AccountId>, ApiError> {
    call.caller.require(Scope::Trade)?;
    match named {
        Some(_) => Ok(vec![call.caller.account(named, Scope::Trade)?]),
        None if call.caller.accounts().is_empty() => Err(ApiError::missing("account")),
        None => Ok(call.caller.accounts().to_vec()),
    }
}

/// The result for one account. If one fails, the others are still done.
fn result(account: AccountId, answer: Result<Answer, ApiError>) -> Result<KillResult, Failed> {
    let answer = answer.map_err(|error| Failed { account, error })?;
    let (cancelled, pending) = cancelling(&answer);
    let (seq, time) = (Some(answer.seq), Some(answer.time));
    Ok(KillResult { account, cancelled, pending, seq, time, error: None })
}

/// An account whose command was refused or has no answer.
struct Failed {
    account: AccountId,
    error: ApiError,
}

/// The answer about all accounts; about a single one, its error if it failed.
fn answered(mut results: Vec<Result<KillResult, Failed>>) -> Handled {
    if let [Err(_)] = results[..]
        && let Some(Err(failed)) = results.pop()
    {
        return Err(failed.error);
    }
    let row = |result: Result<KillResult, Failed>| {
        result.unwrap_or_else(|Failed { account, error }| KillResult {
            account,
            cancelled: None,
            pending: None,
            seq: None,
            time: None,
            error: Some(error.detail()),
        })
    };
    let results: Vec<_> = results.into_iter().map(row).collect();
    let seq = results.iter().filter_map(|result| result.seq).max();
    let capacity = 64 + 128 * results.len();
    Ok(respond(StatusCode::OK, &KillAnswer { results, seq }, capacity))
}
