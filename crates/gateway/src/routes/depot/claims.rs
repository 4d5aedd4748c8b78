//! Claims of workers.

use super::{bus, tenant};
use crate::ApiError;
use crate::call::Call;
use crate::convert::{claim_info, settled_info};
use crate::gate::Gate;
use crate::json;
use crate::results::ResultReader;
use crate::routes::{Handled, respond};
use crate::upload::{Incoming, depot_context, pass_on};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use rialto_api::{
    DepotClaimRequest, DepotClaimTokens, DepotClaimsAnswer, DepotCompleteWithQuery,
    DepotFailRequest, DepotRefuseRequest, DepotRenewRequest, DepotRenewed, DepotRenewedAnswer,
    DepotSettleRequest, Nothing,
};
use rialto_bus::Dispatch;
use rialto_depot::{ClaimOptions, ClaimToken, TenantName};
use rialto_depot_desk::{
    ClaimFiles, CompleteClaims, CompleteWith, FailClaims, RefuseClaims, RenewClaims,
    ResultContents, ReturnClaims, SettledClaims, may_complete_with,
};
use std::time::Duration;

/// `POST /v1/depot/{tenant}/claims`
pub(crate) async fn claim(gate: &Gate, request: Request) -> Handled {
    let call = begin(gate, request).await?;
    let tenant = tenant(&call.head)?;
    claim_of(gate, &call, Some(tenant)).await
}

/// `POST /v1/depot/claims`
pub(crate) async fn claim_any(gate: &Gate, request: Request) -> Handled {
    let call = begin(gate, request).await?;
    claim_of(gate, &call, None).await
}

/// Reads a request for claims. It is not counted as an operation, so that it must check for the stop
/// itself.
async fn begin(gate: &Gate, request: Request) -> Result<Call, ApiError> {
    if gate.intake.process.operations().is_stopping() {
        return Err(ApiError::stopped());
    }
    Call::read(gate, request).await
}

async fn claim_of(gate: &Gate, call: &Call, tenant: Option<TenantName>) -> Handled {
    let Nothing {} = call.query()?;
    let body: DepotClaimRequest = call.json()?;
    let claim = ClaimFiles {
        tenant,
        options: ClaimOptions {
            files_max: body.limit.unwrap_or(1),
            duration: body.duration_ms.map(Duration::from_millis),
        },
        wait: Duration::from_millis(body.wait_ms),
        content: body.content,
    };
    let cx = call.depot_cx();
    let claimed = call.while_valid(gate, bus(gate)?.send(claim, &cx)).await?;
    let bytes = claimed.iter().map(|it| 768 + it.content.as_ref().map_or(0, Vec::len) * 4 / 3);
    let bytes: usize = bytes.sum();
    let answer = DepotClaimsAnswer { claims: claimed.iter().map(claim_info).collect() };
    Ok(respond(StatusCode::OK, &answer, 64 + bytes))
}

/// `POST /v1/depot/claims/renew`
pub(crate) async fn renew(gate: &Gate, request: Request) -> Handled {
    let call =
        Call::read_if(gate, request, gate.config.queue_body_bytes_max, |_, _| Ok(())).await?;
    let Nothing {} = call.query()?;
    let body: DepotRenewRequest<'_> = call.json()?;
    let renew = RenewClaims {
        claims: tokens(&body.claims)?,
        duration: body.duration_ms.map(Duration::from_millis),
    };
    let answer = bus(gate)?.send(renew, &call.depot_cx()).await?;
    let renewed = answer
        .renewed
        .iter()
        .map(|(token, deadline)| DepotRenewed { claim: token.to_string(), deadline: *deadline });
    let answer = DepotRenewedAnswer {
        renewed: renewed.collect(),
        lost: answer.lost.iter().map(ToString::to_string).collect(),
    };
    Ok(respond(StatusCode::OK, &answer, 64 + 160 * answer.renewed.len()))
}

