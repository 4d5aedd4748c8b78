//! The end of a venue: its deadline and its report.

use rialto_engine::ShutdownReport;
use rialto_lifecycle::StopReport;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How long a component may take to stop where no shutdown has said so: when another has failed
/// to start.
const WITHOUT_SHUTDOWN: Duration = Duration::from_secs(10);

/// Until when a shutdown is to be over, which its components share.
#[derive(Clone, Default)]
pub(super) struct Deadline(Arc<OnceLock<Instant>>);

impl Deadline {
    /// The shutdown begins now and may take this long.
    pub(super) fn begin(&self, at_most: Duration) {
        let now = Instant::now();
        self.0.get_or_init(|| now.checked_add(at_most).unwrap_or(now + WITHOUT_SHUTDOWN));
    }

    /// How long is left.
    pub(super) fn left(&self) -> Duration {
        match self.0.get() {
            Some(end) => end.saturating_duration_since(Instant::now()),
            None => WITHOUT_SHUTDOWN,
        }
    }
}

/// The report of a venue's end. It displays as lines for the operator.
#[derive(Debug)]
pub struct Closing {
    /// Unfinished requests, and how each component stopped.
    pub report: StopReport,
    /// Where the engine has stopped.
    pub engine: ShutdownReport,
}

impl fmt::Display for Closing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.report, self.engine)
    }
}
