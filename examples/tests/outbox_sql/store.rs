//! An outbox and an inbox in a SQL database, next to the owner's tables.

use rialto_flow::Timestamp;
use rialto_flow::outbox::{InboxStore, OutboxStore};
use rialto_flow::store::{
    Accepted, Backlog, ClaimedMessage, DeadMessage, DeliveryResult, InboxMark, MessageNumber,
    OutboxMessage, StoreError,
};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = OFF;
    CREATE TABLE IF NOT EXISTS outbox (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        recipient TEXT NOT NULL, key TEXT NOT NULL, ordering_key TEXT, payload BLOB NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL DEFAULT 0, dead TEXT,
        claims INTEGER NOT NULL DEFAULT 0, claimed_until INTEGER
    );
    CREATE TABLE IF NOT EXISTS inbox (
        sender TEXT NOT NULL, key TEXT NOT NULL, keep_until INTEGER NOT NULL,
        PRIMARY KEY (sender, key)
    );
";

/// Claimable messages: due, not claimed, and first of their ordering key. One with an expired claim
/// stays at the head of its key.
const CLAIMABLE: &str = "
    dead IS NULL AND max(due, ifnull(claimed_until, 0)) <= ?1 AND
    (ordering_key IS NULL OR claimed_until IS NOT NULL OR NOT EXISTS (
        SELECT 1 FROM outbox AS other
        WHERE other.dead IS NULL AND other.recipient = outbox.recipient
            AND other.ordering_key = outbox.ordering_key AND other.number <> outbox.number
            AND (other.number < outbox.number OR other.claimed_until IS NOT NULL)))
";

/// A connection that can be killed: from some statement on, nothing is executed.
pub(crate) struct Sql {
    connection: Mutex<Connection>,
    statements: AtomicU64,
    statements_max: u64,
}

pub(crate) fn failed(error: impl std::fmt::Display) -> StoreError {
    StoreError::Other(error.to_string())
}

impl Sql {
    /// Opens a database with the tables of the outbox, the inbox and the owner. It executes this
    /// many statements and no more.
    pub(crate) fn open(path: &Path, tables: &str, statements_max: u64) -> Self {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        connection.execute_batch(tables).unwrap();
        Self { connection: Mutex::new(connection), statements: AtomicU64::new(0), statements_max }
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called before every statement. An error ends the transaction, as the death of the process
    /// would.
    pub(crate) fn live(&self) -> Result<(), StoreError> {
        let done = self.statements.fetch_add(1, Ordering::Relaxed);
        if done < self.statements_max { Ok(()) } else { Err(failed("killed")) }
    }

    pub(crate) fn was_killed(&self) -> bool {
        self.statements.load(Ordering::Relaxed) > self.statements_max
    }

    /// Runs a transaction.
    pub(crate) fn transaction<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut connection = self.connection();
        self.live()?;
        let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = begun.map_err(failed)?;
        let done = work(&transaction)?;
        self.live()?;
        transaction.commit().map_err(failed)?;
        Ok(done)
    }

    /// Stores messages in the owner's transaction.
    pub(crate) fn send_in(
        &self,
        transaction: &Transaction<'_>,
        messages: &[OutboxMessage],
    ) -> Result<(), StoreError> {
        for OutboxMessage { to, key, ordering_key, payload } in messages {
            self.live()?;
            let insert =
                "INSERT INTO outbox (recipient, key, ordering_key, payload) VALUES (?, ?, ?, ?)";
            transaction.execute(insert, params![to, key, ordering_key, payload]).map_err(failed)?;
        }
        Ok(())
    }

    /// Marks a message as handled in the owner's transaction.
    pub(crate) fn mark_in(
        &self,
        transaction: &Transaction<'_>,
        mark: &InboxMark,
    ) -> Result<Accepted, StoreError> {
        self.live()?;
        let insert = "INSERT OR IGNORE INTO inbox (sender, key, keep_until) VALUES (?, ?, ?)";
        let row = params![mark.from, mark.key, mark.keep_until.0 as i64];
        let new = transaction.execute(insert, row).map_err(failed)?;
        Ok(if new == 1 { Accepted::New } else { Accepted::Duplicate })
    }

    fn update(&self, sql: &str, params: impl rusqlite::Params) -> Result<bool, StoreError> {
        let connection = self.connection();
        self.live()?;
        Ok(connection.execute(sql, params).map_err(failed)? == 1)
    }

    pub(crate) fn count(&self, sql: &str) -> usize {
        let count: i64 = self.connection().query_row(sql, [], |row| row.get(0)).unwrap();
        count as usize
    }
}

fn message(row: &Row<'_>) -> rusqlite::Result<OutboxMessage> {
    let (to, key) = (row.get("recipient")?, row.get("key")?);
    Ok(OutboxMessage {
        to,
        key,
        ordering_key: row.get("ordering_key")?,
        payload: row.get("payload")?,
    })
}

fn number(row: &Row<'_>) -> rusqlite::Result<MessageNumber> {
    Ok(MessageNumber(row.get::<_, i64>("number")? as u64))
}

impl OutboxStore for Sql {
    fn post(&self, messages: Vec<OutboxMessage>) -> Result<(), StoreError> {
        self.transaction(|transaction| self.send_in(transaction, &messages))
    }

