//! Entering an order: a list of checks, in the order of the rules page, and what an order that passes
//! them all begins with.

use super::auction::{collects, is_for_auction};
use super::iceberg::Parts;
use super::prices::allows;
use super::{Alteration, Entered, Listed, Order, Reference};
use rialto_model::{
    Accepted, Amount, Event, IcebergSet, NewOrder, OrderId, OrderKind, OrderList, OrderSize,
    Outcome, PostOnly, Price, Quantity, RejectReason, Side, TimeInForce, Timestamp,
};

pub(super) type Verdict = Result<(), RejectReason>;

/// A check as the rules page names it. It may take for granted what those before it have checked.
pub(super) type Check<T> = (&'static str, fn(&Reference, &T) -> Verdict);

/// The checks before the memory of client order ids answers.
const BEFORE_MEMORY: [Check<NewOrder>; 2] = [
    ("account", |venue, new| venue.account(new.account).map(drop)),
    ("client order id (repeat, conflict)", Reference::is_no_other_order),
];

/// The checks of a new order.
const OF_NEW_ORDERS: [Check<NewOrder>; 20] = [
    ("instrument", |venue, new| venue.listed(new.instrument).map(drop)),
    ("its state", |venue, new| venue.listed(new.instrument)?.check_entry()),
    ("restriction of the account", |venue, new| venue.account_enters(new.account)),
    ("restriction of the instrument", |venue, new| venue.instrument_is_entered(new.instrument)),
    ("attributes that the version knows", Reference::knows_attributes),
    ("combination of attributes", Reference::has_attributes_that_agree),
    ("phase of the instrument", |venue, new| match venue.gets_wrong(Alteration::PhasesIgnored) {
        true => Ok(()),
        false => venue.listed(new.instrument)?.check_phase(new),
    }),
    ("quantity or amount", Reference::has_a_size),
    ("price and tick", Reference::has_a_price),
    ("expiry", |venue, new| venue.expires_at(new).map(drop)),
    ("collar", Reference::is_priced_inside_the_collar),
    ("limits of the day and of continuous trading", Reference::is_priced_inside_the_limits),
    ("open orders of the account", Reference::account_has_room),
    ("room in the venue", Reference::venue_has_room),
    (
        "reference price in a call, or liquidity at an allowed price (market orders)",
        |venue, new| venue.limit_asked(new).map(drop),
    ),
    ("smallest and largest notional", Reference::is_worth_enough_and_not_too_much),
    ("post-only, and collar, limits and notional of the price slid to", Reference::stays_passive),
    ("balance", Reference::is_affordable),
    ("room at the price", Reference::has_room_at_its_price),
    ("fill-or-kill or minimum quantity", Reference::is_filled_if_it_must_be),
];

/// The names of the checks of an order, in their order.
pub fn place_checks() -> Vec<&'static str> {
    BEFORE_MEMORY.iter().chain(&OF_NEW_ORDERS).map(|(name, _)| *name).collect()
}

/// Whether an order of this time in force can stand on the book.
pub(super) fn can_rest(time_in_force: TimeInForce) -> bool {
    !matches!(time_in_force, TimeInForce::Ioc | TimeInForce::Fok)
}

/// Refuses unless a condition holds.
pub(super) fn demand(holds: bool, otherwise: RejectReason) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise) }
}

impl Listed {
    pub(super) fn check_quantity(&self, quantity: Quantity) -> Verdict {
        let rules = self.instrument.spec.rules;
        demand(quantity > Quantity::ZERO, RejectReason::QuantityNotPositive)?;
        demand(quantity.0 % rules.lot.0 == 0, RejectReason::QuantityOffLot)?;
        demand(quantity <= rules.quantity_max, RejectReason::QuantityTooLarge)
    }

    pub(super) fn check_price(&self, price: Price) -> Verdict {
        demand(price > Price::ZERO, RejectReason::PriceNotPositive)?;
        demand(price.0 % self.instrument.spec.rules.tick.0 == 0, RejectReason::PriceOffTick)
    }

