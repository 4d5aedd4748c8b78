//! Starts the components of a process in order, supervises them, and stops them after the
//! operations that have begun.
//!
//! A [`Lifecycle`] knows [`Component`]s by name. It starts each after its dependencies, restarts
//! one that fails, and says whether the process is ready and alive. [`Operations`] counts running
//! operations; a shutdown refuses new ones, waits for the running ones, and then stops the
//! components in reverse order.
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
//! Where to go next: [`Lifecycle::supervise`] supervises the components, [`Restart`] is the restart
//! policy, [`StopReport`] the result of a shutdown. `docs/lifecycle.md` has the guarantees.

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
