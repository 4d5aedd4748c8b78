//! Durable workflows: plain async Rust whose finished steps survive the process.

pub mod history;
mod id;
pub mod recorder;
pub mod store;
mod time;

pub use id::{FlowId, IdError};
pub use time::{Clock, ManualClock, SystemClock, Timestamp};