    fn claim_messages(
        &self,
        now: Timestamp,
        lease: Duration,
        max: usize,
    ) -> Result<Vec<ClaimedMessage>, StoreError> {
        self.transaction(|transaction| {
            self.live()?;
            let claim = format!(
                "UPDATE outbox SET claims = claims + 1, claimed_until = ?2 WHERE number IN
                    (SELECT number FROM outbox WHERE {CLAIMABLE}
                     ORDER BY max(due, ifnull(claimed_until, 0)), number LIMIT ?3)
                 RETURNING *"
            );
            let params = params![now.0 as i64, now.after(lease).0 as i64, max as i64];
            let mut statement = transaction.prepare(&claim).map_err(failed)?;
            let rows = statement.query_map(params, |row| {
                Ok(ClaimedMessage {
                    number: number(row)?,
                    token: row.get::<_, i64>("claims")? as u64,
                    attempts: row.get("attempts")?,
                    message: message(row)?,
                })
            });
            let mut claimed =
                rows.and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(failed)?;
            claimed.sort_by_key(|claim| claim.number);
            Ok(claimed)
        })
    }

    fn settle(&self, claim: &ClaimedMessage, delivery: DeliveryResult) -> Result<bool, StoreError> {
        const HELD: &str = "WHERE number = ?1 AND claims = ?2 AND claimed_until IS NOT NULL";
        let (number, token) = (claim.number.0 as i64, claim.token as i64);
        let set = "UPDATE outbox SET attempts = attempts + 1, claimed_until = NULL";
        match delivery {
            DeliveryResult::Forwarded => {
                self.update(&format!("DELETE FROM outbox {HELD}"), params![number, token])
            }
            DeliveryResult::Retry { at } => {
                self.update(&format!("{set}, due = ?3 {HELD}"), params![number, token, at.0 as i64])
            }
            DeliveryResult::Dead { reason } => {
                self.update(&format!("{set}, dead = ?3 {HELD}"), params![number, token, reason])
            }
        }
    }

    fn commit_messages(&self) -> Result<(), StoreError> {
        // Every statement of `settle` is its own transaction.
        Ok(())
    }

    fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        let connection = self.connection();
        self.live()?;
        let first = format!(
            "SELECT max(due, ifnull(claimed_until, 0)) AS at FROM outbox WHERE {CLAIMABLE}
             ORDER BY at LIMIT 1"
        );
        let read = |row: &Row<'_>| Ok(Timestamp(row.get::<_, i64>(0)? as u64));
        connection.query_row(&first, [i64::MAX], read).optional().map_err(failed)
    }

    fn backlog(&self) -> Result<Backlog, StoreError> {
        let connection = self.connection();
        self.live()?;
        let counts = "SELECT count(*) - count(dead), count(dead) FROM outbox";
        let read = |row: &Row<'_>| {
            let (waiting, dead): (u32, u32) = (row.get(0)?, row.get(1)?);
            Ok(Backlog { waiting: waiting as usize, dead: dead as usize })
        };
        connection.query_row(counts, [], read).map_err(failed)
    }

    fn dead_letters(
        &self,
        after: Option<MessageNumber>,
        max: usize,
    ) -> Result<Vec<DeadMessage>, StoreError> {
        let connection = self.connection();
        self.live()?;
        let select = "SELECT * FROM outbox WHERE dead IS NOT NULL AND number > ?
                      ORDER BY number LIMIT ?";
        let after = after.map_or(-1, |after| after.0 as i64);
        let mut statement = connection.prepare(select).map_err(failed)?;
        let rows = statement.query_map(params![after, max as i64], |row| {
            let (attempts, reason) = (row.get("attempts")?, row.get("dead")?);
            Ok(DeadMessage { number: number(row)?, attempts, reason, message: message(row)? })
        });
        rows.and_then(Iterator::collect).map_err(failed)
    }

    fn requeue(&self, message: MessageNumber) -> Result<bool, StoreError> {
        let update = "UPDATE outbox SET dead = NULL, attempts = 0, due = 0
                      WHERE number = ? AND dead IS NOT NULL";
        self.update(update, [message.0 as i64])
    }

    fn discard(&self, message: MessageNumber) -> Result<bool, StoreError> {
        self.update("DELETE FROM outbox WHERE number = ? AND dead IS NOT NULL", [message.0 as i64])
    }

    fn maintain_messages(&self, now: Timestamp) -> Result<(), StoreError> {
        self.update("DELETE FROM inbox WHERE keep_until < ?", [now.0 as i64]).map(drop)
    }
}

impl InboxStore for Sql {
    fn accept(
        &self,
        marks: Vec<InboxMark>,
        then: Vec<OutboxMessage>,
    ) -> Result<Accepted, StoreError> {
        let mut accepted = Accepted::New;
        let stored = self.transaction(|transaction| {
            for mark in &marks {
                accepted = self.mark_in(transaction, mark)?;
                if accepted == Accepted::Duplicate {
                    // An error rolls back the earlier marks.
                    return Err(failed("a duplicate"));
                }
            }
            self.send_in(transaction, &then)
        });
        if accepted == Accepted::Duplicate { Ok(accepted) } else { stored.map(|()| accepted) }
    }

    fn is_marked(&self, from: &str, key: &str) -> Result<bool, StoreError> {
        let connection = self.connection();
        self.live()?;
        let select = "SELECT 1 FROM inbox WHERE sender = ? AND key = ?";
        let found = connection.query_row(select, [from, key], |_| Ok(())).optional();
        Ok(found.map_err(failed)?.is_some())
    }
}
