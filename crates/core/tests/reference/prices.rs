//! Which prices an order may have: each rule is a condition, and the price is the farthest tick, or
//! the nearest, at which all of them hold.

use super::arithmetic::{MILLION, largest, price, smallest};
use super::auction::collects;
use super::entry::can_rest;
use super::{Alteration, FILL_OR_KILL_DEPTH, Listed, Order, Reference};
use rialto_model::{InstrumentId, NewOrder, OrderKind, PostOnly, Price, RejectReason, Side};

/// Whether an order with this limit may trade at that price.
pub(super) fn allows(side: Side, limit: Price, price: Price) -> bool {
    match side {
        Side::Buy => price <= limit,
        Side::Sell => price >= limit,
    }
}

/// Whether a price is at most `ppm` millionths of another one away from it, on the far side of an
/// order that trades: above it for a buy, below it for a sell.
pub(super) fn is_near(side: Side, from: Price, to: i128, ppm: u32) -> bool {
    let from = i128::from(from.0);
    let away = if side == Side::Buy { to - from } else { from - to };
    away * MILLION <= from * i128::from(ppm)
}

impl Reference {
    /// What prices are held against: the last trade, or what the rules name before the first.
    /// Nothing where there is no collar.
    fn collar_around(&self, listed: &Listed) -> Option<Price> {
        let rules = listed.instrument.spec.rules;
        let around = listed.last_price.unwrap_or(rules.reference_price);
        let is_off = rules.collar_ppm == 0 || self.gets_wrong(Alteration::CollarIgnored);
        (around > Price::ZERO && !is_off).then_some(around)
    }

    pub(super) fn is_in_collar(&self, listed: &Listed, price: Price) -> bool {
        let ppm = listed.instrument.spec.rules.collar_ppm;
        self.collar_around(listed).is_none_or(|around| {
            let sides = [Side::Buy, Side::Sell];
            sides.into_iter().all(|side| is_near(side, around, i128::from(price.0), ppm))
        })
    }

    /// The best price of a side at which an order is alive. At most the given number of
    /// dead ones is passed over.
    pub(super) fn best_alive(
        &self,
        instrument: InstrumentId,
        side: Side,
    ) -> Result<Option<Price>, RejectReason> {
        let queue = self.queue(instrument, side);
        let alive = queue.iter().position(|order| !self.is_dead(order));
        if alive.unwrap_or(queue.len()) > FILL_OR_KILL_DEPTH {
            return Err(RejectReason::TooDeep);
        }
        Ok(alive.map(|at| queue[at].price))
    }

    /// The price up to which a new order would trade, before it is slid.
    pub(super) fn limit_asked(&self, new: &NewOrder) -> Result<Price, RejectReason> {
        let listed = self.listed(new.instrument)?;
        if new.kind == OrderKind::Limit {
            return Ok(new.price);
        }
        if collects(listed.instrument.state) {
            return self.auction_limit(new, listed);
        }
        let best = self.best_alive(new.instrument, new.side.opposite())?;
        let best = best.ok_or(RejectReason::NoLiquidity)?;
        let limit = match new.kind {
            OrderKind::BestPrice if !self.gets_wrong(Alteration::BestPriceWalks) => {
                listed.clip(new.side, self.collared(new, best))
            }
            OrderKind::FiveLevels => {
                let fifth = self.fifth_price(new, best);
                listed.clip(new.side, self.collared(new, fifth))
            }
            _ if new.price == Price::ZERO => listed.clip(new.side, self.protection(new, best)),
            _ => new.price,
        };
        if can_rest(new.time_in_force) && new.price == Price::ZERO {
            listed.check_price(limit)?;
        }
        if allows(new.side, limit, best) { Ok(limit) } else { Err(RejectReason::NoLiquidity) }
    }

    /// The fifth of the different prices on the other side that are no better than the best, or the
    /// last if there are fewer.
    fn fifth_price(&self, new: &NewOrder, best: Price) -> Price {
        let queue = self.queue(new.instrument, new.side.opposite());
        let mut prices: Vec<Price> = queue.iter().map(|order| order.price).collect();
        prices.dedup();
        prices.retain(|price| allows(new.side, *price, best));
        let most = if self.gets_wrong(Alteration::SixLevels) { 6 } else { 5 };
        prices[prices.len().min(most) - 1]
    }

    /// A price, or the farthest tick in the collar if that is nearer.
    pub(super) fn collared(&self, new: &NewOrder, to: Price) -> Price {
        let listed = self.listed(new.instrument).expect("that was checked before");
        let rules = listed.instrument.spec.rules;
        let Some(around) = self.collar_around(listed) else { return to };
        let tick = i128::from(rules.tick.0);
        let most = i128::from(i64::MAX) / tick;
        let is_inside = |ticks: i128| is_near(new.side, around, ticks * tick, rules.collar_ppm);
        let ticks = match new.side {
            Side::Buy => largest(0, most, is_inside),
            Side::Sell => smallest(1, most, is_inside),
        };
        let farthest = ticks.and_then(|ticks| price(ticks * tick));
        let farthest = farthest.expect("a price that traded is not beyond all ticks");
        if new.side == Side::Buy { to.min(farthest) } else { to.max(farthest) }
    }

