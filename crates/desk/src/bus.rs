//! The bus: the only way to the engine, and to what is known of it.

use crate::notes::{note_answer, note_command};
use crate::query::{
    FindCurrency, FindInstrument, FindOrder, GetBalances, GetBook, GetInstrument, GetOrderBook,
    GetReport, GetStatus, GetTicker, GetTime, GetTold, GetTrades, IdentifyOrder, Known,
    ListAccounts, ListFills, ListInstruments, ListOrders,
};
use crate::{
    AcceptClock, AmendOrder, Answer, Ask, Authorisation, CancelOrder, CancelOrders, CreateAccount,
    CreateCurrency, CreateInstrument, CreateMember, Deposit, Desk, Disconnect, HoldWithdrawal,
    Listing, Live, Maintenance, Names, PayOut, PlaceOrder, Refused, ReleaseWithdrawal, Resume,
    SetDeadMan, SetInstrumentState, SetRules, SetRulesVersion, SettleWithdrawal, SubmitBatch,
    Subscribe, TakeBackup, TakeSnapshot, ToEngine, VenueBehaviours,
};
use rialto_bus::behaviour::Counters;
use rialto_bus::{Context, Error, Handler, Result, bus};
use rialto_engine::{Engine, Level, Storage};
use rialto_model::{Outcome, Symbol};
use rialto_recorder::Recorder;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

bus! {
    /// Everything that can be asked of the venue, as typed requests.
    ///
    /// The [`Context`] of each names a [`Grant`](crate::Grant) as its principal.
    pub struct DeskBus {
        requests through VenueBehaviours<Authorisation> {
            desk: Desk =>
                boxed PlaceOrder, boxed CancelOrder, boxed AmendOrder, boxed CancelOrders,
                boxed SetDeadMan, boxed Disconnect, boxed SubmitBatch,
                boxed Deposit, boxed PayOut,
                boxed HoldWithdrawal, boxed SettleWithdrawal, boxed ReleaseWithdrawal,
                boxed CreateMember, boxed CreateAccount, boxed CreateCurrency,
                boxed CreateInstrument, boxed SetRules, boxed SetInstrumentState,
                boxed SetRulesVersion;
            known: Known =>
                boxed Ask<ListInstruments>, boxed Ask<GetInstrument>, boxed Ask<GetBook>,
                boxed Ask<GetOrderBook>, boxed Ask<GetTrades>, boxed Ask<GetTicker>,
                boxed Ask<FindOrder>, boxed Ask<ListOrders>, boxed Ask<ListFills>,
                boxed Ask<GetBalances>, boxed Ask<ListAccounts>, boxed IdentifyOrder,
                boxed FindInstrument, boxed FindCurrency,
                boxed GetTime, boxed GetTold, boxed GetStatus, boxed GetReport,
                boxed Subscribe, boxed Resume;
            maintenance: Maintenance => boxed TakeSnapshot, boxed TakeBackup, boxed AcceptClock;
        }
    }
}

/// The parts of a venue that a desk stands before. They can be shared by several.
#[derive(Clone)]
pub struct VenueParts {
    /// The engine.
    pub engine: Arc<Engine>,
    /// The feed that follows it.
    pub live: Arc<Live>,
}

/// How a desk works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeskConfig {
    /// Ways into the engine, at least one; each has its own bound on commands in flight.
    pub connections: usize,
    /// How long a question may wait for the feed to come to a sequence.
    pub patience: Duration,
    /// Where backups are put; without it, none are made.
    pub backup_dir: Option<PathBuf>,
}

impl Default for DeskConfig {
    fn default() -> DeskConfig {
        DeskConfig { connections: 1, patience: Duration::from_secs(2), backup_dir: None }
    }
}

impl DeskBus {
    /// A bus before this venue. It must be opened, and used, within one Tokio runtime that has a timer.
    #[must_use]
    pub fn open(venue: VenueParts, config: &DeskConfig) -> DeskBus {
        let VenueParts { engine, live } = venue;
        let maintenance =
            Maintenance { engine: Arc::clone(&engine), backup_dir: config.backup_dir.clone() };
        let requests = VenueBehaviours::new(Authorisation);
        let durations = Arc::clone(requests.durations());
        DeskBus {
            requests,
            desk: Desk::open(&engine, config.connections),
            known: Known { engine, live, durations, patience: config.patience },
            maintenance,
        }
    }

    /// The same, with a recorder of what requests do, forbidden ones included.
    #[must_use]
    pub fn recorded_by(mut self, recorder: Option<Arc<Recorder>>) -> DeskBus {
        self.requests = self.requests.recorded_by(recorder);
        self
    }

    /// How often each request was sent, by outcome, forbidden requests included.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.requests.counters()
    }

    /// The instrument with this symbol, if it is known already; [`FindInstrument`] waits for it.
    #[must_use]
    pub fn listing(&self, symbol: &Symbol) -> Option<Listing> {
        self.known.live.listing(symbol)
    }

    /// The names of the instruments and currencies that are known already.
    #[must_use]
    pub fn names(&self) -> Arc<Names> {
        self.known.live.names()
    }

    /// What is left of the disk.
    #[must_use]
    pub fn storage(&self) -> &Storage {
        self.known.engine.storage()
    }

    /// The venue's level of durability.
    #[must_use]
    pub fn level(&self) -> Level {
        self.known.engine.config().level
    }
}

impl<R: ToEngine + Sync> Handler<R> for Desk {
    #[expect(clippy::manual_async_fn, reason = "an `async fn` would keep the request and a copy")]
    fn handle(&self, request: R, cx: &Context<'_>) -> impl Future<Output = Result<Answer>> + Send {
        async move {
            let submitted = {
                let command = request.command();
                note_command(&command, cx);
                cx.step("engine");
                self.submit(&command, request.level())?
            };
            let answer = submitted.await?;
            note_answer(&answer, cx);
            accepted(answer)
        }
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

fn accepted(answer: Answer) -> Result<Answer> {
    match answer.outcome {
        Outcome::Rejected { reason } => Err(Refused { reason, seq: answer.seq }.into()),
        _ => Ok(answer),
    }
}
