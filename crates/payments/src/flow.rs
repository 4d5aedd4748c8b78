//! The flow of a withdrawal.
//!
//! Its input is the [`Transfer`], its output an [`Ended`]; both, and the results of its steps, are
//! kept by the store of the flows.
// format: docs/formats/withdrawals.md

use crate::index::WithdrawalIndex;
use crate::withdrawal::{Decision, DeliveredDecision, State, Withdrawal, WithdrawalFailure};
use rialto_bus::{Context, Dispatch, Error, Serves};
use rialto_desk::{
    Answer, DeskBus, Grant, HoldWithdrawal, Refused, ReleaseWithdrawal, Scope, Scopes,
    SettleWithdrawal, ToEngine,
};
use rialto_engine::Level;
use rialto_flow::{Flow, FlowContext, FlowError, RetryPolicy, StepError};
use rialto_model::{Attribution, RejectReason, Seq, Timestamp, Transfer};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// The event that a decision is delivered as.
pub(crate) const DECISION: &str = "decision";

/// How often a command is retried when the engine was busy, or ended before it answered. It is
/// never given up: a withdrawal whose hold or payment is in doubt must not be forgotten.
const ASK_AGAIN: RetryPolicy =
    RetryPolicy::forever().first(Duration::from_millis(10)).longest(Duration::from_secs(1));

/// Holds the amount, waits for a decision, and settles or releases it.
///
/// Each step sends the engine a command that takes effect once under the reference of the
/// withdrawal. A step that is repeated, because the process died between the engine's answer and
/// the store's confirmation, gets the same answer again.
pub(crate) struct WithdrawalFlow {
    pub(crate) desk: Arc<DeskBus>,
    pub(crate) index: Arc<WithdrawalIndex>,
    pub(crate) expires_after: Duration,
}

/// The engine's answer to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EngineAnswer {
    /// It took effect, by this command or an earlier one.
    Done(Seq),
    Refused(RejectReason, Seq),
}

/// The result of the step that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HoldResult {
    told: EngineAnswer,
    /// How long it may be pending. Recorded with the step, so that a changed setting after a
    /// restart does not affect it.
    expires_after_ns: u64,
}

/// The end of a withdrawal, with what is needed to show it after its flow has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub(crate) state: State,
    pub(crate) changed: u64,
    pub(crate) expires: Option<u64>,
    pub(crate) decision: Option<Decision>,
    pub(crate) seq: Option<Seq>,
    pub(crate) failure: Option<WithdrawalFailure>,
}

impl Ended {
    fn of(withdrawal: Withdrawal) -> Ended {
        let Withdrawal { state, changed, expires, decision, seq, failure, .. } = withdrawal;
        let expires = expires.map(|expires| expires.0);
        Ended { state, changed: changed.0, expires, decision, seq, failure }
    }

    /// The withdrawal.
    pub(crate) fn show(self, transfer: Transfer, requested: Timestamp) -> Withdrawal {
        let Ended { state, changed, expires, decision, seq, failure } = self;
        let (changed, expires) = (Timestamp(changed), expires.map(Timestamp));
        Withdrawal { transfer, state, requested, changed, expires, decision, seq, failure }
    }
}

impl Withdrawal {
    fn end(&mut self, state: State, told: EngineAnswer) {
        let (EngineAnswer::Done(seq) | EngineAnswer::Refused(_, seq)) = told;
        self.state = state;
        self.seq = Some(seq);
        if let EngineAnswer::Refused(reason, seq) = told {
            self.failure = Some(WithdrawalFailure::Refused { reason, seq });
        }
    }
}

/// The state of a withdrawal whose flow has failed or was cancelled.
pub(crate) fn state_after(error: &FlowError) -> State {
    if *error == FlowError::Cancelled { State::Cancelled } else { State::Failed }
}

impl Flow for WithdrawalFlow {
    const NAME: &'static str = "withdrawal";

    type Input = Transfer;
    type Output = Ended;

    async fn run<'a>(
        &'a self,
        cx: &FlowContext<'a>,
        transfer: &'a Transfer,
    ) -> Result<Ended, FlowError> {
        let mut withdrawal = Withdrawal::requested(*transfer, cx.now());
        self.index.put(cx.number(), &withdrawal);
        let came_to = self.carry_out(cx, transfer, &mut withdrawal).await;
        withdrawal.changed = cx.now();
        if let Err(error) = &came_to {
            // The compensation of the holding step releases the amount.
            withdrawal.state = state_after(error);
            withdrawal.failure = Some(WithdrawalFailure::Broken(error.to_string()));
        }
        self.index.put(cx.number(), &withdrawal);
        came_to.map(|()| Ended::of(withdrawal))
    }
}