    /// Nothing where a notional cannot be expressed.
    pub(super) fn check_notional(&self, notional: Option<Amount>) -> Verdict {
        let notional = notional.ok_or(RejectReason::NotionalTooLarge)?;
        let most = self.terms.notional_max;
        let is_limited = most.0 > 0;
        demand(!is_limited || notional <= most, RejectReason::NotionalTooLarge)?;
        let least = self.instrument.spec.rules.notional_min;
        demand(notional >= least, RejectReason::NotionalTooSmall)
    }
}

fn is_priced(new: &NewOrder) -> bool {
    new.kind == OrderKind::Limit || new.price != Price::ZERO
}

impl Reference {
    /// Enters an order, unless its client order id was entered before.
    pub(super) fn place(&mut self, new: &NewOrder) -> Result<Outcome, RejectReason> {
        // Rules that know no minimum quantity do not remember one.
        let mut known = *new;
        if self.rules_version < 5 {
            known.minimum_quantity = Quantity::ZERO;
        }
        self.place_known(new, &known)
    }

    fn place_known(&mut self, new: &NewOrder, known: &NewOrder) -> Result<Outcome, RejectReason> {
        BEFORE_MEMORY.iter().try_for_each(|(_, check)| check(self, known))?;
        if let Some(first) = self.entered_before(known) {
            return Ok(self.repeat(known, &first));
        }
        let answer = self.check_new(new).map(|()| self.accept(new, None, None, &mut 0));
        let is_kept = answer.is_ok() || !self.gets_wrong(Alteration::RejectForgotten);
        if is_kept && !new.client_order_id.is_empty() {
            let answer = answer.unwrap_or_else(|reason| Outcome::Rejected { reason });
            let body = *known;
            let entered = Entered {
                body,
                condition: None,
                displays: None,
                list: None,
                answer,
                in_window: true,
                finish: None,
            };
            self.account_mut(new.account)?.entered.push(entered);
        }
        answer
    }

    /// Makes the checks in their order. Before rules version 8 the balance comes last.
    pub(super) fn check_all<T>(&self, checks: &[Check<T>], asked: &T) -> Verdict {
        let is_late = |name: &str| name == "balance" && self.rules_version < 8;
        let early = checks.iter().filter(|(name, _)| !is_late(name));
        let late = checks.iter().filter(|(name, _)| is_late(name));
        early.chain(late).try_for_each(|(_, check)| check(self, asked))
    }

    /// The checks of an order that is not remembered.
    pub(super) fn check_new(&self, new: &NewOrder) -> Verdict {
        self.check_all(&OF_NEW_ORDERS, new)
    }

    /// What is remembered under the client order id of an order.
    pub(super) fn entered_before(&self, new: &NewOrder) -> Option<Entered> {
        let is_named = !new.client_order_id.is_empty();
        let account = self.account(new.account).ok().filter(|_| is_named)?;
        let mut entered = account.entered.iter();
        let before = entered.find(|entered| entered.body.client_order_id == new.client_order_id);
        before.copied().filter(|_| !self.gets_wrong(Alteration::ClientIdRepeats))
    }

    /// The capacity came with version 3, auctions and sessions with version 4, the best price, five
    /// levels and a minimum quantity with version 5.
    fn knows_attributes(&self, new: &NewOrder) -> Verdict {
        let is_old = matches!(new.kind, OrderKind::Limit | OrderKind::Market);
        let is_known = (new.handling.capacity.is_none() || self.rules_version >= 3)
            && (is_old || self.rules_version >= 5)
            && (new.minimum_quantity == Quantity::ZERO || self.rules_version >= 5)
            && (!is_for_auction(new.time_in_force) || self.rules_version >= 4)
            && (new.time_in_force != TimeInForce::Gfs || self.rules_version >= 4);
        demand(is_known, RejectReason::AttributeUnknown)
    }

    fn is_no_other_order(&self, new: &NewOrder) -> Verdict {
        let before = self.entered_before(new);
        let is_same = |first: Entered| {
            let is_plain = first.condition.is_none() && first.displays.is_none();
            first.body == *new && is_plain && first.list.is_none()
        };
        demand(before.is_none_or(is_same), RejectReason::ClientIdConflict)
    }

