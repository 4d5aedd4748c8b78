//! The static way: a type that knows its handlers, so that a call is a call.

use crate::in_order::in_order;
use crate::{Command, Context, Error, Event, PublishError, Query, Request, Result};
use futures_util::stream::{self, Stream, StreamExt};
use std::future::Future;
use std::pin::pin;

/// A bus that answers requests of type `R`. [`bus!`](crate::bus) implements it.
#[diagnostic::on_unimplemented(
    message = "the bus `{Self}` has no handler for `{R}`",
    label = "no handler for `{R}`",
    note = "name one in the `bus!` that makes `{Self}`"
)]
pub trait Serves<R: Request>: Sync {
    /// Answers one request by way of its behaviours.
    fn serve(
        &self,
        request: R,
        cx: &Context<'_>,
    ) -> impl Future<Output = Result<R::Response>> + Send;
}

/// A bus that answers requests of type `R` at once. [`bus!`](crate::bus) implements it for handlers
/// that it names with `now`.
#[diagnostic::on_unimplemented(
    message = "the bus `{Self}` does not answer `{R}` at once",
    label = "no handler marked `now` for `{R}`",
    note = "name one with `now` in the `bus!` that makes `{Self}`, or send and await"
)]
pub trait ServesNow<R: Request>: Sync {
    /// Answers one request by way of its behaviours.
    fn serve_now(&self, request: R, cx: &Context<'_>) -> Result<R::Response>;
}

/// A bus that publishes events of type `E`. [`bus!`](crate::bus) implements it.
#[diagnostic::on_unimplemented(
    message = "the bus `{Self}` tells nobody of `{E}`",
    label = "nobody listens to `{E}`",
    note = "say who does in the `events` of the `bus!` that makes `{Self}`"
)]
pub trait Announces<E: Event>: Sync {
    /// Calls every handler in turn, including those after a failed one.
    fn announce(
        &self,
        event: &E,
        cx: &Context<'_>,
    ) -> impl Future<Output = std::result::Result<(), PublishError>> + Send;
}

/// A bus whose handlers of events of type `E` all answer at once.
#[diagnostic::on_unimplemented(
    message = "the bus `{Self}` does not tell of `{E}` at once",
    label = "no `now` handlers of `{E}`",
    note = "mark the event with `now` in the `bus!` that makes `{Self}`, or publish and await"
)]
pub trait AnnouncesNow<E: Event>: Sync {
    /// Calls every handler in turn, including those after a failed one.
    fn announce_now(&self, event: &E, cx: &Context<'_>) -> std::result::Result<(), PublishError>;
}

/// Sends requests to a bus: one that was made with [`bus!`](crate::bus), or a [`Bus`](crate::Bus).
pub trait Dispatch: Sized {
    /// Sends a command.
    ///
    /// # Errors
    /// A behaviour or the handler refuses or fails.
    #[inline]
    fn send<R: Command>(
        &self,
        command: R,
        cx: &Context<'_>,
    ) -> impl Future<Output = Result<R::Response>> + Send
    where
        Self: Serves<R>,
    {
        self.serve(command, cx)
    }

    /// Sends a query.
    ///
    /// # Errors
    /// A behaviour or the handler refuses or fails.
    #[inline]
    fn query<R: Query>(
        &self,
        query: R,
        cx: &Context<'_>,
    ) -> impl Future<Output = Result<R::Response>> + Send
    where
        Self: Serves<R>,
    {
        self.serve(query, cx)
    }

