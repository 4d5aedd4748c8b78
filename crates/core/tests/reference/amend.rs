//! Changing an open order: a list of checks, in the order of the rules page, and what comes of it.

use super::entry::{Check, Verdict, demand};
use super::iceberg::has_few_parts;
use super::linked::are_beyond;
use super::{Alteration, Order, Reference};
use rialto_model::{Amend, Amended, Event, Outcome, Price, Quantity, ReduceReason, RejectReason};

const CHECKS: [Check<Amend>; 18] = [
    ("account", |venue, amend| venue.account(amend.account).map(drop)),
    ("order", |venue, amend| venue.open_order(amend.account, &amend.order).map(drop)),
    ("whether it is linked to another order", |venue, amend| {
        let is_linked = venue.list_of(venue.amended(amend).id).is_some();
        demand(!is_linked, RejectReason::OrderLinked)
    }),
    ("whether it waits for a trigger", |venue, amend| {
        demand(venue.amended(amend).waits.is_none(), RejectReason::OrderWaiting)
    }),
    ("state of the instrument", |venue, amend| venue.of(&venue.amended(amend)).check_entry()),
    ("restrictions, unless it only becomes smaller", |venue, amend| {
        let change = venue.change(amend);
        if change.shrinks && !venue.gets_wrong(Alteration::ReductionRestricted) {
            return Ok(());
        }
        venue.account_enters(amend.account)?;
        venue.instrument_is_entered(change.old.instrument)
    }),
    ("whether its call forbids amendments", |venue, amend| {
        venue.check_cancels(venue.amended(amend).instrument)
    }),
    ("whether anything changes", |venue, amend| {
        let change = venue.change(amend);
        demand(change.price_changes || change.size_changes, RejectReason::NothingToAmend)
    }),
    ("the new quantity", |venue, amend| {
        let change = venue.change(amend);
        let listed = venue.of(&change.old);
        let checked = change.size_changes || venue.rules_version >= 5;
        if checked { listed.check_quantity(change.total) } else { Ok(()) }
    }),
    ("the new price, tick and collar", |venue, amend| {
        let change = venue.change(amend);
        if !change.price_changes {
            return Ok(());
        }
        let listed = venue.of(&change.old);
        listed.check_price(change.price)?;
        demand(venue.is_in_collar(listed, change.price), RejectReason::PriceOutsideCollar)
    }),
    ("limits of the day and of continuous trading", |venue, amend| {
        let change = venue.change(amend);
        let listed = venue.of(&change.old);
        if change.price_changes { listed.check_limits(change.price) } else { Ok(()) }
    }),
    ("prices of its exits", |venue, amend| {
        let change = venue.change(amend);
        let list = venue.list_of_entry(change.old.id).filter(|_| change.price_changes);
        let legs = list.and_then(|list| list.entry).map(|it| [it.take_profit, it.stop_loss]);
        let fit = |legs| are_beyond(change.old.side, change.price, legs);
        demand(legs.is_none_or(fit), RejectReason::ExitPriceInvalid)
    }),
    ("notional of the new total", |venue, amend| {
        let change = venue.change(amend);
        let listed = venue.of(&change.old);
        listed.check_notional(listed.notional(change.price, change.total))
    }),
    ("what has traded already", |venue, amend| {
        let change = venue.change(amend);
        demand(change.total > change.old.filled, RejectReason::QuantityBelowFilled)
    }),
    ("the display quantity of an iceberg", |venue, amend| {
        let change = venue.change(amend);
        let fits = change.old.parts.is_none_or(|parts| has_few_parts(parts.most, change.total));
        demand(fits, RejectReason::DisplayQuantityInvalid)
    }),
    ("post-only, and collar, limits and notional of the price slid to", |venue, amend| {
        venue.unless_it_shrinks(amend, |change| {
            venue.check_slid(change.price, &venue.changed(change)?, change.total)
        })
    }),
    ("balance", |venue, amend| {
        venue.unless_it_shrinks(amend, |change| {
            let order = venue.changed(change)?;
            let more = venue.hold(&order).0 - venue.hold(&change.old).0;
            let available = || venue.available(order.account, venue.held_currency(&order));
            demand(more <= 0 || more <= available(), RejectReason::InsufficientBalance)
        })
    }),
    ("room at the price", |venue, amend| {
        venue.unless_it_shrinks(amend, |change| venue.check_level(&venue.changed(change)?))
    }),
];

/// The names of the checks of an amendment, in their order.
pub fn amend_checks() -> Vec<&'static str> {
    CHECKS.iter().map(|(name, _)| *name).collect()
}

/// What an amendment asks for.
struct Change {
    old: Order,
    price: Price,
    /// The whole quantity, with what has traded.
    total: Quantity,
    price_changes: bool,
    size_changes: bool,
    /// It loses nothing but quantity, and keeps its place.
    shrinks: bool,
}

impl Reference {
    /// The order that an amendment is about, which is there.
    fn amended(&self, amend: &Amend) -> Order {
        let open = self.open_order(amend.account, &amend.order);
        open.expect("that the order is open was checked before")
    }

    fn change(&self, amend: &Amend) -> Change {
        let old = self.amended(amend);
        let whole = Quantity(old.filled.0 + old.remaining.0);
        let price = amend.price.unwrap_or(old.price);
        let total = amend.quantity.unwrap_or(whole);
        Change {
            old,
            price,
            total,
            price_changes: price != old.price,
            size_changes: total != whole,
            shrinks: price == old.price && total < whole,
        }
    }

    /// An order that only shrinks stays where it is, and is asked nothing more.
    fn unless_it_shrinks(&self, amend: &Amend, check: impl FnOnce(&Change) -> Verdict) -> Verdict {
        let change = self.change(amend);
        if change.shrinks { Ok(()) } else { check(&change) }
    }

    /// The order as it would be: with the rates of today, and what it owes of fees so far.
    fn changed(&self, change: &Change) -> Result<Order, RejectReason> {
        let old = change.old;
        let [maker_fee_ppm, taker_fee_ppm] = self.rates(old.instrument)?;
        let mut order = Order {
            price: self.passive(old.instrument, old.side, change.price, old.post_only)?,
            remaining: Quantity(change.total.0 - old.filled.0),
            maker_fee_ppm,
            taker_fee_ppm,
            is_market: old.is_market && !change.price_changes,
            span: self.trading_span(old.instrument),
            ..old
        };
        if self.gets_wrong(Alteration::ResidueForgotten) {
            order.owe_nothing();
        }
        Ok(order)
    }

    pub(super) fn amend(&mut self, amend: &Amend) -> Result<Outcome, RejectReason> {
        self.check_all(&CHECKS, amend)?;
        let change = self.change(amend);
        let old = change.old;
        if change.shrinks {
            let by = Quantity(old.filled.0 + old.remaining.0 - change.total.0);
            let smaller = self.reduce(&old, ReduceReason::Amended, by);
            *self.open_order_mut(old.id) = smaller;
            return Ok(Self::standing(&smaller));
        }
        let order = self.changed(&change)?;
        self.events.push(Event::Amended(Amended {
            order: order.id,
            account: order.account,
            instrument: order.instrument,
            side: order.side,
            old_price: old.price,
            old_remaining: old.remaining,
            price: order.price,
            quantity: change.total,
            remaining: order.remaining,
            old_reserved: self.hold(&old),
            reserved: self.hold(&order),
        }));
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
}