    pub(super) fn repeat(&mut self, new: &NewOrder, first: &Entered) -> Outcome {
        let mut answer = first.answer;
        let (order, reject) = match &mut answer {
            Outcome::Order { order, repeated, .. } => {
                *repeated = true;
                (*order, None)
            }
            Outcome::Rejected { reason } => (OrderId(0), Some(*reason)),
            other => unreachable!("an order is never answered {other:?}"),
        };
        let (account, name) = (new.account, new.client_order_id);
        self.events.push(Event::Repeated { account, name, order, reject });
        answer
    }

    fn has_attributes_that_agree(&self, new: &NewOrder) -> Verdict {
        let is_market = new.kind != OrderKind::Limit;
        let has_own_levels = matches!(new.kind, OrderKind::BestPrice | OrderKind::FiveLevels);
        let rests = can_rest(new.time_in_force);
        let may_rest = self.rules_version >= 5 && !self.gets_wrong(Alteration::MarketNeverRests);
        let is_post_only = new.post_only != PostOnly::Off;
        let has_amount = matches!(new.size, OrderSize::Quote(_));
        let for_auction = is_for_auction(new.time_in_force);
        let contradictions = [
            is_market && rests && !for_auction && !may_rest,
            new.kind == OrderKind::FiveLevels && rests && self.rules_version < 10,
            has_own_levels && (for_auction || new.price != Price::ZERO),
            is_market && rests && has_amount,
            is_market && is_post_only,
            is_post_only && !rests,
            is_post_only && for_auction,
            has_amount && !is_market,
            has_amount && for_auction,
            is_market && for_auction && new.price != Price::ZERO,
        ];
        demand(!contradictions.contains(&true), RejectReason::InvalidCombination)?;
        let least = new.minimum_quantity;
        let is_quantity =
            matches!(new.size, OrderSize::Base(all) if Quantity::ZERO < least && least <= all);
        let fits = is_quantity
            && ![TimeInForce::Fok].contains(&new.time_in_force)
            && !for_auction
            && !is_post_only;
        demand(least == Quantity::ZERO || fits, RejectReason::InvalidCombination)
    }

    fn has_a_size(&self, new: &NewOrder) -> Verdict {
        match new.size {
            OrderSize::Base(quantity) => self.listed(new.instrument)?.check_quantity(quantity),
            OrderSize::Quote(amount) => {
                demand(amount > Amount::ZERO, RejectReason::AmountNotPositive)
            }
        }
    }

    fn has_a_price(&self, new: &NewOrder) -> Verdict {
        if is_priced(new) { self.listed(new.instrument)?.check_price(new.price) } else { Ok(()) }
    }

    /// When an order expires; zero is never.
    pub(super) fn expires_at(&self, new: &NewOrder) -> Result<Timestamp, RejectReason> {
        let is_given = new.expire_at != Timestamp::ZERO;
        match new.time_in_force {
            TimeInForce::Gtd if new.expire_at > self.time => Ok(new.expire_at),
            TimeInForce::Gtd => Err(RejectReason::ExpiryInvalid),
            _ if is_given => Err(RejectReason::ExpiryInvalid),
            TimeInForce::Gfs => {
                let end = self.planned_end(new.instrument, TimeInForce::Gfs);
                end.ok_or(RejectReason::ExpiryInvalid)
            }
            TimeInForce::Day => {
                if let Some(end) = self.planned_end(new.instrument, TimeInForce::Day) {
                    return Ok(end);
                }
                let end = self.listed(new.instrument)?.instrument.spec.rules.day_end_s;
                let today = self.time.0 / Timestamp::DAY;
                let ends = (today..).map(|day| {
                    Timestamp(day * Timestamp::DAY + u64::from(end) * Timestamp::SECOND)
                });
                Ok(ends.into_iter().find(|end| *end > self.time).expect("days do not end"))
            }
            _ => Ok(Timestamp::ZERO),
        }
    }

