//! What is published to subscribers while events are folded.

use crate::view::{BalanceView, BestPrices, Fill, OrderView, PriceLevel, PublicTrade, Ticker};
use rialto_model::{Instrument, InstrumentId, Seq, Side, Timestamp};

/// Levels of a book that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookDelta {
    /// Of which instrument.
    pub instrument: InstrumentId,
    /// The first command whose changes are in it.
    pub first_seq: Seq,
    /// The last command whose changes are in it.
    pub last_seq: Seq,
    /// `last_seq` of the instrument's previous delta. Who holds a book with another `last_seq` has
    /// missed something and must ask for the book anew.
    pub prev_seq: Seq,
    /// Time of the last command.
    pub time: Timestamp,
    /// Changed buy levels as they are now, highest price first; no orders means that it is gone.
    pub bids: Vec<PriceLevel>,
    /// Changed sell levels as they are now, lowest price first; no orders means that it is gone.
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

/// Something that a subscriber may want to know. What is borrowed is to be copied if kept.
///
/// [`Update::Trade`], [`Update::Fill`] and [`Update::Instrument`] come with their event; the
/// others at the end of the command (or commands), each thing at most once and as it is then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update<'a> {
    /// Public: levels of a book changed.
    Book(&'a BookDelta),
    /// Public: the best price of a side changed, or what stands there.
    Best(&'a BestPrices),
    /// Public: a trade.
    Trade(&'a PublicTrade),
    /// Public: the last 24 hours changed, by trades or because time passed.
    Ticker(&'a Ticker),
    /// Public: an instrument was listed, got other rules, was opened, halted or closed.
    Instrument(&'a Instrument),
    /// Private to the order's account: it was accepted, changed or ended.
    Order(&'a OrderView),
    /// Private to the fill's account: one of its orders traded.
    Fill(&'a Fill),
    /// Private to the balance's account, a house account's to the operator: a balance changed.
    Balance(&'a BalanceView),
}
