//! Durable workflows: plain async Rust whose finished steps survive the process.

mod context;
mod error;
mod flow;
mod flows;
pub mod history;
mod id;
mod observe;
pub mod outbox;
pub mod recorder;
mod retry;
mod run;
pub mod store;
mod time;

pub use context::{Child, FlowContext, Step, StepFuture, StepKey, TimedWait, Wait};
pub use error::{FlowError, FlowsError, Parked, RunError, StepError};
pub use flow::Flow;
pub use flows::{Builder, Confirmation, Flows, Handle, Options};
pub use id::{FlowId, IdError};
pub use observe::{Observed, Observer};
pub use retry::Retry;
pub use time::{Clock, ManualClock, SystemClock, Timestamp};
