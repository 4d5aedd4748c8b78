//! Recovery of a data directory, without an operator.
//!
//! It begins with the newest good snapshot that the event log reaches and replays the journal from
//! there. The resulting events are compared with the event log byte for byte, and appended where it
//! is shorter. Nothing is written before all checks have passed.

mod error;
mod event_log;
mod report;
mod start;

pub use error::StartError;
pub(crate) use event_log::{EventCheck, chain_after};
pub use report::{RecoveryReport, SkippedSnapshot};
pub(crate) use start::{Replay, epoch_of, recover};
