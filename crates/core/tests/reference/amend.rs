//! Changing an open order: a list of checks, in the order of the rules page, and what comes of it.

use super::entry::{Check, Verdict, demand};
use super::iceberg::has_few_parts;
use super::linked::{List, are_beyond, is_beyond};
use super::{Alteration, Order, Reference};
use rialto_model::{
    Amend, AmendTrigger, Amended, Condition, Event, Leg, OrderId, OrderKind, OrderStatus, Outcome,
    Price, Quantity, ReduceReason, RejectReason, Trigger, TriggerKind, TriggerSet,
};

/// An amendment, and the trigger price if one is given.
#[derive(Clone, Copy)]
pub struct Asked {
    amend: Amend,
    trigger_price: Option<Price>,
}

impl From<&Amend> for Asked {
    fn from(amend: &Amend) -> Asked {
        Asked { amend: *amend, trigger_price: None }
    }
}

impl From<&AmendTrigger> for Asked {
    fn from(asked: &AmendTrigger) -> Asked {
        let AmendTrigger { amend, trigger_price } = *asked;
        Asked { amend, trigger_price: Some(trigger_price) }
    }
}

const OF_TRIGGERS: [Check<Asked>; 1] = [("command that the version knows", |venue, _| {
    demand(venue.rules_version >= 10, RejectReason::CommandUnknown)
})];

