//! Queries of the venue's state after released commands.

mod calendars;
mod error;
mod market;
mod own;
mod read_feed;
mod venue;

pub use calendars::{CalendarPage, GetCalendar, ListCalendars};
pub use error::QueryError;
pub use market::{
    AuctionSummary, GetAuction, GetBook, GetInstrument, GetOrderBook, GetTicker, GetTrades,
    InstrumentSummary, ListInstruments, MarketSummary,
};
pub use own::{
    FillCursor, FindOrder, GetBalances, GetRestriction, IdentifyOrder, ListAccounts, ListFills,
    ListOrders, ListRestrictions, OrderSelection, Page, RequiredState,
};
pub use read_feed::{AsOf, FeedQuery, Freshness, ReadFeed};
pub use venue::{
    FindCurrency, FindInstrument, GetPublishedSeq, GetReport, GetStatus, GetTime, Report, Status,
};

use crate::{Durations, Live};
use rialto_engine::Engine;
use rialto_model::Seq;
use std::sync::Arc;
use std::time::Duration;

/// Answers queries from the live feed and about engine and feed.
pub struct QueryHandler {
    pub(crate) engine: Arc<Engine>,
    pub(crate) live: Arc<Live>,
    pub(crate) durations: Arc<Durations>,
    /// The longest wait for the feed to reach a sequence.
    pub(crate) patience: Duration,
    /// Held by the one reader of the audit trail.
    pub(crate) audit_turn: Arc<tokio::sync::Mutex<()>>,
}

impl QueryHandler {
    pub(crate) async fn wait_for(&self, seq: Seq) -> bool {
        self.live.wait_for(seq, self.patience).await
    }

    /// Waits until the feed has folded all commands released by now, up to the limit.
    pub(crate) async fn catch_up(&self) {
        self.wait_for(self.engine.released()).await;
    }
}
