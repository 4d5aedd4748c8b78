//! What can be said over a bus.

/// Something asked of exactly one handler, with exactly one kind of answer.
///
/// Implement [`Command`] or [`Query`] beside it, so that readers and behaviours know whether asking
/// changes anything.
pub trait Request: Send + Sized + 'static {
    /// What the handler answers.
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
