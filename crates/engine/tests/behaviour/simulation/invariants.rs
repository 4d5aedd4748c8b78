//! Invariants after every start, and at the end.
//!
//! Not checked here: that a reply comes *soon*; that the device reports a failed sync; concurrent
//! use of one disk by two machines.

use super::oracle::Oracle;
use super::shadow::{Answered, Shadow};
use super::traffic::attribution;
use crate::stage::Bench;
use rialto_engine::{Engine, EngineConfig, Level, RecoveryReport, Reply, Stepped};
use rialto_model::{Seq, Timestamp};
use std::time::Duration;

/// Everything acknowledged is present.
pub(crate) fn nothing_promised_is_lost(
    required: Seq,
    report: &RecoveryReport,
) -> Result<(), String> {
    if report.last < required {
        return Err(format!("{required} was promised to survive, and {} is the last", report.last));
    }
    Ok(())
}

/// Under buffered, a power failure loses less than the time between two flushes.
pub(crate) fn little_time_is_lost(
    shadow: &Shadow,
    config: &EngineConfig,
    report: &RecoveryReport,
) -> Result<(), String> {
    let lost = shadow.time_lost(report.last);
    if config.level == Level::Buffered && lost >= config.flush_every {
        return Err(format!("{lost:?} of acknowledgements after {} are lost", report.last));
    }
    Ok(())
}

/// A step of the wall clock above the limit does not change the venue's time.
pub(crate) fn time_is_the_monotonic_clocks(
    reply: &Reply,
    began: (Timestamp, Duration),
    bench: &Bench,
) -> Result<(), String> {
    let passed = bench.clock.passed().saturating_sub(began.1);
    let latest = began.0.0 + (passed + bench.config.clock_step_max).as_nanos() as u64;
    if let Ok(answer) = reply.answer
        && answer.time.0 > latest
    {
        return Err(format!("{} was stamped with {}, after {latest}", answer.seq, answer.time));
    }
    Ok(())
}

/// Each received answer is the outcome of the command in the journal.
pub(crate) fn replies_were_true(shadow: &Shadow, oracle: &Oracle) -> Result<(), String> {
    for Answered { command, answer } in &shadow.answered {
        if answer.seq > oracle.last() {
            continue;
        }
        let decided = oracle.at(answer.seq).ok_or("a reply without a sequence")?;
        if (&decided.command, &decided.answer) != (command, answer) {
            let (seq, right) = (answer.seq, &decided.answer);
            return Err(format!("the reply to {seq} was {answer:?} instead of {right:?}"));
        }
        let sent = attribution(command).filter(|_| decided.knows_attributions);
        if decided.attribution != sent {
            let (seq, told) = (answer.seq, decided.attribution);
            return Err(format!("the journal attributes {seq} to {told:?} instead of {sent:?}"));
        }
    }
    Ok(())
}

/// Events that were visible before are still the same.
pub(crate) fn shown_events_are_facts(shadow: &Shadow, oracle: &Oracle) -> Result<(), String> {
    for (seq, bytes) in shadow.events.range(..=oracle.last()) {
        if oracle.at(*seq).is_none_or(|decided| decided.events != *bytes) {
            return Err(format!("the events of {seq} were not what happened"));
        }
    }
    Ok(())
}

/// The recovered core equals the oracle's.
pub(crate) fn state_is_the_oracles(stepped: &Stepped, oracle: &Oracle) -> Result<(), String> {
    let hash = stepped.core().map(|core| core.state_hash());
    if hash != Some(oracle.core.state_hash()) {
        return Err(format!("the state at {} is not the journal's", oracle.last()));
    }
    Ok(())
}

/// The event log has the events of every surviving command, and no others.
pub(crate) fn event_log_is_the_oracles(engine: &Engine, oracle: &Oracle) -> Result<(), String> {
    let mut reader = engine.events(Seq(1));
    while let Some(batch) = reader.try_next().map_err(|error| format!("{error:?}"))? {
        for record in batch.iter() {
            if oracle.at(record.seq).is_none_or(|decided| decided.events != record.bytes) {
                return Err(format!("the event log holds something else at {}", record.seq));
            }
        }
    }
    if reader.next_seq() != oracle.last().next() {
        return Err(format!("the event log ends before {}", reader.next_seq()));
    }
    Ok(())
}

/// The core itself is consistent.
pub(crate) fn ledger_balances(oracle: &Oracle) -> Result<(), String> {
    oracle.core.check().map_err(|violation| format!("{violation:?}"))
}
