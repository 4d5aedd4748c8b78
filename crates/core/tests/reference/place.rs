//! Entering an order.

use super::{Alteration, Entered, FILL_OR_KILL_DEPTH, Order, Reference};
use rialto_model::{
    Accepted, Amount, Event, Instrument, InstrumentId, InstrumentState, NewOrder, OrderId,
    OrderKind, OrderSize, Outcome, PostOnly, Price, Quantity, RejectReason, Side, TimeInForce,
    Timestamp, TradingRules,
};

/// Whether an order of this time in force can stand on the book.
pub(super) fn can_rest(time_in_force: TimeInForce) -> bool {
    matches!(time_in_force, TimeInForce::Gtc | TimeInForce::Day | TimeInForce::Gtd)
}

/// Whether an order with this limit may trade at that price.
pub(super) fn allows(side: Side, limit: Price, price: Price) -> bool {
    match side {
        Side::Buy => price <= limit,
        Side::Sell => price >= limit,
    }
}

/// The largest whole number of lots in a quantity.
pub(super) fn floor_lot(quantity: i128, lot: Quantity) -> Quantity {
    let bounded = quantity.min(i128::from(i64::MAX)) as i64;
    Quantity(bounded - bounded % lot.0)
}

pub(super) fn check_tradable(instrument: &Instrument) -> Result<(), RejectReason> {
    match instrument.state {
        InstrumentState::Open => Ok(()),
        InstrumentState::Halted => Err(RejectReason::InstrumentHalted),
        InstrumentState::Closed => Err(RejectReason::InstrumentClosed),
    }
}

pub(super) fn check_quantity(rules: &TradingRules, quantity: Quantity) -> Result<(), RejectReason> {
    if quantity.0 <= 0 {
        return Err(RejectReason::QuantityNotPositive);
    }
    if quantity.0 % rules.lot.0 != 0 {
        return Err(RejectReason::QuantityOffLot);
    }
    if quantity > rules.quantity_max {
        return Err(RejectReason::QuantityTooLarge);
    }
    Ok(())
}

pub(super) fn check_price(rules: &TradingRules, price: Price) -> Result<(), RejectReason> {
    if price.0 <= 0 {
        return Err(RejectReason::PriceNotPositive);
    }
    if price.0 % rules.tick.0 != 0 {
        return Err(RejectReason::PriceOffTick);
    }
    Ok(())
}

pub(super) fn check_notional_min(
    rules: &TradingRules,
    notional: Amount,
) -> Result<(), RejectReason> {
    if notional < rules.notional_min { Err(RejectReason::NotionalTooSmall) } else { Ok(()) }
}

fn check_combination(new: &NewOrder) -> Result<(), RejectReason> {
    let market = new.kind == OrderKind::Market;
    let rests = can_rest(new.time_in_force);
    let quote_sized = matches!(new.size, OrderSize::Quote(_));
    let resting_market = market && rests;
    let taking_post_only = new.post_only != PostOnly::Off && (market || !rests);
    let quote_sized_limit = quote_sized && !market;
    if resting_market || taking_post_only || quote_sized_limit {
        return Err(RejectReason::InvalidCombination);
    }
    Ok(())
}

/// The end of the day that comes strictly after `time`.
fn next_day_end(time: Timestamp, day_end_s: u32) -> Timestamp {
    let midnight = time.0 - time.0 % Timestamp::DAY;
    let today = midnight + u64::from(day_end_s) * Timestamp::SECOND;
    Timestamp(if today > time.0 { today } else { today + Timestamp::DAY })
}

impl Reference {
    /// Enters an order, unless its client order id was entered before.
    pub(super) fn place(&mut self, new: &NewOrder) -> Result<Outcome, RejectReason> {
        let account = self.account(new.account)?;
        let named = !new.client_order_id.is_empty();
        let first = account
            .entered
            .iter()
            .find(|entered| named && entered.body.client_order_id == new.client_order_id)
            .copied();
        if let Some(first) = first
            && !self.gets_wrong(Alteration::ClientIdRepeats)
        {
            return self.repeat(new, &first);
        }
        let answer = self.enter(new);
        if named && !(answer.is_err() && self.gets_wrong(Alteration::RejectForgotten)) {
            let answer = answer.unwrap_or_else(|reason| Outcome::Rejected { reason });
            let account = self.account_mut(new.account)?;
            account.entered.push(Entered { body: *new, answer, in_window: true, finish: None });
        }
        answer
    }

