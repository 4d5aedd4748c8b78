//! The bus, through which all requests about withdrawals pass.

use crate::request::{
    ApproveWithdrawal, CancelWithdrawal, GetWithdrawal, ListWithdrawals, RejectWithdrawal,
    RequestWithdrawal, Requested, Withdrawals,
};
use crate::service::WithdrawalService;
use crate::withdrawal::{Decision, Withdrawal, WithdrawalId};
use rialto_bus::behaviour::Counters;
use rialto_bus::{Context, Handler, Result, bus};
use rialto_desk::{Authorisation, Durations, VenueBehaviours, attribution};
use rialto_recorder::Recorder;
use std::sync::Arc;

bus! {
    /// The bus of requests about withdrawals.
    ///
    /// The [`Context`] of each names a [`Grant`](rialto_desk::Grant) as its principal. It must be used
    /// within a Tokio runtime that has timers.
    pub struct PaymentsBus {
        requests through VenueBehaviours<Authorisation> {
            service: WithdrawalService =>
                later RequestWithdrawal, later CancelWithdrawal,
                later ApproveWithdrawal, later RejectWithdrawal,
                later GetWithdrawal, later ListWithdrawals;
        }
    }
}

impl PaymentsBus {
    /// A bus to this service.
    #[must_use]
    pub fn new(service: WithdrawalService) -> PaymentsBus {
        PaymentsBus { requests: VenueBehaviours::new(Authorisation), service }
    }

    /// The same, with a recorder of requests, including forbidden ones.
    #[must_use]
    pub fn recorded_by(mut self, recorder: Option<Arc<Recorder>>) -> PaymentsBus {
        self.requests = self.requests.recorded_by(recorder);
        self
    }

    /// How often each request was sent, by outcome, forbidden requests included.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.requests.counters()
    }

    /// The durations of requests.
    #[must_use]
    pub fn durations(&self) -> &Durations {
        self.requests.durations()
    }

    /// The service.
    #[must_use]
    pub fn service(&self) -> &WithdrawalService {
        &self.service
    }
}

impl Handler<RequestWithdrawal> for WithdrawalService {
    async fn handle(&self, request: RequestWithdrawal, cx: &Context<'_>) -> Result<Requested> {
        let RequestWithdrawal { transfer } = request;
        note_withdrawal(WithdrawalId::of(&transfer), cx);
        cx.note("currency", &transfer.currency.0);
        cx.note("amount_units", &transfer.amount.0);
        let requested = self.request(transfer).await?;
        note_answer(&requested.withdrawal, cx);
        cx.note("repeated", &requested.repeated);
        Ok(requested)
    }
}

impl Handler<CancelWithdrawal> for WithdrawalService {
    async fn handle(&self, request: CancelWithdrawal, cx: &Context<'_>) -> Result<Withdrawal> {
        decide(self, request.id, Decision::Cancel, cx).await
    }
}

impl Handler<ApproveWithdrawal> for WithdrawalService {
    async fn handle(&self, request: ApproveWithdrawal, cx: &Context<'_>) -> Result<Withdrawal> {
        decide(self, request.id, Decision::Approve { receipt: request.receipt }, cx).await
    }
}

impl Handler<RejectWithdrawal> for WithdrawalService {
    async fn handle(&self, request: RejectWithdrawal, cx: &Context<'_>) -> Result<Withdrawal> {
        decide(self, request.id, Decision::Reject { reason: request.reason }, cx).await
    }
}

impl Handler<GetWithdrawal> for WithdrawalService {
    async fn handle(&self, request: GetWithdrawal, _: &Context<'_>) -> Result<Withdrawal> {
        self.get(&request.id)
    }
}

impl Handler<ListWithdrawals> for WithdrawalService {
    async fn handle(&self, request: ListWithdrawals, _: &Context<'_>) -> Result<Withdrawals> {
        Ok(self.list(&request))
    }
}

async fn decide(
    service: &WithdrawalService,
    id: WithdrawalId,
    decision: Decision,
    cx: &Context<'_>,
) -> Result<Withdrawal> {
    note_withdrawal(id, cx);
    // Its owner cancels without one.
    let by = match decision {
        Decision::Cancel => None,
        Decision::Approve { .. } | Decision::Reject { .. } => attribution(cx)?,
    };
    let withdrawal = service.decide(id, decision, by).await?;
    note_answer(&withdrawal, cx);
    Ok(withdrawal)
}

/// Notes for the recorder which withdrawal a request is about.
fn note_withdrawal(id: WithdrawalId, cx: &Context<'_>) {
    cx.note("account", &id.account.0);
    cx.note("reference", &id.reference.as_str());
    cx.step("flow");
}

/// Notes the state of the withdrawal for the recorder.
fn note_answer(withdrawal: &Withdrawal, cx: &Context<'_>) {
    cx.step("answered");
    cx.note("state", &withdrawal.state);
    if let Some(seq) = withdrawal.seq {
        cx.note("seq", &seq.0);
    }
}