impl WithdrawalFlow {
    async fn carry_out<'a>(
        &'a self,
        cx: &FlowContext<'a>,
        transfer: &'a Transfer,
        withdrawal: &mut Withdrawal,
    ) -> Result<(), FlowError> {
        let held: HoldResult = cx
            .step("hold", move || self.hold(transfer))
            .retry(ASK_AGAIN)
            .compensate(move |held| self.undo(transfer, held))
            .await?;
        if let EngineAnswer::Refused(..) = held.told {
            withdrawal.end(State::Refused, held.told);
            return Ok(());
        }
        let expires = cx.now().after(Duration::from_nanos(held.expires_after_ns));
        withdrawal.expires = Some(expires);
        self.show(cx, withdrawal, State::Pending);
        let delivered: Option<DeliveredDecision> = cx.wait_for(DECISION).until(expires).await?;
        let mut by = None;
        if let Some((decision, attribution)) = delivered.map(DeliveredDecision::split) {
            (withdrawal.decision, by) = (Some(decision), attribution);
        }
        let (told, ended) = if let Some(Decision::Approve { .. }) = withdrawal.decision {
            self.show(cx, withdrawal, State::Settling);
            let settle = cx.step("settle", move || self.settle(transfer, by));
            (settle.retry(ASK_AGAIN).await?, State::Settled)
        } else {
            self.show(cx, withdrawal, State::Returning);
            let release = cx.step("release", move || self.release(transfer, by));
            let ended = match withdrawal.decision {
                Some(Decision::Cancel) => State::Cancelled,
                Some(_) => State::Rejected,
                None => State::Expired,
            };
            (release.retry(ASK_AGAIN).await?, ended)
        };
        // A refusal here means that it was ended outside of the flow, or that the engine was
        // restored to a state from before the hold.
        let refused = matches!(told, EngineAnswer::Refused(..));
        withdrawal.end(if refused { State::Failed } else { ended }, told);
        Ok(())
    }

    fn show(&self, cx: &FlowContext<'_>, withdrawal: &mut Withdrawal, state: State) {
        withdrawal.state = state;
        withdrawal.changed = cx.now();
        self.index.put(cx.number(), withdrawal);
    }

    async fn hold(&self, transfer: &Transfer) -> Result<HoldResult, StepError> {
        let request = HoldWithdrawal { transfer: *transfer, level: LEVEL };
        let grant = self.grant(transfer);
        let cx = Context::new().with_principal(&grant);
        let told = step_answer(self.desk.send(request, &cx).await)?;
        let expires_after_ns = self.expires_after.as_nanos().try_into().unwrap_or(u64::MAX);
        Ok(HoldResult { told, expires_after_ns })
    }

    async fn settle(
        &self,
        transfer: &Transfer,
        by: Option<Attribution>,
    ) -> Result<EngineAnswer, StepError> {
        let Transfer { account, reference, .. } = *transfer;
        let request = SettleWithdrawal { account, reference, level: LEVEL };
        let grant = self.grant(transfer);
        self.end(request, grant, by).await
    }

    async fn release(
        &self,
        transfer: &Transfer,
        by: Option<Attribution>,
    ) -> Result<EngineAnswer, StepError> {
        let Transfer { account, reference, .. } = *transfer;
        let request = ReleaseWithdrawal { account, reference, level: LEVEL };
        let grant = self.grant(transfer);
        self.end(request, grant, by).await
    }

    /// Sends the command that ends the withdrawal, in the name of the operator who decided so.
    async fn end<R: ToEngine>(
        &self,
        request: R,
        grant: Grant,
        by: Option<Attribution>,
    ) -> Result<EngineAnswer, StepError>
    where
        DeskBus: Serves<R>,
    {
        let grant = grant.held_by(by.map(|by| by.by).unwrap_or_default());
        let mut cx = Context::new().with_principal(&grant);
        cx.reason = by.as_ref().map(|by| by.reason.as_str());
        step_answer(self.desk.send(request, &cx).await)
    }

    /// Releases the amount, if it was held.
    async fn undo(&self, transfer: &Transfer, held: HoldResult) -> Result<(), StepError> {
        match held.told {
            EngineAnswer::Refused(..) => Ok(()),
            EngineAnswer::Done(_) => match self.release(transfer, None).await? {
                EngineAnswer::Done(_) => Ok(()),
                EngineAnswer::Refused(reason, _) => Err(StepError::permanent(reason)),
            },
        }
    }

    /// The venue itself sends the command for this account; the request was authorised before.
    fn grant(&self, transfer: &Transfer) -> Grant {
        let scopes = Scopes::NONE.with(Scope::Transfer).with(Scope::Admin);
        Grant::new(scopes, [transfer.account])
    }
}

/// Payments are synced first, at every level of the venue.
const LEVEL: Option<Level> = Some(Level::Synced);

/// The engine's answer. Without one the step is retried: the engine was busy, or it ended and the
/// next one knows the outcome.
fn step_answer(answer: Result<Answer, Error>) -> Result<EngineAnswer, StepError> {
    match answer {
        Ok(answer) => Ok(EngineAnswer::Done(answer.seq)),
        Err(error) => match error.source_as::<Refused>() {
            Some(refused) => Ok(EngineAnswer::Refused(refused.reason, refused.seq)),
            None => Err(StepError::retryable(error.message())),
        },
    }
}
