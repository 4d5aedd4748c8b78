//! Queries of public market data.

use super::{FeedQuery, QueryError};
use rialto_feed::{AuctionView, BestPrices, Depth, Feed, OrderBook, PublicTrade, Ticker};
use rialto_model::{
    AuctionRules, ContractTerms, Instrument, InstrumentId, Name, PriceRange, RejectReason,
};

type Answered<T> = Result<T, QueryError>;

const UNKNOWN: QueryError = QueryError::Unknown(RejectReason::UnknownInstrument);

/// All instruments, with their rules and states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListInstruments;

/// An instrument, its calendar and its contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstrumentSummary {
    /// The instrument with its rules and state.
    pub instrument: Instrument,
    /// The calendar that it follows.
    pub calendar: Option<Name>,
    /// The terms of its contract.
    pub terms: ContractTerms,
}

impl InstrumentSummary {
    fn of(feed: &Feed, instrument: &Instrument) -> InstrumentSummary {
        let (calendar, terms) = (feed.calendar_of(instrument.id), feed.terms(instrument.id));
        let terms = terms.copied().unwrap_or_default();
        InstrumentSummary { instrument: *instrument, calendar, terms }
    }
}

impl FeedQuery for ListInstruments {
    type Answer = Vec<InstrumentSummary>;
    const NAME: &'static str = "list_instruments";

    fn read(&self, feed: &Feed) -> Answered<Vec<InstrumentSummary>> {
        Ok(feed.instruments().map(|it| InstrumentSummary::of(feed, it)).collect())
    }
}

/// One instrument, with its rules and state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetInstrument {
    /// The instrument.
    pub instrument: InstrumentId,
}

impl FeedQuery for GetInstrument {
    type Answer = InstrumentSummary;
    const NAME: &'static str = "get_instrument";

    fn read(&self, feed: &Feed) -> Answered<InstrumentSummary> {
        let instrument = feed.instrument(self.instrument).ok_or(UNKNOWN)?;
        Ok(InstrumentSummary::of(feed, instrument))
    }
}

/// A book by price level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetBook {
    /// The instrument.
    pub instrument: InstrumentId,
    /// The most levels of each side.
    pub levels: usize,
}

impl FeedQuery for GetBook {
    type Answer = Depth;
    const NAME: &'static str = "get_book";

    fn read(&self, feed: &Feed) -> Answered<Depth> {
        feed.depth(self.instrument, self.levels).ok_or(UNKNOWN)
    }
}

/// A book by order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetOrderBook {
    /// The instrument.
    pub instrument: InstrumentId,
    /// The most orders of each side.
    pub orders: usize,
}

impl FeedQuery for GetOrderBook {
    type Answer = OrderBook;
    const NAME: &'static str = "get_order_book";

    fn read(&self, feed: &Feed) -> Answered<OrderBook> {
        feed.order_book(self.instrument, self.orders).ok_or(UNKNOWN)
    }
}

/// The last trades, newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetTrades {
    /// The instrument.
    pub instrument: InstrumentId,
    /// The most trades to return.
    pub limit: usize,
}

impl FeedQuery for GetTrades {
    type Answer = Vec<PublicTrade>;
    const NAME: &'static str = "get_trades";

    fn read(&self, feed: &Feed) -> Answered<Vec<PublicTrade>> {
        Ok(feed.trades(self.instrument).take(self.limit).copied().collect())
    }
}

/// The statistics of the last 24 hours and the best prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetTicker {
    /// The instrument.
    pub instrument: InstrumentId,
}

/// The answer to a [`GetTicker`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarketSummary {
    /// The statistics of the last 24 hours.
    pub ticker: Ticker,
    /// The best prices.
    pub best: BestPrices,
}

impl FeedQuery for GetTicker {
    type Answer = MarketSummary;
    const NAME: &'static str = "get_ticker";

    fn read(&self, feed: &Feed) -> Answered<MarketSummary> {
        let ticker = feed.ticker(self.instrument).ok_or(UNKNOWN)?;
        let best = feed.best_prices(self.instrument).ok_or(UNKNOWN)?;
        Ok(MarketSummary { ticker, best })
    }
}

/// The phase of an instrument, its auction, and the ranges that its prices must stay in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetAuction {
    /// The instrument.
    pub instrument: InstrumentId,
}

/// The answer to a [`GetAuction`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuctionSummary {
    /// The phase, the indicative price and the last auction.
    pub auction: AuctionView,
    /// The rules of auctions.
    pub rules: AuctionRules,
    /// The limits of the day.
    pub daily_limits: Option<PriceRange>,
    /// The limits of continuous trading, while they are in force.
    pub trading_limits: Option<PriceRange>,
    /// The prices at which an order that arrives now trades without an interruption.
    pub trading_range: Option<PriceRange>,
}

impl FeedQuery for GetAuction {
    type Answer = AuctionSummary;
    const NAME: &'static str = "get_auction";

    fn read(&self, feed: &Feed) -> Answered<AuctionSummary> {
        let instrument = self.instrument;
        Ok(AuctionSummary {
            auction: *feed.auction(instrument).ok_or(UNKNOWN)?,
            rules: *feed.auction_rules(instrument).ok_or(UNKNOWN)?,
            daily_limits: feed.daily_limits(instrument),
            trading_limits: feed.trading_limits(instrument),
            trading_range: feed.trading_range(instrument),
        })
    }
}