const CHECKS: [Check<Asked>; 22] = [
    ("account", |venue, asked| venue.account(asked.amend.account).map(drop)),
    ("order", |venue, asked| venue.open_order(asked.amend.account, &asked.amend.order).map(drop)),
    ("whether the version amends linked and waiting orders", |venue, asked| {
        let order = venue.amended(asked);
        let amends_all = venue.rules_version >= 10;
        demand(amends_all || !venue.is_exit(order.id), RejectReason::OrderLinked)?;
        demand(amends_all || order.waits.is_none(), RejectReason::OrderWaiting)
    }),
    ("combination of attributes", |venue, asked| {
        let waits = venue.amended(asked).waits;
        let is_fixed = waits.is_some_and(|waits| waits.follows.is_none());
        let has_no_limit = waits.is_some_and(|waits| waits.follows.is_some() && waits.is_market);
        let contradictions = [
            asked.trigger_price.is_some() && !is_fixed,
            asked.amend.price.is_some() && has_no_limit,
        ];
        demand(!contradictions.contains(&true), RejectReason::InvalidCombination)
    }),
    ("whether the quantity of a linked order changes", |venue, asked| {
        let change = venue.change(asked);
        let changes = change.size_changes && venue.is_exit(change.old.id);
        demand(!changes, RejectReason::OrderLinked)
    }),
    ("state of the instrument", |venue, asked| venue.of(&venue.amended(asked)).check_entry()),
    ("restrictions, unless it only becomes smaller", |venue, asked| {
        let change = venue.change(asked);
        if change.shrinks && !venue.gets_wrong(Alteration::ReductionRestricted) {
            return Ok(());
        }
        venue.account_enters(asked.amend.account)?;
        venue.instrument_is_entered(change.old.instrument)
    }),
    ("whether its call forbids amendments", |venue, asked| {
        venue.check_cancels(venue.amended(asked).instrument)
    }),
    ("whether anything changes", |venue, asked| {
        let change = venue.change(asked);
        let changes = change.price_changes || change.size_changes || change.trigger.is_some();
        demand(changes, RejectReason::NothingToAmend)
    }),
    ("the new quantity", |venue, asked| {
        let change = venue.change(asked);
        let listed = venue.of(&change.old);
        let checked = change.size_changes || venue.rules_version >= 5;
        if checked { listed.check_quantity(change.total) } else { Ok(()) }
    }),
    ("the new trigger price, and whether a price has triggered the order", |venue, asked| {
        let change = venue.change(asked);
        let Some(trigger) = change.trigger else { return Ok(()) };
        let verdict = venue.of(&change.old).check_price(trigger);
        verdict.map_err(|_| RejectReason::TriggerPriceInvalid)?;
        let is_triggered = change.old.waits.is_some_and(|waits| waits.reached.is_some());
        let may_move = !is_triggered || venue.gets_wrong(Alteration::TriggeredOrdersMove);
        demand(may_move, RejectReason::OrderTriggered)
    }),
    ("the new price, tick and, unless it waits, collar", |venue, asked| {
        let change = venue.change(asked);
        if !change.price_changes {
            return Ok(());
        }
        let listed = venue.of(&change.old);
        listed.check_price(change.price)?;
        let is_inside = change.old.waits.is_some() || venue.is_in_collar(listed, change.price);
        demand(is_inside, RejectReason::PriceOutsideCollar)
    }),
    ("limits of the day and of continuous trading, unless it waits", |venue, asked| {
        let change = venue.change(asked);
        let listed = venue.of(&change.old);
        let checked = change.price_changes && change.old.waits.is_none();
        if checked { listed.check_limits(change.price) } else { Ok(()) }
    }),
    ("whether the last price has reached the new trigger price", |venue, asked| {
        let change = venue.change(asked);
        let order = change.moved();
        let (Some(waits), Some(_)) = (order.waits, change.trigger) else { return Ok(()) };
        let last = venue.of(&order).last_price;
        let is_reached = last.is_some_and(|last| waits.is_reached(order.side, last));
        demand(!is_reached, RejectReason::WouldTrigger)
    }),
    ("prices of its exits, or of the exit itself", |venue, asked| {
        let change = venue.change(asked);
        let list = venue.list_of_entry(change.old.id).filter(|_| change.price_changes);
        let legs = list.and_then(|list| list.entry).map(|it| [it.take_profit, it.stop_loss]);
        let fit = |legs| are_beyond(change.old.side, change.price, legs);
        demand(legs.is_none_or(fit), RejectReason::ExitPriceInvalid)?;
        let may_pass = venue.gets_wrong(Alteration::ExitsPassEachOther);
        demand(may_pass || venue.stays_on_its_side(&change), RejectReason::ExitPriceInvalid)
    }),
    ("notional of the new total", |venue, asked| {
        let change = venue.change(asked);
        let listed = venue.of(&change.old);
        listed.check_notional(listed.notional(change.price, change.total))
    }),
    ("what has traded already", |venue, asked| {
        let change = venue.change(asked);
        demand(change.total > change.old.filled, RejectReason::QuantityBelowFilled)
    }),
    ("the display quantity of an iceberg", |venue, asked| {
        let change = venue.change(asked);
        let fits = change.old.parts.is_none_or(|parts| has_few_parts(parts.most, change.total));
        demand(fits, RejectReason::DisplayQuantityInvalid)
    }),
    ("whether an exit on the book would trade", |venue, asked| {
        let order = venue.change(asked).moved();
        let stands = order.waits.is_none() && venue.is_exit(order.id);
        let trades = stands && venue.meets_another(&order);
        demand(!trades || venue.gets_wrong(Alteration::ExitsCross), RejectReason::WouldCross)
    }),
    ("post-only, and collar, limits and notional of the price slid to", |venue, asked| {
        venue.unless_it_shrinks(asked, |change| {
            venue.check_slid(change.price, &venue.changed(change)?, change.total)
        })
    }),
    ("balance", |venue, asked| {
        venue.unless_it_shrinks(asked, |change| {
            let order = venue.changed(change)?;
            let mut more = 0;
            for [before, after] in venue.with_other(change, order) {
                more += venue.hold(&after).0 - venue.hold(&before).0;
            }
            let available = || venue.available(order.account, venue.held_currency(&order));
            demand(more <= 0 || more <= available(), RejectReason::InsufficientBalance)
        })
    }),
    ("room at the price, or where it waits", |venue, asked| {
        venue.unless_it_shrinks(asked, |change| {
            let order = venue.changed(change)?;
            match order.waits {
                Some(_) => venue.check_where_it_waits(&order),
                None => venue.check_level(&order),
            }
        })
    }),
];

/// The names of the checks of an amendment, in their order.
pub fn amend_checks() -> Vec<&'static str> {
    CHECKS.iter().map(|(name, _)| *name).collect()
}

/// The names of the checks of an amendment of a trigger price before those of any amendment.
pub fn amend_trigger_checks() -> Vec<&'static str> {
    OF_TRIGGERS.iter().map(|(name, _)| *name).collect()
}