    fn is_priced_inside_the_collar(&self, new: &NewOrder) -> Verdict {
        let inside = self.is_in_collar(self.listed(new.instrument)?, new.price);
        demand(!is_priced(new) || inside, RejectReason::PriceOutsideCollar)
    }

    fn is_priced_inside_the_limits(&self, new: &NewOrder) -> Verdict {
        let listed = self.listed(new.instrument)?;
        let is_checked = is_priced(new) && !self.gets_wrong(Alteration::LimitsOfTheDayIgnored);
        if is_checked { listed.check_limits(new.price) } else { Ok(()) }
    }

    pub(super) fn account_has_room(&self, new: &NewOrder) -> Verdict {
        let most = self.listed(new.instrument)?.instrument.spec.rules.open_orders_max as usize;
        let own = self.orders.iter().filter(|order| order.account == new.account);
        let own = own.filter(|order| order.instrument == new.instrument).count();
        let own = own + self.queued_lists(new.account, new.instrument);
        demand(!can_rest(new.time_in_force) || own < most, RejectReason::OpenOrdersLimit)
    }

    pub(super) fn venue_has_room(&self, new: &NewOrder) -> Verdict {
        let has_room = self.orders.len() < self.bounds.orders_max as usize;
        demand(!can_rest(new.time_in_force) || has_room, RejectReason::VenueFull)
    }

    fn is_worth_enough_and_not_too_much(&self, new: &NewOrder) -> Verdict {
        let mut listed = self.listed(new.instrument)?.clone();
        if self.gets_wrong(Alteration::NotionalUnlimited) {
            listed.terms.notional_max = Amount::ZERO;
        }
        listed.check_notional(match new.size {
            OrderSize::Base(quantity) => listed.notional(self.limit_asked(new)?, quantity),
            OrderSize::Quote(amount) => Some(amount).filter(|amount| !Listed::is_too_much(*amount)),
        })
    }

    fn stays_passive(&self, new: &NewOrder) -> Verdict {
        let order = self.draft(new)?;
        self.check_slid(self.limit_asked(new)?, &order, order.remaining)
    }

    fn has_room_at_its_price(&self, new: &NewOrder) -> Verdict {
        if can_rest(new.time_in_force) { self.check_level(&self.draft(new)?) } else { Ok(()) }
    }

    /// Refuses a large order where the quantities at its price would add up to too much.
    pub(super) fn check_level(&self, order: &Order) -> Verdict {
        let others = self.orders.iter().filter(|other| {
            (other.instrument, other.side, other.price)
                == (order.instrument, order.side, order.price)
                && other.id != order.id
                && other.waits.is_none()
        });
        self.check_sum(others, order)
    }

