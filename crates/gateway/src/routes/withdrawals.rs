//! Withdrawals: requests of members, decisions of operators.

use super::{Handled, count, respond};
use crate::call::Call;
use crate::convert::withdrawal_info;
use crate::gate::Gate;
use crate::{ApiError, decimal};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use rialto_api::{
    ApproveRequest, Listed, Nothing, RejectRequest, WithdrawalAnswer, WithdrawalInfo,
    WithdrawalRequest, WithdrawalsAnswer, WithdrawalsQuery,
};
use rialto_bus::{Request as BusRequest, Serves};
use rialto_desk::Scope;
use rialto_model::{AccountId, RejectReason, Transfer};
use rialto_payments::{
    ApproveWithdrawal, CancelWithdrawal, GetWithdrawal, ListWithdrawals, PAGE_MAX, PaymentsBus,
    RejectWithdrawal, RequestWithdrawal, Requested, Withdrawal, WithdrawalId,
};

/// `POST /v1/withdrawals`
pub(super) async fn request(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let Nothing {} = call.query()?;
    let body: WithdrawalRequest<'_> = call.json()?;
    let account = call.caller.account(body.account, Scope::Transfer)?;
    let currency = gate.currency(&call.cx(), &body.currency, "currency").await?;
    let amount = decimal::amount("amount", &body.amount, &currency)?;
    let reference = decimal::short("reference", &body.reference)?;
    let transfer = Transfer { account, currency: currency.id, amount, reference };
    let Requested { withdrawal, repeated } =
        serve(gate, &call, RequestWithdrawal { transfer }).await?;
    let status = match () {
        () if withdrawal.state == rialto_payments::State::Requested => StatusCode::ACCEPTED,
        () if repeated => StatusCode::OK,
        () => StatusCode::CREATED,
    };
    tell(gate, status, &withdrawal, Some(repeated))
}

/// `GET /v1/withdrawals`
pub(super) async fn list(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    page(gate, &call, true).await
}

/// `GET /v1/admin/withdrawals`
pub(super) async fn list_all(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    call.caller.require(Scope::Admin)?;
    page(gate, &call, false).await
}

async fn page(gate: &Gate, call: &Call, of_one_account: bool) -> Handled {
    let query: WithdrawalsQuery<'_> = call.query()?;
    let limit = count("limit", query.limit, 100, gate.config.page_max.min(PAGE_MAX))?;
    let after: Option<WithdrawalId> = match query.after.as_deref().map(str::parse) {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(_)) => {
            let message = "The parameter after must be the id of a withdrawal.";
            return Err(ApiError::invalid("after", message));
        }
    };
    let (account, ended) = (query.account, query.status == Listed::Ended);
    let account: Option<AccountId> = match of_one_account {
        true => Some(call.caller.account(account, Scope::Read)?),
        false => account,
    };
    let listed = serve(gate, call, ListWithdrawals { account, ended, after, limit }).await?;
    let response = WithdrawalsAnswer {
        withdrawals: (listed.withdrawals.iter().map(|withdrawal| info(gate, withdrawal)))
            .collect::<Result<_, _>>()?,
        next: listed.withdrawals.last().filter(|_| listed.more).map(|last| last.id().to_string()),
    };
    Ok(respond(StatusCode::OK, &response, 64 + 384 * listed.withdrawals.len()))
}

/// `GET /v1/withdrawals/{id}`
pub(super) async fn get(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let id = named(&call, "/v1/withdrawals/", "")?;
    let withdrawal = serve(gate, &call, GetWithdrawal { id }).await?;
    tell(gate, StatusCode::OK, &withdrawal, None)
}

/// `DELETE /v1/withdrawals/{id}`
pub(super) async fn cancel(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let id = named(&call, "/v1/withdrawals/", "")?;
    decided(gate, &serve(gate, &call, CancelWithdrawal { id }).await?)
}

/// `POST /v1/admin/withdrawals/{id}/approve`
pub(super) async fn approve(gate: &Gate, request: Request) -> Handled {
    let call = super::venue::operator(gate, request).await?;
    let body: ApproveRequest<'_> = call.json()?;
    let receipt = decimal::short("receipt", &body.receipt)?;
    let id = named(&call, "/v1/admin/withdrawals/", "/approve")?;
    decided(gate, &serve(gate, &call, ApproveWithdrawal { id, receipt }).await?)
}

/// `POST /v1/admin/withdrawals/{id}/reject`
pub(super) async fn reject(gate: &Gate, request: Request) -> Handled {
    let call = super::venue::operator(gate, request).await?;
    let body: RejectRequest<'_> = call.json()?;
    let reason = body.reason.as_deref().unwrap_or_default().to_owned();
    let id = named(&call, "/v1/admin/withdrawals/", "/reject")?;
    decided(gate, &serve(gate, &call, RejectWithdrawal { id, reason }).await?)
}

/// The id of the withdrawal in the path.
fn named(call: &Call, before: &str, behind: &str) -> Result<WithdrawalId, ApiError> {
    let name = call.name_after(before)?;
    let name = name.strip_suffix(behind).unwrap_or(&name);
    name.parse().map_err(|_| ApiError::unknown(RejectReason::UnknownWithdrawal))
}

/// Sends a request to the bus of payments.
async fn serve<R: BusRequest>(gate: &Gate, call: &Call, request: R) -> Result<R::Response, ApiError>
where
    PaymentsBus: Serves<R>,
{
    let Some(payments) = &gate.payments else {
        let message = "This venue has no withdrawals.";
        return Err(ApiError::new(StatusCode::NOT_FOUND, "unknown_route", message));
    };
    let cx = call.cx();
    cx.step("send");
    let answer = payments.serve(request, &cx).await;
    cx.step("answer");
    Ok(answer?)
}

/// The answer to a decision, which is done or will be.
fn decided(gate: &Gate, withdrawal: &Withdrawal) -> Handled {
    let is_done = withdrawal.state.is_ended();
    let status = if is_done { StatusCode::OK } else { StatusCode::ACCEPTED };
    tell(gate, status, withdrawal, None)
}

fn tell(
    gate: &Gate,
    status: StatusCode,
    withdrawal: &Withdrawal,
    repeated: Option<bool>,
) -> Result<Response, ApiError> {
    let withdrawal = info(gate, withdrawal)?;
    Ok(respond(status, &WithdrawalAnswer { withdrawal, repeated }, 512))
}

fn info(gate: &Gate, withdrawal: &Withdrawal) -> Result<WithdrawalInfo, ApiError> {
    let currency = gate.currency_of(withdrawal.transfer.currency)?;
    Ok(withdrawal_info(withdrawal, &currency))
}