    fn repeat(&mut self, new: &NewOrder, first: &Entered) -> Result<Outcome, RejectReason> {
        if first.body != *new {
            return Err(RejectReason::ClientIdConflict);
        }
        let mut answer = first.answer;
        let (mut first_order, mut reject) = (OrderId(0), None);
        match &mut answer {
            Outcome::Order { order, repeated, .. } => {
                *repeated = true;
                first_order = *order;
            }
            Outcome::Rejected { reason } => reject = Some(*reason),
            other => unreachable!("an order is never answered {other:?}"),
        }
        self.events.push(Event::Repeated {
            account: new.account,
            name: new.client_order_id,
            order: first_order,
            reject,
        });
        Ok(answer)
    }

    fn enter(&mut self, new: &NewOrder) -> Result<Outcome, RejectReason> {
        let listed = self.listed(new.instrument)?.clone();
        let instrument = listed.instrument;
        let rules = instrument.spec.rules;
        check_tradable(&instrument)?;
        check_combination(new)?;
        match new.size {
            OrderSize::Base(quantity) => check_quantity(&rules, quantity)?,
            OrderSize::Quote(amount) if amount.0 <= 0 => {
                return Err(RejectReason::AmountNotPositive);
            }
            OrderSize::Quote(_) => {}
        }
        let priced = new.kind == OrderKind::Limit || new.price != Price::ZERO;
        if priced {
            check_price(&rules, new.price)?;
        }
        let expire_at = self.expiry(new, &rules)?;
        if priced {
            self.check_collar(new.instrument, new.price)?;
        }
        if can_rest(new.time_in_force) {
            self.check_open_orders(new)?;
        }

        let mut limit = new.price;
        if new.kind == OrderKind::Market {
            limit = self.market_limit(new, &rules)?;
        }
        match new.size {
            OrderSize::Base(quantity) => {
                let notional =
                    instrument.notional(limit, quantity).ok_or(RejectReason::NotionalTooLarge)?;
                check_notional_min(&rules, notional)?;
            }
            OrderSize::Quote(amount) => {
                if amount > Instrument::NOTIONAL_MAX {
                    return Err(RejectReason::NotionalTooLarge);
                }
                check_notional_min(&rules, amount)?;
            }
        }
        if let (OrderSize::Base(quantity), true) = (new.size, can_rest(new.time_in_force)) {
            limit = self.keep_passive(new.instrument, new.side, limit, new.post_only, quantity)?;
            self.check_level(new.instrument, new.side, limit, quantity, OrderId(0))?;
        }

        let mut order = Order {
            id: OrderId::from_parts(self.engine, self.orders_entered + 1),
            account: new.account,
            instrument: new.instrument,
            side: new.side,
            time_in_force: new.time_in_force,
            post_only: new.post_only,
            self_trade: new.self_trade.unwrap_or(rules.self_trade),
            handling: new.handling,
            expire_at,
            client_order_id: new.client_order_id,
            price: limit,
            filled: Quantity::ZERO,
            remaining: Quantity::ZERO,
            quote_left: None,
            reserved: Amount::ZERO,
            maker_fee_ppm: rules.maker_fee_ppm,
            taker_fee_ppm: rules.taker_fee_ppm,
            fee_owed: 0,
        };
        match new.size {
            OrderSize::Base(quantity) => order.remaining = quantity,
            OrderSize::Quote(amount) => order.quote_left = Some(amount),
        }
        if new.time_in_force == TimeInForce::Fok && !self.gets_wrong(Alteration::FillOrKillPartial)
        {
            self.check_fill_or_kill(&order, FILL_OR_KILL_DEPTH)?;
        }
        order.reserved = self.initial_reserve(&instrument, &order)?;
        self.reserve(order.account, &instrument, order.side, order.reserved)?;

        self.orders_entered += 1;
        let best = self.best(order.instrument, order.side.opposite());
        let crosses = best.is_some_and(|best| allows(order.side, order.price, best.price));
        let rests = order.can_rest() && !crosses;
        let mut terms = *new;
        terms.price = order.price;
        terms.self_trade = Some(order.self_trade);
        terms.expire_at = order.expire_at;
        self.events.push(Event::Accepted(Accepted {
            order: order.id,
            terms,
            reserved: order.reserved,
            rests,
        }));
        if rests {
            self.orders.push(order);
            return Ok(Self::standing(&order));
        }
        Ok(self.take(order, &mut 0))
    }

