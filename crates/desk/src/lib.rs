//! The venue's commands and queries as typed requests on a bus.
//!
//! A caller sends a request on the [`DeskBus`] with its [`Grant`]. The handler of commands, a
//! [`Desk`], submits them to the engine and waits, without blocking a thread, until the answer is
//! released. The desk has no protocol: gateways decode into these requests and encode the answers.
//! [`Live`] follows the engine with a feed, answers queries, and publishes changes to
//! [`Listener`]s.
//!
//! ```
//! use rialto_bus::{Context, Dispatch};
//! use rialto_desk::{
//!     CreateMember, DeskBus, DeskConfig, FindInstrument, Grant, Live, LiveConfig, Scope, Scopes,
//!     VenueParts,
//! };
//! use rialto_disk::SimDisk;
//! use rialto_engine::{Engine, EngineConfig};
//! use rialto_model::MemberId;
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = EngineConfig { segment_bytes: 4 << 20, ..EngineConfig::default() };
//! let engine = Arc::new(Engine::start(config, Arc::new(SimDisk::new(1)))?.0);
//! let live = Live::start(&engine, LiveConfig::default())?;
//! let bus = DeskBus::open(VenueParts::new(engine, live), &DeskConfig::default());
//! let operator = Grant::new(Scopes::NONE.with(Scope::Admin), []);
//! let cx = Context::new().with_principal(&operator);
//! let request = CreateMember { member: MemberId(0), name: "Acme".parse()?, level: None };
//! let answer = bus.send(request, &cx).await?;
//! assert_eq!(answer.seq.0, 1);
//! let unknown = bus.query(FindInstrument { symbol: "BTC-USD".parse()? }, &cx).await;
//! assert!(unknown.is_err_and(|error| error.code() == "unknown_instrument"));
//! # Ok(())
//! # }
//! ```

mod attribution;
mod audit;
mod authorisation;
mod behaviours;
mod bus;
mod desk;
mod durations;
mod error;
mod grant;
mod listing;
mod live;
mod name_table;
mod notes;
mod operate;
mod order_rate;
mod query;
mod request;
mod slots;
mod subscribe;
mod token_bucket;
mod validation;

pub use attribution::attribution;
pub use audit::{AUDIT_PAGE_MAX, AUDIT_SCAN_MAX, AuditPage, AuditRecord, ReadAudit};
pub use authorisation::{Authorisation, Needs};
pub use behaviours::VenueBehaviours;
pub use bus::{DeskBus, DeskConfig, VenueParts};
pub use desk::{Desk, DeskError, Sender, enters_order};
pub use durations::{Durations, RequestDuration};
pub use error::{AtField, Forbidden, Refused};
pub use grant::{Grant, Scope, Scopes};
pub use listing::Listing;
pub use live::{
    Content, FoldCounts, Listener, Live, LiveConfig, LiveError, PrivateChannel, Publication,
    Subscription, baseline_of, baseline_order, owners,
};
pub use name_table::NameTable;
pub use operate::{AcceptClock, AcceptedClock, Backup, Maintenance, TakeBackup, TakeSnapshot};
pub use order_rate::OrderRate;
pub use query::{
    AsOf, AuctionSummary, CalendarPage, FeedQuery, FillCursor, FindCurrency, FindInstrument,
    FindOrder, Freshness, GetAuction, GetBalances, GetBook, GetCalendar, GetInstrument,
    GetOrderBook, GetPublishedSeq, GetReport, GetRestriction, GetStatus, GetTicker, GetTime,
    GetTrades, IdentifyOrder, InstrumentSummary, ListAccounts, ListCalendars, ListFills,
    ListInstruments, ListOrders, ListRestrictions, MarketSummary, OrderSelection, Page, QueryError,
    QueryHandler, ReadFeed, Report, RequiredState, Status,
};
pub use request::{
    AmendOrder, AmendTriggerPrice, AssignCalendar, CancelOrder, CancelOrders, CreateAccount,
    CreateCurrency, CreateInstrument, CreateMember, Deposit, Disconnect, HaltTrading,
    HoldWithdrawal, Kill, LiftKill, MoveTransition, PayOut, PlaceConditionalOrder,
    PlaceIcebergOrder, PlaceLinkedOrders, PlaceOrder, PlaceTrailingOrder, ReleaseWithdrawal,
    SetAuctionRules, SetCircuitBreaker, SetContractTerms, SetDeadMan, SetInstrumentState,
    SetRestriction, SetRules, SetRulesVersion, SettleWithdrawal, SubmitBatch, ToEngine,
};
pub use rialto_engine::{
    Answer, Execution, Health, Level, Marks, NoAnswer, ReadEventsError, Stats, Storage,
    StorageLevel, Submission, UnknownLevel,
};
pub use subscribe::{PrivateReplay, ReplayStop, Resume, Subscribe, Subscribed};
pub use token_bucket::{TokenBucket, TokenRate};
