//! The result of a shutdown.

use crate::component::Failure;
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// Running operations of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StillRunning {
    /// The kind.
    pub kind: Cow<'static, str>,
    /// The number of operations.
    pub count: u64,
    /// How long the oldest timed operation has been running.
    pub oldest: Option<Duration>,
}

impl fmt::Display for StillRunning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {}", self.count, self.kind)?;
        match self.oldest {
            Some(oldest) => write!(f, ", the oldest for {oldest:.1?}"),
            None => Ok(()),
        }
    }
}

/// How a component stopped.
#[derive(Debug)]
pub struct Stopped {
    /// The component.
    pub name: Cow<'static, str>,
    /// The duration of the stop.
    pub took: Duration,
    /// The error of the stop; `None` if it stopped.
    pub failure: Option<Failure>,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.failure {
            None => write!(f, "{} stopped in {:.1?}", self.name, self.took),
            Some(failure) => write!(f, "{} did not stop: {failure}", self.name),
        }
    }
}

/// The result of a shutdown. Its text has one line for each fact that an operator should know.
#[derive(Debug)]
pub struct StopReport {
    /// How long operations that had begun took to end, or the deadline if some did not.
    pub drained_in: Duration,
    /// The operations that were still running at the deadline.
    pub still_running: Vec<StillRunning>,
    /// The components that had been started, in the order in which they were stopped.
    pub stopped: Vec<Stopped>,
}

impl StopReport {
    /// Whether every operation ended and every component stopped.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.still_running.is_empty() && self.stopped.iter().all(|part| part.failure.is_none())
    }
}

impl fmt::Display for StopReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.still_running.is_empty() {
            true => write!(f, "all operations ended in {:.1?}", self.drained_in)?,
            false => write!(f, "after {:.1?} there were still running:", self.drained_in)?,
        }
        for running in &self.still_running {
            write!(f, "\n  {running}")?;
        }
        for stopped in &self.stopped {
            write!(f, "\n{stopped}")?;
        }
        Ok(())
    }
}
