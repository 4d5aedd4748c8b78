//! Requests and events.

/// A request for exactly one handler, with one type of response.
///
/// Implement [`Command`] or [`Query`] beside it, which tells readers and behaviours whether it
/// changes anything.
pub trait Request: Send + Sized + 'static {
    /// The type of the answer.
    type Response: Send + 'static;

    /// Its name in traces, metrics and errors: stable, in snake case.
    const NAME: &'static str;
}

/// A request that may change something.
pub trait Command: Request {}

/// A request that changes nothing, so that its answer may be cached and it may be repeated.
pub trait Query: Request {}

/// A fact, sent to any number of handlers.
pub trait Event: Send + Sync + 'static {
    /// Its name in traces, metrics and errors: stable, in snake case.
    const NAME: &'static str;
}
