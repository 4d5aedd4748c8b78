//! Consumer groups: leases and acknowledgements.

mod changes;
mod claim;
mod deadlines;
mod failed;
mod filter;
mod keys;
mod leased;
mod members;
mod options;
mod scan;
mod state;
mod terms;
mod unacknowledged;
mod window;

pub(crate) use changes::Progress;
pub use filter::{FILTER_BYTES_MAX, FILTER_CONDITIONS_MAX, Filter, InvalidFilter};
pub use leased::{LEASED_MAX, OutstandingMessage};
pub(crate) use members::Group;
pub use members::{Delivered, Fetched, GroupStats};
pub use options::{
    DeadLetter, Delivery, DeliveryOrder, GroupOptions, InvalidGroupOption, Sharing, Start,
};
pub(crate) use scan::GroupScan;
pub(crate) use state::GroupState;
pub(crate) use terms::{ConsumerId, FailedMessage, HeldLease, Nack};
pub use terms::{DeadLetterReason, GroupCounts};
pub use unacknowledged::Unacknowledged;
pub(crate) use window::Range;
