//! Entry of conditional orders.

use crate::apply::refuse;
use crate::book::LimitOrder;
use crate::client_ids::Extension;
use crate::instruments::{Market, check_sum};
use crate::links::Link;
use crate::named::Named;
use crate::orders::{Attributes, Detail, Role};
use crate::place::BALANCE_FIRST;
use crate::triggers::{MARKS_MAX, WITH_TRAILING, WITH_TRIGGERS};
use crate::{Core, EventSink};
use rialto_model::{
    Accepted, Amount, Command, Condition, ConditionalOrder, Distance, Event, NewOrder, OrderId,
    OrderKind, OrderSize, OrderStatus, Outcome, PostOnly, Price, Quantity, RejectReason, Side,
    TimeInForce, Timestamp, TrailSet, TrailTerms, TrailingOrder, TriggerSet,
};

/// A conditional order that has passed all checks.
pub(crate) struct WaitingPlan {
    pub(crate) market: u16,
    /// What it waits for. The activation price is the one in force.
    pub(crate) condition: Condition,
    pub(crate) quantity: Quantity,
    pub(crate) limit: Price,
    pub(crate) expire_at: Timestamp,
    pub(crate) reserved: Amount,
}

impl Core {
    pub(crate) fn place_conditional<S: EventSink>(
        &mut self,
        order: &ConditionalOrder,
        sink: &mut S,
    ) -> Outcome {
        let condition = Condition::Trigger(order.trigger);
        let placed = match self.rules_since(WITH_TRIGGERS) {
            true => self.try_place_conditional(&order.terms, condition, order.immediate, sink),
            false => Err(RejectReason::CommandUnknown),
        };
        placed.unwrap_or_else(|reason| refuse(&Command::PlaceConditional(*order), reason, sink))
    }

    pub(crate) fn place_trailing<S: EventSink>(
        &mut self,
        order: &TrailingOrder,
        sink: &mut S,
    ) -> Outcome {
        let condition = Condition::Trail(order.trail);
        let placed = match self.rules_since(WITH_TRAILING) {
            true => self.try_place_conditional(&order.terms, condition, false, sink),
            false => Err(RejectReason::CommandUnknown),
        };
        placed.unwrap_or_else(|reason| refuse(&Command::PlaceTrailing(*order), reason, sink))
    }

    fn try_place_conditional<S: EventSink>(
        &mut self,
        terms: &NewOrder,
        condition: Condition,
        immediate: bool,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        let account = self.accounts.slot(terms.account)?;
        if terms.client_order_id.is_empty() {
            let plan = self.plan_conditional(account, terms, condition, immediate)?;
            return Ok(self.wait_for_trigger(account, terms, &plan, (0, None), sink));
        }
        self.enter_named(
            &Named { account, terms, extension: Some(Extension::Condition(condition)) },
            |core| core.plan_conditional(account, terms, condition, immediate),
            |core, plan, client, sink| {
                core.wait_for_trigger(account, terms, plan, (client, None), sink)
            },
            sink,
        )
    }

    /// Makes all the checks of a conditional order, in the order that decides which reason is given.
    pub(crate) fn plan_conditional(
        &self,
        account: u32,
        terms: &NewOrder,
        condition: Condition,
        immediate: bool,
    ) -> Result<WaitingPlan, RejectReason> {
        let at = self.market(terms.instrument)?;
        let market = &self.markets[usize::from(at)];
        if self.is_barred(market, account) {
            self.check_barred(market, account, false)?;
        }
        let quantity = check_combination(terms)?;
        let is_priced_market = terms.kind == OrderKind::Market && terms.price != Price::ZERO;
        if is_priced_market && matches!(condition, Condition::Trail(_)) {
            return Err(RejectReason::InvalidCombination);
        }
        market.check_quantity(quantity)?;
        let (condition, trigger_price) = check_condition(market, terms.side, condition)?;
        let limit = match (terms.kind, terms.price) {
            (OrderKind::Market, Price::ZERO) => market.protection_price(terms.side, trigger_price),
            (_, price) => price,
        };
        market.check_price(limit)?;
        let expire_at = self.expiry(market, terms)?;
        let last = market.last_price;
        if let Condition::Trigger(trigger) = condition
            && last != Price::ZERO
            && trigger.is_reached(terms.side, last)
            && !immediate
        {
            return Err(RejectReason::WouldTrigger);
        }
        if self.open_orders(account, at) >= market.rules().open_orders_max {
            return Err(RejectReason::OpenOrdersLimit);
        }
        let is_full =
            matches!(condition, Condition::Trail(_)) && market.triggers.marks.len() >= MARKS_MAX;
        if is_full || self.orders.len() >= self.orders.limit() {
            return Err(RejectReason::VenueFull);
        }
        market.check_notional(limit, quantity)?;
        let reserved = market.reserve(terms.side, limit, quantity, market.fees(0));
        let currency = market.reserved_currency(terms.side);
        let is_short =
            market.rules().risk && self.ledger.balance(account, currency).available < reserved;
        if is_short && self.rules_since(BALANCE_FIRST) {
            return Err(RejectReason::InsufficientBalance);
        }
        let held = || market.triggers.quantity_beside(terms.side, &condition);
        check_sum(held, quantity, self.limits.orders_max)?;
        if is_short {
            return Err(RejectReason::InsufficientBalance);
        }
        Ok(WaitingPlan { market: at, condition, quantity, limit, expire_at, reserved })
    }

