//! Ticks under rules version 1: work is done first come, first served, and each mass cancel reports
//! its progress.

use crate::limits::{EVENTS_BYTES_MAX, ORDERS_PER_COMMAND};
use crate::work::{BackgroundTask, CancelMany};
use crate::{Core, EventSink};
use rialto_model::{
    AccountId, Amount, Done, DoneReason, EVENT_BYTES_MAX, Event, InstrumentId, OrderId, Outcome,
    Price, Quantity, Side, encode_event,
};

/// Tracks the room that is left for the events of a command.
///
/// With thousands of mass cancels in progress, one tick could have more events than a record of the
/// event log holds. The build that introduced version 1 failed there, so that no journal holds such
/// a tick; here the tick ends just before.
pub(crate) struct Measured<'a> {
    sink: &'a mut dyn EventSink,
    left: usize,
}

impl EventSink for Measured<'_> {
    fn event(&mut self, event: &Event) {
        let mut bytes = [0; EVENT_BYTES_MAX];
        self.left = self.left.saturating_sub(encode_event(event, &mut bytes));
        self.sink.event(event);
    }
}

impl Measured<'_> {
    /// Whether an event has room, as the event log counts it: that of the longest event must be left.
    fn has_room(&self) -> bool {
        self.left >= EVENT_BYTES_MAX
    }

    /// Whether the end of an order with this reserve and the progress behind it have room.
    fn has_room_for_end(&self, released: Amount) -> bool {
        let done = Event::Done(Done {
            order: OrderId(0),
            account: AccountId(0),
            instrument: InstrumentId(0),
            side: Side::Buy,
            reason: DoneReason::MassCancelled,
            price: Price::ZERO,
            remaining: Quantity::ZERO,
            released,
        });
        self.left >= encode_event(&done, &mut [0; EVENT_BYTES_MAX]) + EVENT_BYTES_MAX
    }
}

impl Core {
    #[inline(never)]
    pub(crate) fn tick_of_version_1<S: EventSink>(&mut self, sink: &mut S) -> Outcome {
        let sink = &mut Measured { sink, left: EVENTS_BYTES_MAX };
        let mut budget = ORDERS_PER_COMMAND;
        let due = if let Some(taker) = self.urgent.take() {
            self.send_to_match(taker, &mut budget, sink);
            true
        } else {
            let expired = self.expire(&mut budget, sink);
            self.fire_dead_men_of_version_1(&mut budget, sink) || expired
        };
        let worked = self.work_on(&mut budget, sink);
        self.settle_due();
        if !(due || worked) {
            sink.event(&Event::Ticked);
        }
        Outcome::Done
    }

    /// Begins to cancel the orders of accounts whose dead-man timers ran out, the earliest first. A
    /// timer fires only while there is budget for an order and room in the queue for the rest of
    /// its work.
    fn fire_dead_men_of_version_1(&mut self, budget: &mut u32, sink: &mut Measured<'_>) -> bool {
        let mut fired = 0;
        while let Some((due, account)) = self.dead_men.first()
            && due <= self.time
            && *budget > 0
            && fired < ORDERS_PER_COMMAND
            && !self.works.is_full(&self.limits)
        {
            self.dead_men.remove(account);
            fired += 1;
            let work = CancelMany {
                account,
                market: None,
                side: None,
                on_disconnect_only: false,
                reason: DoneReason::DeadMan,
                upto: OrderId::from_parts(self.engine, self.order_count),
                cursor: self.accounts.get(account).head,
            };
            self.start_cancelling(work, budget, sink);
        }
        fired > 0
    }

    /// Continues background work, first come, first served.
    fn work_on(&mut self, budget: &mut u32, sink: &mut Measured<'_>) -> bool {
        let mut worked = false;
        while *budget > 0
            && sink.has_room()
            && let Some(work) = self.works.pop()
        {
            worked = true;
            let has_room = Measured::has_room_for_end;
            let pending = match work {
                BackgroundTask::Cancel(mut cancel) => {
                    let (_, pending) = self.cancel_some(&mut cancel, budget, has_room, sink);
                    match pending {
                        true => self.works.put_back(BackgroundTask::Cancel(cancel)),
                        false => self.accounts.get_mut(cancel.account).under_way -= 1,
                    }
                    pending
                }
                BackgroundTask::Close(market) => {
                    let (_, pending) = self.close_some(market, budget, has_room, sink);
                    if pending {
                        self.works.put_back(work);
                    }
                    pending
                }
            };
            if pending {
                // It has used up the budget or the room.
                break;
            }
        }
        worked
    }
}
