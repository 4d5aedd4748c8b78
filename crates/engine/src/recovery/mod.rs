//! Bringing a data directory back to life, unattended.
//!
//! The newest good snapshot that the event log reaches, the journal from there, and the events of
//! that journal compared with the event log byte for byte where it has them and appended where it
//! does not. Nothing is written before everything that can be checked has been.

mod error;
mod event_log;
mod report;
mod start;

pub use error::StartError;
pub(crate) use event_log::{EventCheck, chain_after};
pub use report::{RecoveryReport, SkippedSnapshot};
pub(crate) use start::{Replay, epoch_of, recover};
