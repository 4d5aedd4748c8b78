//! What never changes about instruments and currencies, at hand without asking the feed.

use rialto_feed::Feed;
use rialto_model::{Currency, CurrencyCode, CurrencyId, Instrument, InstrumentId, Scale, Symbol};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// What never changes about an instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(crate) id: InstrumentId,
    pub(crate) symbol: Symbol,
    pub(crate) base: Currency,
    pub(crate) quote: Currency,
    pub(crate) price_scale: Scale,
    pub(crate) quantity_scale: Scale,
}

impl Listing {
    /// The listing of an instrument that the feed knows.
    pub(crate) fn of(feed: &Feed, instrument: &Instrument) -> Option<Listing> {
        let spec = &instrument.spec;
        Some(Listing {
            id: instrument.id,
            symbol: spec.symbol,
            base: feed.currency(spec.base)?,
            quote: feed.currency(spec.quote)?,
            price_scale: spec.price_scale,
            quantity_scale: spec.quantity_scale,
        })
    }
}

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