    /// Sends a command without a future.
    ///
    /// # Errors
    /// A behaviour or the handler refuses or fails.
    #[inline]
    fn send_now<R: Command>(&self, command: R, cx: &Context<'_>) -> Result<R::Response>
    where
        Self: ServesNow<R>,
    {
        self.serve_now(command, cx)
    }

    /// Sends a query without a future.
    ///
    /// # Errors
    /// A behaviour or the handler refuses or fails.
    #[inline]
    fn query_now<R: Query>(&self, query: R, cx: &Context<'_>) -> Result<R::Response>
    where
        Self: ServesNow<R>,
    {
        self.serve_now(query, cx)
    }

    /// Sends commands one after the other and adds their results to `answers`, in order. Commands
    /// after a failed one are sent too.
    #[inline]
    fn send_batch_now<R: Command>(
        &self,
        commands: impl IntoIterator<Item = R>,
        cx: &Context<'_>,
        answers: &mut Vec<Result<R::Response>>,
    ) where
        Self: ServesNow<R>,
    {
        answers.extend(commands.into_iter().map(|command| self.serve_now(command, cx)));
    }

    /// Sends commands, at most `concurrent` (at least one) at a time, and returns their results in
    /// the order of the commands.
    fn send_batch<'a, R: Command>(
        &'a self,
        commands: impl IntoIterator<Item = R, IntoIter: Send> + Send + 'a,
        cx: &'a Context<'a>,
        concurrent: usize,
    ) -> impl Future<Output = Vec<Result<R::Response>>> + Send + 'a
    where
        Self: Serves<R>,
    {
        async move {
            let commands = commands.into_iter();
            let mut answers = Vec::with_capacity(commands.size_hint().0);
            let serve = |command| self.serve(command, cx);
            let all = in_order(stream::iter(commands), serve, concurrent.max(1));
            let mut all = pin!(all);
            while let Some(answer) = all.next().await {
                answers.push(answer);
            }
            answers
        }
    }

    /// Sends the commands of a stream as they come, at most `concurrent` (at least one) at a time,
    /// and yields their results in the order of the commands. No further commands are taken while
    /// the results are not.
    fn send_stream<'a, R: Command>(
        &'a self,
        commands: impl Stream<Item = R> + 'a,
        cx: &'a Context<'a>,
        concurrent: usize,
    ) -> impl Stream<Item = Result<R::Response>> + 'a
    where
        Self: Serves<R>,
    {
        in_order(commands, move |command| self.serve(command, cx), concurrent.max(1))
    }

    /// Publishes an event to all its handlers.
    ///
    /// # Errors
    /// Some handlers failed; all were called.
    #[inline]
    fn publish<E: Event>(
        &self,
        event: &E,
        cx: &Context<'_>,
    ) -> impl Future<Output = std::result::Result<(), PublishError>> + Send
    where
        Self: Announces<E>,
    {
        self.announce(event, cx)
    }

    /// Publishes an event to all its handlers without a future.
    ///
    /// # Errors
    /// Some handlers failed; all were called.
    #[inline]
    fn publish_now<E: Event>(
        &self,
        event: &E,
        cx: &Context<'_>,
    ) -> std::result::Result<(), PublishError>
    where
        Self: AnnouncesNow<E>,
    {
        self.announce_now(event, cx)
    }

    /// Publishes events to all their handlers, one event after the other, waiting for each.
    ///
    /// # Errors
    /// Some handlers failed; all were called with every event.
    fn publish_batch<'e, E: Event>(
        &self,
        events: impl IntoIterator<Item = &'e E, IntoIter: Send> + Send,
        cx: &Context<'_>,
    ) -> impl Future<Output = std::result::Result<(), PublishError>> + Send
    where
        Self: Announces<E>,
    {
        async move {
            let mut failures = Failures::default();
            for event in events {
                failures.take_in(self.announce(event, cx).await);
            }
            failures.into_result()
        }
    }

    /// Publishes events to all their handlers, one event after the other.
    ///
    /// # Errors
    /// Some handlers failed; all were called with every event.
    #[inline]
    fn publish_batch_now<'e, E: Event>(
        &self,
        events: impl IntoIterator<Item = &'e E>,
        cx: &Context<'_>,
    ) -> std::result::Result<(), PublishError>
    where
        Self: AnnouncesNow<E>,
    {
        let mut failures = Failures::default();
        for event in events {
            failures.take_in(self.announce_now(event, cx));
        }
        failures.into_result()
    }
}

/// Collects the errors of handlers of an event. It allocates only for an error.
#[doc(hidden)]
#[derive(Default)]
pub struct Failures(Vec<(&'static str, Error)>);

impl Failures {
    #[inline]
    pub fn note(&mut self, handler: &'static str, result: Result<()>) {
        if let Err(error) = result {
            self.0.push((handler, error));
        }
    }

    #[inline]
    pub(crate) fn take_in(&mut self, result: std::result::Result<(), PublishError>) {
        if let Err(error) = result {
            self.0.extend(error.failures);
        }
    }

    #[inline]
    pub fn into_result(self) -> std::result::Result<(), PublishError> {
        if self.0.is_empty() { Ok(()) } else { Err(PublishError { failures: self.0 }) }
    }
}