    fn expiry(&self, new: &NewOrder, rules: &TradingRules) -> Result<Timestamp, RejectReason> {
        match new.time_in_force {
            TimeInForce::Gtd if new.expire_at > self.time => Ok(new.expire_at),
            TimeInForce::Gtd => Err(RejectReason::ExpiryInvalid),
            _ if new.expire_at != Timestamp::ZERO => Err(RejectReason::ExpiryInvalid),
            TimeInForce::Day => Ok(next_day_end(self.time, rules.day_end_s)),
            _ => Ok(Timestamp::ZERO),
        }
    }

    pub(super) fn check_collar(
        &self,
        instrument: InstrumentId,
        price: Price,
    ) -> Result<(), RejectReason> {
        let listed = self.listed(instrument)?;
        let rules = listed.instrument.spec.rules;
        let reference = listed.last_price.unwrap_or(rules.reference_price);
        let none = rules.collar_ppm == 0 || reference == Price::ZERO;
        if none || self.gets_wrong(Alteration::CollarIgnored) {
            return Ok(());
        }
        let away = (i128::from(price.0) - i128::from(reference.0)).abs();
        if away * 1_000_000 > i128::from(reference.0) * i128::from(rules.collar_ppm) {
            return Err(RejectReason::PriceOutsideCollar);
        }
        Ok(())
    }

    fn check_open_orders(&self, new: &NewOrder) -> Result<(), RejectReason> {
        let rules = self.listed(new.instrument)?.instrument.spec.rules;
        let own = self
            .orders
            .iter()
            .filter(|order| order.account == new.account && order.instrument == new.instrument)
            .count();
        if own >= rules.open_orders_max as usize {
            return Err(RejectReason::OpenOrdersLimit);
        }
        if self.orders.len() >= self.bounds.orders_max as usize {
            return Err(RejectReason::VenueFull);
        }
        Ok(())
    }

    /// The price up to which a market order may trade.
    fn market_limit(&self, new: &NewOrder, rules: &TradingRules) -> Result<Price, RejectReason> {
        let best = self.best_live(new.instrument, new.side.opposite())?;
        let best = best.ok_or(RejectReason::NoLiquidity)?.price;
        let limit = if new.price == Price::ZERO {
            let tick = i128::from(rules.tick.0);
            let best = i128::from(best.0);
            let away = best * i128::from(rules.market_protection_ppm) / 1_000_000;
            let wider = if self.gets_wrong(Alteration::ProtectionWider) { tick - 1 } else { 0 };
            let limit = match new.side {
                Side::Buy => {
                    (best + away + wider).min(i128::from(i64::MAX)).div_euclid(tick) * tick
                }
                Side::Sell => {
                    let up = (best - away - wider + tick - 1).div_euclid(tick) * tick;
                    up.max(tick)
                }
            };
            Price(i64::try_from(limit).expect("bounded by the largest price"))
        } else {
            new.price
        };
        let limit = if self.rules_version >= 2 && new.price == Price::ZERO {
            self.inside_collar(new.instrument, new.side, limit)?
        } else {
            limit
        };
        if allows(new.side, limit, best) { Ok(limit) } else { Err(RejectReason::NoLiquidity) }
    }

    /// The first order of a side that can trade.
    fn best_live(
        &self,
        instrument: InstrumentId,
        side: Side,
    ) -> Result<Option<Order>, RejectReason> {
        let queue = self.queue(instrument, side);
        let dead = queue.iter().take_while(|order| self.is_dead(order)).count();
        if dead > FILL_OR_KILL_DEPTH {
            return Err(RejectReason::TooDeep);
        }
        Ok(queue.get(dead).copied())
    }

    /// The last price on the tick that a limit may reach without leaving the collar.
    fn inside_collar(
        &self,
        instrument: InstrumentId,
        side: Side,
        limit: Price,
    ) -> Result<Price, RejectReason> {
        let listed = self.listed(instrument)?;
        let rules = listed.instrument.spec.rules;
        let reference = i128::from(listed.last_price.unwrap_or(rules.reference_price).0);
        let off = self.gets_wrong(Alteration::MarketIgnoresCollar)
            || self.gets_wrong(Alteration::CollarIgnored);
        if rules.collar_ppm == 0 || reference == 0 || off {
            return Ok(limit);
        }
        let (tick, limit) = (i128::from(rules.tick.0), i128::from(limit.0));
        let width = reference * i128::from(rules.collar_ppm) / 1_000_000;
        let clipped = match side {
            Side::Buy => limit.min((reference + width).div_euclid(tick) * tick),
            Side::Sell => limit.max((reference - width + tick - 1).div_euclid(tick) * tick),
        };
        Ok(Price(i64::try_from(clipped).expect("between a limit and a price that traded")))
    }

