//! The history of a pool: a log of what happened to tenants, volumes, kept files and ended ones.
//!
//! With the messages of the work queues it is the only truth; everything else is made of both.

mod checkpoint;
pub(crate) mod record;
mod state;
mod submits;
mod watches;

pub(crate) use state::{Garbage, State};
pub use submits::SUBMIT_KEYS_MAX;

use crate::options::DepotOptions;
use record::{FORMAT_VERSION, Record};
use rialto_statelog::{StateLog, StateLogError, StateLogOptions, Ticket};

/// The history as the pool uses it.
pub(crate) struct History {
    log: StateLog<State>,
}

impl History {
    pub(crate) fn open(options: &DepotOptions) -> Result<Self, StateLogError> {
        let log_options = StateLogOptions {
            salt: (options.salt)(),
            keys: options.volumes.keys.clone(),
            first_segment_bytes: Some(1 << 20),
            segment_bytes: options.segment_bytes,
            checkpoint_bytes: options.checkpoint_bytes,
            ..StateLogOptions::new(options.level, FORMAT_VERSION)
        };
        let dir = options.dir.join("history");
        let log = StateLog::open(options.disk.clone(), &dir, log_options, State::reading())?;
        Ok(Self { log })
    }

    pub(crate) fn read<T>(&self, read: impl FnOnce(&State) -> T) -> Result<T, StateLogError> {
        self.log.read(read)
    }

    /// Changes what is not recorded.
    pub(crate) fn adjust<T>(
        &self,
        change: impl FnOnce(&mut State) -> T,
    ) -> Result<T, StateLogError> {
        self.log.change_unlogged(change)
    }

    /// Decides on records with the state, applies and appends them. Returns the bytes that they leave
    /// behind, and the ticket to commit.
    pub(crate) fn change<T, E: From<StateLogError>>(
        &self,
        decide: impl FnOnce(&State) -> Result<(T, Vec<Record>), E>,
    ) -> Result<Changed<T>, E> {
        self.log.change(|state, records| {
            let (value, decided) = decide(state)?;
            // All are encoded before the first is appended, so that all are or none is.
            let encoded: Result<Vec<_>, _> = decided.iter().map(checkpoint::encode).collect();
            let mut garbage = Vec::new();
            for (record, bytes) in decided.into_iter().zip(encoded?) {
                records.append_bytes(&bytes)?;
                garbage.extend(state.apply(record));
            }
            Ok(Changed { value, garbage, ticket: Ticket(records.next_seq() - 1) })
        })
    }

    /// As [`History::change`], and returns when it is confirmed.
    pub(crate) fn record<T, E: From<StateLogError>>(
        &self,
        decide: impl FnOnce(&State) -> Result<(T, Vec<Record>), E>,
    ) -> Result<Changed<T>, E> {
        let changed = self.change(decide)?;
        self.log.commit(changed.ticket)?;
        Ok(changed)
    }

    pub(crate) fn commit(&self, through: Ticket) -> Result<(), StateLogError> {
        self.log.commit(through)
    }

    pub(crate) fn sync(&self) -> Result<(), StateLogError> {
        self.log.sync()
    }

    pub(crate) fn maintain(&self, now: rialto_clock::Timestamp) -> Result<(), StateLogError> {
        self.log.maintain(now)
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.log.failure()
    }
}

/// The result of a change.
pub(crate) struct Changed<T> {
    pub(crate) value: T,
    /// Bytes without a record, to be removed when the change is confirmed.
    pub(crate) garbage: Vec<Garbage>,
    pub(crate) ticket: Ticket,
}