/// What an amendment asks for.
struct Change {
    old: Order,
    price: Price,
    /// The whole quantity, with what has traded.
    total: Quantity,
    /// The trigger price, if it changes.
    trigger: Option<Price>,
    price_changes: bool,
    size_changes: bool,
    /// It loses nothing but quantity, and keeps its place.
    shrinks: bool,
}

impl Change {
    /// The order with its new limit, quantity and trigger price, and otherwise as it is.
    fn moved(&self) -> Order {
        let remaining = Quantity(self.total.0 - self.old.filled.0);
        let mut order = Order { price: self.price, remaining, ..self.old };
        if let (Some(waits), Some(trigger)) = (&mut order.waits, self.trigger) {
            waits.at = trigger;
        }
        order
    }
}

/// The price from which an order may trade: its trigger price, or else its limit. None of a trailing stop.
fn level(order: &Order) -> Option<Price> {
    match order.waits {
        None => Some(order.price),
        Some(waits) if waits.follows.is_none() => Some(waits.at),
        Some(_) => None,
    }
}

/// Whether one of linked orders is the one at a worse price.
fn is_stop_loss(order: &Order) -> bool {
    order.waits.is_some_and(|waits| waits.kind == TriggerKind::Stop)
}

impl Reference {
    /// The order that an amendment is about, which is there.
    fn amended(&self, asked: &Asked) -> Order {
        let open = self.open_order(asked.amend.account, &asked.amend.order);
        open.expect("that the order is open was checked before")
    }

    fn change(&self, asked: &Asked) -> Change {
        let old = self.amended(asked);
        let whole = Quantity(old.filled.0 + old.remaining.0);
        let total = asked.amend.quantity.unwrap_or(whole);
        let trigger = match (old.waits, asked.trigger_price) {
            (Some(waits), Some(price)) if waits.at != price => Some(price),
            _ => None,
        };
        let protected = trigger.and_then(|trigger| self.protected_with_trigger(&old, trigger));
        let protected = protected.filter(|_| asked.amend.price.is_none());
        let price = asked.amend.price.or(protected).unwrap_or(old.price);
        Change {
            old,
            price,
            total,
            trigger,
            price_changes: price != old.price,
            size_changes: total != whole,
            shrinks: price == old.price && trigger.is_none() && total < whole,
        }
    }

    /// The limit of a market order that gets another trigger price, if its limit is that of market protection.
    fn protected_with_trigger(&self, old: &Order, trigger: Price) -> Option<Price> {
        let waits = old.waits.expect("it waits for a trigger price");
        let is_valid = self.of(old).check_price(trigger).is_ok();
        let stands_still = self.gets_wrong(Alteration::ProtectionStandsStill);
        if !waits.is_market || waits.follows.is_some() || !is_valid || stands_still {
            return None;
        }
        let protected = |trigger| self.protected(old.instrument, old.side, trigger);
        let leg = self.leg_of(old).map(|leg| leg.price == Price::ZERO);
        let is_protected = leg.unwrap_or(protected(waits.at) == old.price);
        is_protected.then(|| protected(trigger))
    }

    /// The leg of an exit that was entered for an entry.
    fn leg_of(&self, order: &Order) -> Option<Leg> {
        self.list_of(order.id)?.legs[usize::from(is_stop_loss(order))]
    }

    /// An order that only shrinks stays where it is, and is asked nothing more.
    fn unless_it_shrinks(&self, asked: &Asked, check: impl FnOnce(&Change) -> Verdict) -> Verdict {
        let change = self.change(asked);
        if change.shrinks { Ok(()) } else { check(&change) }
    }

    /// Whether an order is one of linked orders: of a pair, or an exit that was entered.
    fn is_exit(&self, order: OrderId) -> bool {
        self.list_of(order).is_some()
    }

    /// The order as it would be: with the rates of today, and what it owes of fees so far.
    fn changed(&self, change: &Change) -> Result<Order, RejectReason> {
        let old = change.old;
        let [maker_fee_ppm, taker_fee_ppm] = match change.shrinks {
            true => [old.maker_fee_ppm, old.taker_fee_ppm],
            false => self.rates(old.instrument)?,
        };
        let slides = old.waits.is_none() && !self.is_exit(old.id);
        let price = match slides {
            true => self.passive(old.instrument, old.side, change.price, old.post_only)?,
            false => change.price,
        };
        let mut order = Order {
            price,
            maker_fee_ppm,
            taker_fee_ppm,
            is_market: old.is_market && !change.price_changes,
            span: self.trading_span(old.instrument).filter(|_| old.waits.is_none()),
            ..change.moved()
        };
        if self.gets_wrong(Alteration::ResidueForgotten) {
            order.owe_nothing();
        }
        Ok(order)
    }

