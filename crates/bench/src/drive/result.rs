//! The results of an engine: its events, and the state that its journal yields.

use crate::error::{BenchError, broken};
use rialto_core::{Core, EventSink};
use rialto_disk::{Disk, RealDisk};
use rialto_engine::{At, Engine, KeyRing, replay_to};
use rialto_model::{Event, Seq, Side};
use rialto_workload::{INSTRUMENT, Standing, Tally, Totals, fill_of};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const EVENTS_TIMEOUT: Duration = Duration::from_secs(60);

/// Counts trades and rejects.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventTally {
    pub(crate) tally: Tally,
    pub(crate) rejected: u64,
}

impl EventSink for EventTally {
    #[inline]
    fn event(&mut self, event: &Event) {
        match event {
            Event::Trade(trade) => self.tally.take(&fill_of(trade)),
            Event::Rejected(_) => self.rejected += 1,
            _ => {}
        }
    }
}

/// The resting orders of a core.
pub(crate) fn standing(core: &Core) -> Standing {
    let Some(book) = core.book(INSTRUMENT) else {
        return Standing { resting_bids: 0, resting_asks: 0, best_bid: None, best_ask: None };
    };
    Standing {
        resting_bids: book.order_count(Side::Buy) as u64,
        resting_asks: book.order_count(Side::Sell) as u64,
        best_bid: book.best(Side::Buy),
        best_ask: book.best(Side::Sell),
    }
}

/// The events did not arrive in time.
#[derive(Debug, thiserror::Error)]
#[error("no events of sequence {seq} in {} s", EVENTS_TIMEOUT.as_secs())]
struct NoEvents {
    seq: Seq,
}

/// Reads every released event through `last`, drops the engine, and replays its journal from the
/// disk: trades are counted from events, orders from the state.
pub(crate) fn read_back(case: &str, engine: Engine, last: Seq) -> Result<Totals, BenchError> {
    let (events, core) = read_back_core(case, engine, last)?;
    Ok(Totals { tally: events.tally, standing: standing(&core) })
}

/// The same: what the events say, and the state of the journal.
pub(crate) fn read_back_core(
    case: &str,
    engine: Engine,
    last: Seq,
) -> Result<(EventTally, Core), BenchError> {
    let mut tally = EventTally::default();
    let mut reader = engine.events(Seq(1));
    while reader.next_seq() <= last {
        let batch = reader
            .next_timeout(EVENTS_TIMEOUT)
            .map_err(broken(case, "read its events"))?
            .ok_or_else(|| {
            broken(case, "read its events")(NoEvents { seq: reader.next_seq() })
        })?;
        for record in batch.iter() {
            let (_, events) = record.decode().map_err(broken(case, "read an event record"))?;
            for event in events {
                tally.event(&event.map_err(broken(case, "read an event"))?);
            }
        }
    }
    let data_dir = engine.config().data_dir.clone();
    drop(reader);
    drop(engine);
    Ok((tally, replayed(case, &data_dir, last)?))
}

/// The state of a data directory at a sequence, from its snapshots and its journal.
pub(crate) fn replayed(case: &str, data_dir: &Path, at: Seq) -> Result<Core, BenchError> {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::new());
    replay_to(&disk, data_dir, &KeyRing::empty(), At::Seq(at))
        .map_err(broken(case, "replay its journal"))
}
