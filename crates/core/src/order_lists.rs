//! Entry of linked orders.

use crate::apply::refuse;
use crate::client_ids::Extension;
use crate::conditional::{WaitingPlan, is_sound_trail};
use crate::instruments::Market;
use crate::limits::ORDERS_PER_COMMAND;
use crate::links::{Link, List, Part, WITH_LINKS, is_better};
use crate::named::Named;
use crate::place::{Extras, Plan};
use crate::{Core, EventSink};
use rialto_model::{
    Amount, Command, Condition, Event, ExitsSet, Leg, LinkKind, NewOrder, OrderId, OrderKind,
    OrderList, OrderSize, Outcome, Price, Quantity, RejectReason, TimeInForce, Trigger,
    TriggerKind,
};

/// An order of a pair that has passed its checks.
pub(crate) enum LegPlan {
    /// It is entered at once.
    Plain(Plan),
    Waiting(WaitingPlan),
}

/// A list that has passed all checks.
enum ListPlan {
    /// Two orders.
    Pair(LegPlan, WaitingPlan),
    /// An order with exits.
    Entry(Plan),
}

impl LegPlan {
    pub(crate) fn reserved(&self) -> Amount {
        match self {
            LegPlan::Plain(plan) => plan.reserved,
            LegPlan::Waiting(plan) => plan.reserved,
        }
    }
}

impl Core {
    pub(crate) fn place_list<S: EventSink>(&mut self, list: &OrderList, sink: &mut S) -> Outcome {
        let placed = match self.rules_since(WITH_LINKS) {
            true => self.try_place_list(list, sink),
            false => Err(RejectReason::CommandUnknown),
        };
        placed.unwrap_or_else(|reason| refuse(&Command::PlaceList(*list), reason, sink))
    }

    fn try_place_list<S: EventSink>(
        &mut self,
        list: &OrderList,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        let terms = &list.terms;
        let account = self.accounts.slot(terms.account)?;
        if terms.client_order_id.is_empty() {
            let plan = self.plan_list(account, list)?;
            return Ok(self.accept_list(account, list, &plan, 0, sink));
        }
        let extension = Some(Extension::List(list.links_hash()));
        self.enter_named(
            &Named { account, terms, extension },
            |core| core.plan_list(account, list),
            |core, plan, client, sink| core.accept_list(account, list, plan, client, sink),
            sink,
        )
    }

    fn plan_list(&self, account: u32, list: &OrderList) -> Result<ListPlan, RejectReason> {
        match list.kind {
            LinkKind::Oco => self.plan_pair(account, list),
            LinkKind::Oto => self.plan_entry(account, list).map(ListPlan::Entry),
        }
    }

    /// Makes all the checks of a pair, in the order that decides which reason is given.
    fn plan_pair(&self, account: u32, list: &OrderList) -> Result<ListPlan, RejectReason> {
        let OrderList { terms, condition, take_profit: None, stop_loss: Some(leg), .. } = list
        else {
            return Err(RejectReason::InvalidCombination);
        };
        let (true, Some(stop), Some(other)) =
            (is_take_profit(terms, *condition), leg.condition, second_terms(list))
        else {
            return Err(RejectReason::InvalidCombination);
        };
        if !is_stop_loss(leg) {
            return Err(RejectReason::InvalidCombination);
        }
        let (first, level) = match condition {
            Some(condition) => {
                let plan = self.plan_conditional(account, terms, *condition, false)?;
                (LegPlan::Waiting(plan), trigger_price(*condition))
            }
            None => {
                let plan = self.plan(account, terms)?;
                if plan.crosses {
                    return Err(RejectReason::WouldCross);
                }
                let limit = plan.limit;
                (LegPlan::Plain(plan), Some(limit))
            }
        };
        let second = self.plan_conditional(account, &other, stop, false)?;
        if let (Some(better), Some(worse)) = (level, trigger_price(stop))
            && !is_better(terms.side, better, worse)
        {
            return Err(RejectReason::ExitPriceInvalid);
        }
        self.check_room_for_two(account, second.market)?;
        Ok(ListPlan::Pair(first, second))
    }

