//! A tick continues a suspended taker, or fires timers that are due and then does background work.

use crate::limits::ORDERS_PER_COMMAND;
use crate::{Core, EventSink};
use rialto_model::{DoneReason, Event, Outcome};

impl Core {
    pub(crate) fn tick<S: EventSink>(&mut self, sink: &mut S) -> Outcome {
        if !self.rules_since(2) {
            return self.tick_of_version_1(sink);
        }
        let mut budget = ORDERS_PER_COMMAND;
        let due = match self.urgent.take() {
            Some(taker) if taker.expire_at <= self.time => {
                self.end_taker(&taker, DoneReason::Expired, taker.remaining(), sink);
                true
            }
            Some(taker) => {
                self.send_to_match(taker, &mut budget, sink);
                true
            }
            None => {
                let fired = self.fire_dead_men(&mut budget, sink);
                self.end_calls(&mut budget, sink) || fired
            }
        };
        let worked = self.work_in_turns(&mut budget, sink);
        self.settle_due();
        if !(due || worked) {
            sink.event(&Event::Ticked);
        }
        Outcome::Done
    }

    /// Begins to cancel the orders of accounts whose dead-man timers ran out, the earliest first.
    fn fire_dead_men<S: EventSink>(&mut self, budget: &mut u32, sink: &mut S) -> bool {
        let full = *budget;
        while let Some((due, account)) = self.dead_men.first()
            && due <= self.time
            && *budget > 0
        {
            self.dead_men.remove(account);
            *budget -= 1;
            self.sweep_for_dead_man(account, sink);
        }
        *budget < full
    }
}
