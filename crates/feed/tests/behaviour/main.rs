//! What a feed tells. One program: each program of tests is linked with the core and the desk.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod accounts;
mod amendments;
mod auctions;
mod baselines;
mod calendars;
mod call_depth;
mod core;
mod icebergs;
mod linked;
mod market_data;
mod orders;
mod refusals;
mod stage;
mod venue;
mod withdrawals;