    /// Whether an account can open two more orders in an instrument.
    pub(crate) fn check_room_for_two(&self, account: u32, market: u16) -> Result<(), RejectReason> {
        let most = self.markets[usize::from(market)].rules().open_orders_max;
        if self.open_orders(account, market).saturating_add(2) > most {
            return Err(RejectReason::OpenOrdersLimit);
        }
        if self.orders.len() + 2 > self.orders.limit() {
            return Err(RejectReason::VenueFull);
        }
        Ok(())
    }

    /// Makes all the checks of an order with exits.
    fn plan_entry(&self, account: u32, list: &OrderList) -> Result<Plan, RejectReason> {
        let OrderList { terms, take_profit, stop_loss, .. } = list;
        let fits = |leg: &Leg| is_take_profit_leg(leg);
        if list.condition.is_some()
            || (take_profit.is_none() && stop_loss.is_none())
            || !take_profit.as_ref().is_none_or(fits)
            || !stop_loss.as_ref().is_none_or(is_stop_loss)
        {
            return Err(RejectReason::InvalidCombination);
        }
        let plan = self.plan(account, terms)?;
        let market = &self.markets[usize::from(plan.market)];
        for leg in [take_profit, stop_loss].into_iter().flatten() {
            market.check_exit(leg)?;
            let order = leg.order(terms, terms.side.opposite(), Quantity(1));
            self.expiry(market, &order)?;
        }
        let exits = List {
            legs: [*take_profit, *stop_loss],
            ..List::new(OrderId(0), terms, account, plan.market, terms.side.opposite())
        };
        let levels = exits.legs.map(|leg| leg.and_then(|leg| leg.nearest_price()));
        if let [Some(better), Some(worse)] = levels
            && !is_better(exits.side, better, worse)
        {
            return Err(RejectReason::ExitPriceInvalid);
        }
        if plan.rests && !exits.surrounds(plan.limit) {
            return Err(RejectReason::ExitPriceInvalid);
        }
        Ok(plan)
    }

    /// Accepts the orders of a list; the answer is that of the first.
    fn accept_list<S: EventSink>(
        &mut self,
        account: u32,
        list: &OrderList,
        plan: &ListPlan,
        client: u32,
        sink: &mut S,
    ) -> Outcome {
        let terms = &list.terms;
        let id = self.following_order_id();
        match plan {
            ListPlan::Pair(first, second) => {
                let other = second_terms(list).expect("it was checked");
                let list = List::new(id, terms, account, second.market, terms.side);
                let at = self.lists.add(list);
                let pair = (first, (second, &other));
                self.accept_pair(account, terms, client, at, pair, sink)
            }
            ListPlan::Entry(plan) => {
                let side = terms.side.opposite();
                let at = self.lists.add(List {
                    legs: [list.take_profit, list.stop_loss],
                    entry: crate::orders::STAND_IN,
                    ..List::new(id, terms, account, plan.market, side)
                });
                let link = Some(Link { list: at, part: Part::Entry });
                let extras = Extras { client, link, ..Extras::NONE };
                self.accept(account, terms, plan, extras, &mut { ORDERS_PER_COMMAND }, sink)
            }
        }
    }

    /// Accepts two orders of which one trades, the second for what it needs beyond the first. Returns the
    /// answer to the first.
    pub(crate) fn accept_pair<S: EventSink>(
        &mut self,
        account: u32,
        terms: &NewOrder,
        client: u32,
        list: u32,
        (first, (second, other)): (&LegPlan, (&WaitingPlan, &NewOrder)),
        sink: &mut S,
    ) -> Outcome {
        let outcome = self.accept_leg(account, terms, first, client, (list, Part::Better), sink);
        let beyond = Amount((second.reserved.0 - first.reserved().0).max(0));
        let second = WaitingPlan { reserved: beyond, ..*second };
        let link = Some(Link { list, part: Part::Worse });
        self.wait_for_trigger(account, other, &second, (0, link), sink);
        self.publish_links(list, sink);
        outcome
    }

