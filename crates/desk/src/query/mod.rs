//! What can be asked of the venue: everything that it knows from released events.

mod ask;
mod error;
mod market;
mod own;
mod venue;

pub use ask::{AsOf, Ask, Fresh, Question};
pub use error::Unanswered;
pub use market::{
    GetBook, GetInstrument, GetOrderBook, GetTicker, GetTrades, ListInstruments, Tape,
};
pub use own::{
    FillCursor, FindOrder, GetBalances, IdentifyOrder, ListAccounts, ListFills, ListOrders, Page,
    Wanted,
};
pub use venue::{
    FindCurrency, FindInstrument, GetReport, GetStatus, GetTime, GetTold, Report, Status,
};

use crate::{Durations, Live};
use rialto_engine::Engine;
use rialto_model::Seq;
use std::sync::Arc;
use std::time::Duration;

/// Answers questions from the live feed, and says how engine and feed are.
pub struct Known {
    pub(crate) engine: Arc<Engine>,
    pub(crate) live: Arc<Live>,
    pub(crate) durations: Arc<Durations>,
    /// How long to wait for the feed to come to a sequence.
    pub(crate) patience: Duration,
}

impl Known {
    pub(crate) async fn wait_for(&self, seq: Seq) -> bool {
        self.live.wait_for(seq, self.patience).await
    }

    /// Waits until the feed knows what has been released by now, as far as patience goes.
    pub(crate) async fn catch_up(&self) {
        self.wait_for(self.engine.released()).await;
    }
}
