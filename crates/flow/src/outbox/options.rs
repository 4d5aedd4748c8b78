//! The options of an outbox.

use super::OutboxError;
use crate::retry::RetryPolicy;
use crate::{Clock, SystemClock};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

/// The options of an outbox.
#[derive(Clone)]
pub struct Options {
    /// The number of worker threads. With none, the caller of
    /// [`Outbox::run_until_idle`](super::Outbox::run_until_idle) does the work.
    pub workers: usize,
    /// The most messages that each worker forwards at once.
    pub in_flight_max: usize,
    /// How long a claim lasts. No other worker forwards the message meanwhile; when a worker dies,
    /// its messages wait for this long.
    pub lease: Duration,
    /// How long one attempt may take. It is shorter than the lease, so that an attempt has ended
    /// before another worker can begin one; the difference allows for clocks and threads.
    pub attempt_max: Duration,
    /// How often, and after which pauses, a failed attempt is repeated. When it allows no other the
    /// message becomes a dead letter. The attempts are counted in the store.
    pub retry: RetryPolicy,
    /// How long an idle worker waits before it asks the store again: the longest delay of a message
    /// that a step stored.
    pub poll_every: Duration,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The seed of the random pauses between attempts.
    pub seed: u64,
    /// The tokio runtime that forwarders run in, so that they can use timers and sockets of tokio.
    /// The worker threads stay those of the outbox.
    #[cfg(feature = "tokio")]
    pub tokio: Option<tokio::runtime::Handle>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workers: 1,
            in_flight_max: 64,
            lease: Duration::from_secs(30),
            attempt_max: Duration::from_secs(10),
            retry: RetryPolicy::exponential(20),
            poll_every: Duration::from_millis(20),
            clock: Arc::new(SystemClock),
            seed: RandomState::new().hash_one(std::process::id()),
            #[cfg(feature = "tokio")]
            tokio: None,
        }
    }
}

impl Options {
    pub(super) fn check(&self) -> Result<(), OutboxError> {
        if self.in_flight_max == 0 {
            return Err(OutboxError::Options("in_flight_max must be at least 1".to_owned()));
        }
        if self.attempt_max >= self.lease || self.attempt_max.is_zero() {
            return Err(OutboxError::Options(format!(
                "attempt_max ({:?}) must be more than nothing and less than the lease ({:?})",
                self.attempt_max, self.lease
            )));
        }
        Ok(())
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("workers", &self.workers)
            .field("in_flight_max", &self.in_flight_max)
            .field("lease", &self.lease)
            .field("attempt_max", &self.attempt_max)
            .field("retry", &self.retry)
            .field("poll_every", &self.poll_every)
            .finish_non_exhaustive()
    }
}
