//! A state in memory that is folded from a log of its changes, with checkpoints.
//!
//! A [`LoggedState`] is any structure that can apply records and write images of itself. A [`StateLog`]
//! keeps one: it reads the log at the opening, records each change, confirms many changes with one
//! write, and rewrites the log when it has grown to several times the state.
//!
//! ```
//! # use rialto_statelog::*;
//! # use std::{path::Path, sync::Arc};
//! #[derive(Default)]
//! struct Total(u64);
//!
//! impl LoggedState for Total {
//!     type Cursor = ();
//!     fn read(&mut self, seq: u64, record: &[u8]) -> Result<(), InvalidRecord> {
//!         let image = record.try_into().map_err(|_| InvalidRecord::new(seq, "not 8 bytes"))?;
//!         self.0 = u64::from_le_bytes(image);
//!         Ok(())
//!     }
//!     fn weight(&self) -> usize { 8 }
//!     fn begin_checkpoint(&self) {}
//!     fn write_images(&self, _: &mut (), records: &mut PendingRecords, _: usize) -> Result<bool, StateLogError> {
//!         records.append_bytes(&self.0.to_le_bytes()).map(|_| true)
//!     }
//! }
//!
//! let disk = Arc::new(rialto_disk::SimDisk::new(1));
//! let (dir, options) = (Path::new("/total"), StateLogOptions::new(Level::Synced, 1));
//! let log = StateLog::open(disk.clone(), dir, options.clone(), Total::default())?;
//! let ticket = log.change(|total, records| {
//!     let ticket = records.append_bytes(&(total.0 + 5).to_le_bytes())?;
//!     total.0 += 5;
//!     Ok::<_, StateLogError>(ticket)
//! })?;
//! log.commit(ticket)?;
//! drop(log);
//! let options = StateLogOptions { salt: [2; 16], ..options };
//! let log = StateLog::open(disk, dir, options, Total::default())?;
//! assert_eq!(log.read(|total| total.0)?, 5);
//! # Ok::<(), StateLogError>(())
//! ```
//!
//! [`PendingRecords`] takes the records of a change, a [`Ticket`] is the position of one, and
//! [`StateLogOptions`] says how durable a confirmed one is. The framing of the log is that of
//! `docs/formats/log.md`; the records are the state's own. The decision is ADR 32.

#![deny(unsafe_code)]

mod checkpoint;
mod commit;
mod error;
mod logged_state;
mod open;
mod options;
mod pending;
mod saving;
mod state_log;

pub use error::StateLogError;
pub use logged_state::{InvalidRecord, LoggedState};
pub use options::StateLogOptions;
pub use pending::{PendingRecords, Ticket};
pub use rialto_log::{Level, RECORD_BYTES_MAX};
pub use saving::{LogContents, SavePoint};
pub use state_log::StateLog;
