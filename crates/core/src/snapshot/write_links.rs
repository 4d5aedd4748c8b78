//! Linked orders as bytes.

use super::write::Writer;
use super::write_triggers::write_condition;
use crate::Core;
use crate::links::List;
use crate::orders::{NIL, STAND_IN};
use rialto_model::{Leg, OrderId};

impl Core {
    /// Writes all order lists by id, then the queue of each instrument.
    pub(super) fn write_lists(&self, out: &mut Writer) {
        let mut lists: Vec<&List> = self.lists.all().map(|(_, list)| list).collect();
        lists.sort_unstable_by_key(|list| list.id);
        out.count(lists.len());
        for list in lists {
            out.u64(list.id.0);
            out.u32(self.accounts.get(list.account).id.0);
            out.u16(list.market);
            out.u8(list.side as u8);
            out.u64(self.listed_order(list.entry).0);
            out.quantity(list.filled);
            out.quantity(list.exits_quantity);
            for (leg, slot) in list.legs.iter().zip(list.orders) {
                write_leg(leg.as_ref(), out);
                out.u64(self.listed_order(slot).0);
            }
            out.u8(list.self_trade.map_or(255, |mode| mode as u8));
            out.u8(list.handling.bits());
        }
        for market in &self.markets {
            out.count(market.queued_lists.len());
            market.queued_lists.iter().for_each(|at| out.u64(self.lists.get(*at).id.0));
        }
    }

    /// The order in a slot of a list, or zero.
    fn listed_order(&self, slot: u32) -> OrderId {
        match slot {
            NIL => OrderId(0),
            STAND_IN => self.urgent.as_ref().map_or(OrderId(0), |taker| taker.order),
            slot => self.order_at(slot).id,
        }
    }
}

fn write_leg(leg: Option<&Leg>, out: &mut Writer) {
    out.bool(leg.is_some());
    if let Some(leg) = leg {
        write_condition(leg.condition.as_ref(), out);
        out.u8(leg.kind as u8);
        out.u8(leg.time_in_force as u8);
        out.price(leg.price);
        out.u64(leg.expire_at.0);
    }
}