    /// The other order of a pair.
    fn other_of(&self, order: OrderId) -> Option<Order> {
        let list = self.list_of(order)?;
        let other = list.linked.iter().find(|other| **other != order)?;
        self.orders.iter().find(|order| order.id == *other).copied()
    }

    /// Whether an exit whose level changes stays beyond the other order of its pair, and on its side of its entry
    /// if that is on the book.
    fn stays_on_its_side(&self, change: &Change) -> bool {
        let order = change.moved();
        let (Some(list), Some(new)) = (self.list_of(order.id), level(&order)) else { return true };
        if level(&change.old) == Some(new) {
            return true;
        }
        let is_on_its_side_of = |other: Price| match is_stop_loss(&order) {
            true => is_beyond(order.side, other, new),
            false => is_beyond(order.side, new, other),
        };
        let entry = self.orders.iter().find(|it| list.entry.is_some() && it.id == list.id);
        let other = self.other_of(order.id).and_then(|other| level(&other));
        let levels = [other, entry.map(|entry| entry.price)];
        levels.into_iter().flatten().all(is_on_its_side_of)
    }

    /// The amended order, and the other one of its pair, each before and after the amendment. What the first
    /// needs, the second need not hold.
    fn with_other(&self, change: &Change, order: Order) -> Vec<[Order; 2]> {
        let mut order = order;
        let Some(before) = self.other_of(order.id) else { return vec![[change.old, order]] };
        let mut after = before;
        let shared = match self.gets_wrong(Alteration::PairsHoldBoth) {
            true => 0,
            false => self.need(&order).0.min(self.need(&after).0),
        };
        match is_stop_loss(&order) {
            true => order.covered = shared,
            false if self.gets_wrong(Alteration::SecondOrdersKeepTheirReserve) => {}
            false => after.covered = shared,
        }
        vec![[change.old, order], [before, after]]
    }

    pub(super) fn amend_trigger(&mut self, asked: &AmendTrigger) -> Result<Outcome, RejectReason> {
        let asked = Asked::from(asked);
        OF_TRIGGERS.iter().try_for_each(|(_, check)| check(self, &asked))?;
        self.amend(&asked)
    }

    pub(super) fn amend(&mut self, asked: &Asked) -> Result<Outcome, RejectReason> {
        self.check_all(&CHECKS, asked)?;
        let change = self.change(asked);
        let old = change.old;
        if old.waits.is_some() || self.is_exit(old.id) {
            return Ok(self.amend_waiting_or_exit(asked, &change));
        }
        if change.shrinks {
            let by = Quantity(old.filled.0 + old.remaining.0 - change.total.0);
            let smaller = self.reduce(&old, ReduceReason::Amended, by);
            *self.open_order_mut(old.id) = smaller;
            return Ok(Self::standing(&smaller));
        }
        let order = self.changed(&change)?;
        self.tell_amended(&old, &order);
        let grows = order.price == old.price && order.remaining > old.remaining;
        let keeps_place = old.parts.is_some() && grows;
        if keeps_place && !self.gets_wrong(Alteration::IcebergsGrowAtTheEnd) {
            *self.open_order_mut(old.id) = order;
            return Ok(Self::standing(&order));
        }
        self.remove(old.id);
        let outcome = self.take(order, &mut 0);
        if self.gets_wrong(Alteration::GrowthKeepsPlace) && !change.price_changes {
            let again = self.orders.iter_mut().find(|other| other.id == order.id);
            again.into_iter().for_each(|order| order.place = old.place);
        }
        Ok(outcome)
    }