    /// Accepts a conditional order: numbers it, and reserves what it needs once it is triggered.
    pub(crate) fn wait_for_trigger<S: EventSink>(
        &mut self,
        account: u32,
        terms: &NewOrder,
        plan: &WaitingPlan,
        (client, link): (u32, Option<Link>),
        sink: &mut S,
    ) -> Outcome {
        let id = self.next_order_id();
        let market = &mut self.markets[usize::from(plan.market)];
        let self_trade = terms.self_trade.unwrap_or(market.rules().self_trade);
        if plan.reserved != Amount::ZERO {
            let currency = market.reserved_currency(terms.side);
            self.ledger.reserve(account, currency, plan.reserved);
        }
        let role = match (&plan.condition, terms.kind) {
            (Condition::Trigger(_), OrderKind::Market) => Role::WaitingMarket,
            (Condition::Trigger(_), _) => Role::Waiting,
            (Condition::Trail(_), OrderKind::Market) => Role::TrailingMarket,
            (Condition::Trail(_), _) => Role::Trailing,
        };
        let NewOrder { side, time_in_force, post_only, handling, .. } = *terms;
        let attributes = Attributes {
            role,
            ..Attributes::new(side, time_in_force, post_only, self_trade, handling)
                .with_link(link.is_some())
        };
        let order = LimitOrder {
            id,
            side,
            price: plan.limit,
            quantity: plan.quantity,
            owner: self.accounts.get(account).member,
        };
        let (orders, waits) = (&mut self.orders, &mut self.waiting);
        let slot = market.triggers.add(orders, waits, order, &plan.condition);
        let slot = slot.expect("the room was checked when the order came in");
        let detail = Detail {
            reserved: plan.reserved,
            price: plan.limit,
            total: plan.quantity,
            expire_at: plan.expire_at,
            fees: market.fees(0),
            account,
            client,
            market: plan.market,
            attributes,
        };
        self.open.cover(self.orders.slots());
        *self.open.get_mut(slot.at()) = detail;
        if let Some(link) = link {
            self.join_list(slot, link);
        }
        self.open.append(self.accounts.get_mut(account), slot.at());
        self.open_counts.increase(account, plan.market);
        if plan.expire_at != Timestamp::MAX {
            self.expiries.insert(slot.at(), plan.expire_at, id.0);
        }
        let mut accepted = *terms;
        accepted.price = plan.limit;
        accepted.self_trade = Some(self_trade);
        if time_in_force.ends_by_timetable() {
            accepted.expire_at = plan.expire_at;
        }
        let reserved = plan.reserved;
        sink.event(&Event::Accepted(Accepted {
            order: id,
            terms: accepted,
            reserved,
            rests: false,
        }));
        let (order, account, instrument) = (id, terms.account, terms.instrument);
        sink.event(&match plan.condition {
            Condition::Trigger(trigger) => {
                Event::TriggerSet(TriggerSet { order, account, instrument, side, trigger })
            }
            Condition::Trail(trail) => {
                Event::TrailSet(TrailSet { order, account, instrument, side, trail })
            }
        });
        let last = self.markets[usize::from(plan.market)].last_price;
        match plan.condition {
            _ if last == Price::ZERO => {}
            Condition::Trigger(_) => self.reach_triggers(plan.market, last),
            Condition::Trail(trail) if trail.is_active_at(side, last) => {
                self.activate_new(plan.market, slot, side, sink);
            }
            Condition::Trail(_) => self.queue_last_price(plan.market),
        }
        waiting(id, plan.limit, plan.quantity)
    }
}

/// What an order waits for, with the activation price in force; and its trigger price, of a trailing stop the
/// one that is farthest from all that it may have.
pub(crate) fn check_condition(
    market: &Market,
    side: Side,
    condition: Condition,
) -> Result<(Condition, Price), RejectReason> {
    let trail = match condition {
        Condition::Trigger(trigger) => {
            let is_price = market.check_price(trigger.price).is_ok();
            let checked = (condition, trigger.price);
            return if is_price { Ok(checked) } else { Err(RejectReason::TriggerPriceInvalid) };
        }
        Condition::Trail(trail) => trail,
    };
    let tick = market.rules().tick;
    if !is_sound_trail(market, &trail) {
        return Err(RejectReason::TrailInvalid);
    }
    let activation_price = match trail.activation_price {
        Price::ZERO if market.last_price != Price::ZERO => market.last_price,
        price if market.check_price(price).is_ok() => price,
        _ => return Err(RejectReason::TriggerPriceInvalid),
    };
    let trigger = trail.distance.trigger(side, activation_price, tick);
    let trigger = trigger.ok_or(RejectReason::TrailInvalid)?;
    Ok((Condition::Trail(TrailTerms { activation_price, ..trail }), trigger))
}

/// Whether a trailing stop in an instrument may have this distance.
pub(crate) fn is_sound_trail(market: &Market, trail: &TrailTerms) -> bool {
    match trail.distance {
        Distance::Price(distance) => market.check_price(distance).is_ok(),
        Distance::Ppm(ppm) => (1..Distance::PPM_END).contains(&ppm),
    }
}

/// Whether the attributes of a conditional order go together; its quantity.
fn check_combination(terms: &NewOrder) -> Result<Quantity, RejectReason> {
    let time_in_force = terms.time_in_force;
    let fits = matches!(terms.kind, OrderKind::Limit | OrderKind::Market)
        && terms.post_only == PostOnly::Off
        && terms.minimum_quantity == Quantity::ZERO
        && time_in_force != TimeInForce::Fok
        && !time_in_force.is_for_auction();
    match terms.size {
        OrderSize::Base(quantity) if fits => Ok(quantity),
        _ => Err(RejectReason::InvalidCombination),
    }
}

pub(crate) fn waiting(order: OrderId, price: Price, remaining: Quantity) -> Outcome {
    let (status, filled, repeated) = (OrderStatus::Waiting, Quantity::ZERO, false);
    Outcome::Order { order, status, price, filled, remaining, repeated }
}
