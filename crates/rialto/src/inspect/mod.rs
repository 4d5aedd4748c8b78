//! Looking at a data directory without a venue, and at the machine under it.
//!
//! [`verify`] proves that journal, event log and snapshots agree, [`at`] shows the venue as it was,
//! [`journal`] lists commands and events, [`flow`] steps through what requests did, [`doctor`]
//! measures the machine. All but the last read
//! through [`read_only::ReadOnlyDisk`], which cannot change a byte.

mod at;
mod damage;
mod doctor;
mod ended;
mod flow;
mod journal;
mod output;
mod read_only;
mod shown;
mod sync_rate;
pub(crate) mod utc;
mod verify;

pub use at::{AtArgs, run as at};
pub use doctor::{DoctorArgs, run as doctor};
pub(crate) use flow::RECORDINGS_DIR;
pub use flow::{FlowArgs, run as flow};
pub use journal::{JournalArgs, run as journal};
pub(crate) use read_only::{EVENTS_DIR, JOURNAL_DIR};
pub use verify::{VerifyArgs, run as verify};