    /// Accepts an order of a list that does not trade at once.
    pub(crate) fn accept_leg<S: EventSink>(
        &mut self,
        account: u32,
        terms: &NewOrder,
        plan: &LegPlan,
        client: u32,
        (list, part): (u32, Part),
        sink: &mut S,
    ) -> Outcome {
        let link = Some(Link { list, part });
        match plan {
            LegPlan::Plain(plan) => {
                let extras = Extras { client, link, ..Extras::NONE };
                self.accept(account, terms, plan, extras, &mut { ORDERS_PER_COMMAND }, sink)
            }
            LegPlan::Waiting(plan) => {
                self.wait_for_trigger(account, terms, plan, (client, link), sink)
            }
        }
    }

    /// Tells the exits of an order that was accepted, if it is an entry.
    #[cold]
    #[inline(never)]
    pub(crate) fn publish_exits<S: EventSink>(
        &self,
        order: OrderId,
        terms: &NewOrder,
        link: Link,
        sink: &mut S,
    ) {
        if link.part != Part::Entry {
            return;
        }
        let [take_profit, stop_loss] = self.lists.get(link.list).legs;
        sink.event(&Event::ExitsSet(ExitsSet {
            order,
            account: terms.account,
            instrument: terms.instrument,
            side: terms.side,
            take_profit,
            stop_loss,
        }));
    }
}

impl Market {
    /// What can be checked of an exit before its entry has traded.
    fn check_exit(&self, leg: &Leg) -> Result<(), RejectReason> {
        match leg.condition {
            None => {}
            Some(Condition::Trigger(trigger)) => {
                let checked = self.check_price(trigger.price);
                checked.map_err(|_| RejectReason::TriggerPriceInvalid)?;
            }
            Some(Condition::Trail(trail)) => {
                if !is_sound_trail(self, &trail) {
                    return Err(RejectReason::TrailInvalid);
                }
                let activation = trail.activation_price;
                if activation != Price::ZERO && self.check_price(activation).is_err() {
                    return Err(RejectReason::TriggerPriceInvalid);
                }
            }
        }
        if leg.kind == OrderKind::Limit || leg.price != Price::ZERO {
            self.check_price(leg.price)?;
        }
        Ok(())
    }
}

/// The terms of the second order of a pair.
fn second_terms(list: &OrderList) -> Option<NewOrder> {
    let OrderSize::Base(quantity) = list.terms.size else { return None };
    list.stop_loss.map(|leg| leg.order(&list.terms, list.terms.side, quantity))
}

fn trigger_price(condition: Condition) -> Option<Price> {
    match condition {
        Condition::Trigger(trigger) => Some(trigger.price),
        Condition::Trail(_) => None,
    }
}

/// Whether the first order of a pair is one that stands at a better price: a limit order that rests, or one that
/// is triggered there.
fn is_take_profit(terms: &NewOrder, condition: Option<Condition>) -> bool {
    match condition {
        None => {
            terms.kind == OrderKind::Limit
                && terms.minimum_quantity == Quantity::ZERO
                && terms.time_in_force.rests_in_trading()
        }
        Some(Condition::Trigger(Trigger { kind, .. })) => kind == TriggerKind::TakeProfit,
        Some(Condition::Trail(_)) => false,
    }
}

/// Whether a leg is an exit at a better price.
pub(crate) fn is_take_profit_leg(leg: &Leg) -> bool {
    match leg.condition {
        None => leg.kind == OrderKind::Limit && leg.time_in_force.rests_in_trading(),
        Some(Condition::Trigger(Trigger { kind: TriggerKind::TakeProfit, .. })) => can_wait(leg),
        Some(_) => false,
    }
}

/// Whether a leg is an exit at a worse price.
pub(crate) fn is_stop_loss(leg: &Leg) -> bool {
    let trails = match leg.condition {
        Some(Condition::Trigger(Trigger { kind: TriggerKind::Stop, .. })) => false,
        Some(Condition::Trail(_)) => true,
        _ => return false,
    };
    let is_priced = leg.kind == OrderKind::Market && leg.price != Price::ZERO;
    can_wait(leg) && !(trails && is_priced)
}

/// Whether a leg can wait for a trigger.
fn can_wait(leg: &Leg) -> bool {
    matches!(leg.kind, OrderKind::Limit | OrderKind::Market)
        && leg.time_in_force != TimeInForce::Fok
        && !leg.time_in_force.is_for_auction()
}
