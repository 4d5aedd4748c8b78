//! Each behaviour shows its effect through a bus, the static one and the dynamic one.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod authorisation;
mod breaker;
mod cache;
mod compensation;
mod concurrency;
mod counters;
mod idempotency;
mod metrics;
mod order;
mod poll;
mod retry;
mod timeout;
#[cfg(feature = "tracing")]
mod tracing;
mod validation;
