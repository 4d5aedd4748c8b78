//! How the system schedules a thread.
//!
//! A venue has threads on which orders wait, and threads that may take their time. On processors that
//! are busy the former call [`wake_promptly`], the latter [`lower_priority`]. Both are requests: where
//! the system knows no such thing or refuses it, nothing changes.

mod priority;
mod slice;

pub use priority::lower_priority;
pub use slice::{SLICE_NS, time_slice_ns, wake_promptly};
