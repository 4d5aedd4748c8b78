//! Starts the parts of a process in order, watches over them, and stops them so that nothing that
//! has begun is cut off.
//!
//! A [`Lifecycle`] knows [`Component`]s by name. It starts each after those that it needs, restarts
//! one that fails, and says whether the process is ready and alive. [`Operations`] counts what is
//! under way; shutting down refuses what is new, waits for what has begun, and then stops the
//! components in the opposite order.
//!
//! ```
//! use rialto_lifecycle::{Component, Failure, Health, Lifecycle};
//! use std::time::Duration;
//!
//! struct Journal;
//! impl Component for Journal {
//!     fn start(&mut self) -> Result<(), Failure> { Ok(()) }
//!     fn stop(&mut self) -> Result<(), Failure> { Ok(()) }
//!     fn health(&mut self) -> Health { Health::Up }
//! }
//!
//! let mut venue = Lifecycle::new();
//! venue.register("journal", Journal);
//! let orders = venue.operations().kind("POST /v1/orders");
//! venue.start()?;
//!
//! let order = orders.begin()?; // counted until it is dropped
//! drop(order);
//! let report = venue.shutdown(Duration::from_secs(5));
//! assert!(report.is_clean());
//! assert!(orders.begin().is_err(), "nothing begins once it stops");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to go next: [`Lifecycle::supervise`] watches over the components, [`Restart`] says how
//! often one is restarted before it is given up, [`StopReport`] what a shutdown came to. What is promised and
//! what is not stands in `docs/lifecycle.md`.

mod component;
mod error;
mod lifecycle;
mod operations;
mod order;
mod overview;
mod report;
mod restart;
mod status;
mod stopping;
mod supervisor;

pub use component::{Component, Failure, Health};
pub use error::{ComponentStartError, OrderError, Stopping};
pub use lifecycle::{Lifecycle, Registration};
pub use operations::{Drained, Kind, Operation, Operations, OwnedOperation, TimedOperation};
pub use overview::Overview;
pub use report::{StillRunning, StopReport, Stopped};
pub use restart::Restart;
pub use status::{ComponentState, ComponentStatus, StatusChange};
pub use supervisor::Supervisor;
