//! The bus: the only way into the engine.

use crate::{
    AmendOrder, Answer, Authorisation, CancelOrder, CancelOrders, CreateAccount, CreateCurrency,
    CreateInstrument, CreateMember, Deposit, Desk, Disconnect, HoldWithdrawal, PayOut, PlaceOrder,
    Refused, ReleaseWithdrawal, SetDeadMan, SetInstrumentState, SetRules, SettleWithdrawal,
    SubmitBatch, ToEngine, Withdraw,
};
use rialto_bus::behaviour::{Counters, IsolatePanics};
use rialto_bus::{Context, Error, Handler, Result, behaviours, bus};
use rialto_engine::Engine;
use rialto_model::Outcome;

bus! {
    /// Everything that can be asked of the engine, as typed requests.
    ///
    /// The [`Context`] of each names a [`Grant`](crate::Grant) as its principal.
    pub struct DeskBus {
        commands through [Counters, IsolatePanics, Authorisation] {
            desk: Desk =>
                later PlaceOrder, later CancelOrder, later AmendOrder, later CancelOrders,
                later SetDeadMan, later Disconnect, later SubmitBatch,
                later Withdraw, later Deposit, later PayOut,
                later HoldWithdrawal, later SettleWithdrawal, later ReleaseWithdrawal,
                later CreateMember, later CreateAccount, later CreateCurrency,
                later CreateInstrument, later SetRules, later SetInstrumentState;
        }
    }
}

impl DeskBus {
    /// A bus into this engine by this many lanes, at least one. It must be opened, and used,
    /// within one Tokio runtime.
    #[must_use]
    pub fn open(engine: &Engine, lanes: usize) -> DeskBus {
        DeskBus {
            commands: behaviours![Counters::default(), IsolatePanics, Authorisation],
            desk: Desk::open(engine, lanes),
        }
    }

    /// How often what was asked, and what came of it: what was forbidden included.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.commands.0
    }
}

impl<R: ToEngine + Sync> Handler<R> for Desk {
    async fn handle(&self, request: R, cx: &Context<'_>) -> Result<Answer> {
        let answer = self.submit(&request.command(), request.level()).await?;
        cx.note("seq", &answer.seq);
        accepted(answer)
    }
}

impl Handler<SubmitBatch> for Desk {
    async fn handle(&self, request: SubmitBatch, _: &Context<'_>) -> Result<Vec<Result<Answer>>> {
        let answers = self.submit_many(&request.submissions).await;
        Ok(answers.into_iter().map(|answer| accepted(answer.map_err(Error::from)?)).collect())
    }
}

/// An answer that is no refusal.
fn accepted(answer: Answer) -> Result<Answer> {
    match answer.outcome {
        Outcome::Rejected { reason } => Err(Refused { reason, seq: answer.seq }.into()),
        _ => Ok(answer),
    }
}
