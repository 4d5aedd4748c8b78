//! The bus: the only way into the engine.

use crate::notes::{note_answer, note_command};
use crate::{
    AmendOrder, Answer, Authorisation, CancelOrder, CancelOrders, CreateAccount, CreateCurrency,
    CreateInstrument, CreateMember, Deposit, Desk, Disconnect, HoldWithdrawal, PayOut, PlaceOrder,
    Refused, ReleaseWithdrawal, SetDeadMan, SetInstrumentState, SetRules, SettleWithdrawal,
    SubmitBatch, ToEngine, Withdraw,
};
use rialto_bus::behaviour::{Counters, IsolatePanics};
use rialto_bus::{Context, Error, Handler, Result, behaviours, bus};
use rialto_engine::Engine;
use rialto_flow::recorder::{RecordRequests, Recorder};
use rialto_model::Outcome;
use std::sync::Arc;

bus! {
    /// Everything that can be asked of the engine, as typed requests.
    ///
    /// The [`Context`] of each names a [`Grant`](crate::Grant) as its principal.
    pub struct DeskBus {
        commands through [Counters, IsolatePanics, Option<RecordRequests>, Authorisation] {
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
            commands: behaviours![Counters::default(), IsolatePanics, None, Authorisation],
            desk: Desk::open(engine, lanes),
        }
    }

    /// The same, with a recorder of what requests do, forbidden ones included.
    #[must_use]
    pub fn recorded_by(mut self, recorder: Option<Arc<Recorder>>) -> DeskBus {
        self.commands.1.1.0 = recorder.map(RecordRequests);
        self
    }

    /// How often what was asked, and what came of it: what was forbidden included.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.commands.0
    }
}

impl<R: ToEngine + Sync> Handler<R> for Desk {
    async fn handle(&self, request: R, cx: &Context<'_>) -> Result<Answer> {
        let command = request.command();
        note_command(&command, cx);
        cx.step("engine");
        let answer = self.submit(&command, request.level()).await?;
        note_answer(&answer, cx);
        accepted(answer)
    }
}

impl Handler<SubmitBatch> for Desk {
    async fn handle(&self, request: SubmitBatch, cx: &Context<'_>) -> Result<Vec<Result<Answer>>> {
        cx.note("rows", &request.submissions.len());
        cx.step("engine");
        let answers = self.submit_many(&request.submissions).await;
        answers.iter().flatten().for_each(|answer| cx.note("seq", &answer.seq.0));
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
