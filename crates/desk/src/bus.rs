//! The desk's bus: the only way to the engine and to the feed's queries.

use crate::attribution::attribution;
use crate::notes::{note_answer, note_command};
use crate::query::{
    FindCurrency, FindInstrument, FindOrder, GetAuction, GetBalances, GetBook, GetCalendar,
    GetInstrument, GetOrderBook, GetPublishedSeq, GetReport, GetRestriction, GetStatus, GetTicker,
    GetTime, GetTrades, IdentifyOrder, ListAccounts, ListCalendars, ListFills, ListInstruments,
    ListOrders, ListRestrictions, QueryHandler,
};
use crate::{
    AcceptClock, AmendOrder, AmendTriggerPrice, Answer, AssignCalendar, Authorisation, CancelOrder,
    CancelOrders, CreateAccount, CreateCurrency, CreateInstrument, CreateMember, Deposit, Desk,
    Disconnect, Grant, HaltTrading, HoldWithdrawal, Kill, LiftKill, Listing, Live, Maintenance,
    MoveTransition, NameTable, OrderRate, PayOut, PlaceConditionalOrder, PlaceIcebergOrder,
    PlaceLinkedOrders, PlaceOrder, PlaceTrailingOrder, ReadAudit, ReadFeed, Refused,
    ReleaseWithdrawal, Resume, Scope, Sender, SetAuctionRules, SetCircuitBreaker, SetContractTerms,
    SetDeadMan, SetInstrumentState, SetRestriction, SetRules, SetRulesVersion, SettleWithdrawal,
    SubmitBatch, Subscribe, TakeBackup, TakeSnapshot, ToEngine, VenueBehaviours,
};
use rialto_bus::behaviour::Counters;
use rialto_bus::{Context, Error, Handler, Result, bus};
use rialto_engine::{Engine, Level, Storage};
use rialto_model::{MemberId, Outcome, Symbol};
use rialto_recorder::Recorder;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

bus! {
    /// All requests of the venue.
    ///
    /// The [`Context`] of each has a [`Grant`](crate::Grant) as its principal.
    pub struct DeskBus {
        requests through VenueBehaviours<Authorisation> {
            desk: Desk =>
                boxed PlaceOrder, boxed PlaceConditionalOrder, boxed PlaceTrailingOrder,
                boxed PlaceIcebergOrder, boxed PlaceLinkedOrders, boxed CancelOrder, boxed AmendOrder,
                boxed AmendTriggerPrice, boxed CancelOrders,
                boxed SetDeadMan, boxed Disconnect, boxed SubmitBatch,
                boxed Deposit, boxed PayOut,
                boxed HoldWithdrawal, boxed SettleWithdrawal, boxed ReleaseWithdrawal,
                boxed CreateMember, boxed CreateAccount, boxed CreateCurrency,
                boxed CreateInstrument, boxed SetRules, boxed SetInstrumentState,
                boxed SetAuctionRules, boxed SetRestriction, boxed Kill, boxed LiftKill,
                boxed AssignCalendar, boxed MoveTransition, boxed HaltTrading, boxed SetCircuitBreaker,
                boxed SetContractTerms, boxed SetRulesVersion;
            queries: QueryHandler =>
                boxed ReadFeed<ListInstruments>, boxed ReadFeed<GetInstrument>, boxed ReadFeed<GetBook>,
                boxed ReadFeed<GetOrderBook>, boxed ReadFeed<GetTrades>, boxed ReadFeed<GetTicker>,
                boxed ReadFeed<GetAuction>, boxed ReadFeed<ListCalendars>,
                boxed ReadFeed<GetCalendar>,
                boxed ReadFeed<FindOrder>, boxed ReadFeed<ListOrders>, boxed ReadFeed<ListFills>,
                boxed ReadFeed<GetBalances>, boxed ReadFeed<ListAccounts>,
                boxed ReadFeed<GetRestriction>, boxed ReadFeed<ListRestrictions>, boxed IdentifyOrder,
                boxed FindInstrument, boxed FindCurrency,
                boxed GetTime, boxed GetPublishedSeq, boxed GetStatus, boxed GetReport,
                boxed Subscribe, boxed Resume, boxed ReadAudit;
            maintenance: Maintenance => boxed TakeSnapshot, boxed TakeBackup, boxed AcceptClock;
        }
    }
}