    /// Refuses a large order that would be too much together with others.
    pub(super) fn check_sum<'a>(
        &self,
        others: impl Iterator<Item = &'a Order>,
        order: &Order,
    ) -> Verdict {
        let level_max = 1_i128 << 62;
        let fair_share = level_max / i128::from(self.bounds.orders_max.next_power_of_two());
        let others: i128 = others.map(|other| i128::from(other.remaining.0)).sum();
        let own = i128::from(order.remaining.0);
        let has_room = own <= fair_share || others + own <= level_max;
        demand(has_room, RejectReason::QuantityTooLarge)
    }

    fn is_filled_if_it_must_be(&self, new: &NewOrder) -> Verdict {
        let draft = self.draft(new)?;
        let least = new.minimum_quantity;
        if new.time_in_force == TimeInForce::Fok {
            let may_be_partial = self.gets_wrong(Alteration::FillOrKillPartial);
            return if may_be_partial { Ok(()) } else { self.check_fill_or_kill(&draft) };
        }
        if least == Quantity::ZERO || self.gets_wrong(Alteration::MinimumQuantityIgnored) {
            return Ok(());
        }
        self.check_fill_or_kill(&Order { remaining: least, ..draft })
    }

    fn is_affordable(&self, new: &NewOrder) -> Verdict {
        let order = self.draft(new)?;
        if !self.of(&order).instrument.spec.rules.risk {
            return Ok(());
        }
        let available = self.available(order.account, self.held_currency(&order));
        let delivers_nothing = order.deliverable == Some(Quantity::ZERO);
        let is_covered = self.hold(&order).0 <= available && !delivers_nothing;
        demand(is_covered, RejectReason::InsufficientBalance)
    }

    /// The order as it would be accepted.
    pub(super) fn draft(&self, new: &NewOrder) -> Result<Order, RejectReason> {
        let listed = self.listed(new.instrument)?;
        let rules = listed.instrument.spec.rules;
        let [maker_fee_ppm, taker_fee_ppm] = self.rates(new.instrument)?;
        let asked = self.limit_asked(new)?;
        let (remaining, quote_left) = match new.size {
            OrderSize::Base(quantity) => (quantity, None),
            OrderSize::Quote(amount) => (Quantity::ZERO, Some(amount)),
        };
        // A sell for an amount can deliver what the account has, in whole lots.
        let sells_amount = quote_left.is_some() && new.side == Side::Sell && rules.risk;
        let deliverable = sells_amount.then(|| {
            let available = self.available(new.account, listed.instrument.spec.base);
            let lots = available / listed.base_amount(rules.lot);
            let most = i64::MAX / rules.lot.0;
            Quantity(i64::try_from(lots).unwrap_or(most).min(most) * rules.lot.0)
        });
        Ok(Order {
            id: OrderId::from_parts(self.engine, self.orders_entered + 1),
            account: new.account,
            instrument: new.instrument,
            side: new.side,
            time_in_force: new.time_in_force,
            post_only: new.post_only,
            self_trade: new.self_trade.unwrap_or(rules.self_trade),
            handling: new.handling,
            expire_at: self.expires_at(new)?,
            client_order_id: new.client_order_id,
            price: self.passive(new.instrument, new.side, asked, new.post_only)?,
            filled: Quantity::ZERO,
            remaining,
            quote_left,
            deliverable,
            maker_fee_ppm,
            taker_fee_ppm,
            fees_owed: 0,
            fees_charged: 0,
            place: 0,
            is_market: new.kind == OrderKind::Market && is_for_auction(new.time_in_force),
            five_levels: new.kind == OrderKind::FiveLevels,
            traded_at: None,
            span: self.trading_span(new.instrument),
            waits: None,
            parts: None,
            covered: 0,
        })
    }

    /// Whether an order that is on no book would meet another one there now, alive or dead.
    pub(super) fn meets_another(&self, order: &Order) -> bool {
        let mut opposite = self.orders.iter().filter(|other| {
            other.instrument == order.instrument
                && other.side == order.side.opposite()
                && other.waits.is_none()
        });
        opposite.any(|other| allows(order.side, order.price, other.price))
            && !collects(self.of(order).instrument.state)
    }

    /// Accepts an order: of an iceberg with the most that it displays, of an entry with its exits.
    pub(super) fn accept(
        &mut self,
        new: &NewOrder,
        most: Option<Quantity>,
        exits: Option<&OrderList>,
        visited: &mut usize,
    ) -> Outcome {
        let mut order = self.draft(new).expect("the checks have passed");
        order.parts = most.map(|most| Parts { most, shown: Quantity::ZERO });
        let rests = order.can_rest() && !self.meets_another(&order);
        let mut terms = *new;
        terms.price = order.price;
        terms.self_trade = Some(order.self_trade);
        terms.expire_at = order.expire_at;
        let reserved = self.hold(&order);
        self.orders_entered += 1;
        let is_whole = rests && most.is_none();
        let accepted = Accepted { order: order.id, terms, reserved, rests: is_whole };
        self.events.push(Event::Accepted(accepted));
        if let Some(display_quantity) = most {
            self.events.push(Event::IcebergSet(IcebergSet {
                order: order.id,
                account: order.account,
                instrument: order.instrument,
                side: order.side,
                display_quantity,
            }));
        }
        if let Some(list) = exits {
            self.set_exits(&order, list);
        }
        if !rests {
            return self.take(order, visited);
        }
        if most.is_some() {
            return self.stop(&order);
        }
        self.stand(order);
        self.note_limit(&order);
        Self::standing(&order)
    }
}
