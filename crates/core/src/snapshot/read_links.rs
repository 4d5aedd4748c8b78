//! Linked orders from bytes.

use super::read::Result;
use super::read_triggers::condition;
use super::reader::Reader;
use crate::Core;
use crate::book::Slot;
use crate::links::{Link, List, Part};
use crate::order_lists::{is_stop_loss, is_take_profit_leg};
use crate::orders::STAND_IN;
use rialto_model::{AccountId, Leg, NewOrder, OrderId, Price, Quantity, Side};

/// Restores all order lists, then the queue of each instrument. The orders must have been restored.
pub(super) fn lists(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    let mut ids: Vec<OrderId> = Vec::new();
    for _ in 0..from.u32()? {
        let id = OrderId(from.u64()?);
        let fine = ids.last().is_none_or(|before| *before < id);
        from.refuse_unless(fine, "lists are out of order")?;
        ids.push(id);
        list(core, from, id)?;
    }
    for at in 0..core.markets.len() {
        for _ in 0..from.u32()? {
            let found = ids.binary_search(&OrderId(from.u64()?)).ok();
            let list = from.needs(found, "a queued list is unknown")? as u32;
            let fits = core.restore_queued(list, at as u16);
            from.refuse_unless(fits, "a list is queued twice, or in another instrument")?;
        }
    }
    from.refuse_unless(core.lists_are_sound(), "linked orders do not agree")
}

fn list(core: &mut Core, from: &mut Reader<'_>, id: OrderId) -> Result<()> {
    let account = core.accounts.slot(AccountId(from.u32()?)).ok();
    let account = from.needs(account, "linked orders are of no account")?;
    let market = from.u16()?;
    let known = usize::from(market) < core.markets.len();
    from.refuse_unless(known, "linked orders are of no instrument")?;
    let side: Side = from.choice()?;
    let entry = OrderId(from.u64()?);
    let (filled, exits_quantity) = (from.quantity()?, from.quantity()?);
    let mut orders = [OrderId(0); 2];
    let mut legs = [None; 2];
    for (leg, order) in legs.iter_mut().zip(&mut orders) {
        *leg = read_leg(from)?;
        *order = OrderId(from.u64()?);
    }
    let instrument = core.markets[usize::from(market)].instrument.id;
    let account_id = core.accounts.get(account).id;
    let terms = NewOrder {
        self_trade: from.optional(255)?,
        handling: from.handling()?,
        ..NewOrder::limit(account_id, instrument, side, Quantity::ZERO, Price::ZERO)
    };
    let fine = Quantity::ZERO <= exits_quantity && exits_quantity <= filled;
    from.refuse_unless(fine, "exits are for more than their entry has traded")?;
    let [take_profit, stop_loss] = &legs;
    let fine = take_profit.as_ref().is_none_or(is_take_profit_leg)
        && stop_loss.as_ref().is_none_or(is_stop_loss);
    from.refuse_unless(fine, "an exit is of no kind that there is")?;
    let list =
        List { legs, filled, exits_quantity, ..List::new(id, &terms, account, market, side) };
    let at = core.lists.add(list);
    let parts = [(orders[0], Part::Better), (orders[1], Part::Worse), (entry, Part::Entry)];
    for (order, part) in parts.into_iter().filter(|(order, _)| *order != OrderId(0)) {
        let link = Link { list: at, part };
        if let Some(taker) = core.urgent.as_mut().filter(|taker| taker.order == order) {
            from.refuse_unless(part == Part::Entry, "an order that matches is an exit")?;
            taker.link = Some(link);
            taker.attributes = taker.attributes.with_link(true);
            core.lists.get_mut(at).entry = STAND_IN;
            continue;
        }
        let slot: Option<Slot> = core.orders.find(order);
        let slot = from.needs(slot, "a linked order is not open")?;
        let attributes = &mut core.open.get_mut(slot.at()).attributes;
        from.refuse_unless(!attributes.is_linked(), "an order is linked twice")?;
        *attributes = attributes.with_link(true);
        core.join_list(slot, link);
    }
    Ok(())
}

fn read_leg(from: &mut Reader<'_>) -> Result<Option<Leg>> {
    if !from.bool()? {
        return Ok(None);
    }
    let kind = from.u8()?;
    let condition = condition(from, kind)?;
    Ok(Some(Leg {
        condition,
        kind: from.choice()?,
        time_in_force: from.choice()?,
        price: from.price()?,
        expire_at: from.time()?,
    }))
}