    /// Amends an order that waits, or one of linked orders, neither of which trades.
    fn amend_waiting_or_exit(&mut self, asked: &Asked, change: &Change) -> Outcome {
        let order = self.changed(change).expect("the checks have passed");
        let both = self.with_other(change, order);
        let [old, mut order] = both[0];
        if let Some(waits) = &mut order.waits {
            let moves =
                change.trigger.is_some() && !self.gets_wrong(Alteration::MovedTriggersByAge);
            let grows = order.remaining > old.remaining;
            if moves || (grows && self.gets_wrong(Alteration::WaitingOrdersGrowAtTheEnd)) {
                self.arrivals += 1;
                waits.arrived = self.arrivals;
            }
        }
        let other = both.get(1).copied();
        let more = other.map_or(0, |[before, after]| self.hold(&after).0 - self.hold(&before).0);
        if more < 0 {
            self.amend_other(other);
        }
        if order.waits.is_none() {
            self.tell_amended(&old, &order);
            self.remove(order.id);
            self.stop(&order);
        } else {
            let kept = (old.price, old.remaining, self.hold(&old));
            if kept != (order.price, order.remaining, self.hold(&order)) {
                self.tell_amended(&old, &order);
            }
            *self.open_order_mut(order.id) = order;
        }
        if more > 0 {
            self.amend_other(other);
        }
        if let (Some(waits), Some(price)) = (order.waits, change.trigger) {
            let Order { id, account, instrument, side, .. } = order;
            let trigger = Trigger { kind: waits.kind, price };
            self.events.push(Event::TriggerSet(TriggerSet {
                order: id,
                account,
                instrument,
                side,
                trigger,
            }));
            if self.gets_wrong(Alteration::EarlierPricesTrigger) {
                self.trigger_by_earlier_price(&order);
            }
        }
        self.change_leg(&order, asked, change);
        match order.waits {
            Some(_) => Self::answer(&order, OrderStatus::Waiting),
            None => Self::standing(&order),
        }
    }

    /// Changes the reserve of the other order of a pair.
    fn amend_other(&mut self, other: Option<[Order; 2]>) {
        let [before, after] = other.expect("its reserve changes");
        self.tell_amended(&before, &after);
        *self.open_order_mut(after.id) = after;
    }

    /// The exits that an entry has later are as the one that was amended.
    fn change_leg(&mut self, order: &Order, asked: &Asked, change: &Change) {
        let stays = self.gets_wrong(Alteration::LegsStay);
        let is_own = |list: &&mut List| list.linked.contains(&order.id);
        let Some(list) = self.lists.iter_mut().find(is_own) else { return };
        let id = list.id;
        let Some(leg) = &mut list.legs[usize::from(is_stop_loss(order))] else { return };
        let mut new = *leg;
        if new.kind != OrderKind::Market || asked.amend.price.is_some() {
            new.price = order.price;
        }
        if let (Some(Condition::Trigger(trigger)), Some(price)) =
            (&mut new.condition, change.trigger)
        {
            trigger.price = price;
        }
        if !stays {
            *leg = new;
        }
        if let Some(entry) = &mut list.entry {
            [entry.take_profit, entry.stop_loss] = list.legs;
        }
        if self.is_open_order(id) {
            self.tell_exits(id);
        }
    }

    /// Gets wrong that only later prices trigger an order at its new trigger price.
    fn trigger_by_earlier_price(&mut self, order: &Order) {
        let waits = order.waits.expect("it waits for a trigger price");
        let rises = waits.rises(order.side);
        let mut earlier = None;
        for other in self.orders.iter().filter(|other| other.instrument == order.instrument) {
            let Some(other_waits) = other.waits else { continue };
            let is_beyond = match rises {
                true => other_waits.at >= waits.at,
                false => other_waits.at <= waits.at,
            };
            if other_waits.rises(other.side) == rises && other_waits.follows.is_none() && is_beyond
            {
                earlier = earlier.or(other_waits.reached);
            }
        }
        if let Some(waits) = &mut self.open_order_mut(order.id).waits {
            waits.reached = earlier;
        }
    }

    /// Tells that an order goes on as another one.
    pub(super) fn tell_amended(&mut self, old: &Order, new: &Order) {
        self.events.push(Event::Amended(Amended {
            order: new.id,
            account: new.account,
            instrument: new.instrument,
            side: new.side,
            old_price: old.price,
            old_remaining: old.remaining,
            price: new.price,
            quantity: Quantity(new.filled.0 + new.remaining.0),
            remaining: new.remaining,
            old_reserved: self.hold(old),
            reserved: self.hold(new),
        }));
    }
}