/// `POST /v1/depot/claims/complete`
pub(crate) async fn complete(gate: &Gate, request: Request) -> Handled {
    let (call, claims) = settling(gate, request).await?;
    let complete = CompleteClaims { claims };
    Ok(settled(&bus(gate)?.send(complete, &call.depot_cx()).await?))
}

/// `POST /v1/depot/claims/complete-with`
pub(crate) async fn complete_with(gate: &Gate, request: Request) -> Handled {
    let bus = bus(gate)?;
    let incoming = Incoming::admit(gate, request)?;
    let claim: ClaimToken = {
        let query: DepotCompleteWithQuery<'_> =
            json::read_query(incoming.head.uri.query().unwrap_or_default())?;
        query.claim.parse().map_err(|error| ApiError::invalid("claim", format!("{error}.")))?
    };
    may_complete_with(incoming.caller.depot_principal(), &claim)?;
    let sha256 = incoming.sha256;
    let (caller, head, body) = incoming.into_parts();
    let (sender, results) = ResultContents::channel();
    let complete = CompleteWith { claim, results };
    let cx = depot_context(&head, &caller);
    let reader = ResultReader::new(sender, sha256);
    pass_on(gate, &caller, body, reader, bus.send(complete, &cx)).await?;
    Ok(respond(StatusCode::OK, &Nothing {}, 2))
}

/// `POST /v1/depot/claims/return`
pub(crate) async fn give_back(gate: &Gate, request: Request) -> Handled {
    let (call, claims) = settling(gate, request).await?;
    let give_back = ReturnClaims { claims };
    Ok(settled(&bus(gate)?.send(give_back, &call.depot_cx()).await?))
}

/// `POST /v1/depot/claims/fail`
pub(crate) async fn fail(gate: &Gate, request: Request) -> Handled {
    let call =
        Call::read_if(gate, request, gate.config.queue_body_bytes_max, |_, _| Ok(())).await?;
    let Nothing {} = call.query()?;
    let body: DepotFailRequest<'_> = call.json()?;
    let fail = FailClaims {
        claims: tokens(&body.claims)?,
        reason: body.reason.as_deref().unwrap_or_default().to_owned(),
        delay: body.delay_ms.map(Duration::from_millis),
    };
    Ok(settled(&bus(gate)?.send(fail, &call.depot_cx()).await?))
}

/// `POST /v1/depot/claims/refuse`
pub(crate) async fn refuse(gate: &Gate, request: Request) -> Handled {
    let call =
        Call::read_if(gate, request, gate.config.queue_body_bytes_max, |_, _| Ok(())).await?;
    let Nothing {} = call.query()?;
    let body: DepotRefuseRequest<'_> = call.json()?;
    let refuse = RefuseClaims {
        claims: tokens(&body.claims)?,
        reason: body.reason.as_deref().unwrap_or_default().to_owned(),
    };
    Ok(settled(&bus(gate)?.send(refuse, &call.depot_cx()).await?))
}

async fn settling(gate: &Gate, request: Request) -> Result<(Call, Vec<ClaimToken>), ApiError> {
    let call =
        Call::read_if(gate, request, gate.config.queue_body_bytes_max, |_, _| Ok(())).await?;
    let Nothing {} = call.query()?;
    let body: DepotSettleRequest<'_> = call.json()?;
    let claims = tokens(&body.claims)?;
    Ok((call, claims))
}

fn tokens(claims: &DepotClaimTokens<'_>) -> Result<Vec<ClaimToken>, ApiError> {
    let read = |(nth, text): (usize, &rialto_api::Str<'_>)| {
        text.parse()
            .map_err(|error| ApiError::invalid(format!("claims[{nth}]"), format!("{error}.")))
    };
    claims.0.iter().enumerate().map(read).collect()
}

fn settled(settled: &SettledClaims) -> Response {
    let capacity =
        64 + 128 * (settled.lost.len() + settled.unreadable.len() + settled.failed.len());
    respond(StatusCode::OK, &settled_info(settled), capacity)
}
