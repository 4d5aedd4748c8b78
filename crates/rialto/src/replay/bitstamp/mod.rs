//! Captures of Bitstamp's live orders, and how much of the real trading a replay reproduces.
//!
//! A capture records the trades and the end of every order, but not its kind. `docs/replay.md`
//! explains how the kinds are inferred, and what a replay can reproduce.

mod capture;
mod compare;
mod decimal;
mod trades;

pub(super) use capture::{Capture, Passive};
pub(super) use compare::Comparison;