/// The parts of a venue that a desk uses. Several desks can share them.
#[derive(Clone)]
pub struct VenueParts {
    /// The engine.
    pub engine: Arc<Engine>,
    /// The feed that follows it.
    pub live: Arc<Live>,
    /// The orders that each member may enter in a second, over all desks.
    pub order_rate: Arc<OrderRate>,
}

impl VenueParts {
    /// The parts of a venue whose members may enter any number of orders in a second.
    #[must_use]
    pub fn new(engine: Arc<Engine>, live: Arc<Live>) -> VenueParts {
        VenueParts { engine, live, order_rate: Arc::new(OrderRate::new(0)) }
    }

    /// The same parts with this limit of orders.
    #[must_use]
    pub fn with_order_rate(self, order_rate: Arc<OrderRate>) -> VenueParts {
        VenueParts { order_rate, ..self }
    }
}

/// The settings of a desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeskConfig {
    /// The connections to the engine, at least one; each has its own bound on commands in flight.
    pub connections: usize,
    /// How long a query may wait for the feed to reach a sequence.
    pub patience: Duration,
    /// The directory for backups; without it, none are made.
    pub backup_dir: Option<PathBuf>,
}

impl Default for DeskConfig {
    fn default() -> DeskConfig {
        DeskConfig { connections: 1, patience: Duration::from_secs(2), backup_dir: None }
    }
}

impl DeskBus {
    /// The bus of this venue. It must be opened and used within one Tokio runtime that has a timer.
    #[must_use]
    pub fn open(venue: VenueParts, config: &DeskConfig) -> DeskBus {
        let VenueParts { engine, live, order_rate } = venue;
        let maintenance =
            Maintenance { engine: Arc::clone(&engine), backup_dir: config.backup_dir.clone() };
        let requests = VenueBehaviours::new(Authorisation);
        let durations = Arc::clone(requests.durations());
        DeskBus {
            requests,
            desk: Desk::open(&engine, order_rate, config.connections),
            queries: QueryHandler {
                engine,
                live,
                durations,
                patience: config.patience,
                audit_turn: Arc::default(),
            },
            maintenance,
        }
    }

    /// The same with a recorder of requests, forbidden ones included.
    #[must_use]
    pub fn recorded_by(mut self, recorder: Option<Arc<Recorder>>) -> DeskBus {
        self.requests = self.requests.recorded_by(recorder);
        self
    }

    /// The number of requests by name and outcome, forbidden requests included.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.requests.counters()
    }

    /// The instrument with this symbol, if the feed has it; [`FindInstrument`] waits for it.
    #[must_use]
    pub fn listing(&self, symbol: &Symbol) -> Option<Listing> {
        self.queries.live.listing(symbol)
    }

    /// The names of the instruments and currencies that the feed has.
    #[must_use]
    pub fn names(&self) -> Arc<NameTable> {
        self.queries.live.names()
    }

    /// The free space of the disk.
    #[must_use]
    pub fn storage(&self) -> &Storage {
        self.queries.engine.storage()
    }

    /// The venue's level of durability.
    #[must_use]
    pub fn level(&self) -> Level {
        self.queries.engine.config().level
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
                let by = if R::SCOPE == Scope::Admin { attribution(cx)? } else { None };
                let sender = Sender { member: member(cx), attribution: by.as_ref() };
                self.submit_of(sender, &command, request.level())?
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
        let sender = Sender { member: member(cx), attribution: None };
        let answers = self.submit_many(sender, &request.submissions).await;
        answers.iter().flatten().for_each(|answer| cx.note("seq", &answer.seq.0));
        Ok(answers.into_iter().map(|answer| accepted(answer.map_err(Error::from)?)).collect())
    }
}

fn member(cx: &Context<'_>) -> Option<MemberId> {
    cx.principal::<Grant>().and_then(Grant::member)
}

fn accepted(answer: Answer) -> Result<Answer> {
    match answer.outcome {
        Outcome::Rejected { reason } => Err(Refused { reason, seq: answer.seq }.into()),
        _ => Ok(answer),
    }
}
