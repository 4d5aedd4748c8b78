//! What linked orders come across.

use super::Coverage;
use super::amend::is_amendment;
use crate::reference::Reference;
use crate::reference::linked::List;
use rialto_model::{Command, DoneReason, Event, OrderId, RejectReason};

impl Coverage {
    /// Counts what linked orders do, with the lists as they were before the command.
    pub fn note_links(
        &mut self,
        command: &Command,
        events: &[Event],
        before: &[List],
        now: &Reference,
    ) {
        let list_of = |id: OrderId| before.iter().find(|list| list.linked.contains(&id));
        let is_pair = |list: &List| list.linked.contains(&list.id);
        let mut amended = None;
        for (at, event) in events.iter().enumerate() {
            match event {
                Event::Trade(trade) => {
                    for id in [trade.maker_order, trade.taker_order] {
                        let is_entry = before.iter().any(|it| it.id == id && it.entry.is_some());
                        if is_entry && trade.auction {
                            self.saw("entry that traded in an auction");
                        }
                        let Some(list) = list_of(id) else { continue };
                        let goes_on = now.lists.iter().any(|it| it.id == list.id);
                        if goes_on && list.entry.is_some() {
                            self.saw("exits ended before they grew");
                        }
                        if is_pair(list) && list.linked[0] == id {
                            self.saw("pair of which the first traded");
                        }
                        if is_pair(list) && trade.auction {
                            self.saw("pair that traded in an auction");
                        }
                    }
                }
                Event::Triggered(triggered) => {
                    let list = list_of(triggered.order).filter(|list| is_pair(list));
                    if list.is_some_and(|list| list.linked[1] == triggered.order) {
                        self.saw("pair of which the second was triggered");
                    }
                }
                Event::Done(done)
                    if done.reason != DoneReason::Linked
                        && list_of(done.order).is_some_and(is_pair) =>
                {
                    self.saw("pair that was cancelled");
                }
                Event::Done(done) if done.reason == DoneReason::Linked => {
                    let own = before.iter().find(|list| list.id == done.order);
                    if own.is_some_and(|list| list.entry.is_some() && !list.linked.is_empty()) {
                        self.saw("entry ended by its exit");
                    }
                }
                Event::Amended(it) if !is_amendment(command) && list_of(it.order).is_some() => {
                    amended = Some(at);
                }
                Event::OrdersLinked(linked) => {
                    let both = linked.take_profit.0 > 0 && linked.stop_loss.0 > 0;
                    if matches!(command, Command::PlaceList(_)) {
                        let second = now.orders.iter().find(|it| it.id == linked.stop_loss);
                        if second.is_some_and(|it| now.need(it).0 > it.covered && it.covered > 0) {
                            self.saw("pair whose second order needs more than the first");
                        }
                        continue;
                    }
                    if both {
                        self.saw("bracket with both exits entered");
                    }
                    self.note_exits(events, linked.take_profit, linked.stop_loss);
                }
                Event::ExitsRefused(refused) => {
                    let stood = events[at..].iter().any(
                        |event| matches!(event, Event::Done(done) if done.order == refused.order),
                    );
                    let list = before.iter().find(|list| list.id == refused.order);
                    if stood {
                        self.saw("exits refused while their entry stood");
                    }
                    if list.is_some_and(|list| !list.linked.is_empty()) {
                        self.saw("growth of exits refused");
                    }
                    if refused.reason == RejectReason::NotionalTooSmall {
                        self.saw("exits refused because they are worth too little");
                    }
                }
                _ => {}
            }
        }
        if amended.is_some() {
            self.saw("exits that grew");
        }
    }

    fn note_exits(&mut self, events: &[Event], profit: OrderId, loss: OrderId) {
        let trails = |event: &Event| matches!(event, Event::TrailSet(set) if set.order == loss);
        if events.iter().any(trails) {
            self.saw("exits of a trailing stop");
        }
        let one = if profit.0 > 0 { profit } else { loss };
        let is_alone = profit.0 == 0 || loss.0 == 0;
        let traded =
            |event: &Event| matches!(event, Event::Trade(trade) if trade.taker_order == one);
        let triggered = |event: &Event| matches!(event, Event::Triggered(it) if it.order == one);
        if is_alone && events.iter().any(triggered) {
            self.saw("exit entered alone that was triggered at once");
        } else if is_alone && events.iter().any(traded) {
            self.saw("exit entered alone that traded at once");
        }
    }
}
