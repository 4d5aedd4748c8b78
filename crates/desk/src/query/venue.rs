//! The venue itself: what it lists, how it is, how far it has come.

use super::{Known, Unanswered};
use crate::{FoldCounts, Grant, Listing, LiveError, Needs, RequestDuration};
use rialto_bus::{Context, Handler, Query, Request, Result};
use rialto_engine::{ClockReport, Health, Level, Marks, Stats};
use rialto_model::{Currency, CurrencyCode, RejectReason, Seq, Symbol};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// What never changes about the instrument with this symbol, which may have been listed just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindInstrument {
    /// Its name.
    pub symbol: Symbol,
}

/// The currency with this code, which may have been made just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindCurrency {
    /// Its name.
    pub code: CurrencyCode,
}

/// What time it is at the venue, in microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetTime;

/// The last sequence whose events were all published to subscribers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetTold;

/// Whether the venue takes commands and answers questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetStatus;

/// What a [`GetStatus`] is answered.
#[derive(Clone, Debug)]
pub struct Status {
    /// How the engine is.
    pub engine: Health,
    /// The last sequence that has been released.
    pub released: Seq,
    /// The last sequence that the feed knows of.
    pub feed: Seq,
    /// Why the feed has ended, if it has.
    pub fault: Option<Arc<LiveError>>,
}

impl Status {
    /// Whether commands are taken.
    #[must_use]
    pub fn takes_commands(&self) -> bool {
        matches!(self.engine, Health::Running)
    }

    /// Whether commands are taken and questions answered.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.takes_commands() && self.fault.is_none()
    }
}

/// Everything that engine and feed count and measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetReport;

/// What a [`GetReport`] is answered.
#[derive(Clone, Debug)]
pub struct Report {
    /// How they are.
    pub status: Status,
    /// The venue's level of durability.
    pub level: Level,
    /// How far the engine has come.
    pub marks: Marks,
    /// What the engine has measured.
    pub stats: Stats,
    /// What the engine makes of the machine's clocks.
    pub clock: ClockReport,
    /// Where the last snapshot stands.
    pub last_snapshot: Seq,
    /// How many released commands the feed has yet to fold.
    pub lag: u64,
    /// What the feed has counted.
    pub counts: FoldCounts,
    /// How long requests took.
    pub requests: Vec<RequestDuration>,
}

/// Makes queries of these that everybody may ask.
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
    "get_told" GetTold => Seq;
    "get_status" GetStatus => Status;
    "get_report" GetReport => Report;
}

impl Handler<FindInstrument> for Known {
    async fn handle(&self, find: FindInstrument, _: &Context<'_>) -> Result<Listing> {
        let find = || self.live.names().by_symbol(&find.symbol).copied();
        if let Some(listing) = find() {
            return Ok(listing);
        }
        self.catch_up().await;
        Ok(find().ok_or(Unanswered::Unknown(RejectReason::UnknownInstrument))?)
    }
}

impl Handler<FindCurrency> for Known {
    async fn handle(&self, find: FindCurrency, _: &Context<'_>) -> Result<Currency> {
        let find = || self.live.names().by_code(&find.code).copied();
        if let Some(currency) = find() {
            return Ok(currency);
        }
        self.catch_up().await;
        Ok(find().ok_or(Unanswered::Unknown(RejectReason::UnknownCurrency))?)
    }
}

impl Handler<GetTime> for Known {
    async fn handle(&self, _: GetTime, _: &Context<'_>) -> Result<u64> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
    }
}

impl Handler<GetTold> for Known {
    async fn handle(&self, _: GetTold, _: &Context<'_>) -> Result<Seq> {
        Ok(self.live.told())
    }
}

impl Handler<GetStatus> for Known {
    async fn handle(&self, _: GetStatus, _: &Context<'_>) -> Result<Status> {
        Ok(self.status())
    }
}

impl Handler<GetReport> for Known {
    async fn handle(&self, _: GetReport, _: &Context<'_>) -> Result<Report> {
        let Known { engine, live, durations, .. } = self;
        Ok(Report {
            status: self.status(),
            level: engine.config().level,
            marks: engine.marks(),
            stats: engine.stats(),
            clock: engine.clock(),
            last_snapshot: engine.last_snapshot(),
            lag: live.lag(),
            counts: live.counts().clone(),
            requests: durations.each().collect(),
        })
    }
}

impl Known {
    fn status(&self) -> Status {
        Status {
            engine: self.engine.health(),
            released: self.engine.released(),
            feed: self.live.seq(),
            fault: self.live.fault(),
        }
    }
}
