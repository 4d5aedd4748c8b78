//! What the core does, one behaviour each, by concept.

#![allow(unreachable_pub, reason = "a test binary has no public interface")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod amend_waiting;
mod amending;
mod attributing;
mod auction_triggers;
mod auctions;
mod cancelling;
mod client_ids;
mod contracts;
mod expiring;
mod fees;
mod fill_or_kill;
mod forged_snapshots;
mod halting;
mod icebergs;
mod large_auctions;
mod linked;
mod listing;
mod long_commands;
mod market_orders;
mod matching;
mod minimum_quantity;
mod placing;
mod restricting;
mod self_trade;
mod snapshots;
mod sweeping;
mod time;
mod timetables;
mod transfers;
mod trigger_limits;
mod venue;
mod withdrawals;
