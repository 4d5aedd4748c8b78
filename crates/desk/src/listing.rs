//! What never changes about an instrument.

use rialto_feed::Feed;
use rialto_model::{Currency, Instrument, InstrumentId, Scale, Symbol};

/// What never changes about an instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Its number.
    pub id: InstrumentId,
    /// Its name.
    pub symbol: Symbol,
    /// What is traded.
    pub base: Currency,
    /// What is paid with.
    pub quote: Currency,
    /// Decimal places of its prices.
    pub price_scale: Scale,
    /// Decimal places of its quantities.
    pub quantity_scale: Scale,
}

impl Listing {
    /// The listing of an instrument that the feed knows.
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
