//! The audit trail: the commands of operators, read back from the event log.

use crate::query::QueryHandler;
use crate::{Grant, Needs, Scope};
use rialto_bus::{Context, Error, ErrorKind, Handler, Query, Request, Result};
use rialto_engine::{EventReader, EventRecord, ReadEventsError};
use rialto_model::{
    Attributed, CommandKind, DecodeError, EVENTS_HEADER_BYTES, Event, EventKind, Seq, Timestamp,
};
use std::sync::Arc;

/// The most commands on one page of the audit trail.
pub const AUDIT_PAGE_MAX: usize = 1_000;
/// The most commands, of members too, that are searched for one page.
pub const AUDIT_SCAN_MAX: u64 = 1_000_000;

/// Reads commands of operators, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAudit {
    /// The first sequence; an event log that begins later is read from its beginning.
    pub from: Seq,
    /// The most commands: 1 to [`AUDIT_PAGE_MAX`].
    pub limit: usize,
}

/// A command of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// Its sequence.
    pub seq: Seq,
    /// Its time.
    pub time: Timestamp,
    /// Its kind, who sent it, and why.
    pub attributed: Attributed,
    /// The event that says what became of it.
    pub outcome: Option<Event>,
}

/// A page of the audit trail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditPage {
    /// Commands of operators, oldest first. There may be none, though more follow.
    pub records: Vec<AuditRecord>,
    /// The sequence that the next page begins with.
    pub next: Seq,
    /// Whether there are released commands from `next` on.
    pub more: bool,
}

impl Request for ReadAudit {
    type Response = AuditPage;
    const NAME: &'static str = "read_audit";
}

impl Query for ReadAudit {}

impl Needs for ReadAudit {
    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.require(Scope::Admin)?)
    }
}

/// Why a page of the audit trail cannot be read.
#[derive(Debug, thiserror::Error)]
enum AuditError {
    #[error(transparent)]
    Read(#[from] ReadEventsError),
    #[error("the events of command {0} are damaged")]
    Decode(Seq, #[source] DecodeError),
}

impl Handler<ReadAudit> for QueryHandler {
    async fn handle(&self, request: ReadAudit, cx: &Context<'_>) -> Result<AuditPage> {
        // An operator sees what it has just done.
        self.catch_up().await;
        // One page is read at a time, so that operators never take the disk from the venue.
        let turn = Arc::clone(&self.audit_turn).lock_owned().await;
        let oldest = self.engine.events(Seq::ZERO).oldest();
        let reader = self.engine.events(request.from.max(oldest));
        let read = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            page(reader, request.limit, AUDIT_SCAN_MAX)
        });
        let failed = |message: String| {
            let error = Error::new(ErrorKind::Unavailable, "audit_failed", message);
            error.retryable(false)
        };
        let page = read.await.map_err(|error| failed(format!("The search failed: {error}.")))?;
        let page = page.map_err(|error| failed(format!("{error}.")).with_source(error))?;
        cx.note("entries", &page.records.len());
        Ok(page)
    }
}

/// Searches at most `scan_max` commands.
fn page(
    mut reader: EventReader,
    limit: usize,
    scan_max: u64,
) -> std::result::Result<AuditPage, AuditError> {
    let end = Seq(reader.next_seq().0.saturating_add(scan_max));
    let mut records = Vec::new();
    let mut next = reader.next_seq();
    'search: while let Some(batch) = reader.try_next()? {
        for record in batch.iter() {
            if records.len() == limit || next >= end {
                break 'search;
            }
            let failed = |error| AuditError::Decode(record.seq, error);
            records.extend(audited(&record).map_err(failed)?);
            next = record.seq.next();
        }
    }
    Ok(AuditPage { records, next, more: next <= reader.released() })
}

/// The command of this record, if an operator sent it.
fn audited(record: &EventRecord<'_>) -> std::result::Result<Option<AuditRecord>, DecodeError> {
    // The attribution is the first event: most records are passed over by one byte.
    let first = record.bytes.get(EVENTS_HEADER_BYTES);
    if first != Some(&EventKind::Attributed.number()) {
        return Ok(None);
    }
    let (time, mut events) = record.decode()?;
    let Some(Event::Attributed(attributed)) = events.next().transpose()? else { return Ok(None) };
    let mut outcome = None;
    for event in events {
        let event = event?;
        if is_outcome(attributed.command, &event) {
            outcome = Some(event);
            break;
        }
    }
    Ok(Some(AuditRecord { seq: record.seq, time, attributed, outcome }))
}

/// Whether an event is about the command itself and not about an order that it ended or filled.
fn is_outcome(command: CommandKind, event: &Event) -> bool {
    // The event of a halt says more than the state that it begins with.
    let begins_halt =
        command == CommandKind::HaltTrading && matches!(event, Event::InstrumentStateSet { .. });
    !begins_halt
        && !matches!(
            event,
            Event::Ticked
                | Event::Accepted(_)
                | Event::Rested(_)
                | Event::Trade(_)
                | Event::Done(_)
                | Event::Reduced(_)
                | Event::Amended(_)
                | Event::TriggerSet(_)
                | Event::Triggered(_)
                | Event::TrailSet(_)
                | Event::TrailActivated(_)
                | Event::IcebergSet(_)
                | Event::IcebergRefreshed(_)
                | Event::ExitsSet(_)
                | Event::OrdersLinked(_)
                | Event::ExitsRefused(_)
                | Event::CancelProgress { .. }
                | Event::Uncrossed(_)
                | Event::Interrupted(_)
                | Event::Attributed(_)
        )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;
    use rialto_disk::SimDisk;
    use rialto_engine::{Engine, EngineConfig};
    use rialto_model::{Attribution, Command, MemberId};
    use std::time::Duration;

    #[test]
    fn a_search_ends_after_its_bound() {
        let config = EngineConfig { segment_bytes: 4 << 20, ..EngineConfig::default() };
        let (engine, _) = Engine::start(config, Arc::new(SimDisk::new(1))).unwrap();
        let mut producer = engine.producer();
        let patience = Duration::from_secs(30);
        // Ten ticks, and then a command of an operator.
        for _ in 0..10 {
            producer.submit(0, &Command::Tick, None).unwrap();
            producer.reply_timeout(patience).unwrap();
        }
        let by = "rk_7".parse().unwrap();
        let attribution = Attribution { by, reason: "admitted".parse().unwrap() };
        let name = "first".parse().unwrap();
        let admit = Command::CreateMember { member: MemberId(1), name };
        producer.submit_attributed(0, &admit, None, &attribution).unwrap();
        let last = producer.reply_timeout(patience).unwrap().answer.unwrap();
        let mut all = engine.events(Seq(1));
        while all.next_seq() <= last.seq {
            all.next_timeout(patience).unwrap().unwrap();
        }

        let first = page(engine.events(Seq(1)), 1, 6).unwrap();
        assert_eq!(first, AuditPage { records: Vec::new(), next: Seq(7), more: true });
        let second = page(engine.events(first.next), 1, 6).unwrap();
        let record = AuditRecord {
            seq: last.seq,
            time: last.time,
            attributed: Attributed { command: CommandKind::CreateMember, attribution },
            outcome: Some(Event::MemberCreated { member: MemberId(1), name }),
        };
        assert_eq!(second, AuditPage { records: vec![record], next: Seq(12), more: false });
    }
}
