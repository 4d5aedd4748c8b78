//! Where runs, messages and marks are kept.

mod message;

pub use message::{InboxMark, MessageNumber, OutboxMessage};
