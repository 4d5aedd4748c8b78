//! Deterministic order flows, and their expected totals.
//!
//! Each flow is deterministic, names where its shape comes from, and carries the totals that a
//! price-time engine must arrive at, so that a measurement of a wrong result cannot pass. The demo
//! venue and `rialto replay` use the same random numbers, files and digests.
//!
//! ```
//! use rialto_workload::{commands, obw, opening};
//!
//! let stream = obw::generate(1, 100, 1_000);
//! let workload = stream.workload();
//! assert_eq!(workload.expected.tally.trades, stream.header.trades);
//! assert!(commands(&workload).len() >= 1_000 && !opening(&workload).is_empty());
//! ```
//!
//! [`obw`] reads and writes files of operations, [`digest`] sums up fills, [`Host`] says what
//! machine a run is on.

mod commands;
mod cycle;
pub mod digest;
mod host;
mod market;
mod mix;
pub mod obw;
mod operation;
mod random;
mod random_prices;
mod reference;

pub use commands::{ENGINE, FEES, INSTRUMENT, commands, fill_of, opening};
pub use cycle::Cycle;
pub use host::Host;
pub use market::{
    AUCTION_FEES, CallAuction, MARKET_PRICE_SCALE, MarketBuilder, MarketFlow, MarketTotals,
    call_auction, crossed_levels, every_kind, one_maker, pair_beside, paired_round, qaexchange,
    resting_orders,
};
pub use mix::exchange_core_mix;
pub use operation::{Operation, Workload};
pub use random::{MersenneTwister, XorShift};
pub use random_prices::{Form, PRICE_SCALE, QUANTITY_SCALE, USERS, random_orders, random_prices};
pub use reference::{Fill, ReferenceBook, Resting, Standing, Tally, Totals};
