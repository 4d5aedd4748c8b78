//! Whether a fill-or-kill order could be filled in full, decided before anything trades.

use super::place::{allows, floor_lot};
use super::{Order, Reference};
use rialto_model::{Quantity, RejectReason, SelfTrade};

impl Reference {
    /// Walks the makers in the order in which they would trade, but changes nothing.
    /// If all would trade but for what the account holds of base currency, it is that which lacks.
    pub(super) fn check_fill_or_kill(
        &self,
        taker: &Order,
        depth_max: usize,
    ) -> Result<(), RejectReason> {
        let queue = self.queue(taker.instrument, taker.side.opposite());
        let instrument = self.instrument_of(taker);
        let mut left = *taker;
        let expiring = self.orders.iter().any(|order| self.is_dead(order));
        let by_level =
            taker.self_trade == SelfTrade::Allow && taker.quote_left.is_none() && !expiring;
        let lot = instrument.spec.rules.lot;
        let mut held = self.whole_lots_held(taker);
        let mut short = false;
        let mut looked_at = 0;
        let mut level = None;
        for maker in queue.iter().filter(|maker| allows(taker.side, taker.price, maker.price)) {
            if !by_level || level != Some(maker.price) {
                looked_at += 1;
                level = Some(maker.price);
            }
            if looked_at > depth_max {
                return Err(RejectReason::TooDeep);
            }
            if self.is_dead(maker) {
                continue;
            }
            let own = self.same_member(maker.account, taker.account);
            match taker.self_trade {
                SelfTrade::Allow => {}
                _ if !own => {}
                SelfTrade::CancelOldest => continue,
                _ => return Err(RejectReason::Unfillable),
            }
            let mut available = maker.remaining;
            match left.quote_left {
                None => {
                    left.remaining = Quantity(left.remaining.0 - left.remaining.min(available).0);
                    if left.remaining == Quantity::ZERO {
                        return Ok(());
                    }
                }
                Some(mut amount) => loop {
                    let affordable = self.affordable_of_amount(&left, amount, maker.price);
                    if affordable == Quantity::ZERO {
                        return if short { Err(RejectReason::InsufficientBalance) } else { Ok(()) };
                    }
                    let quantity = affordable.min(available);
                    if quantity == Quantity::ZERO {
                        break;
                    }
                    available = Quantity(available.0 - quantity.0);
                    let spent = self.spent(&instrument, &mut left, maker.price, quantity);
                    amount.0 -= spent.0;
                    left.quote_left = Some(amount);
                    short |= floor_lot(held, lot) < quantity;
                    held -= i128::from(quantity.0);
                },
            }
        }
        Err(RejectReason::Unfillable)
    }
}
