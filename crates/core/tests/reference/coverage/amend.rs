//! What amendments of waiting and of linked orders come across, and orders for five levels that rest.

use super::Coverage;
use crate::reference::linked::List;
use crate::reference::{Order, Reference};
use rialto_model::{
    Amended, Command, DoneReason, Event, NewOrder, OrderId, OrderKind, Outcome, TriggerKind,
};

/// Whether a command amends an order.
pub(super) fn is_amendment(command: &Command) -> bool {
    matches!(command, Command::Amend(_) | Command::AmendTrigger(_))
}

impl Coverage {
    /// Counts what amendments do, with the order and the lists as they were before the command.
    pub fn note_amendments(
        &mut self,
        command: &Command,
        events: &[Event],
        outcome: &Outcome,
        (amended, lists): (Option<&Order>, &[List]),
        now: &Reference,
    ) {
        self.note_amended_exits(events, lists);
        let list = amended.and_then(|it| lists.iter().find(|list| list.linked.contains(&it.id)));
        let moves = matches!(command, Command::AmendTrigger(_));
        let waits = amended.and_then(|order| order.waits);
        if let Outcome::Rejected { reason } = outcome
            && is_amendment(command)
            && (moves || waits.is_some() || list.is_some())
        {
            self.saw(format!("amendment refused {reason:?}"));
        }
        let Some(before) = amended.filter(|_| !outcome.is_rejected()) else { return };
        if !is_amendment(command) {
            return;
        }
        if waits.is_some() {
            self.note_waiting_order(before, command, now);
        }
        if let Some(list) = list {
            self.note_exit(before, list, events, now);
        }
    }

    fn note_waiting_order(&mut self, before: &Order, command: &Command, now: &Reference) {
        let Some(after) = now.orders.iter().find(|order| order.id == before.id) else { return };
        let (Some(old), Some(new)) = (before.waits, after.waits) else { return };
        if old.follows.is_some() {
            self.saw("trailing stop amended");
        }
        if old.reached.is_some() {
            self.saw("triggered order amended");
        }
        if now.of(after).instrument.state.collects() {
            self.saw("waiting order amended in a call");
        }
        if before.price != after.price {
            self.saw("waiting order got another limit");
        }
        if after.remaining > before.remaining {
            self.saw("waiting order became larger");
        }
        if after.remaining < before.remaining {
            self.saw("waiting order became smaller");
            if now.account_enters(after.account).is_err() {
                self.saw("waiting order became smaller under a restriction");
            }
        }
        if old.at == new.at || old.follows.is_some() {
            return;
        }
        self.saw("waiting order got another trigger price");
        let is_asked = matches!(command, Command::AmendTrigger(it) if it.amend.price.is_some());
        if new.is_market && !is_asked {
            self.saw(match before.price == after.price {
                true => "limit of a market order stayed beside its trigger price",
                false => "protection price moved with the trigger price",
            });
        }
        let rises = new.rises(after.side);
        for other in now.orders.iter().filter(|it| it.instrument == after.instrument) {
            let Some(waits) = other.waits.filter(|_| other.id != after.id) else { continue };
            if waits.follows.is_some() || waits.rises(other.side) != rises {
                continue;
            }
            if waits.at == new.at && other.id > after.id {
                self.saw("order moved behind others at its trigger price");
            }
            let is_beyond = if rises { waits.at >= new.at } else { waits.at <= new.at };
            if waits.reached.is_some() && is_beyond {
                self.saw("order moved to a price that triggered others");
            }
        }
    }

