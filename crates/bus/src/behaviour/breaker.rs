//! Circuit breakers.

use super::interceptor::{Interceptor, Outcome, both_ways, outcome_of, outcome_of_abandoned};
use crate::{Context, Error, ErrorKind, Request, Result};
use rialto_clock::{Clock, SystemClock};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// When a circuit opens and when it closes again.
#[derive(Clone, Copy, Debug)]
pub struct BreakerPlan {
    /// How many failures in a row open the circuit; at least one.
    pub failures_max: u32,
    /// How long it stays open.
    pub open_for: Duration,
    /// How many probes in a row, one at a time, must succeed to close it; at least one.
    pub probes_needed: u32,
}

impl Default for BreakerPlan {
    /// Five failures, ten seconds, one probe.
    fn default() -> BreakerPlan {
        BreakerPlan { failures_max: 5, open_for: Duration::from_secs(10), probes_needed: 1 }
    }
}

/// The state of a circuit breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CircuitState {
    /// Requests pass.
    Closed,
    /// Requests are refused.
    Open,
    /// One request at a time passes as a probe.
    HalfOpen,
}

/// Refuses requests with [`Unavailable`](ErrorKind::Unavailable) after too many have failed in a
/// row, and lets single probes through later.
///
/// Failures are those of the inner handler: [`Timeout`](ErrorKind::Timeout),
/// [`Unavailable`](ErrorKind::Unavailable), [`Panicked`](ErrorKind::Panicked) and
/// [`Internal`](ErrorKind::Internal). [`Busy`](ErrorKind::Busy) and
/// [`Cancelled`](ErrorKind::Cancelled) count neither way; any other answer, including a refusal,
/// counts as success.
#[derive(Debug)]
pub struct CircuitBreaker<C = SystemClock> {
    plan: BreakerPlan,
    clock: C,
    circuit: Mutex<Circuit>,
}

#[derive(Debug)]
struct Circuit {
    state: State,
    /// Increases with every change of state. The outcome of a request from an earlier period does
    /// not count.
    period: u64,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Closed { failures: u32 },
    Open { since: Instant },
    HalfOpen { succeeded: u32, is_probing: bool },
}

enum CallSign {
    Good,
    Bad,
    None,
}

fn sign_of(outcome: Outcome) -> CallSign {
    use ErrorKind::{Busy, Cancelled, Internal, Panicked, Timeout, Unavailable};
    match outcome {
        Err(Timeout | Unavailable | Panicked | Internal) => CallSign::Bad,
        Err(Busy | Cancelled) => CallSign::None,
        _ => CallSign::Good,
    }
}

impl Circuit {
    fn turn(&mut self, state: State) {
        self.state = state;
        self.period += 1;
    }

    /// Lets a request through, in the period that is returned, or refuses it.
    fn enter(&mut self, plan: &BreakerPlan, clock: &impl Clock) -> Option<u64> {
        match &mut self.state {
            State::Closed { .. } => {}
            State::HalfOpen { is_probing, .. } => {
                if std::mem::replace(is_probing, true) {
                    return None;
                }
            }
            State::Open { since } => {
                if clock.monotonic().saturating_duration_since(*since) < plan.open_for {
                    return None;
                }
                self.turn(State::HalfOpen { succeeded: 0, is_probing: true });
            }
        }
        Some(self.period)
    }

    fn leave(&mut self, period: u64, sign: CallSign, plan: &BreakerPlan, clock: &impl Clock) {
        if period != self.period {
            return;
        }
        match (&mut self.state, sign) {
            (State::Closed { failures }, CallSign::Good) => *failures = 0,
            (State::Closed { failures }, CallSign::Bad) => {
                *failures += 1;
                if *failures >= plan.failures_max {
                    self.turn(State::Open { since: clock.monotonic() });
                }
            }
            (State::HalfOpen { succeeded, is_probing }, CallSign::Good) => {
                *succeeded += 1;
                *is_probing = false;
                if *succeeded >= plan.probes_needed {
                    self.turn(State::Closed { failures: 0 });
                }
            }
            (State::HalfOpen { .. }, CallSign::Bad) => {
                self.turn(State::Open { since: clock.monotonic() })
            }
            (State::HalfOpen { is_probing, .. }, CallSign::None) => *is_probing = false,
            (State::Closed { .. }, CallSign::None) | (State::Open { .. }, _) => {}
        }
    }
}

impl CircuitBreaker {
    /// Goes by the clock of the machine.
    #[must_use]
    pub fn new(plan: BreakerPlan) -> CircuitBreaker {
        CircuitBreaker::with_clock(plan, SystemClock)
    }
}

impl<C: Clock> CircuitBreaker<C> {
    /// Goes by this clock.
    #[must_use]
    pub fn with_clock(plan: BreakerPlan, clock: C) -> CircuitBreaker<C> {
        let circuit = Circuit { state: State::Closed { failures: 0 }, period: 0 };
        CircuitBreaker { plan, clock, circuit: Mutex::new(circuit) }
    }

    fn circuit(&self) -> MutexGuard<'_, Circuit> {
        self.circuit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The present state. A circuit whose time is over stays open until the next request.
    #[must_use]
    pub fn state(&self) -> CircuitState {
        match self.circuit().state {
            State::Closed { .. } => CircuitState::Closed,
            State::Open { .. } => CircuitState::Open,
            State::HalfOpen { .. } => CircuitState::HalfOpen,
        }
    }
}

/// A request that was let through. If it is abandoned, it counts only after a panic.
pub(crate) struct Passing<'a, C: Clock> {
    breaker: &'a CircuitBreaker<C>,
    period: u64,
}

impl<C: Clock> Passing<'_, C> {
    fn leave(&self, outcome: Outcome) {
        let CircuitBreaker { plan, clock, .. } = self.breaker;
        self.breaker.circuit().leave(self.period, sign_of(outcome), plan, clock);
    }
}

impl<C: Clock> Drop for Passing<'_, C> {
    fn drop(&mut self) {
        self.leave(outcome_of_abandoned());
    }
}

#[cold]
fn is_open<R: Request>() -> Error {
    let message =
        format!("What answers {} has failed too often; try again a little later.", R::NAME);
    Error::new(ErrorKind::Unavailable, "circuit_open", message)
}

impl<R: Request, C: Clock> Interceptor<R> for CircuitBreaker<C> {
    type Guard<'a>
        = Passing<'a, C>
    where
        C: 'a;

    fn enter(&self, _: &R, _: &Context<'_>) -> Result<Passing<'_, C>> {
        let period = self.circuit().enter(&self.plan, &self.clock).ok_or_else(is_open::<R>)?;
        Ok(Passing { breaker: self, period })
    }

    fn leave(held: Passing<'_, C>, answer: &Result<R::Response>) {
        held.leave(outcome_of(answer));
        std::mem::forget(held);
    }
}

both_ways!([C: Clock] CircuitBreaker<C> where R: Request);
