//! Durable workflows: plain async Rust whose finished steps survive the process.
//!
//! A [`Flow`] is code that goes through steps and waits. Each finished step is stored, so that a
//! run that is resumed after a crash or a restart continues at the next one. [`Flows`] runs them
//! over a [`store`]: a directory, or memory.
//!
//! ```
//! use rialto_flow::store::{Level, LogOptions, LogStore};
//! use rialto_flow::{Flow, FlowContext, FlowError, FlowId, Flows};
//! use std::sync::Arc;
//!
//! struct Sale;
//!
//! impl Flow for Sale {
//!     const NAME: &'static str = "sale";
//!     type Input = String;
//!     type Output = String;
//!
//!     async fn run<'a>(&'a self, cx: &FlowContext<'a>, item: &'a String) -> Result<String, FlowError> {
//!         let shelf: u32 = cx
//!             .step("reserve", async || Ok(7))
//!             .compensate(async |shelf: u32| {
//!                 println!("back to shelf {shelf}"); // when a later step fails
//!                 Ok(())
//!             })
//!             .await?;
//!         let paid: u32 = cx.wait_for("payment").await?;
//!         cx.step("ship", async || Ok(format!("{item} from shelf {shelf} for {paid}"))).await
//!     }
//! }
//!
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! let open = || {
//!     let store = LogStore::open(directory, LogOptions::new(Level::Synced)).map(Arc::new)?;
//!     Flows::builder(store).register(Sale).open()
//! };
//! let id = FlowId::new("sale-1")?;
//! open()?.start::<Sale>(id, "a lamp".to_owned())?.confirmed().wait()?;
//!
//! // The program has ended. The next one finds the sale where it stands.
//! let flows = open()?;
//! flows.deliver(id, "payment", &40_u32)?.wait()?;
//! let sale = flows.start::<Sale>(id, "a lamp".to_owned())?;
//! assert_eq!(sale.wait()?, "a lamp from shelf 7 for 40");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Next: [`FlowContext`] and [`Step`] describe steps, `docs/flow.md` the guarantees,
//! `docs/formats/flow.md` the format on disk. The [`outbox`] sends messages exactly once, and
//! [`RecordRuns`] records runs.

mod context;
mod error;
mod flow;
mod flows;
pub mod history;
mod observe;
pub mod outbox;
mod prefetch;
mod record_runs;
mod retry;
mod run;
pub mod store;

pub use context::{Child, FlowContext, Step, StepFuture, StepKey, TimedWait, Wait};
pub use error::{FlowError, FlowsError, Parked, RunError, StepError};
pub use flow::Flow;
pub use flows::{Confirmation, Flows, FlowsBuilder, Handle, Options};
pub use observe::{Observed, Observer};
pub use record_runs::RecordRuns;
pub use retry::RetryPolicy;
pub use rialto_clock::{Clock, ManualClock, SystemClock, Timestamp};
pub use rialto_recorder::{FlowId, FlowIdError};
