//! The state of one instrument.

use crate::book::Book;
use crate::call_depth::Cover;
use crate::ticker::Window;
use crate::view::{AuctionView, Moment, PriceLevel, PublicTrade, Ticker};
use rialto_core::Extremes;
use rialto_model::{
    Amount, AuctionRules, ContractTerms, Instrument, InstrumentState, Interrupted, Name, Price,
    Side, Trade,
};
use std::collections::VecDeque;

/// An instrument, its book, its last trades and its last 24 hours.
#[derive(Debug)]
pub(crate) struct Market {
    pub(crate) instrument: Instrument,
    pub(crate) book: Book,
    pub(crate) trades: VecDeque<PublicTrade>,
    pub(crate) last_price: Option<Price>,
    /// The prices that trailing stops follow: buys the lowest, sells the highest.
    pub(crate) extremes: [Extremes; 2],
    pub(crate) window: Window,
    pub(crate) auction_rules: AuctionRules,
    pub(crate) terms: ContractTerms,
    pub(crate) auction: AuctionView,
    /// The calendar that it follows; empty for none.
    pub(crate) calendar: Name,
    /// The price of the last trade of an auction.
    pub(crate) auction_price: Option<Price>,
    /// Whether an interruption has begun whose phase follows.
    pub(crate) interruption_begins: bool,
    /// The interrupted call that a halt has stopped.
    pub(crate) halted_call: Option<(InstrumentState, Interrupted)>,
    /// Whether orders may rest off the tick: those entered before rules version 4 may.
    pub(crate) may_be_off_tick: bool,
    /// Whether the book has changed in a call since the price of its auction was computed.
    pub(crate) call_changed: bool,
    /// What is published in place of the book.
    pub(crate) cover: Option<Cover>,
    /// The prices of each side that may have been published when the book was covered, if it was since the
    /// last end of a command.
    pub(crate) uncovered: Option<[Vec<Price>; 2]>,
    /// Whether the phase or the rules of auctions have changed since the last end of a command.
    pub(crate) phase_changed: bool,
    /// Whether it stands in the list of instruments where something happened.
    pub(crate) touched: bool,
    pub(crate) ticker_changed: bool,
    /// The best levels as last published.
    pub(crate) best_told: (Option<PriceLevel>, Option<PriceLevel>),
}

impl Market {
    pub(crate) fn new(instrument: Instrument, at: Moment) -> Market {
        Market {
            book: Book::new(instrument.id, at.seq),
            instrument,
            trades: VecDeque::new(),
            last_price: None,
            extremes: [Extremes::new(Side::Buy), Extremes::new(Side::Sell)],
            window: Window::default(),
            auction_rules: AuctionRules::PLAIN,
            terms: ContractTerms::PLAIN,
            auction: AuctionView {
                instrument: instrument.id,
                state: instrument.state,
                at,
                indicative: None,
                last: None,
                interrupted: None,
                halted_until: None,
                limit_state: None,
            },
            calendar: Name::EMPTY,
            auction_price: None,
            interruption_begins: false,
            halted_call: None,
            may_be_off_tick: false,
            call_changed: false,
            cover: None,
            uncovered: None,
            phase_changed: false,
            touched: false,
            ticker_changed: false,
            best_told: (None, None),
        }
    }

    /// Remembers a trade that was made at or after the last one.
    pub(crate) fn record(
        &mut self,
        trade: &Trade,
        notional: Amount,
        at: Moment,
        keep: usize,
    ) -> PublicTrade {
        let public = PublicTrade {
            trade: trade.trade,
            instrument: trade.instrument,
            price: trade.price,
            quantity: trade.quantity,
            taker_side: trade.taker_side,
            auction: trade.auction,
            at,
        };
        self.trades.push_back(public);
        if self.trades.len() > keep {
            self.trades.pop_front();
        }
        let base = self.instrument.base_amount(trade.quantity);
        self.window.add(at.time, trade.price, base, notional);
        self.last_price = Some(trade.price);
        if trade.auction {
            self.auction_price = Some(trade.price);
        }
        self.ticker_changed = true;
        public
    }

    pub(crate) fn ticker(&self, at: Moment) -> Ticker {
        let open = self.window.open();
        let change = open.zip(self.last_price).map(|(open, last)| Price(last.0 - open.0));
        Ticker {
            instrument: self.instrument.id,
            at,
            open,
            high: self.window.high,
            low: self.window.low,
            last: self.last_price,
            change,
            base_volume: self.window.base,
            quote_volume: self.window.quote,
            trades: self.window.trades,
        }
    }
}
