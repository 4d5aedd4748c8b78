//! Icebergs: their entry, and what they display on the book.

use crate::apply::refuse;
use crate::book::Slot;
use crate::by_slot::BySlot;
use crate::instruments::Market;
use crate::limits::ORDERS_PER_COMMAND;
use crate::orders::Role;
use crate::place::{Extras, Plan};
use crate::{Core, EventSink};
use rialto_model::{
    Command, Event, Iceberg, IcebergOrder, IcebergRefreshed, NewOrder, OrderKind, OrderSize,
    Outcome, Quantity, RejectReason,
};

/// The version since which there are icebergs.
pub(crate) const WITH_ICEBERGS: u32 = 8;

/// The icebergs on the books of all instruments.
pub(crate) type Icebergs = BySlot<Iceberg>;

/// In the place of an order that is no iceberg.
pub(crate) const NO_ICEBERG: Iceberg =
    Iceberg { display_quantity: Quantity::ZERO, displayed: Quantity::ZERO };

impl Core {
    pub(crate) fn place_iceberg<S: EventSink>(
        &mut self,
        order: &IcebergOrder,
        sink: &mut S,
    ) -> Outcome {
        let placed = match self.rules_since(WITH_ICEBERGS) {
            true => self.try_place_iceberg(order, sink),
            false => Err(RejectReason::CommandUnknown),
        };
        placed.unwrap_or_else(|reason| refuse(&Command::PlaceIceberg(*order), reason, sink))
    }

    fn try_place_iceberg<S: EventSink>(
        &mut self,
        order: &IcebergOrder,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        let IcebergOrder { terms, display_quantity } = order;
        let account = self.accounts.slot(terms.account)?;
        if !terms.client_order_id.is_empty() {
            return self.place_named(account, terms, Some(*display_quantity), sink);
        }
        let plan = self.plan_iceberg(account, terms, *display_quantity)?;
        let extras = Extras { display_quantity: *display_quantity, ..Extras::NONE };
        Ok(self.accept(account, terms, &plan, extras, &mut { ORDERS_PER_COMMAND }, sink))
    }

    /// Checks the attributes of an iceberg, and then those of any order.
    pub(crate) fn plan_iceberg(
        &self,
        account: u32,
        terms: &NewOrder,
        display_quantity: Quantity,
    ) -> Result<Plan, RejectReason> {
        let market = &self.markets[usize::from(self.market(terms.instrument)?)];
        let quantity = check_combination(terms)?;
        market.check_quantity(quantity)?;
        let is_part = market.check_quantity(display_quantity).is_ok()
            && display_quantity < quantity
            && Iceberg::is_allowed(display_quantity, quantity);
        if !is_part {
            return Err(RejectReason::DisplayQuantityInvalid);
        }
        self.plan(account, terms)
    }

    /// Whether the icebergs of an instrument are counted, and display what they may.
    pub(crate) fn icebergs_are_sound(&self, market: &Market) -> bool {
        let icebergs = market.book.all_orders(&self.orders);
        let icebergs =
            icebergs.filter(|slot| self.open.get(slot.at()).attributes.role == Role::Iceberg);
        let mut count = 0;
        let are_valid = icebergs.inspect(|_| count += 1).all(|slot| {
            let Iceberg { display_quantity, displayed } = *self.icebergs.get(slot);
            let remaining = self.orders.get(slot).remaining;
            displayed.0 > 0
                && displayed <= display_quantity.min(remaining)
                && Iceberg::is_allowed(display_quantity, self.open.get(slot.at()).total)
        });
        are_valid && count == market.icebergs
    }

    /// What an order on the book with this remaining quantity displays.
    #[inline(never)]
    pub(crate) fn displayed(&self, slot: Slot, remaining: Quantity) -> Quantity {
        match self.open.get(slot.at()).attributes.role {
            Role::Iceberg => self.icebergs.get(slot).displayed,
            _ => remaining,
        }
    }

    /// What a maker offers to a taker: what it displays, or all if no other order is at its price.
    #[inline(never)]
    pub(crate) fn offered(&self, market: &Market, slot: Slot, remaining: Quantity) -> Quantity {
        match market.book.is_alone(&self.orders, slot) {
            true => remaining,
            false => self.displayed(slot, remaining),
        }
    }

    /// Takes a trade from what an iceberg displays. A new tranche goes to the end of its price.
    #[inline(never)]
    pub(crate) fn trade_iceberg<S: EventSink>(
        &mut self,
        slot: Slot,
        quantity: Quantity,
        remaining: Quantity,
        sink: &mut S,
    ) {
        let iceberg = self.icebergs.get_mut(slot);
        if !iceberg.trade(quantity, remaining) {
            return;
        }
        let displayed = iceberg.displayed;
        let detail = self.open.get(slot.at());
        let market = &mut self.markets[usize::from(detail.market)];
        market.book.requeue(&mut self.orders, slot);
        sink.event(&Event::IcebergRefreshed(IcebergRefreshed {
            order: self.orders.get(slot).id,
            account: self.accounts.get(detail.account).id,
            instrument: market.instrument.id,
            side: detail.attributes.side,
            price: detail.price,
            displayed,
        }));
    }

    /// Makes an iceberg that traded in an auction display as much as it may, in its place.
    #[inline(never)]
    pub(crate) fn display_again(&mut self, slot: Slot, remaining: Quantity) {
        let iceberg = self.icebergs.get_mut(slot);
        *iceberg = Iceberg::new(iceberg.display_quantity, remaining);
    }
}

/// Whether the attributes of an iceberg go together; its quantity.
fn check_combination(terms: &NewOrder) -> Result<Quantity, RejectReason> {
    let fits = terms.kind == OrderKind::Limit
        && terms.minimum_quantity == Quantity::ZERO
        && terms.time_in_force.rests_in_trading();
    match terms.size {
        OrderSize::Base(quantity) if fits => Ok(quantity),
        _ => Err(RejectReason::InvalidCombination),
    }
}
