//! The constant properties of an instrument.

use rialto_feed::Feed;
use rialto_model::{Currency, Instrument, InstrumentId, Scale, Symbol};

/// The constant properties of an instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Its number.
    pub id: InstrumentId,
    /// Its symbol.
    pub symbol: Symbol,
    /// The base currency.
    pub base: Currency,
    /// The quote currency.
    pub quote: Currency,
    /// The decimal places of its prices.
    pub price_scale: Scale,
    /// The decimal places of its quantities.
    pub quantity_scale: Scale,
}

impl Listing {
    /// The listing of an instrument of the feed.
    #[must_use]
    pub fn of(feed: &Feed, instrument: &Instrument) -> Option<Listing> {
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