    /// The limit of a market order in a call: as if the reference price were the best.
    fn auction_limit(&self, new: &NewOrder, listed: &Listed) -> Result<Price, RejectReason> {
        let named = listed.instrument.spec.rules.reference_price;
        let reference = listed.last_price.unwrap_or(named);
        if reference == Price::ZERO {
            return Err(RejectReason::NoReferencePrice);
        }
        let limit = listed.clip(new.side, self.protection(new, reference));
        listed.check_price(limit).map(|()| limit).map_err(|_| RejectReason::NoReferencePrice)
    }

    /// The farthest tick that a market order may reach from the best price: within the protection
    /// of the rules and, since the second version, within the collar.
    fn protection(&self, new: &NewOrder, best: Price) -> Price {
        let listed = self.listed(new.instrument).expect("that was checked before");
        let rules = listed.instrument.spec.rules;
        let collared = self.rules_version >= 2 && !self.gets_wrong(Alteration::MarketIgnoresCollar);
        let collar = self.collar_around(listed).filter(|_| collared);
        let tick = i128::from(rules.tick.0);
        let wider = if self.gets_wrong(Alteration::ProtectionWider) { tick - 1 } else { 0 };
        let reaches = |ticks: i128| {
            let (to, short) = (ticks * tick, if new.side == Side::Buy { -wider } else { wider });
            is_near(new.side, best, to + short, rules.market_protection_ppm)
                && collar.is_none_or(|around| is_near(new.side, around, to, rules.collar_ppm))
        };
        let most = i128::from(i64::MAX) / tick;
        let ticks = match new.side {
            Side::Buy => largest(0, most, reaches),
            Side::Sell => smallest(1, most, reaches),
        };
        let limit = ticks.and_then(|ticks| price(ticks * tick));
        limit.expect("a price that traded is not beyond all ticks")
    }

    /// The price of a post-only order of this limit: its own unless it would trade, and then the
    /// nearest tick at which it does not.
    pub(super) fn passive(
        &self,
        instrument: InstrumentId,
        side: Side,
        limit: Price,
        post_only: PostOnly,
    ) -> Result<Price, RejectReason> {
        let opposite = side.opposite();
        let reaches = |best: &Price| allows(side, limit, *best);
        let front = self.queue(instrument, opposite).first().map(|order| order.price);
        let state = self.listed(instrument)?.instrument.state;
        if collects(state) {
            return Ok(limit);
        }
        if post_only == PostOnly::Off || front.as_ref().is_none_or(|front| !reaches(front)) {
            return Ok(limit);
        }
        let Some(best) = self.best_alive(instrument, opposite)?.filter(reaches) else {
            return Ok(limit);
        };
        match post_only {
            _ if self.gets_wrong(Alteration::PostOnlyIgnored) => Ok(limit),
            PostOnly::Slide => self.beside(instrument, side, best).ok_or(RejectReason::WouldCross),
            _ => Err(RejectReason::WouldCross),
        }
    }

    /// The nearest price to the best opposite one at which an order does not trade with it. The
    /// first rules take a tick off it, wherever it is.
    fn beside(&self, instrument: InstrumentId, side: Side, best: Price) -> Option<Price> {
        let listed = self.listed(instrument).expect("that was checked before");
        let tick = i128::from(listed.instrument.spec.rules.tick.0);
        let best = i128::from(best.0);
        let on_tick = self.rules_version >= 2 && !self.gets_wrong(Alteration::SlidesOffTick);
        let most = i128::from(i64::MAX);
        let number = match side {
            Side::Buy if on_tick => largest(1, most / tick, |ticks| ticks * tick < best)? * tick,
            Side::Sell if on_tick => smallest(1, most / tick, |ticks| ticks * tick > best)? * tick,
            Side::Buy => best - tick,
            Side::Sell => best + tick,
        };
        price(number).filter(|price| *price > Price::ZERO)
    }

    /// Whether an order was slid to a price at which it could have been entered. The first rules
    /// look at the largest notional only.
    pub(super) fn check_slid(
        &self,
        asked: Price,
        order: &Order,
        quantity: rialto_model::Quantity,
    ) -> Result<(), RejectReason> {
        if order.price == asked {
            return Ok(());
        }
        let listed = self.of(order);
        let checked = self.rules_version >= 2;
        let collared = checked && !self.gets_wrong(Alteration::SlidesOutsideCollar);
        if collared && !self.is_in_collar(listed, order.price) {
            return Err(RejectReason::PriceOutsideCollar);
        }
        if checked {
            listed.check_limits(order.price)?;
        }
        let notional = listed.notional(order.price, quantity);
        if checked {
            return listed.check_notional(notional);
        }
        notional.map(|_| ()).ok_or(RejectReason::NotionalTooLarge)
    }
}
