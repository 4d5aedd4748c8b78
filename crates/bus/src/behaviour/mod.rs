//! The behaviours that come with the bus, one a file.
//!
//! | Behaviour | What it does | Waits |
//! |---|---|---|
//! | [`Validation`] | refuses what makes no sense in itself | – |
//! | [`Authorisation`] | refuses what a [`Policy`] does not permit | – |
//! | [`ConcurrencyLimit`] | refuses what is too much at a time | if it has a line |
//! | [`IsolatePanics`] | turns panics into errors | – |
//! | [`Counters`] | counts requests by type and outcome | – |
//! | [`Metrics`] | times requests for a [`Sink`] | – |
//! | `Tracing` (feature `tracing`) | makes a span of each request | – |
//! | [`CircuitBreaker`] | leaves alone what is out of service | – |
//! | [`Cache`] | gives answers to questions again | – |
//! | [`Timeout`] | gives up at a deadline | yes |
//! | [`Retry`] | tries again what failed for the moment | yes |
//! | [`Idempotency`] | does nothing twice under one key | yes |
//! | [`Compensation`] | takes back what failed | yes |
//!
//! A behaviour that does not wait serves both asynchronous and synchronous handlers.

mod answers;
mod authorisation;
mod breaker;
mod cache;
mod compensation;
mod concurrency;
mod counters;
mod flight;
mod idempotency;
mod interceptor;
mod metrics;
mod panics;
mod permits;
mod randomness;
mod retry;
mod time;
mod timeout;
#[cfg(feature = "tracing")]
mod tracing;
mod validation;

/// The atomics of [`permits`], which its model test replaces.
mod sync {
    pub(super) use std::sync::atomic::{AtomicU64, Ordering};
    pub(super) use std::sync::{Mutex, MutexGuard};
}

pub use answers::{AnswerStore, Key, MemoryAnswerStore};
pub use authorisation::{Authorisation, Policy};
pub use breaker::{BreakerPlan, CircuitBreaker, CircuitState};
pub use cache::{Cache, Cacheable};
pub use compensation::{Compensate, Compensation, CompensationFailed};
pub use concurrency::ConcurrencyLimit;
pub use counters::{Counters, Counts};
pub use idempotency::{Idempotency, IdempotencyLimits};
pub use interceptor::Outcome;
pub use metrics::{Metrics, Sink};
pub use panics::IsolatePanics;
pub use randomness::{Randomness, SplitMix};
pub use retry::{Retry, RetryPlan};
pub use rialto_clock::{Clock, SystemClock};
#[cfg(feature = "tokio")]
pub use time::TokioTimer;
pub use time::{ManualTimer, Timer};
pub use timeout::Timeout;
#[cfg(feature = "tracing")]
pub use tracing::Tracing;
pub use validation::{Validate, Validation};
