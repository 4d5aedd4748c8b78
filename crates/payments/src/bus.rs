//! The bus: the only way to a withdrawal.

use crate::office::Office;
use crate::request::{
    ApproveWithdrawal, CancelWithdrawal, GetWithdrawal, ListWithdrawals, RejectWithdrawal,
    RequestWithdrawal, Requested, Withdrawals,
};
use crate::withdrawal::{Decision, Withdrawal};
use rialto_bus::behaviour::{Counters, IsolatePanics};
use rialto_bus::{Context, Handler, Result, behaviours, bus};
use rialto_desk::Authorisation;

bus! {
    /// Everything that can be asked about withdrawals, as typed requests.
    ///
    /// The [`Context`] of each names a [`Grant`](rialto_desk::Grant) as its principal. It must be used
    /// within a Tokio runtime that has timers.
    pub struct PaymentsBus {
        requests through [Counters, IsolatePanics, Authorisation] {
            office: Office =>
                later RequestWithdrawal, later CancelWithdrawal,
                later ApproveWithdrawal, later RejectWithdrawal,
                later GetWithdrawal, later ListWithdrawals;
        }
    }
}

impl PaymentsBus {
    /// A bus to this office.
    #[must_use]
    pub fn new(office: Office) -> PaymentsBus {
        PaymentsBus {
            requests: behaviours![Counters::default(), IsolatePanics, Authorisation],
            office,
        }
    }

    /// How often what was asked, and what came of it: what was forbidden included.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.requests.0
    }

    /// Where the withdrawals are dealt with.
    #[must_use]
    pub fn office(&self) -> &Office {
        &self.office
    }
}

impl Handler<RequestWithdrawal> for Office {
    async fn handle(&self, request: RequestWithdrawal, _: &Context<'_>) -> Result<Requested> {
        self.request(request.transfer).await
    }
}

impl Handler<CancelWithdrawal> for Office {
    async fn handle(&self, request: CancelWithdrawal, _: &Context<'_>) -> Result<Withdrawal> {
        self.decide(request.id, Decision::Cancel).await
    }
}

impl Handler<ApproveWithdrawal> for Office {
    async fn handle(&self, request: ApproveWithdrawal, _: &Context<'_>) -> Result<Withdrawal> {
        self.decide(request.id, Decision::Approve { receipt: request.receipt }).await
    }
}

impl Handler<RejectWithdrawal> for Office {
    async fn handle(&self, request: RejectWithdrawal, _: &Context<'_>) -> Result<Withdrawal> {
        self.decide(request.id, Decision::Reject { reason: request.reason }).await
    }
}

impl Handler<GetWithdrawal> for Office {
    async fn handle(&self, request: GetWithdrawal, _: &Context<'_>) -> Result<Withdrawal> {
        self.get(&request.id)
    }
}

impl Handler<ListWithdrawals> for Office {
    async fn handle(&self, request: ListWithdrawals, _: &Context<'_>) -> Result<Withdrawals> {
        Ok(self.list(&request))
    }
}
