//! What never changes about instruments and currencies, at hand without asking the feed.

use rialto_desk::Listing;
use rialto_feed::Feed;
use rialto_model::{Currency, CurrencyCode, CurrencyId, InstrumentId, Symbol};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// Listings and currencies that were asked for before. Both are only ever added to, and nothing in
/// here changes, so that an entry is right for ever.
#[derive(Debug, Default)]
pub(crate) struct Listings {
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    symbols: HashMap<Symbol, Listing>,
    codes: HashMap<CurrencyCode, Currency>,
}

impl Listings {
    pub(crate) fn by_symbol(&self, symbol: &Symbol) -> Option<Listing> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).symbols.get(symbol).copied()
    }

    pub(crate) fn currency(&self, code: &CurrencyCode) -> Option<Currency> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).codes.get(code).copied()
    }

    /// Takes over what the feed knows.
    pub(crate) fn learn(&self, feed: &Feed) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        for number in (known.codes.len() + 1..).map_while(|number| u16::try_from(number).ok()) {
            let Some(currency) = feed.currency(CurrencyId(number)) else { break };
            known.codes.insert(currency.code, currency);
        }
        for number in (known.symbols.len() + 1..).map_while(|number| u32::try_from(number).ok()) {
            let Some(instrument) = feed.instrument(InstrumentId(number)) else { break };
            let Some(listing) = Listing::of(feed, instrument) else { break };
            known.symbols.insert(listing.symbol, listing);
        }
    }
}
