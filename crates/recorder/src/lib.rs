//! The recorder keeps the last flows and requests, step by step, for inspection.
//!
//! A [`Recorder`] begins a [`Recording`] for a run of a flow or a request; steps and variables go
//! into it until it ends. What it keeps is bounded in every direction ([`RecorderBounds`]) and
//! chosen by a [`Sampling`]; what did not fit is counted ([`RecorderStatistics`]). Records are not
//! durable: they serve diagnosis, and the history of a run is authoritative. A [`Keeper`] stores
//! ended records in a bounded ring of files.
//!
//! ```
//! use rialto_clock::{ManualClock, Timestamp};
//! use rialto_recorder::{RecorderBounds, Recorder, Sampling, Subject};
//!
//! let clock = ManualClock::new(Timestamp(0));
//! let recorder = Recorder::new(RecorderBounds::default(), Sampling::All, clock);
//! let recording = recorder.begin("withdrawal", Subject::default());
//! recording.step("reserve");
//! recording.fields(|fields| fields.unsigned("amount", 25));
//! recording.succeed();
//!
//! let record = &recorder.list()[0];
//! let mut cursor = record.cursor();
//! assert_eq!(cursor.forward().map(|step| step.name()), Some("reserve"));
//! assert_eq!(cursor.changes()[0].to_string(), "amount: 25");
//! ```
//!
//! [`Record::cursor`] steps forward and back, [`Recorder::show`] draws the tree, and
//! [`RecordRequests`] is the behaviour that records what goes over a bus.

mod behaviour;
mod bounds;
mod capture;
mod clock;
mod cursor;
mod flow_id;
mod live;
mod record;
mod recording;
mod records;
mod sampling;
mod store;
mod tree;
mod variables;

pub use behaviour::{RecordRequests, RecordVariables};
pub use bounds::RecorderBounds;
pub use capture::{Capture, Fields};
pub use clock::TickClock;
pub use cursor::{Change, Cursor};
pub use flow_id::{FlowId, FlowIdError};
pub use record::{Record, RecordEnding, RecordId, Step, StepId, Subject, Variable};
pub use recording::Recording;
pub use records::{Recorder, RecorderStatistics};
/// Derives [`Capture`](trait@Capture).
pub use rialto_recorder_macros::Capture;
pub use sampling::Sampling;
pub use store::{Keeper, RecordingError, RecordingWriter, Recordings, RingBounds, Unreadable};
pub use tree::Tree;
pub use variables::Value;
