//! The history of a pool: a log of what happened to tenants, volumes, kept files and ended ones.
//!
//! With the messages of the work queues it is the only truth; everything else is made of both. Kept
//! and completed files are in an index on the disk, which is made of the history again when it is
//! missing, damaged, or of another history. A pool with keys has this index in memory.

mod checkpoint;
mod cold;
mod index;
pub(crate) mod record;
mod save;
mod state;
mod submits;
pub(crate) mod volumes;
mod watches;

pub use index::INDEX_DESCRIPTORS;
pub(crate) use state::{Garbage, State, TenantState};
pub use submits::SUBMIT_KEYS_MAX;

use crate::options::DepotOptions;
use index::{ColdIndex, IndexError, MemoryRows, Rows, StoredRows};
use record::{FORMAT_VERSION, Record};
use rialto_log::Sealing;
use rialto_statelog::{StateLog, StateLogError, StateLogOptions, Ticket};
use std::fmt::Display;
use std::ops::Bound;
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// The state is saved in the index when this much was recorded since.
const SAVE_BYTES: u64 = 4 << 20;
/// A thread that records more than this without a save saves itself.
const UNSAVED_BYTES_MAX: u64 = 4 * SAVE_BYTES;
/// It is also saved when the changes of the index take this much memory: a short record may remove
/// several long rows.
const CHANGES_BYTES: usize = 8 << 20;
/// Changes that cannot be saved are held in memory up to this size; then the pool stops.
const CHANGES_BYTES_MAX: usize = 64 << 20;

/// The history as the pool uses it.
pub(crate) struct History {
    log: StateLog<State>,
    rows: Arc<dyn Rows>,
    /// The bytes of what the last save held besides files. Held while the state is saved.
    saving: Mutex<u64>,
    /// The bytes of changes of the index at which the state is saved; more after a failed save.
    changes_bytes: AtomicUsize,
}

