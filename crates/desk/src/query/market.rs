//! Market data: what everybody may see.

use super::{Question, Unanswered};
use rialto_feed::{BestPrices, Depth, Feed, OrderBook, PublicTrade, Ticker};
use rialto_model::{Instrument, InstrumentId, RejectReason};

type Answered<T> = Result<T, Unanswered>;

const UNKNOWN: Unanswered = Unanswered::Unknown(RejectReason::UnknownInstrument);

/// All instruments, with their rules and states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListInstruments;

impl Question for ListInstruments {
    type Answer = Vec<Instrument>;
    const NAME: &'static str = "list_instruments";

    fn read(&self, feed: &Feed) -> Answered<Vec<Instrument>> {
        Ok(feed.instruments().copied().collect())
    }
}

/// One instrument, with its rules and state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetInstrument {
    /// Which.
    pub instrument: InstrumentId,
}

impl Question for GetInstrument {
    type Answer = Instrument;
    const NAME: &'static str = "get_instrument";

    fn read(&self, feed: &Feed) -> Answered<Instrument> {
        feed.instrument(self.instrument).copied().ok_or(UNKNOWN)
    }
}

/// A book by price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetBook {
    /// Of which instrument.
    pub instrument: InstrumentId,
    /// The most levels of each side.
    pub levels: usize,
}

impl Question for GetBook {
    type Answer = Depth;
    const NAME: &'static str = "get_book";

    fn read(&self, feed: &Feed) -> Answered<Depth> {
        feed.depth(self.instrument, self.levels).ok_or(UNKNOWN)
    }
}

/// A book by order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetOrderBook {
    /// Of which instrument.
    pub instrument: InstrumentId,
    /// The most orders of each side.
    pub orders: usize,
}

impl Question for GetOrderBook {
    type Answer = OrderBook;
    const NAME: &'static str = "get_order_book";

    fn read(&self, feed: &Feed) -> Answered<OrderBook> {
        feed.order_book(self.instrument, self.orders).ok_or(UNKNOWN)
    }
}

/// The last trades, newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetTrades {
    /// Of which instrument.
    pub instrument: InstrumentId,
    /// At most so many.
    pub limit: usize,
}

impl Question for GetTrades {
    type Answer = Vec<PublicTrade>;
    const NAME: &'static str = "get_trades";

    fn read(&self, feed: &Feed) -> Answered<Vec<PublicTrade>> {
        Ok(feed.trades(self.instrument).take(self.limit).copied().collect())
    }
}

/// The last 24 hours and the best prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetTicker {
    /// Of which instrument.
    pub instrument: InstrumentId,
}

/// What a [`GetTicker`] is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tape {
    /// The last 24 hours.
    pub ticker: Ticker,
    /// The best prices.
    pub best: BestPrices,
}

impl Question for GetTicker {
    type Answer = Tape;
    const NAME: &'static str = "get_ticker";

    fn read(&self, feed: &Feed) -> Answered<Tape> {
        let ticker = feed.ticker(self.instrument).ok_or(UNKNOWN)?;
        let best = feed.best_prices(self.instrument).ok_or(UNKNOWN)?;
        Ok(Tape { ticker, best })
    }
}
