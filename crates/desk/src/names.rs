//! Symbols, codes and scales: what people read beside integers.

use crate::Listing;
use rialto_feed::Feed;
use rialto_model::{Currency, CurrencyId, InstrumentId};

/// All instruments and currencies by number. Neither is ever removed, nor do symbols, codes and
/// scales change.
#[derive(Clone, Debug, Default)]
pub struct Names {
    listings: Vec<Listing>,
    currencies: Vec<Currency>,
}

impl Names {
    /// What the feed knows.
    #[must_use]
    pub fn of(feed: &Feed) -> Names {
        let mut names = Names::default();
        names.update(feed);
        names
    }

    /// Takes over what was listed since.
    pub fn update(&mut self, feed: &Feed) {
        let known = self.currencies.len();
        self.currencies.extend_from_slice(feed.currencies().get(known..).unwrap_or_default());
        while let Some(instrument) = feed.instrument(InstrumentId(self.listings.len() as u32 + 1))
            && let Some(listing) = Listing::of(feed, instrument)
        {
            self.listings.push(listing);
        }
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