    fn note_exit(&mut self, before: &Order, list: &List, events: &[Event], now: &Reference) {
        let is_stop_loss = before.waits.is_some_and(|waits| waits.kind == TriggerKind::Stop);
        self.saw(match (list.linked.len(), is_stop_loss, before.waits) {
            (1, ..) => "order without another one in its list amended",
            (_, true, _) => "second order of a pair amended",
            (_, false, Some(_)) => "first order of a pair that waits amended",
            (_, false, None) => "first order of a pair on the book amended",
        });
        let of_other = |event: &Event| match event {
            Event::Amended(it) if it.order != before.id => Some(*it),
            _ => None,
        };
        if let Some(Amended { old_reserved, reserved, .. }) = events.iter().find_map(of_other) {
            self.saw(match old_reserved > reserved {
                true => "reserve of a second order fell",
                false => "reserve of a second order rose",
            });
        }
        if list.linked.contains(&list.id) {
            return;
        }
        self.amended_entries.insert(list.id);
        let is_open = events.iter().any(|event| matches!(event, Event::ExitsSet(_)));
        self.saw(match is_open {
            true => "exit of an open entry amended",
            false => "exit of an ended entry amended",
        });
        let after = now.lists.iter().find(|it| it.id == list.id).and_then(|list| list.entry);
        let (Some(old), Some(new)) = (list.entry, after) else { return };
        if !is_open && old != new {
            self.saw("leg of an ended entry changed");
        }
        for (old, new) in [(old.take_profit, new.take_profit), (old.stop_loss, new.stop_loss)] {
            if let (Some(old), Some(new)) = (old, new)
                && new.kind == OrderKind::Market
                && old.price != new.price
            {
                self.saw("leg of a market order got a limit");
            }
        }
    }

    /// Counts what comes of lists of which an exit was amended.
    fn note_amended_exits(&mut self, events: &[Event], lists: &[List]) {
        let amended = self.amended_entries.clone();
        let is_exit = |id: OrderId| {
            let mut own = lists.iter().filter(|list| amended.contains(&list.id));
            own.any(|list| list.linked.contains(&id))
        };
        for event in events {
            match event {
                Event::OrdersLinked(linked) if amended.contains(&linked.list) => {
                    self.saw("exits entered with an amended leg");
                }
                Event::Amended(it) if it.remaining > it.old_remaining && is_exit(it.order) => {
                    self.saw("amended exits grew");
                }
                Event::Trade(trade)
                    if [trade.maker_order, trade.taker_order].into_iter().any(is_exit) =>
                {
                    self.saw("amended exit traded");
                }
                Event::Triggered(triggered) if is_exit(triggered.order) => {
                    self.saw("amended exit triggered");
                }
                _ => {}
            }
        }
    }

    /// Whether an exit that is open was amended.
    pub fn has_amended_exit(&self, now: &Reference) -> bool {
        let mut amended = now.lists.iter().filter(|it| self.amended_entries.contains(&it.id));
        amended.any(|list| !list.linked.is_empty())
    }

    /// Counts what becomes of orders for five levels that may rest.
    pub fn note_five_levels(&mut self, command: &Command, events: &[Event]) {
        let (new, has_exits) = match command {
            Command::Place(new) => (new, false),
            Command::PlaceList(list) => (&list.terms, true),
            _ => return,
        };
        let NewOrder { kind: OrderKind::FiveLevels, time_in_force, .. } = new else { return };
        if !time_in_force.rests_in_trading() {
            return;
        }
        let mut limit = None;
        let mut traded = false;
        for event in events {
            match event {
                Event::Accepted(accepted) if limit.is_none() => limit = Some(accepted.terms.price),
                Event::Trade(_) => traded = true,
                Event::Interrupted(_) => {
                    self.saw("order for five levels that may rest interrupted trading");
                }
                Event::Done(done) if done.reason == DoneReason::Remainder && !traded => {
                    self.saw("order for five levels ended without a trade");
                }
                Event::Done(done) if done.reason == DoneReason::Remainder && has_exits => {
                    self.saw("rest of an order for five levels ended, not between its exits");
                }
                Event::Rested(rested) => {
                    self.saw(match limit == Some(rested.price) {
                        true => "rest of an order for five levels stands at its limit",
                        false => "rest of an order for five levels stands at another price",
                    });
                    if has_exits {
                        self.saw("order for five levels with exits stands");
                    }
                }
                _ => {}
            }
        }
    }
}
