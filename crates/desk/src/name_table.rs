//! Symbols, codes and scales of instruments and currencies.

use crate::Listing;
use rialto_feed::Feed;
use rialto_model::{Currency, CurrencyCode, CurrencyId, InstrumentId, Symbol};
use std::collections::HashMap;

/// All instruments and currencies by number and by name. Entries are never removed, and their
/// symbols, codes and scales never change.
#[derive(Clone, Debug, Default)]
pub struct NameTable {
    listings: Vec<Listing>,
    currencies: Vec<Currency>,
    symbols: HashMap<Symbol, InstrumentId>,
    codes: HashMap<CurrencyCode, CurrencyId>,
}

impl NameTable {
    /// The names in a feed.
    #[must_use]
    pub fn of(feed: &Feed) -> NameTable {
        let mut names = NameTable::default();
        names.update(feed);
        names
    }

    /// Adds new instruments and currencies.
    pub fn update(&mut self, feed: &Feed) {
        for currency in feed.currencies().get(self.currencies.len()..).unwrap_or_default() {
            self.codes.insert(currency.code, currency.id);
            self.currencies.push(*currency);
        }
        while let Some(instrument) = feed.instrument(InstrumentId(self.listings.len() as u32 + 1))
            && let Some(listing) = Listing::of(feed, instrument)
        {
            self.symbols.insert(listing.symbol, listing.id);
            self.listings.push(listing);
        }
    }

    /// Whether the feed has more.
    #[must_use]
    pub fn are_behind(&self, feed: &Feed) -> bool {
        self.currencies.len() < feed.currencies().len()
            || feed.instrument(InstrumentId(self.listings.len() as u32 + 1)).is_some()
    }

    /// The instrument with this symbol.
    #[must_use]
    pub fn by_symbol(&self, symbol: &Symbol) -> Option<&Listing> {
        self.instrument(*self.symbols.get(symbol)?)
    }

    /// All instruments.
    #[must_use]
    pub fn listings(&self) -> &[Listing] {
        &self.listings
    }

    /// The currency with this code.
    #[must_use]
    pub fn by_code(&self, code: &CurrencyCode) -> Option<&Currency> {
        self.currency(*self.codes.get(code)?)
    }

    /// The instrument with this number.
    #[must_use]
    pub fn instrument(&self, instrument: InstrumentId) -> Option<&Listing> {
        self.listings.get((instrument.0 as usize).wrapping_sub(1))
    }

    /// The currency with this number.
    #[must_use]
    pub fn currency(&self, currency: CurrencyId) -> Option<&Currency> {
        self.currencies.get(usize::from(currency.0).wrapping_sub(1))
    }
}
