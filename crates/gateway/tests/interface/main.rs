//! The routes and streams over real sockets. One program: each program of tests is linked with the whole gateway.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod amendments;
mod anything;
mod auctions;
mod audit;
mod bodies;
mod bounds;
mod calendars;
mod conditional;
mod connections;
mod contracts;
mod depot;
mod depot_downloads;
mod depot_links;
mod depot_results;
mod depot_rights;
#[path = "../depot_support/mod.rs"]
mod depot_support;
mod depot_uploads;
mod depot_watches;
mod extended_calls;
mod halts;
mod icebergs;
mod linked;
mod metrics;
mod operators;
mod order_stage;
mod order_types;
mod orders;
mod queries;
mod queue_grants;
mod queue_transactions;
mod queues;
mod queues_packed;
mod queues_push;
mod refusals;
mod restrictions;
mod revoked;
mod signing;
mod stream_bounds;
mod stream_market;
mod stream_own;
#[path = "../test_venue/mod.rs"]
mod test_venue;
#[path = "../wire/mod.rs"]
mod wire;
mod withdrawals;
