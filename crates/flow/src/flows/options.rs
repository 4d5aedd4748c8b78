//! The options of a runtime.

use crate::observe::Observer;
use crate::{Clock, SystemClock};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

/// The options of a runtime.
#[derive(Clone)]
pub struct Options {
    /// The number of worker threads. With none, the caller does the work:
    /// [`Flows::run_until_idle`](super::Flows::run_until_idle),
    /// [`Handle::wait`](super::Handle::wait).
    pub workers: usize,
    /// Whether, over a store at [`Level::Memory`](crate::store::Level::Memory), a start executes
    /// the run on the calling thread until it first waits. A run that never waits then costs no
    /// context switch. Turn it off if steps take long.
    pub start_inline: bool,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The seed of the random pauses between attempts.
    pub seed: u64,
    /// How long the claims of this runtime last without renewal. Another one may then take over its
    /// runs, and this one is fenced off.
    pub lease: Duration,
    /// The most runs that are executed at once. Further unfinished runs of an earlier process wait
    /// in the store; the limits of the store bound the number of new runs.
    pub executions_max: usize,
    /// The largest encoded input, step result, event or output, in bytes.
    pub payload_bytes_max: usize,
    /// The length of a history at which no further step begins, and the flow fails. It may be
    /// exceeded by two payloads.
    pub history_bytes_max: usize,
    /// The most events that wait in one run; further ones are refused.
    pub events_max: usize,
    /// The observer of runs.
    pub observer: Option<Arc<dyn Observer>>,
    /// The tokio runtime that the code of flows runs in, so that it can use timers and sockets of
    /// tokio. The worker threads stay those of the flows.
    #[cfg(feature = "tokio")]
    pub tokio: Option<tokio::runtime::Handle>,
}

/// The most bytes of a payload and a history together, so that the image of a run fits into one
/// record of the log.
pub(super) const RUN_BYTES_MAX: usize = 512 << 10;

impl Default for Options {
    fn default() -> Self {
        Self {
            workers: 1,
            start_inline: true,
            clock: Arc::new(SystemClock),
            seed: RandomState::new().hash_one(std::process::id()),
            lease: Duration::from_secs(30),
            executions_max: 100_000,
            payload_bytes_max: 64 << 10,
            history_bytes_max: 256 << 10,
            events_max: 64,
            observer: None,
            #[cfg(feature = "tokio")]
            tokio: None,
        }
    }
}
