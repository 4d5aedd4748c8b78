//! Consumer groups: who has which message, for how long, and what they are done with.

mod changes;
mod filter;
mod keys;
mod members;
mod options;
mod state;
mod window;

pub(crate) use changes::Progress;
pub use filter::{Filter, InvalidFilter};
pub(crate) use members::Group;
pub use members::{Delivered, Fetched, GroupStats};
pub use options::{DeadLetter, Delivery, GroupOptions, Order, Sharing, Start};
pub(crate) use state::{ConsumerId, Death, GroupState, Nack};
pub use state::{DeathReason, GroupCounts};
pub(crate) use window::Range;
