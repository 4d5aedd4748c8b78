//! Captures of Bitstamp's live orders, and how much of the real trading a replay reproduces.
//!
//! A capture says what became of every order, but not of which kind it was. `docs/replay.md` tells
//! how the kinds are found and what that can and cannot reproduce.

mod capture;
mod compare;
mod decimal;
mod trades;

pub(super) use capture::{Capture, Passive};
pub(super) use compare::Comparison;
