//! The options of one fetch.

use crate::error::QueueError;
use std::time::Duration;

/// The shortest lease that a fetch, a claim or an extension may ask for.
pub const LEASE_MIN: Duration = Duration::from_millis(1);
/// The longest one.
pub const LEASE_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The options of one fetch.
///
/// ```
/// # use rialto_queue::FetchOptions;
/// # use std::time::Duration;
/// let ten_for_an_hour = FetchOptions::new(10).ack_wait(Duration::from_secs(3_600));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchOptions {
    /// The most messages.
    pub messages_max: usize,
    /// The fetch stops behind the message with which it has delivered this many bytes; `None` is the
    /// bound of the consumer ([`Consumer::bytes_max`](crate::Consumer::bytes_max)).
    pub bytes_max: Option<usize>,
    /// How long the leases last, from [`LEASE_MIN`] to [`LEASE_MAX`]; `None` is the length of the
    /// group ([`GroupOptions::ack_wait`](crate::GroupOptions::ack_wait)).
    pub ack_wait: Option<Duration>,
}

impl FetchOptions {
    /// At most this many messages, leased as the group says.
    #[must_use]
    pub fn new(messages_max: usize) -> Self {
        Self { messages_max, bytes_max: None, ack_wait: None }
    }

    /// Stops behind the message with which the fetch has delivered this many bytes.
    #[must_use]
    pub fn bytes_max(self, bytes: usize) -> Self {
        Self { bytes_max: Some(bytes), ..self }
    }

    /// Leases the messages for this long.
    #[must_use]
    pub fn ack_wait(self, length: Duration) -> Self {
        Self { ack_wait: Some(length), ..self }
    }
}

/// Fails if a lease cannot have this length.
pub(crate) fn check_lease(length: Option<Duration>) -> Result<(), QueueError> {
    match length {
        Some(asked) if !(LEASE_MIN..=LEASE_MAX).contains(&asked) => {
            Err(QueueError::LeaseLength { asked })
        }
        _ => Ok(()),
    }
}