impl History {
    pub(crate) fn open(options: &DepotOptions) -> Result<Self, StateLogError> {
        let log_options = StateLogOptions {
            salt: (options.salt)(),
            sealing: Sealing { encryption: options.volumes.sealing.encryption, ..Sealing::NONE },
            keys: options.volumes.keys.clone(),
            first_segment_bytes: Some(1 << 20),
            segment_bytes: options.segment_bytes,
            checkpoint_bytes: options.checkpoint_bytes,
            ..StateLogOptions::new(options.level, FORMAT_VERSION)
        };
        let dir = options.dir.join("history");
        let index_dir = options.dir.join("index");
        let mut is_anew = false;
        loop {
            let mut rows = open_rows(options, &index_dir, is_anew)?;
            let (mut failure, mut is_saved) = (None, true);
            let log_options = log_options.clone();
            let opened = StateLog::open_saved(options.disk.clone(), &dir, log_options, |log| {
                let index = ColdIndex::of(rows.clone());
                let head = State::saved_head(&index).filter(|head| log.holds(&head.point()));
                if let Some(head) = head {
                    let point = head.point();
                    return (State::load(index, head), Some(point));
                }
                is_saved = false;
                drop(index);
                // Rows of another history, or that were not finished, are no beginning.
                if rows.range(Bound::Unbounded, Bound::Unbounded).next().is_some() {
                    rows = Arc::new(MemoryRows::default());
                    match open_rows(options, &index_dir, true) {
                        Ok(empty) => rows = empty,
                        Err(error) => failure = Some(error),
                    }
                }
                (State::with_index(ColdIndex::of(rows.clone())), None)
            });
            if let Some(error) = failure {
                return Err(error);
            }
            match opened {
                Ok(log) => {
                    let history = Self {
                        log,
                        rows,
                        saving: Mutex::default(),
                        changes_bytes: CHANGES_BYTES.into(),
                    };
                    let read = history.log.read(|state| state.unsaved.bytes.load(Relaxed))?;
                    if !is_saved && read > 0 && has_stored_rows(options) {
                        let dir = index_dir.display();
                        tracing::info!(%dir, read, "the index of kept files was made");
                    }
                    history.save_if_due(SAVE_BYTES)?;
                    return Ok(history);
                }
                // The rows that the records were to be folded into are damaged.
                Err(error @ StateLogError::InvalidRecord { .. }) if !is_anew => {
                    let dir = index_dir.display();
                    tracing::warn!(%dir, "the index of kept files is made again: {error}");
                    is_anew = true;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads the state. What the index could not give is an error.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&State) -> T) -> Result<T, StateLogError> {
        let (value, failure) = self.log.read(|state| (read(state), failure_of(state)))?;
        failure.map_or(Ok(value), |reason| Err(self.give_up(&reason)))
    }

    /// Changes what is not recorded.
    pub(crate) fn adjust<T>(
        &self,
        change: impl FnOnce(&mut State) -> T,
    ) -> Result<T, StateLogError> {
        self.log.change_unlogged(change)
    }

    /// Refuses everything from now on, and has the next opening make the index again.
    #[cold]
    fn give_up(&self, reason: &dyn Display) -> StateLogError {
        tracing::error!("the history of the pool stops: {reason}");
        self.rows.invalidate();
        self.log.stop(reason)
    }

    /// Saves the state if enough was recorded since the last time. While somebody saves, others wait
    /// only if there is twice as much.
    fn save_if_due(&self, unsaved_bytes_max: u64) -> Result<(), StateLogError> {
        if !self.is_save_due(unsaved_bytes_max, 0)? {
            return Ok(());
        }
        let saved_bytes = match self.saving.try_lock() {
            Ok(saved_bytes) => saved_bytes,
            Err(TryLockError::Poisoned(saved_bytes)) => saved_bytes.into_inner(),
            Err(TryLockError::WouldBlock) if !self.is_save_due(2 * unsaved_bytes_max, 0)? => {
                return Ok(());
            }
            Err(TryLockError::WouldBlock) => self.saving(),
        };
        // What is saved besides files is written each time, so that the cost stays in proportion.
        if self.is_save_due(unsaved_bytes_max, *saved_bytes)? {
            self.save(saved_bytes)
        } else {
            Ok(())
        }
    }

    /// Whether the unsaved records, at least this many bytes, or the changes of the index call for it.
    fn is_save_due(&self, unsaved_bytes_max: u64, at_least: u64) -> Result<bool, StateLogError> {
        let (unsaved, changes) =
            self.log.read(|state| (state.unsaved.bytes.load(Relaxed), state.index.bytes()))?;
        let times = (unsaved_bytes_max / SAVE_BYTES).max(1) as usize;
        Ok(changes >= times * self.changes_bytes.load(Relaxed)
            || unsaved >= unsaved_bytes_max.max(at_least))
    }

    fn saving(&self) -> MutexGuard<'_, u64> {
        self.saving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores what changed in the index, with the position of the history that it reflects. The
    /// history is durable up to there before.
    fn save(&self, mut saved_bytes: MutexGuard<'_, u64>) -> Result<(), StateLogError> {
        let Some((image, point)) = self.log.save(State::begin_saving)? else {
            return Err(self.give_up(&"the history has no position"));
        };
        let garbage = image.garbage().to_vec();
        let stored = image.into_changes(point).map_err(|error| error.to_string());
        let stored = stored.and_then(|(changes, bytes)| {
            self.rows.write(&changes).map_err(|error| error.to_string())?;
            Ok(bytes)
        });
        let reason = match stored {
            Ok(bytes) => {
                *saved_bytes = bytes;
                self.changes_bytes.store(CHANGES_BYTES, Relaxed);
                return self.log.change_unlogged(|state| state.index.end_saving());
            }
            Err(reason) => reason,
        };
        // The history is whole, and the rows are as they were, or as the next save writes them.
        let held = self.log.change_unlogged(|state| {
            state.resume(garbage);
            state.index.bytes()
        })?;
        if held > CHANGES_BYTES_MAX {
            return Err(self.give_up(&reason));
        }
        self.changes_bytes.store(held + CHANGES_BYTES, Relaxed);
        tracing::warn!("kept files are not saved in their index, and stay in memory: {reason}");
        Ok(())
    }

    /// Decides on records with the state, applies and appends them. Returns the bytes that they leave
    /// behind, and the ticket to commit.
    pub(crate) fn change<T, E: From<StateLogError>>(
        &self,
        decide: impl FnOnce(&State) -> Result<(T, Vec<Record>), E>,
    ) -> Result<Changed<T>, E> {
        let mut failure = None;
        let changed = self.log.change(|state, records| {
            let decided = decide(state);
            // What the index could not give may be the reason of a refusal.
            failure = failure_of(state);
            let (value, decided) = decided?;
            if failure.is_some() {
                return Ok(Changed { value, garbage: Vec::new(), ticket: Ticket::default() });
            }
            // All are encoded before the first is appended, so that all are or none is.
            let encoded: Result<Vec<_>, _> = decided.iter().map(checkpoint::encode).collect();
            let mut garbage = Vec::new();
            for (record, bytes) in decided.into_iter().zip(encoded?) {
                records.append_bytes(&bytes)?;
                *state.unsaved.bytes.get_mut() += bytes.len() as u64;
                garbage.extend(state.apply(record));
            }
            failure = failure_of(state);
            Ok(Changed { value, garbage, ticket: Ticket(records.next_seq() - 1) })
        });
        // The records may be in the log while the index lacks them.
        failure.map_or(changed, |reason| Err(self.give_up(&reason).into()))
    }

    /// As [`History::change`], and returns when it is confirmed.
    pub(crate) fn record<T, E: From<StateLogError>>(
        &self,
        decide: impl FnOnce(&State) -> Result<(T, Vec<Record>), E>,
    ) -> Result<Changed<T>, E> {
        let changed = self.change(decide)?;
        self.log.commit(changed.ticket)?;
        self.save_if_due(UNSAVED_BYTES_MAX)?;
        Ok(changed)
    }

    pub(crate) fn commit(&self, through: Ticket) -> Result<(), StateLogError> {
        self.log.commit(through)
    }

    /// Returns when everything that was taken is confirmed.
    pub(crate) fn commit_taken(&self) -> Result<(), StateLogError> {
        self.log.commit(self.log.taken()?)
    }

    pub(crate) fn sync(&self) -> Result<(), StateLogError> {
        self.log.sync()
    }

    pub(crate) fn maintain(&self, now: rialto_clock::Timestamp) -> Result<(), StateLogError> {
        self.log.maintain(now)?;
        self.save_if_due(SAVE_BYTES)
    }

    /// Makes everything durable, and saves the state, so that the next opening has little to read.
    pub(crate) fn close(&self) -> Result<(), StateLogError> {
        self.log.sync()?;
        let saved_bytes = self.saving();
        let is_unsaved = self
            .log
            .read(|state| state.unsaved.bytes.load(Relaxed) > 0 || state.index.bytes() > 0)?;
        if is_unsaved { self.save(saved_bytes) } else { Ok(()) }
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.log.failure()
    }
}

fn failure_of(state: &State) -> Option<String> {
    state.index.failure().map(str::to_owned)
}

/// Rows are not encrypted, and hold what an encrypted history hides.
fn has_stored_rows(options: &DepotOptions) -> bool {
    options.disk.is_of_system() && options.volumes.keys.current().is_none()
}

fn open_rows(
    options: &DepotOptions,
    dir: &Path,
    is_anew: bool,
) -> Result<Arc<dyn Rows>, StateLogError> {
    let failed = |error: IndexError| StateLogError::Failed {
        dir: dir.to_owned(),
        reason: error.to_string(),
    };
    if !has_stored_rows(options) {
        if options.disk.is_of_system() {
            // Of the time before the pool was encrypted.
            StoredRows::remove(dir).map_err(failed)?;
        }
        return Ok(Arc::new(MemoryRows::default()));
    }
    let rows = if is_anew { StoredRows::make(dir) } else { StoredRows::open(dir) };
    Ok(Arc::new(rows.map_err(failed)?))
}

/// The result of a change.
pub(crate) struct Changed<T> {
    pub(crate) value: T,
    /// Bytes without a record, to be removed when the change is confirmed.
    pub(crate) garbage: Vec<Garbage>,
    pub(crate) ticket: Ticket,
}

#[cfg(test)]
mod tests;
