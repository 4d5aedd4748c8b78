//! Reads the released events of a range, and waits until its commands are durable.

use crate::error::StatementError;
use crate::outbox::StatementRange;
use rialto_desk::Live;
use rialto_engine::Engine;
use rialto_model::{Event, Seq, Timestamp};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a reader that waits for events looks whether it should stop.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// How often the marks of the engine are read while a sync is waited for.
const SYNC_PAUSE: Duration = Duration::from_millis(5);

/// Waits until no loss of power takes the commands through `seq`, as far as there are any: a venue below
/// the level `synced` releases events before, and what is stored about them must not outlive them.
///
/// # Errors
/// The venue stops.
pub(crate) fn wait_for_sync(
    engine: &Engine,
    seq: Seq,
    stop: &AtomicBool,
) -> Result<(), StatementError> {
    let requested = engine.request_sync(seq);
    while engine.marks().synced < requested {
        if stop.load(Ordering::Relaxed) {
            return Err(StatementError::Stopping);
        }
        std::thread::sleep(SYNC_PAUSE);
    }
    Ok(())
}

/// Passes on every event of a range, in order.
///
/// # Errors
/// Events of the range are gone or cannot be read, the venue stops, or `each` fails.
pub(crate) fn each_event(
    live: &Live,
    range: StatementRange,
    stop: &AtomicBool,
    mut each: impl FnMut(Seq, Timestamp, &Event) -> Result<(), StatementError>,
) -> Result<(), StatementError> {
    let mut reader = live.events(range.first());
    let (first, oldest) = (range.first(), reader.oldest());
    if first <= range.last && oldest > first {
        return Err(StatementError::EventsGone { first, oldest });
    }
    while reader.next_seq() <= range.last {
        if stop.load(Ordering::Relaxed) {
            return Err(StatementError::Stopping);
        }
        let Some(batch) = reader.next_timeout(LOOK_AGAIN)? else {
            if reader.is_over() {
                return Err(StatementError::Stopping);
            }
            continue;
        };
        for record in batch.iter().take_while(|record| record.seq <= range.last) {
            let seq = record.seq;
            let undecodable = |source| StatementError::Decode { seq, source };
            let (time, events) = record.decode().map_err(undecodable)?;
            for event in events {
                each(seq, time, &event.map_err(undecodable)?)?;
            }
        }
    }
    Ok(())
}
