//! Whether a fill-or-kill order can be filled in full, decided before anything trades.

use crate::Core;
use crate::fees::Fees;
use crate::instruments::Market;
use crate::limits::FOK_DEPTH_MAX;
use crate::ranges::Reach;
use crate::taker::Remaining;
use rialto_model::{Amount, MemberId, Price, Quantity, RejectReason, SelfTrade, Side};

/// The progress of the order past the makers.
struct Walk {
    /// The price of the last maker, and what icebergs hide there.
    price: Price,
    hidden: Quantity,
    want: Remaining,
    fees: Fees,
    /// Whether the account holds less base currency than the amount would sell, in whole lots.
    short: bool,
}

impl Core {
    /// Walks the makers that the order would meet. A sell sized in quote currency is refused for
    /// its balance only if there is liquidity for all of it.
    pub(crate) fn check_fill_or_kill(
        &self,
        market: &Market,
        reach: Reach,
        want: Remaining,
        mode: SelfTrade,
        member: MemberId,
    ) -> Result<(), RejectReason> {
        let side = reach.side;
        // The totals of levels include dead orders.
        let expiring = self.is_expiring();
        if let (Remaining::Base(quantity), SelfTrade::Allow, false) = (want, mode, expiring) {
            return by_levels(market, reach, quantity);
        }
        let mut walk = Walk {
            price: Price::ZERO,
            hidden: Quantity::ZERO,
            want,
            fees: market.fees(0),
            short: false,
        };
        let by_order = self.rules_since(2);
        let filled = |walk: &Walk| match walk.short {
            true => Err(RejectReason::InsufficientBalance),
            false => Ok(()),
        };
        let mut meets_own = false;
        let makers = market.book.orders(&self.orders, side.opposite());
        for (looked_at, slot) in (0..).zip(makers) {
            let price = self.open.get(slot.at()).price;
            if price != walk.price && market.take_hidden(side, by_order, &mut walk) {
                return filled(&walk);
            }
            walk.price = price;
            if !within(side, reach.limit, price) {
                break;
            }
            if looked_at == FOK_DEPTH_MAX {
                return Err(RejectReason::TooDeep);
            }
            if expiring && self.is_dead(slot) {
                continue;
            }
            if !reach.allows(price) {
                break;
            }
            let maker = self.orders.get(slot);
            if maker.owner == member && mode != SelfTrade::Allow {
                if mode == SelfTrade::CancelOldest {
                    continue;
                }
                meets_own = true;
                break;
            }
            let mut offered = maker.remaining;
            if market.icebergs > 0 {
                offered = self.displayed(slot, offered);
                walk.hidden.0 += maker.remaining.0 - offered.0;
            }
            if market.take_notionally(side, price, offered, by_order, &mut walk) {
                return filled(&walk);
            }
        }
        if !meets_own && market.take_hidden(side, by_order, &mut walk) {
            return filled(&walk);
        }
        Err(RejectReason::Unfillable)
    }
}

/// Adds whole levels by their totals, for orders that self-trade prevention does not affect.
fn by_levels(market: &Market, reach: Reach, quantity: Quantity) -> Result<(), RejectReason> {
    let mut left = quantity.0;
    for (looked_at, level) in (0..).zip(market.book.levels(reach.side.opposite())) {
        if !reach.allows(level.price) {
            break;
        }
        if looked_at == FOK_DEPTH_MAX {
            return Err(RejectReason::TooDeep);
        }
        left = left.saturating_sub(level.quantity.0);
        if left <= 0 {
            return Ok(());
        }
    }
    Err(RejectReason::Unfillable)
}

/// Whether an order of `side` and `limit` may trade at `price`.
#[inline]
pub(crate) fn within(side: Side, limit: Price, price: Price) -> bool {
    match side {
        Side::Buy => price <= limit,
        Side::Sell => price >= limit,
    }
}

impl Market {
    /// The quantity that an order sized in quote currency can take at a price, in whole lots.
    #[inline]
    pub(crate) fn affordable(
        &self,
        side: Side,
        price: Price,
        left: Amount,
        base_left: Quantity,
        fees: Fees,
    ) -> Quantity {
        let Some(unit) = self.instrument.notional(price, Quantity(1)) else {
            return Quantity::ZERO;
        };
        let ppm = rialto_model::PPM;
        let quantity = match side {
            // The amount is at most 2^100, so that a million times as much fits.
            Side::Buy if let Some(by_lot) = &self.terms.lot_fees => {
                self.affordable_by_lot(by_lot, price, left)
            }
            Side::Buy => {
                let owed = i128::from(fees.residue());
                (left.0 * ppm - owed) / ((ppm + i128::from(fees.taker_ppm())) * unit.0)
            }
            Side::Sell => left.0 / unit.0,
        };
        self.floor_lot(quantity.min(i128::from(base_left.0)))
    }

    /// Takes what icebergs hide at the price of the last maker, behind all that is displayed there.
    fn take_hidden(&self, side: Side, by_order: bool, walk: &mut Walk) -> bool {
        let hidden = std::mem::replace(&mut walk.hidden, Quantity::ZERO);
        hidden.0 > 0 && self.take_notionally(side, walk.price, hidden, by_order, walk)
    }

    /// Takes a maker's quantity; returns whether the order is then filled.
    fn take_notionally(
        &self,
        side: Side,
        price: Price,
        remaining: Quantity,
        by_order: bool,
        walk: &mut Walk,
    ) -> bool {
        let mut remaining = remaining;
        loop {
            let wanted = match walk.want {
                Remaining::Base(quantity) => quantity,
                Remaining::Quote { left, .. } => {
                    self.affordable(side, price, left, Quantity::MAX, walk.fees)
                }
            };
            let quantity = wanted.min(remaining);
            if quantity.0 == 0 {
                return wanted.0 == 0;
            }
            remaining.0 -= quantity.0;
            match &mut walk.want {
                Remaining::Base(wanted) => wanted.0 -= quantity.0,
                Remaining::Quote { left, base_left } => {
                    left.0 -= self.cost(side, price, quantity, by_order, &mut walk.fees).0;
                    walk.short |= self.floor_lot(i128::from(base_left.0)) < quantity;
                    base_left.0 = base_left.0.saturating_sub(quantity.0).max(0);
                }
            }
        }
    }

    /// The cost of a trade for an order sized in quote currency: the notional, and the fee of a
    /// buy, which is charged to `fees`.
    #[inline]
    pub(crate) fn cost(
        &self,
        side: Side,
        price: Price,
        quantity: Quantity,
        by_order: bool,
        fees: &mut Fees,
    ) -> Amount {
        let notional = self.instrument.notional(price, quantity);
        let notional = notional.expect("what is affordable is at most the amount of the order");
        match side {
            Side::Buy if self.terms.lot_fees.is_some() => self.cost_by_lot(price, quantity),
            Side::Buy => Amount(notional.0 + fees.charge_taker(by_order, notional).0),
            Side::Sell => notional,
        }
    }
}
