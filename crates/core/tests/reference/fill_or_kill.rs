//! Whether a fill-or-kill order would be filled in full: what it would do is worked out to its end.

use super::matching::{Ending, Step};
use super::{FILL_OR_KILL_DEPTH, Order, Reference};
use rialto_model::{Quantity, RejectReason, SelfTrade};
use std::collections::BTreeSet;

impl Reference {
    /// Passes an order that only trades, passes over the dead and cancels older orders of its own
    /// until nothing is left of it or its amount pays no further lot. Whether the account has what a
    /// sell for an amount would deliver is asked last.
    pub(super) fn check_fill_or_kill(&self, taker: &Order) -> Result<(), RejectReason> {
        let unlimited = Order { deliverable: None, ..*taker };
        let way = self.way(unlimited, usize::MAX);
        // Levels count instead of orders where every order of one is as good as another.
        let is_alike = taker.self_trade == SelfTrade::Allow
            && taker.quote_left.is_none()
            && !self.orders.iter().any(|order| self.is_dead(order));
        // An iceberg may be met again.
        let mut met = BTreeSet::new();
        let mut look_at = |maker: &Order| {
            let what = if is_alike { maker.price.0 as u64 } else { maker.id.0 };
            met.insert(what);
            if met.len() > FILL_OR_KILL_DEPTH { Err(RejectReason::TooDeep) } else { Ok(()) }
        };
        let mut has_all = true;
        for step in &way.steps {
            look_at(step.maker())?;
            match step {
                Step::Expires(_) => {}
                Step::Cancels(_) if taker.self_trade == SelfTrade::CancelOldest => {}
                Step::Cancels(_) | Step::Reduces(..) => return Err(RejectReason::Unfillable),
                Step::Trades(deal) => {
                    let before = deal.taker.filled.0 - deal.quantity.0;
                    let left = taker.deliverable.map(|most| Quantity(most.0 - before));
                    has_all &=
                        left.is_none_or(|left| deal.quantity <= self.whole_lots(taker, left));
                    if self.wanted(&deal.taker, deal.price) == Quantity::ZERO {
                        return self.filled_if(has_all);
                    }
                }
            }
        }
        let Some(next) = way.next else { return Err(RejectReason::Unfillable) };
        look_at(&next)?;
        if way.ending == Ending::Spent {
            self.filled_if(has_all)
        } else {
            Err(RejectReason::Unfillable)
        }
    }

    fn filled_if(&self, has_all: bool) -> Result<(), RejectReason> {
        if has_all { Ok(()) } else { Err(RejectReason::InsufficientBalance) }
    }

    /// The whole lots in a quantity.
    pub(super) fn whole_lots(&self, order: &Order, quantity: Quantity) -> Quantity {
        let lot = self.of(order).instrument.spec.rules.lot;
        Quantity(quantity.0 / lot.0 * lot.0)
    }
}
