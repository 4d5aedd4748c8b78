//! Handing a message over.

use crate::store::OutboxMessage;
use std::fmt::{self, Display};
use std::future::Future;
use std::pin::Pin;

/// Why a message has not left.
///
/// Every other error turns into one by `?`, and is then worth another attempt: a network that is
/// down today is up tomorrow. What will never be taken is [refused](ForwardError::refused).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardError {
    message: String,
    refused: bool,
}

impl ForwardError {
    /// It may work the next time.
    pub fn failed(message: impl Display) -> Self {
        Self { message: message.to_string(), refused: false }
    }

    /// It will be refused every time: the message becomes a dead letter at once.
    pub fn refused(message: impl Display) -> Self {
        Self { message: message.to_string(), refused: true }
    }

    /// Whether another attempt is of no use.
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

/// Takes messages to where they go.
pub trait Forwarder: Send + Sync + 'static {
    /// Hands a message over. `Ok` says that the receiver has it for good: the message is then
    /// forgotten here. The future is dropped when it has not ended within
    /// [`Options::attempt_max`](super::Options::attempt_max).
    ///
    /// A message can be handed over more than once, above all after a crash between the receiver's
    /// answer and the moment in which it is noted down here. Give the receiver its key to tell by.
    fn forward(
        &self,
        message: &OutboxMessage,
    ) -> impl Future<Output = Result<(), ForwardError>> + Send;
}

/// An attempt under way.
pub(super) type Attempt<'a> = Pin<Box<dyn Future<Output = Result<(), ForwardError>> + Send + 'a>>;

/// A forwarder whose type is forgotten.
pub(super) trait AnyForwarder: Send + Sync {
    fn forward<'a>(&'a self, message: &'a OutboxMessage) -> Attempt<'a>;
}

impl<F: Forwarder> AnyForwarder for F {
    fn forward<'a>(&'a self, message: &'a OutboxMessage) -> Attempt<'a> {
        Box::pin(Forwarder::forward(self, message))
    }
}
