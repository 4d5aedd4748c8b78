//! Forwarders deliver messages.

use crate::store::OutboxMessage;
use std::fmt::{self, Display};
use std::future::Future;
use std::pin::Pin;

/// The error of an attempt to deliver a message.
///
/// Every other error turns into one by `?`, and is then retried. A message that will never be
/// accepted is [refused](ForwardError::refused).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardError {
    message: String,
    refused: bool,
}

impl ForwardError {
    /// An error that is retried.
    pub fn failed(message: impl Display) -> Self {
        Self { message: message.to_string(), refused: false }
    }

    /// A permanent refusal: the message becomes a dead letter at once.
    pub fn refused(message: impl Display) -> Self {
        Self { message: message.to_string(), refused: true }
    }

    /// Whether it is a permanent refusal.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.refused
    }

    /// The sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl Display for ForwardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<E: std::error::Error> From<E> for ForwardError {
    fn from(error: E) -> Self {
        Self::failed(error)
    }
}

/// Delivers messages to their destinations.
pub trait Forwarder: Send + Sync + 'static {
    /// Delivers a message. `Ok` means that the receiver has stored it: the message is then removed
    /// here. The future is dropped when it has not ended within
    /// [`Options::attempt_max`](super::Options::attempt_max).
    ///
    /// A message can be delivered more than once, above all after a crash between the receiver's
    /// answer and its record here. Send its key, by which the receiver recognises a repetition.
    fn forward(
        &self,
        message: &OutboxMessage,
    ) -> impl Future<Output = Result<(), ForwardError>> + Send;
}

/// An attempt in progress.
pub(super) type Attempt<'a> = Pin<Box<dyn Future<Output = Result<(), ForwardError>> + Send + 'a>>;

/// A type-erased forwarder.
pub(super) trait AnyForwarder: Send + Sync {
    fn forward<'a>(&'a self, message: &'a OutboxMessage) -> Attempt<'a>;
}

impl<F: Forwarder> AnyForwarder for F {
    fn forward<'a>(&'a self, message: &'a OutboxMessage) -> Attempt<'a> {
        Box::pin(Forwarder::forward(self, message))
    }
}
