//! The behaviours that come with the bus, one a file.

mod around;
mod authorisation;
mod concurrency;
mod counters;
mod panics;
mod permits;
mod validation;

/// What [`permits`] is built on, so that its model test can put other atomics in their place.
mod sync {
    pub(super) use std::sync::atomic::{AtomicU64, Ordering};
    pub(super) use std::sync::{Mutex, MutexGuard};
}

pub use around::Outcome;
pub use authorisation::{Authorisation, Policy};
pub use concurrency::ConcurrencyLimit;
pub use counters::{Counters, Counts};
pub use panics::IsolatePanics;
pub use validation::{Validate, Validation};
