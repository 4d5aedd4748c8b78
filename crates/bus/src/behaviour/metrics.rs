//! Durations of requests, for exporters of metrics.

use super::interceptor::{Interceptor, Outcome, both_ways, outcome_of, outcome_of_abandoned};
use crate::{Context, Request, Result};
use rialto_clock::{Clock, SystemClock};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An exporter of metrics, called once for each finished request.
pub trait Sink: Send + Sync {
    /// A request of this name finished with this outcome after this duration. A request whose
    /// future was dropped before its answer is [`Cancelled`](crate::ErrorKind::Cancelled).
    fn observe(&self, request: &'static str, outcome: Outcome, took: Duration);
}

impl<S: Sink> Sink for Arc<S> {
    fn observe(&self, request: &'static str, outcome: Outcome, took: Duration) {
        (**self).observe(request, outcome, took);
    }
}

/// Reports the outcome and the duration of each request to a [`Sink`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Metrics<S, C = SystemClock> {
    sink: S,
    clock: C,
}

impl<S: Sink> Metrics<S> {
    /// Times by the clock of the machine.
    #[must_use]
    pub fn new(sink: S) -> Metrics<S> {
        Metrics { sink, clock: SystemClock }
    }
}

impl<S: Sink, C: Clock> Metrics<S, C> {
    /// Times by this clock.
    #[must_use]
    pub fn with_clock(sink: S, clock: C) -> Metrics<S, C> {
        Metrics { sink, clock }
    }

    /// The sink.
    #[must_use]
    pub fn sink(&self) -> &S {
        &self.sink
    }
}

/// Observes a request as abandoned unless its answer comes.
pub(crate) struct Timing<'a, S: Sink, C: Clock> {
    metrics: &'a Metrics<S, C>,
    request: &'static str,
    begin: Instant,
}

impl<S: Sink, C: Clock> Timing<'_, S, C> {
    #[inline]
    fn observe(&self, outcome: Outcome) {
        let took = self.metrics.clock.monotonic().saturating_duration_since(self.begin);
        self.metrics.sink.observe(self.request, outcome, took);
    }
}

impl<S: Sink, C: Clock> Drop for Timing<'_, S, C> {
    fn drop(&mut self) {
        self.observe(outcome_of_abandoned());
    }
}

impl<R: Request, S: Sink, C: Clock> Interceptor<R> for Metrics<S, C> {
    type Guard<'a>
        = Timing<'a, S, C>
    where
        Self: 'a;

    #[inline]
    fn enter(&self, _: &R, _: &Context<'_>) -> Result<Timing<'_, S, C>> {
        Ok(Timing { metrics: self, request: R::NAME, begin: self.clock.monotonic() })
    }

    #[inline]
    fn leave(held: Timing<'_, S, C>, answer: &Result<R::Response>) {
        held.observe(outcome_of(answer));
        std::mem::forget(held);
    }
}

both_ways!([S: Sink, C: Clock] Metrics<S, C> where R: Request);
