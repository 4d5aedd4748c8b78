//! The examples of the pages under `docs/rules`, read from the pages.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod conditional;
mod contracts;
mod halts;
mod icebergs;
mod linked;
mod market_orders;
mod page;
mod phases;
mod price_ranges;
mod restrictions;
mod timetable;
mod uncrossing;
#[allow(dead_code, unreachable_pub, reason = "these tests use a part of it")]
#[path = "../behaviour/venue.rs"]
mod venue;
