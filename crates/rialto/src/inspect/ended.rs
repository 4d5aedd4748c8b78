//! An order that is no longer open, found in the event log.

use super::read_only::EVENTS_DIR;
use super::utc;
use crate::{Error, tell_all};
use rialto_disk::Disk;
use rialto_engine::Core;
use rialto_log::{KeyRing, Reader, Verify};
use rialto_model::{Accepted, DoneReason, Event, OrderId, Quantity, Seq, Timestamp, decode_events};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// The history of one order from the event log.
#[derive(Default)]
struct Story {
    accepted: Option<(Timestamp, Accepted)>,
    filled: i64,
    ended: Option<(Seq, Timestamp, Option<DoneReason>)>,
}

/// The history of an order that ended by the state's sequence; `None` if there was no such order.
pub(super) fn find(
    disk: &Arc<dyn Disk>,
    data_dir: &Path,
    keys: &KeyRing,
    core: &Core,
    id: OrderId,
) -> Result<Option<Value>, Error> {
    let failed = |error: &dyn std::error::Error| Error::Failed(tell_all(error));
    let dir = data_dir.join(EVENTS_DIR);
    let (segments, report) = rialto_log::inspect(Arc::clone(disk), &dir, Verify::Newest, keys)
        .map_err(|error| failed(&error))?;
    if report.last_seq < report.first_seq {
        return Ok(None);
    }
    let mut reader = Reader::open(&segments, report.first_seq).map_err(|error| failed(&error))?;
    reader.set_end(core.seq().0.min(report.last_seq));
    let mut story = Story::default();
    while let Some(group) = reader.next_group().map_err(|error| failed(&error))? {
        for (seq, record) in group {
            let (time, events) = decode_events(record).map_err(|error| failed(&error))?;
            for event in events {
                let event = event.map_err(|error| failed(&error))?;
                story.take(id, Seq(seq), time, &event);
            }
        }
    }
    Ok(story.shown(core, id))
}

impl Story {
    fn take(&mut self, id: OrderId, seq: Seq, time: Timestamp, event: &Event) {
        match event {
            Event::Accepted(accepted) if accepted.order == id => {
                self.accepted = Some((time, *accepted));
            }
            Event::Trade(trade) if trade.maker_order == id || trade.taker_order == id => {
                self.filled += trade.quantity.0;
                let left = match trade.maker_order == id {
                    true => trade.maker_remaining,
                    false => trade.taker_remaining,
                };
                if left == Quantity::ZERO {
                    self.ended = Some((seq, time, None));
                }
            }
            Event::Done(done) if done.order == id => {
                self.ended = Some((seq, time, Some(done.reason)));
            }
            _ => {}
        }
    }

    fn shown(&self, core: &Core, id: OrderId) -> Option<Value> {
        let (entered, accepted) = self.accepted?;
        let terms = &accepted.terms;
        let spec = &core.instrument(terms.instrument)?.instrument.spec;
        let status = match self.ended {
            Some((_, _, None)) => "filled",
            Some((_, _, Some(DoneReason::Expired))) => "expired",
            Some(_) => "cancelled",
            None => "open",
        };
        Some(json!({
            "order": id,
            "status": status,
            "account": terms.account,
            "symbol": spec.symbol,
            "side": terms.side,
            "price": terms.price.decimal(spec.price_scale).to_string(),
            "filled": Quantity(self.filled).decimal(spec.quantity_scale).to_string(),
            "entered": utc::show(entered),
            "ended": self.ended.map(|(_, time, _)| utc::show(time)),
            "ended_seq": self.ended.map(|(seq, _, _)| seq),
            "reason": self.ended.and_then(|(_, _, reason)| reason),
            "client_order_id": terms.client_order_id,
        }))
    }
}
