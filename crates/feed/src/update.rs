//! The updates that are published to subscribers while events are folded.

use crate::view::{
    AuctionView, BalanceView, BestPrices, Fill, OrderView, PriceLevel, PublicTrade, Ticker,
};
use rialto_model::{Instrument, InstrumentId, Seq, Side, Timestamp};

/// Levels of a book that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookDelta {
    /// The instrument.
    pub instrument: InstrumentId,
    /// The first command whose changes are in it.
    pub first_seq: Seq,
    /// The last command whose changes are in it.
    pub last_seq: Seq,
    /// `last_seq` of the instrument's previous delta. A reader of a book with another `last_seq`
    /// has missed a delta and must request the whole book.
    pub prev_seq: Seq,
    /// Time of the last command.
    pub time: Timestamp,
    /// Changed buy levels as they are now, highest price first; zero orders means that the level is
    /// removed.
    pub bids: Vec<PriceLevel>,
    /// Changed sell levels as they are now, lowest price first; zero orders means that the level is
    /// removed.
    pub asks: Vec<PriceLevel>,
}

impl BookDelta {
    /// The changed levels of one side.
    #[must_use]
    pub fn side(&self, side: Side) -> &[PriceLevel] {
        match side {
            Side::Buy => &self.bids,
            Side::Sell => &self.asks,
        }
    }
}

/// An update for subscribers. Copy borrowed values to keep them.
///
/// [`Update::Trade`], [`Update::Fill`], [`Update::Instrument`] and [`Update::Auction`] come with their
/// event; the others at the end of the command (or commands), each object at most once in its state
/// then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update<'a> {
    /// Public: levels of a book changed.
    Book(&'a BookDelta),
    /// Public: the best price of a side or its quantity changed.
    Best(&'a BestPrices),
    /// Public: a trade.
    Trade(&'a PublicTrade),
    /// Public: the ticker changed, by trades or because time passed.
    Ticker(&'a Ticker),
    /// Public: an instrument was listed, got other rules or another state.
    Instrument(&'a Instrument),
    /// Public: the phase or the auction of an instrument changed. A new indicative price comes on
    /// request: see [`Feed::refresh_auction`](crate::Feed::refresh_auction).
    Auction(&'a AuctionView),
    /// Private to the order's account: it was accepted, changed or ended.
    Order(&'a OrderView),
    /// Private to the fill's account: one of its orders traded.
    Fill(&'a Fill),
    /// Private to the balance's account, a house account's to the operator: a balance changed.
    Balance(&'a BalanceView),
}
