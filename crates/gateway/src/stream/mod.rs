//! The WebSocket stream: market data, and an account's own orders, fills and balances.

pub(crate) mod message;
mod names;
mod own;

pub(crate) use names::Names;
