//! Queries about names, health and progress.

use super::{QueryError, QueryHandler};
use crate::{FoldCounts, Grant, Listing, LiveError, Needs, RequestDuration};
use rialto_bus::{Context, Handler, Query, Request, Result};
use rialto_engine::{ClockReport, Health, Level, Marks, Stats};
use rialto_feed::OpenOrderCounts;
use rialto_model::{Currency, CurrencyCode, RejectReason, Seq, Symbol};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The listing of an instrument, which may be new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindInstrument {
    /// Its symbol.
    pub symbol: Symbol,
}

/// The currency with this code, which may be new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindCurrency {
    /// Its code.
    pub code: CurrencyCode,
}

/// The venue's time in microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetTime;

/// The last sequence whose events are all published to subscribers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetPublishedSeq;

/// Whether the venue accepts commands and answers queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetStatus;

/// The answer to a [`GetStatus`].
#[derive(Clone, Debug)]
pub struct Status {
    /// The engine's health.
    pub engine: Health,
    /// The last released sequence.
    pub released: Seq,
    /// The last sequence in the feed.
    pub feed: Seq,
    /// The error that ended the feed, if there is one.
    pub fault: Option<Arc<LiveError>>,
}

impl Status {
    /// Whether commands are accepted.
    #[must_use]
    pub fn takes_commands(&self) -> bool {
        matches!(self.engine, Health::Running)
    }

    /// Whether commands are accepted and queries answered.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.takes_commands() && self.fault.is_none()
    }
}

/// All measurements of engine and feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetReport;

/// The answer to a [`GetReport`].
#[derive(Clone, Debug)]
pub struct Report {
    /// The status.
    pub status: Status,
    /// The venue's level of durability.
    pub level: Level,
    /// The engine's progress.
    pub marks: Marks,
    /// The engine's measurements.
    pub stats: Stats,
    /// The state of the clocks.
    pub clock: ClockReport,
    /// The last snapshot's sequence.
    pub last_snapshot: Seq,
    /// The number of released commands that are not folded yet.
    pub lag: u64,
    /// The feed's counts.
    pub counts: FoldCounts,
    /// The orders that are open.
    pub open_orders: OpenOrderCounts,
    /// The durations of requests.
    pub requests: Vec<RequestDuration>,
}

/// Implements queries that are open to every grant.
macro_rules! public {
    ($($name:literal $Request:ident => $Response:ty;)*) => { $(
        impl Request for $Request {
            type Response = $Response;
            const NAME: &'static str = $name;
        }

        impl Query for $Request {}

        impl Needs for $Request {
            fn check(&self, _: &Grant) -> Result<()> {
                Ok(())
            }
        }
    )* };
}

public! {
    "find_instrument" FindInstrument => Listing;
    "find_currency" FindCurrency => Currency;
    "get_time" GetTime => u64;
    "get_published_seq" GetPublishedSeq => Seq;
    "get_status" GetStatus => Status;
    "get_report" GetReport => Report;
}

impl Handler<FindInstrument> for QueryHandler {
    async fn handle(&self, find: FindInstrument, _: &Context<'_>) -> Result<Listing> {
        let find = || self.live.names().by_symbol(&find.symbol).copied();
        if let Some(listing) = find() {
            return Ok(listing);
        }
        self.catch_up().await;
        Ok(find().ok_or(QueryError::Unknown(RejectReason::UnknownInstrument))?)
    }
}

impl Handler<FindCurrency> for QueryHandler {
    async fn handle(&self, find: FindCurrency, _: &Context<'_>) -> Result<Currency> {
        let find = || self.live.names().by_code(&find.code).copied();
        if let Some(currency) = find() {
            return Ok(currency);
        }
        self.catch_up().await;
        Ok(find().ok_or(QueryError::Unknown(RejectReason::UnknownCurrency))?)
    }
}

impl Handler<GetTime> for QueryHandler {
    async fn handle(&self, _: GetTime, _: &Context<'_>) -> Result<u64> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
    }
}

impl Handler<GetPublishedSeq> for QueryHandler {
    async fn handle(&self, _: GetPublishedSeq, _: &Context<'_>) -> Result<Seq> {
        Ok(self.live.published())
    }
}

impl Handler<GetStatus> for QueryHandler {
    async fn handle(&self, _: GetStatus, _: &Context<'_>) -> Result<Status> {
        Ok(self.status())
    }
}

impl Handler<GetReport> for QueryHandler {
    async fn handle(&self, _: GetReport, _: &Context<'_>) -> Result<Report> {
        let QueryHandler { engine, live, durations, .. } = self;
        // Nothing is counted while the feed is locked, so both are of one moment.
        let (counts, open_orders) = {
            let feed = live.read();
            (live.counts().clone(), feed.open_order_counts())
        };
        Ok(Report {
            status: self.status(),
            level: engine.config().level,
            marks: engine.marks(),
            stats: engine.stats(),
            clock: engine.clock(),
            last_snapshot: engine.last_snapshot(),
            lag: live.lag(),
            counts,
            open_orders,
            requests: durations.each().collect(),
        })
    }
}

impl QueryHandler {
    fn status(&self) -> Status {
        Status {
            engine: self.engine.health(),
            released: self.engine.released(),
            feed: self.live.seq(),
            fault: self.live.fault(),
        }
    }
}
