//! Topics, groups and messages.

mod consumer;
mod group;
mod message;
mod topic;

pub use consumer::*;
pub use group::*;
pub use message::*;
pub use topic::*;
