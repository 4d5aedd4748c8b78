//! Connections: limits, threads, and clients behind proxies.

mod accept;
mod message_bytes;
mod networks;
mod open;
mod pools;
mod proxy;
mod serve;

pub(crate) use accept::{Door, TURNED_AWAY_MAX, operations_limits, public_limits};
pub(crate) use message_bytes::STREAM_READ_BYTES;
pub use networks::{InvalidNetwork, Network};
pub(crate) use open::{Connections, Open};
pub(crate) use pools::{Pool, Pools};
pub(crate) use serve::Router;
