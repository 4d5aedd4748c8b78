//! Records for the history of a pool that is closed: a state that would take minutes or hours to reach.

use crate::error::{BenchError, broken};
use rialto_disk::RealDisk;
use rialto_queue::Level;
use rialto_statelog::{
    InvalidRecord, LoggedState, PendingRecords, StateLog, StateLogError, StateLogOptions,
};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// The numbers of records. format: docs/formats/depot.md
pub(super) const DIRECTORY: u32 = 2;
pub(super) const KEPT: u32 = 5;
pub(super) const IMPORTED: u32 = 13;

const RECORDS_PER_CHANGE: u64 = 1_000;

/// The history, to be appended to only.
struct Appending;

impl LoggedState for Appending {
    type Cursor = ();

    fn read(&mut self, _: u64, _: &[u8]) -> Result<(), InvalidRecord> {
        Ok(())
    }

    fn weight(&self) -> usize {
        usize::MAX / 8
    }

    fn begin_checkpoint(&self) {}

    fn write_images(
        &self,
        (): &mut (),
        _: &mut PendingRecords,
        _: usize,
    ) -> Result<bool, StateLogError> {
        Ok(true)
    }
}

/// Appends `count` records to the history of a pool that is closed. Each has its number in front.
pub(super) fn append(
    case: &str,
    pool: &Path,
    count: u64,
    record: impl Fn(u64) -> Result<Vec<u8>, String>,
) -> Result<(), BenchError> {
    let options = StateLogOptions::new(Level::Buffered, 1);
    let log = StateLog::open(Arc::new(RealDisk), &pool.join("history"), options, Appending);
    let log = log.map_err(broken(case, "open the history"))?;
    for first in (0..count).step_by(RECORDS_PER_CHANGE as usize) {
        let appended = log.change(|_, records| {
            for nth in first..count.min(first + RECORDS_PER_CHANGE) {
                let appended = records.append_bytes(&record(nth)?);
                appended.map_err(|error| error.to_string())?;
            }
            Ok::<_, Reason>(())
        });
        appended.map_err(|Reason(reason)| broken(case, "append to the history")(reason))?;
    }
    log.sync().map_err(broken(case, "sync the history"))
}

/// A record as it is stored.
pub(super) fn encoded(record: &impl Serialize) -> Result<Vec<u8>, String> {
    postcard::to_allocvec(record).map_err(|error| error.to_string())
}

struct Reason(String);

impl From<String> for Reason {
    fn from(reason: String) -> Self {
        Self(reason)
    }
}

impl From<StateLogError> for Reason {
    fn from(error: StateLogError) -> Self {
        Self(error.to_string())
    }
}
