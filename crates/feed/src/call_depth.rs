//! What is published of a book while it may be crossed, if the rules of auctions do not publish all
//! of it.

use crate::book::{Book, shown};
use crate::market::Market;
use crate::update::{BookDelta, Update};
use crate::view::{AuctionResult, BestPrices, Moment, PriceLevel};
use rialto_model::{CallDepth, Price, Quantity, Seq, Side, Timestamp};

/// What is published in place of a book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cover {
    bid: Option<PriceLevel>,
    ask: Option<PriceLevel>,
}

impl Cover {
    /// What would trade at the indicative price, and what would be left there.
    fn of(indicative: AuctionResult) -> Cover {
        let AuctionResult { price, volume, surplus } = indicative;
        let level = |left: i64| {
            let quantity = Quantity(volume.0.saturating_add(left.max(0)));
            Some(PriceLevel { price, quantity, orders: 1 })
        };
        Cover { bid: level(surplus.0), ask: level(surplus.0.saturating_neg()) }
    }

    pub(crate) fn level(self, side: Side) -> Option<PriceLevel> {
        match side {
            Side::Buy => self.bid,
            Side::Sell => self.ask,
        }
    }
}

impl Market {
    /// Whether something else is published than the book.
    #[inline]
    pub(crate) fn is_covered(&self) -> bool {
        self.auction_rules.call_depth != CallDepth::Full && self.instrument.state.may_be_crossed()
    }

    /// What is to be published in place of the book, if anything is.
    fn cover_now(&self) -> Option<Cover> {
        let indicative = match self.auction_rules.call_depth {
            CallDepth::Indicative => self.auction.indicative,
            CallDepth::Full | CallDepth::Hidden => None,
        };
        self.is_covered().then(|| indicative.map(Cover::of).unwrap_or_default())
    }

    /// Changes the phase or the rules of auctions. If that covers the book, the public prices of this moment are
    /// kept: the next delta must not name the prices of later orders, not even to remove their levels.
    pub(crate) fn keep_uncovered(&mut self, change: impl FnOnce(&mut Market)) {
        let was_covered = self.cover.is_some() || self.is_covered();
        change(self);
        if !was_covered && self.is_covered() && self.uncovered.is_none() {
            self.uncovered =
                Some([Side::Buy, Side::Sell].map(|side| self.book.public_prices(side)));
        }
    }

    /// Takes the changes of what is published since the last delta, if any.
    fn take_public_delta(&mut self, seq: Seq, time: Timestamp) -> Option<&BookDelta> {
        let (before, after, public) = (self.cover, self.cover_now(), self.uncovered.take());
        if before.is_none() && after.is_none() && public.is_none() {
            return self.book.take_delta(seq, time);
        }
        self.cover = after;
        let public = public.unwrap_or_else(|| match before {
            None => [Side::Buy, Side::Sell].map(|side| self.book.public_prices(side)),
            Some(_) => Default::default(),
        });
        self.book.take_cover_delta((before, after), public, seq, time)
    }

    /// Publishes what has changed of the book, or of what is published in its place.
    pub(crate) fn publish_book(&mut self, at: Moment, emit: &mut impl FnMut(Update<'_>)) {
        let Some(delta) = self.take_public_delta(at.seq, at.time) else { return };
        emit(Update::Book(delta));
        let best = self.best();
        if (best.bid, best.ask) != self.best_told {
            self.best_told = (best.bid, best.ask);
            emit(Update::Best(&best));
        }
    }

    pub(crate) fn best(&self) -> BestPrices {
        let best = |side| match self.cover {
            Some(cover) => cover.level(side),
            None => self.book.best(side),
        };
        BestPrices {
            instrument: self.instrument.id,
            last_seq: self.book.last_delta,
            bid: best(Side::Buy),
            ask: best(Side::Sell),
        }
    }

    /// The published levels of a side, best first.
    pub(crate) fn public_levels(&self, side: Side) -> impl Iterator<Item = PriceLevel> + '_ {
        let book = self.cover.is_none().then(|| self.book.levels(side));
        let cover = self.cover.and_then(|cover| cover.level(side));
        cover.into_iter().chain(book.into_iter().flatten())
    }
}

impl Book {
    /// The prices of a side at which the public may know a level while the book is not covered: the prices of all
    /// levels, and of the levels that have changed since the last delta.
    fn public_prices(&self, side: Side) -> Vec<Price> {
        let changed = self.dirty.iter().filter(|(of, _)| *of == side).map(|(_, price)| *price);
        changed.chain(self.raw_levels(side).map(|(price, _)| price)).collect()
    }

    /// Takes the changes from one cover to another, or to or from the book itself. `public` has the prices of each
    /// side at which the public may know a level before the change.
    fn take_cover_delta(
        &mut self,
        (before, after): (Option<Cover>, Option<Cover>),
        public: [Vec<Price>; 2],
        seq: Seq,
        time: Timestamp,
    ) -> Option<&BookDelta> {
        self.dirty.clear();
        let mut public = public.into_iter();
        let mut sides = [Side::Buy, Side::Sell].map(|side| {
            // All prices at which something is published before or afterwards.
            let mut prices = public.next().unwrap_or_default();
            if after.is_none() {
                prices.extend(self.raw_levels(side).map(|(price, _)| price));
            }
            let covers = [before, after].map(|cover| cover.and_then(|cover| cover.level(side)));
            prices.extend(covers.into_iter().flatten().map(|level| level.price));
            prices.sort_unstable();
            prices.dedup();
            let none = |price| PriceLevel { price, quantity: Quantity::ZERO, orders: 0 };
            let at = |price: Price, cover: Option<Cover>| match cover {
                Some(cover) => {
                    let level = cover.level(side).filter(|level| level.price == price);
                    level.unwrap_or(none(price))
                }
                None => shown(price, self.levels_of(side).get(&price)),
            };
            let is_news = |price: &Price| match (before, after) {
                (Some(_), Some(_)) => at(*price, before) != at(*price, after),
                _ => true,
            };
            let levels = prices.into_iter().filter(is_news).map(|price| at(price, after));
            levels.collect::<Vec<_>>()
        });
        let [bids, asks] = &mut sides;
        if bids.is_empty() && asks.is_empty() {
            return None;
        }
        let delta = &mut self.scratch;
        delta.first_seq = self.last_delta.next();
        (delta.last_seq, delta.prev_seq, delta.time) = (seq, self.last_delta, time);
        bids.reverse();
        (delta.bids, delta.asks) = (std::mem::take(bids), std::mem::take(asks));
        self.last_delta = seq;
        Some(delta)
    }
}
