//! The engine's health.

use rialto_log::WriteError;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The fault that ended an engine.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The journal could not be written.
    #[error("the journal could not be written, and nothing after its last group was acknowledged")]
    Journal(#[source] WriteError),
    /// The event log could not be written.
    #[error(
        "the event log could not be written; it is completed from the journal at the next start"
    )]
    EventLog(#[source] WriteError),
    /// A disk operation did not return in time.
    #[error("the {} did not return from the disk in {} s; nothing after it was acknowledged", .0.place(), .0.lasting.as_secs())]
    Hung(Stall),
    /// A thread panicked: a defect of the engine.
    #[error("the {0} thread panicked: a defect; its message was printed")]
    Panicked(&'static str),
}

/// A disk operation that does not return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The journal or the event log.
    pub what: &'static str,
    /// Its directory.
    pub dir: PathBuf,
    /// The duration so far.
    pub lasting: Duration,
}

impl Stall {
    fn place(&self) -> String {
        format!("{} in {}", self.what, self.dir.display())
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, seconds) = (self.place(), self.lasting.as_secs_f64());
        write!(f, "the {place} has not returned from the disk for {seconds:.1} s")
    }
}

/// The health of an engine.
#[derive(Clone, Debug)]
pub enum Health {
    /// It accepts commands.
    Running,
    /// The disk hangs: nothing is released and no command accepted until it returns.
    Stalled(Stall),
    /// It finishes accepted commands.
    Draining,
    /// It was shut down without losses.
    Stopped,
    /// It ended because of a fault. Remove the cause, then restart it.
    Failed(Arc<Fault>),
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Health::Running => f.write_str("running"),
            Health::Stalled(stall) => write!(f, "stalled: {stall}"),
            Health::Draining => f.write_str("draining"),
            Health::Stopped => f.write_str("stopped"),
            Health::Failed(fault) => write!(f, "failed: {}", tell_all(&**fault)),
        }
    }
}

/// An error with all its causes in one line.
pub(crate) fn tell_all(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_told = cause.to_string();
        // Some errors name their cause already.
        if !told.ends_with(&cause_told) {
            told.push_str(": ");
            told.push_str(&cause_told);
        }
        source = cause.source();
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_disk::{DiskError, Operation};

    #[test]
    fn a_cause_that_an_error_names_itself_is_told_once() {
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let error = DiskError::io(Operation::Write, std::path::Path::new("/log"), full);
        assert_eq!(tell_all(&error), error.to_string());
    }
}
