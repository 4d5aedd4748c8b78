//! The order flows that the suites drive an engine with.
//!
//! Each is deterministic, each names where its shape comes from, and each carries the totals that a
//! price-time engine must arrive at, so that a measurement of a wrong result cannot pass.

mod commands;
mod cycle;
mod mix;
pub mod obw;
mod operation;
mod random;
mod reference;
mod seed002;

pub(crate) use commands::{ENGINE, FEES, INSTRUMENT, fill_of};
pub use commands::{commands, opening};
pub(crate) use cycle::Cycle;
pub use mix::exchange_core_mix;
pub use operation::{Operation, Workload};
pub use random::{MersenneTwister, XorShift};
pub use reference::{Fill, ReferenceBook, Resting, Standing, Tally, Totals};
pub use seed002::{Form, PRICE_SCALE, QUANTITY_SCALE, USERS, orders as seed002_orders, seed002};
