//! What a tick does: goes on with a suspended order, or does what is due and then background work.

use crate::book::Slot;
use crate::limits::ORDERS_PER_COMMAND;
use crate::work::{CancelMany, Work};
use crate::{Core, EventSink};
use rialto_model::{DoneReason, Event, OrderId, Outcome};

impl Core {
    pub(crate) fn tick<S: EventSink>(&mut self, sink: &mut S) -> Outcome {
        let mut budget = ORDERS_PER_COMMAND;
        let due = if let Some(taker) = self.urgent.take() {
            self.send_to_match(taker, &mut budget, sink);
            true
        } else {
            let expired = self.expire(&mut budget, sink);
            self.fire_dead_men(&mut budget, sink) || expired
        };
        let worked = self.work_on(&mut budget, sink);
        if !(due || worked) {
            sink.event(&Event::Ticked);
        }
        Outcome::Done
    }

    /// Ends the orders whose time is over, the earliest first.
    fn expire<S: EventSink>(&mut self, budget: &mut u32, sink: &mut S) -> bool {
        let full = *budget;
        while let Some((due, at)) = self.expiries.first()
            && due <= self.time
            && *budget > 0
        {
            let slot = Slot::new(at).expect("only orders on the book have an expiry");
            self.end_order(slot, DoneReason::Expired, sink);
            *budget -= 1;
        }
        *budget < full
    }

    /// Begins to cancel the orders of accounts whose dead-man timers ran out, the earliest first.
    /// A timer fires only while there is budget for an order and room for what may be left over.
    fn fire_dead_men<S: EventSink>(&mut self, budget: &mut u32, sink: &mut S) -> bool {
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

    /// Goes on with background work, first come, first served.
    fn work_on<S: EventSink>(&mut self, budget: &mut u32, sink: &mut S) -> bool {
        let mut worked = false;
        while *budget > 0
            && let Some(work) = self.works.pop()
        {
            worked = true;
            match work {
                Work::Cancel(mut cancel) => {
                    let (_, pending) = self.cancel_some(&mut cancel, budget, sink);
                    if pending {
                        self.works.put_back(Work::Cancel(cancel));
                    } else {
                        self.accounts.get_mut(cancel.account).pending_cancels -= 1;
                    }
                }
                Work::Close(market) => {
                    let (_, pending) = self.close_some(market, budget, sink);
                    if pending {
                        self.works.put_back(Work::Close(market));
                    }
                }
            }
        }
        worked
    }
}
