//! Watched folders: new files of a folder are imported into the pool.
//!
//! ```text
//! events ─ hints ─┐
//! period ─────────┴► scan ► candidates ► import ► removal of the source
//! ```
//!
//! A *scan* decides what is imported; an event only says where to look. A *candidate* is a file that is
//! imported when it has not changed for a while. A source is removed when its record is durable, and
//! never before. An import has a submit key made of what identifies the source, so that a repeat after a
//! crash stores nothing.
//!
//! Folders are read on the system's file system, whatever disk the pool is on: descriptors, links and
//! change times are what the checks are made of.

mod batch;
mod candidates;
mod control;
#[cfg(feature = "events")]
mod events;
mod folder;
mod import;
mod mark;
#[cfg(not(feature = "events"))]
mod no_events;
mod options;
mod pattern;
mod pauses;
mod permits;
mod registry;
mod running;
mod scan;
mod signal;
mod source;
mod spec;
mod status;
mod threads;
mod walk;

pub use options::WatcherOptions;
pub use registry::WATCHES_MAX;
pub(crate) use registry::Watches;
pub use spec::{AfterImport, PATTERNS_MAX, WatchSpec, WatchTenants};
pub use status::{ScanReport, WatchState, WatchStatus};
pub(crate) use threads::Watching;
