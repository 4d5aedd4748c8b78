//! The WebSocket stream: market data, and an account's own orders, fills and balances.
//!
//! `docs/stream.md` describes every message.

mod config;
mod connection;
mod message;
mod outbox;
mod reading;
mod replay;
mod request;
mod streams;
mod turns;

pub use config::StreamConfig;
pub(crate) use streams::{Streams, upgrade};
