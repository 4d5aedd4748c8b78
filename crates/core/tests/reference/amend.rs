//! Changing an open order.

use super::place::{check_notional_min, check_price, check_quantity, check_tradable};
use super::{Alteration, Reference};
use rialto_model::{Amend, Amended, Amount, Event, Outcome, Quantity, ReduceReason, RejectReason};

impl Reference {
    pub(super) fn amend(&mut self, amend: &Amend) -> Result<Outcome, RejectReason> {
        self.account(amend.account)?;
        let at = self.find_order(amend.account, &amend.order)?;
        self.check_alive(at)?;
        let old = self.orders[at];
        let instrument = self.instrument_of(&old);
        let rules = instrument.spec.rules;
        check_tradable(&instrument)?;

        let old_total = Quantity(old.filled.0 + old.remaining.0);
        let asked_price = amend.price.unwrap_or(old.price);
        let total = amend.quantity.unwrap_or(old_total);
        let price_changes = asked_price != old.price;
        let quantity_changes = total != old_total;
        if !price_changes && !quantity_changes {
            return Err(RejectReason::NothingToAmend);
        }
        if quantity_changes {
            check_quantity(&rules, total)?;
        }
        if price_changes {
            check_price(&rules, asked_price)?;
            self.check_collar(old.instrument, asked_price)?;
        }
        let notional =
            instrument.notional(asked_price, total).ok_or(RejectReason::NotionalTooLarge)?;
        check_notional_min(&rules, notional)?;
        if total <= old.filled {
            return Err(RejectReason::QuantityBelowFilled);
        }

        if !price_changes && total < old_total {
            let mut order = old;
            order.remaining = Quantity(total.0 - old.filled.0);
            let by = Quantity(old.remaining.0 - order.remaining.0);
            self.reduce(&mut order, ReduceReason::Amended, by);
            self.orders[at] = order;
            return Ok(Self::standing(&order));
        }

        let mut order = old;
        order.price =
            self.keep_passive(old.instrument, old.side, asked_price, old.post_only, total)?;
        order.remaining = Quantity(total.0 - old.filled.0);
        self.check_level(old.instrument, old.side, order.price, order.remaining, old.id)?;
        order.maker_fee_ppm = rules.maker_fee_ppm;
        order.taker_fee_ppm = rules.taker_fee_ppm;
        if self.gets_wrong(Alteration::ResidueForgotten) {
            order.fee_owed = 0;
        }
        order.reserved = Self::reserve_needed(
            &instrument,
            order.side,
            order.price,
            order.remaining,
            order.taker_fee_ppm,
            order.fee_owed,
        );
        let more = Amount(order.reserved.0 - old.reserved.0);
        self.reserve(order.account, &instrument, order.side, more)?;
        self.events.push(Event::Amended(Amended {
            order: order.id,
            account: order.account,
            instrument: order.instrument,
            side: order.side,
            old_price: old.price,
            old_remaining: old.remaining,
            price: order.price,
            quantity: total,
            remaining: order.remaining,
            old_reserved: old.reserved,
            reserved: order.reserved,
        }));
        self.orders.remove(at);
        let outcome = self.take(order, &mut 0);
        let now = self.orders.iter().position(|other| other.id == order.id);
        if let (Some(now), false) = (now, price_changes)
            && self.gets_wrong(Alteration::GrowthKeepsPlace)
        {
            let order = self.orders.remove(now);
            self.orders.insert(at.min(self.orders.len()), order);
        }
        Ok(outcome)
    }
}
