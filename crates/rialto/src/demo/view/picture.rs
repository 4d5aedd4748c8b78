//! The data of the view, read from the venue in one step, so that drawing holds no lock of the
//! feed.

use super::Subject;
use super::gauges::{Gauges, Meter};
use rialto_engine::{Health, Level, Marks};
use rialto_feed::{AuctionView, Depth, PublicTrade, Ticker};
use rialto_model::Instrument;

/// Price levels of each side that are read.
const DEPTH: usize = 40;
/// Last trades that are read.
const TRADES: usize = 60;

/// One market at a glance.
pub(crate) struct MarketPicture {
    pub(crate) instrument: Instrument,
    pub(crate) ticker: Ticker,
    /// Its phase and its auction, as `GET /v1/auction/{symbol}` answers.
    pub(crate) auction: AuctionView,
}

/// What the view shows.
pub(crate) struct Picture {
    pub(crate) markets: Vec<MarketPicture>,
    /// The book and the last trades of the market that is looked at.
    pub(crate) depth: Depth,
    pub(crate) trades: Vec<PublicTrade>,
    pub(crate) gauges: Gauges,
    pub(crate) level: Level,
    pub(crate) marks: Marks,
    pub(crate) feed_lag: u64,
    pub(crate) health: Health,
    /// The number of the trading day, if days are played.
    pub(crate) day: Option<u64>,
}

impl Picture {
    /// Looks at the venue; `None` if it does not list that market.
    pub(crate) fn take(subject: &Subject<'_>, market: usize, meter: &mut Meter) -> Option<Picture> {
        let Subject { venue, instruments, day, .. } = subject;
        let engine = venue.engine();
        let live = venue.live();
        let gauges = meter.read(engine, live);
        let feed = live.read();
        let chosen = instruments.get(market)?.id;
        let markets = instruments
            .iter()
            .filter_map(|instrument| {
                let ticker = feed.ticker(instrument.id)?;
                let auction = *feed.auction(instrument.id)?;
                Some(MarketPicture { instrument: *instrument, ticker, auction })
            })
            .collect();
        let picture = Picture {
            markets,
            depth: feed.depth(chosen, DEPTH)?,
            trades: feed.trades(chosen).take(TRADES).copied().collect(),
            gauges,
            level: engine.config().level,
            marks: engine.marks(),
            feed_lag: live.lag(),
            health: engine.health(),
            day: day.and_then(|day| day.number()),
        };
        Some(picture)
    }
}
