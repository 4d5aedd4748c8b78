//! The one error of a bus.

use std::any::Any;
use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

/// The result of a handler or a behaviour.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of a failure, which decides what the caller can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request itself is wrong; sending it again cannot help.
    Invalid,
    /// The sender is unknown.
    Unauthenticated,
    /// The sender may not send this request.
    Forbidden,
    /// The object of the request does not exist.
    NotFound,
    /// The request contradicts the present state.
    Conflict,
    /// A limit of concurrent requests is reached; nothing was done.
    Busy,
    /// The time ran out. Whether anything was done is not known.
    Timeout,
    /// A needed service is unavailable; nothing was done.
    Unavailable,
    /// The work was cancelled.
    Cancelled,
    /// The handler panicked. Whether anything was done is not known.
    Panicked,
    /// An internal fault.
    Internal,
}

impl ErrorKind {
    /// Its name in metrics: stable, in snake case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Invalid => "invalid",
            ErrorKind::Unauthenticated => "unauthenticated",
            ErrorKind::Forbidden => "forbidden",
            ErrorKind::NotFound => "not_found",
            ErrorKind::Conflict => "conflict",
            ErrorKind::Busy => "busy",
            ErrorKind::Timeout => "timeout",
            ErrorKind::Unavailable => "unavailable",
            ErrorKind::Cancelled => "cancelled",
            ErrorKind::Panicked => "panicked",
            ErrorKind::Internal => "internal",
        }
    }

    /// Whether the same request may well succeed a little later, unless the error says otherwise.
    /// Only kinds that promise that nothing was done are among these.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        matches!(self, ErrorKind::Busy | ErrorKind::Unavailable)
    }
}

/// An error: a kind, a stable code, a sentence, whether it is retryable, and the cause.
///
/// It is one pointer wide, so that a result costs a caller no more than its answer.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    code: &'static str,
    message: Cow<'static, str>,
    is_retryable: bool,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of this kind. `code` is stable and in snake case; `message` is a sentence for people.
    #[must_use]
    #[cold]
    pub fn new(
        kind: ErrorKind,
        code: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) -> Error {
        let is_retryable = kind.is_retryable();
        Error(Box::new(Inner { kind, code, message: message.into(), is_retryable, source: None }))
    }

    /// The same error, which `source` has caused.
    #[must_use]
    pub fn with_source(mut self, source: impl StdError + Send + Sync + 'static) -> Error {
        self.0.source = Some(Box::new(source));
        self
    }

    /// The same error without its source, and the source.
    pub(crate) fn without_source(mut self) -> (Error, Option<Box<dyn StdError + Send + Sync>>) {
        let source = self.0.source.take();
        (self, source)
    }

    /// The same error, marked as retryable or not.
    #[must_use]
    pub fn retryable(mut self, is_retryable: bool) -> Error {
        self.0.is_retryable = is_retryable;
        self
    }

    /// The error of a panic with this payload.
    #[must_use]
    #[cold]
    pub fn panicked(payload: &(dyn Any + Send)) -> Error {
        let told = payload
            .downcast_ref::<&'static str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let message: Cow<'static, str> = match told {
            Some(told) => format!("The handler panicked: {told}.").into(),
            None => "The handler panicked.".into(),
        };
        Error::new(ErrorKind::Panicked, "handler_panicked", message)
    }

    /// The kind of failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The stable code, in snake case.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// What happened, to what, and what to do next, in a sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Whether the same request may well succeed a little later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.0.is_retryable
    }

    /// The cause, if it is of this type.
    #[must_use]
    pub fn source_as<E: StdError + 'static>(&self) -> Option<&E> {
        self.0.source.as_ref()?.downcast_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code, self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("code", &self.0.code)
            .field("message", &self.0.message)
            .field("is_retryable", &self.0.is_retryable)
            .field("source", &self.0.source)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_ref().map(|source| &**source as &(dyn StdError + 'static))
    }
}

/// Which handlers of an event failed, each with its reason. The others were all called.
#[derive(Debug)]
pub struct PublishError {
    pub(crate) failures: Vec<(&'static str, Error)>,
}

impl PublishError {
    /// The failures, in the order of the handlers.
    #[must_use]
    pub fn failures(&self) -> &[(&'static str, Error)] {
        &self.failures
    }
}

impl fmt::Display for PublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} handlers of the event failed", self.failures.len())?;
        for (handler, error) in &self.failures {
            write!(f, "; {handler}: {error}")?;
        }
        Ok(())
    }
}

impl StdError for PublishError {}
