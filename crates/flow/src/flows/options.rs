//! How flows are run.

use crate::observe::Observer;
use crate::{Clock, SystemClock};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

/// How flows are run.
#[derive(Clone)]
pub struct Options {
    /// How many threads work. With none, the caller does the work:
    /// [`Flows::run_until_idle`](super::Flows::run_until_idle), [`Handle::wait`](super::Handle::wait).
    pub workers: usize,
    /// Whether, over a store at [`Level::Memory`](crate::store::Level::Memory), a start executes the
    /// run on the calling thread until it first waits. A run that waits for nothing then costs no
    /// change of threads; turn it off if steps take long.
    pub start_inline: bool,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// What the pauses between attempts are drawn from.
    pub seed: u64,
    /// For how long the claims of this runtime hold when it gives no sign of life. Another one may
    /// then take its runs over, and this one is fenced off.
    pub lease: Duration,
    /// The most runs that are executed at once. Further unfinished runs of an earlier life wait in
    /// the store for their turn; how many may be begun is for the limits of the store to say.
    pub executions_max: usize,
    /// The longest value that an input, step, event or output may be encoded to.
    pub payload_bytes_max: usize,
    /// When the history of a run is this long no further step is begun, and the flow fails. It may
    /// exceed this by two payloads.
    pub history_bytes_max: usize,
    /// How many events may wait in one run; further ones are refused.
    pub events_max: usize,
    /// Who watches.
    pub observer: Option<Arc<dyn Observer>>,
    /// The runtime that the code of flows finds itself in, so that it can use timers and sockets of
    /// tokio. The worker threads stay those of the flows.
    #[cfg(feature = "tokio")]
    pub tokio: Option<tokio::runtime::Handle>,
}

/// What a payload and a history may come to together, so that the image of a run fits into one
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