    /// Refuses or slides a post-only order that would trade.
    pub(super) fn keep_passive(
        &self,
        instrument: InstrumentId,
        side: Side,
        limit: Price,
        post_only: PostOnly,
        quantity: Quantity,
    ) -> Result<Price, RejectReason> {
        let reached = self.best(instrument, side.opposite());
        if reached.is_none_or(|best| !allows(side, limit, best.price)) || post_only == PostOnly::Off
        {
            return Ok(limit);
        }
        let best = match self.best_live(instrument, side.opposite())? {
            Some(best) if allows(side, limit, best.price) => best.price,
            _ => return Ok(limit),
        };
        let listed = self.listed(instrument)?.instrument;
        let rules = listed.spec.rules;
        match post_only {
            _ if self.gets_wrong(Alteration::PostOnlyIgnored) => return Ok(limit),
            PostOnly::Off => return Ok(limit),
            PostOnly::Reject => return Err(RejectReason::WouldCross),
            PostOnly::Slide => {}
        }
        let on_tick = self.rules_version >= 2 && !self.gets_wrong(Alteration::SlidesOffTick);
        let slid = match side {
            Side::Buy if on_tick => {
                Some(Price((best.0 - 1).div_euclid(rules.tick.0) * rules.tick.0))
            }
            Side::Sell if on_tick => {
                let next = best.0.div_euclid(rules.tick.0).checked_add(1);
                next.and_then(|next| next.checked_mul(rules.tick.0)).map(Price)
            }
            Side::Buy => best.checked_sub(rules.tick),
            Side::Sell => best.checked_add(rules.tick),
        };
        let slid = slid.filter(|price| price.0 > 0).ok_or(RejectReason::WouldCross)?;
        if self.rules_version >= 2 && !self.gets_wrong(Alteration::SlidesOutsideCollar) {
            self.check_collar(instrument, slid)?;
        }
        let notional = listed.notional(slid, quantity).ok_or(RejectReason::NotionalTooLarge)?;
        if self.rules_version >= 2 {
            check_notional_min(&rules, notional)?;
        }
        Ok(slid)
    }

    /// Refuses a large order where the quantities of a level would add up to too much.
    pub(super) fn check_level(
        &self,
        instrument: InstrumentId,
        side: Side,
        price: Price,
        quantity: Quantity,
        but: OrderId,
    ) -> Result<(), RejectReason> {
        let level_max = 1_i128 << 62;
        let quantity = i128::from(quantity.0);
        let fair_share = level_max / i128::from(self.bounds.orders_max.next_power_of_two());
        let queue = self.queue(instrument, side);
        let level = queue.iter().filter(|order| order.price == price && order.id != but);
        let held: i128 = level.map(|order| i128::from(order.remaining.0)).sum();
        if quantity > fair_share && held + quantity > level_max {
            return Err(RejectReason::QuantityTooLarge);
        }
        Ok(())
    }

    /// What the account could sell at most, in whole lots. Without risk it can sell anything.
    pub(super) fn whole_lots_held(&self, order: &Order) -> i128 {
        let instrument = self.instrument_of(order);
        if order.side == Side::Buy || !instrument.spec.rules.risk {
            return i128::from(i64::MAX);
        }
        let available = self.balance(order.account, instrument.spec.base).available;
        let units = available / instrument.base_amount(Quantity(1)).0;
        i128::from(floor_lot(units, instrument.spec.rules.lot).0)
    }

    /// What a new order reserves.
    fn initial_reserve(
        &self,
        instrument: &Instrument,
        order: &Order,
    ) -> Result<Amount, RejectReason> {
        let Some(amount) = order.quote_left else {
            return Ok(Self::reserve_needed(
                instrument,
                order.side,
                order.price,
                order.remaining,
                order.taker_fee_ppm,
                order.fee_owed,
            ));
        };
        if !instrument.spec.rules.risk {
            return Ok(Amount::ZERO);
        }
        match order.side {
            Side::Buy => Ok(amount),
            Side::Sell => {
                let whole = self.whole_lots_held(order);
                if whole == 0 {
                    return Err(RejectReason::InsufficientBalance);
                }
                Ok(instrument.base_amount(floor_lot(whole, instrument.spec.rules.lot)))
            }
        }
    }
}
