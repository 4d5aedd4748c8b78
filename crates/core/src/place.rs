//! Entering an order: the checks in their fixed order, and acceptance.

use crate::apply::refuse;
use crate::client_ids::Extension;
use crate::five_levels::WITH_RESTING_FIVE_LEVELS;
use crate::fok::within;
use crate::instruments::Market;
use crate::limits::ORDERS_PER_COMMAND;
use crate::links::Link;
use crate::named::Named;
use crate::orders::{Attributes, Role};
use crate::ranges::Reach;
use crate::taker::{Remaining, Taker};
use crate::{Core, EventSink};
use rialto_model::{
    Accepted, Amount, Command, Event, IcebergSet, InstrumentState, NewOrder, OrderId, OrderKind,
    OrderSize, OrderStatus, Outcome, PostOnly, Price, PriceRange, Quantity, RejectReason, Side,
    TimeInForce, Timestamp,
};

/// The version since which market orders may rest, orders have their limits from the levels of the book,
/// and a minimum quantity may have to trade at once.
pub(crate) const WITH_MORE_ENTRIES: u32 = 5;
/// The version since which the balance is checked before what depends on the quantities of other orders, which
/// may be hidden: an account that cannot pay learns nothing of them from the reason of its refusal.
pub(crate) const BALANCE_FIRST: u32 = 8;
/// The prices of the other side that an order of kind five levels takes.
const LEVELS_TAKEN: usize = 5;
/// The distance, in orders, at which index entries are prefetched.
const PREPARED_AHEAD: u64 = 8;

/// An order that has passed all checks.
#[derive(Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) market: u16,
    pub(crate) limit: Price,
    pub(crate) rests: bool,
    /// Whether the limit reaches the other side of the book; a post-only order then meets only
    /// orders whose time is over.
    pub(crate) crosses: bool,
    expire_at: Timestamp,
    want: Remaining,
    pub(crate) reserved: Amount,
}

/// What an accepted order has besides its terms.
#[derive(Clone, Copy)]
pub(crate) struct Extras {
    /// As in [`Detail::client`](crate::orders::Detail::client).
    pub(crate) client: u32,
    /// The most that an iceberg displays; zero for another order.
    pub(crate) display_quantity: Quantity,
    /// Its list, if it is linked.
    pub(crate) link: Option<Link>,
}

impl Extras {
    /// Of an order that has none of it.
    pub(crate) const NONE: Extras =
        Extras { client: 0, display_quantity: Quantity::ZERO, link: None };
}

impl Core {
    #[inline]
    pub(crate) fn place<S: EventSink>(&mut self, terms: &NewOrder, sink: &mut S) -> Outcome {
        // The memory of the order is prefetched before the checks, and with it the index entry of a
        // later order.
        let later = OrderId::from_parts(self.engine, self.order_count + PREPARED_AHEAD);
        self.open.prefetch(self.orders.prepare(later));
        let account = match self.accounts.slot(terms.account) {
            Ok(account) => account,
            Err(reason) => return refuse_order(terms, reason, sink),
        };
        if !is_simple(terms) {
            return self.place_other(account, terms, sink);
        }
        let plan = self.checked_plan::<true>(account, terms);
        debug_assert_eq!(plan, self.plan(account, terms), "{terms:?}");
        match plan {
            // The outcome is built in the caller's memory: copying it would wait until earlier
            // writes have reached the cache.
            Ok(plan) => {
                let mut budget = ORDERS_PER_COMMAND;
                self.accept(account, terms, &plan, Extras::NONE, &mut budget, sink)
            }
            Err(reason) => refuse_order(terms, reason, sink),
        }
    }

    /// Places an order that is not [simple](is_simple).
    #[inline(never)]
    fn place_other<S: EventSink>(
        &mut self,
        account: u32,
        terms: &NewOrder,
        sink: &mut S,
    ) -> Outcome {
        if !terms.client_order_id.is_empty() {
            return match self.place_named(account, terms, None, sink) {
                Ok(outcome) => outcome,
                Err(reason) => refuse_order(terms, reason, sink),
            };
        }
        match self.plan(account, terms) {
            Ok(plan) => {
                let mut budget = ORDERS_PER_COMMAND;
                self.accept(account, terms, &plan, Extras::NONE, &mut budget, sink)
            }
            Err(reason) => refuse_order(terms, reason, sink),
        }
    }

    /// Places an order that has a client order id. An iceberg has a display quantity.
    #[inline(never)]
    pub(crate) fn place_named<S: EventSink>(
        &mut self,
        account: u32,
        terms: &NewOrder,
        display_quantity: Option<Quantity>,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        let extension = display_quantity.map(Extension::Display);
        // Rules that know no minimum quantity do not remember one.
        let mut known = *terms;
        if !self.rules_since(WITH_MORE_ENTRIES) {
            known.minimum_quantity = Quantity::ZERO;
        }
        self.enter_named(
            &Named { account, terms: &known, extension },
            |core| match display_quantity {
                Some(display_quantity) => core.plan_iceberg(account, terms, display_quantity),
                None => core.plan(account, terms),
            },
            |core, plan, client, sink| {
                let display_quantity = display_quantity.unwrap_or(Quantity::ZERO);
                let extras = Extras { client, display_quantity, link: None };
                let mut budget = ORDERS_PER_COMMAND;
                core.accept(account, terms, plan, extras, &mut budget, sink)
            },
            sink,
        )
    }

    /// Makes all the checks of an order, in the order that decides which reason is given.
    #[inline(never)]
    pub(crate) fn plan(&self, account: u32, terms: &NewOrder) -> Result<Plan, RejectReason> {
        self.checked_plan::<false>(account, terms)
    }

    /// [`Core::plan`]; of a simple order without the checks that simple orders always pass.
    #[inline(always)]
    fn checked_plan<const SIMPLE: bool>(
        &self,
        account: u32,
        terms: &NewOrder,
    ) -> Result<Plan, RejectReason> {
        let at = self.market(terms.instrument)?;
        let market = &self.markets[usize::from(at)];
        let is_open = market.state() == InstrumentState::Open;
        if self.is_barred(market, account) {
            self.check_barred(market, account, false)?;
        }
        let knows_all = self.rules_since(WITH_MORE_ENTRIES);
        if !knows_all && !self.rules_since(terms.rules_version_min()) {
            return Err(RejectReason::AttributeUnknown);
        }
        let rests = SIMPLE || check_combination(terms, knows_all)?;
        if !SIMPLE
            && rests
            && terms.kind == OrderKind::FiveLevels
            && !self.rules_since(WITH_RESTING_FIVE_LEVELS)
        {
            return Err(RejectReason::InvalidCombination);
        }
        let collects = market.check_phase(is_open, terms)?;
        match terms.size {
            OrderSize::Base(quantity) => market.check_quantity(quantity)?,
            OrderSize::Quote(amount) if amount.0 <= 0 => {
                return Err(RejectReason::AmountNotPositive);
            }
            OrderSize::Quote(_) => {}
        }
        let priced = SIMPLE || terms.kind == OrderKind::Limit || terms.price != Price::ZERO;
        if priced {
            market.check_price(terms.price)?;
        }
        let expire_at = if SIMPLE { Timestamp::MAX } else { self.expiry(market, terms)? };
        if priced {
            market.check_collar(terms.price)?;
            market.check_limits(terms.price)?;
        }
        if rests {
            if self.open_orders(account, at) >= market.rules().open_orders_max {
                return Err(RejectReason::OpenOrdersLimit);
            }
            if self.orders.len() >= self.orders.limit() {
                return Err(RejectReason::VenueFull);
            }
        }
        let mut limit = terms.price;
        if collects && !priced {
            limit = market.auction_limit(terms.side).ok_or(RejectReason::NoReferencePrice)?;
        } else if !SIMPLE && terms.kind != OrderKind::Limit && !collects {
            let best = self.best_live(market, terms.side.opposite())?;
            let best = best.ok_or(RejectReason::NoLiquidity)?;
            if !priced {
                limit = match terms.kind {
                    OrderKind::BestPrice => best,
                    OrderKind::FiveLevels => market.farthest_of(LEVELS_TAKEN, terms.side, best),
                    _ => market.protection_price(terms.side, best),
                };
                if self.rules_since(2) {
                    limit = market.clip_to_collar(terms.side, limit);
                }
                limit = market.clip_to_limits(terms.side, limit);
                if rests {
                    // A best price may be older than the tick.
                    market.check_price(limit)?;
                }
            }
            if !within(terms.side, limit, best) {
                return Err(RejectReason::NoLiquidity);
            }
        }
        match terms.size {
            OrderSize::Base(quantity) => market.check_notional(limit, quantity)?,
            OrderSize::Quote(amount) => market.check_amount(amount)?,
        }
        let mut crosses = !collects && market.book.reaches(terms.side, limit);
        if let (true, OrderSize::Base(quantity)) = (rests && crosses, terms.size)
            && !SIMPLE
            && terms.post_only != PostOnly::Off
            && let Some(best) = self.would_trade_at(market, terms.side, limit)?
        {
            let checked = self.rules_since(2);
            limit = market.slide(terms.side, terms.post_only, best, quantity, checked)?;
            crosses = market.book.reaches(terms.side, limit);
        }
        let (want, reserved) = self.want(account, market, terms, limit);
        let is_covered = !market.rules().risk || {
            let currency = market.reserved_currency(terms.side);
            let nothing = matches!(want, Remaining::Quote { base_left, .. } if base_left.0 == 0);
            let available = self.ledger.balance(account, currency).available;
            !nothing && available >= reserved
        };
        if !is_covered && self.rules_since(BALANCE_FIRST) {
            return Err(RejectReason::InsufficientBalance);
        }
        if let (true, OrderSize::Base(quantity)) = (rests, terms.size) {
            let leaving = Quantity::ZERO;
            market.check_level(terms.side, limit, quantity, leaving, self.limits.orders_max)?;
        }
        if !SIMPLE {
            self.check_at_once(account, market, terms, limit, want)?;
        }
        if !is_covered {
            return Err(RejectReason::InsufficientBalance);
        }
        Ok(Plan { market: at, limit, rests, crosses, expire_at, want, reserved })
    }

    /// Refuses an order of which what must trade at once cannot.
    #[inline]
    fn check_at_once(
        &self,
        account: u32,
        market: &Market,
        terms: &NewOrder,
        limit: Price,
        want: Remaining,
    ) -> Result<(), RejectReason> {
        if terms.time_in_force == TimeInForce::Fok {
            self.check_fill(account, market, terms, limit, want)
        } else if terms.minimum_quantity != Quantity::ZERO {
            let least = Remaining::Base(terms.minimum_quantity);
            self.check_fill(account, market, terms, limit, least)
        } else {
            Ok(())
        }
    }

    /// Refuses an order of which this much cannot trade at once.
    #[inline(never)]
    fn check_fill(
        &self,
        account: u32,
        market: &Market,
        terms: &NewOrder,
        limit: Price,
        least: Remaining,
    ) -> Result<(), RejectReason> {
        let member = self.accounts.get(account).member;
        let mode = terms.self_trade.unwrap_or(market.rules().self_trade);
        let reach = Reach { side: terms.side, limit, range: market.trading_range() };
        self.check_fill_or_kill(market, reach, least, mode, member)
    }

    /// When an order expires; [`Timestamp::MAX`] is never.
    #[inline]
    pub(crate) fn expiry(
        &self,
        market: &Market,
        terms: &NewOrder,
    ) -> Result<Timestamp, RejectReason> {
        let given = terms.expire_at;
        match terms.time_in_force {
            TimeInForce::Gtd if given > self.time => Ok(given),
            TimeInForce::Gtd => Err(RejectReason::ExpiryInvalid),
            _ if given != Timestamp::ZERO => Err(RejectReason::ExpiryInvalid),
            TimeInForce::Day => {
                let planned = self.planned_expiry(market, TimeInForce::Day);
                Ok(planned.unwrap_or_else(|| market.day_end(self.time)))
            }
            TimeInForce::Gfs => {
                let planned = self.planned_expiry(market, TimeInForce::Gfs);
                planned.ok_or(RejectReason::ExpiryInvalid)
            }
            _ => Ok(Timestamp::MAX),
        }
    }

    /// The size and the reserve of an order.
    #[inline(always)]
    fn want(
        &self,
        account: u32,
        market: &Market,
        terms: &NewOrder,
        limit: Price,
    ) -> (Remaining, Amount) {
        let rules = market.rules();
        match (terms.size, terms.side) {
            (OrderSize::Base(quantity), side) => {
                let reserved = market.reserve(side, limit, quantity, market.fees(0));
                (Remaining::Base(quantity), reserved)
            }
            (OrderSize::Quote(left), Side::Sell) if rules.risk => {
                let base = market.instrument.spec.base;
                let available = self.ledger.balance(account, base).available.0;
                let unit = market.instrument.base_amount(Quantity(1)).0;
                let base_left = market.floor_lot(available / unit);
                (Remaining::Quote { left, base_left }, market.instrument.base_amount(base_left))
            }
            (OrderSize::Quote(left), side) => {
                let reserved = if rules.risk && side == Side::Buy { left } else { Amount::ZERO };
                (Remaining::Quote { left, base_left: Quantity::MAX }, reserved)
            }
        }
    }

    /// Accepts an order: numbers it, reserves, and rests or matches it.
    #[inline]
    pub(crate) fn accept<S: EventSink>(
        &mut self,
        account: u32,
        terms: &NewOrder,
        plan: &Plan,
        extras: Extras,
        budget: &mut u32,
        sink: &mut S,
    ) -> Outcome {
        let Extras { client, display_quantity, link } = extras;
        let order = self.next_order_id();
        let market = &self.markets[usize::from(plan.market)];
        let rules = market.rules();
        let self_trade = terms.self_trade.unwrap_or(rules.self_trade);
        let mut taker = Taker {
            order,
            account,
            member: self.accounts.get(account).member,
            market: plan.market,
            attributes: Attributes {
                role: match terms.kind {
                    _ if display_quantity != Quantity::ZERO => Role::Iceberg,
                    OrderKind::Market if terms.time_in_force.is_for_auction() => Role::Market,
                    OrderKind::FiveLevels if plan.rests => Role::FiveLevels,
                    _ => Role::Plain,
                },
                ..Attributes::new(
                    terms.side,
                    terms.time_in_force,
                    terms.post_only,
                    self_trade,
                    terms.handling,
                )
                .with_link(link.is_some())
            },
            rests: plan.rests,
            amended: false,
            limit: plan.limit,
            range: PriceRange::ALL,
            expire_at: plan.expire_at,
            want: plan.want,
            filled: Quantity::ZERO,
            reserved: plan.reserved,
            fees: market.fees(0),
            client,
            display_quantity,
            link,
        };
        if plan.reserved != Amount::ZERO {
            let currency = market.reserved_currency(terms.side);
            self.ledger.reserve(account, currency, plan.reserved);
        }
        let mut accepted = *terms;
        accepted.price = plan.limit;
        accepted.self_trade = Some(self_trade);
        if terms.time_in_force.ends_by_timetable() {
            accepted.expire_at = plan.expire_at;
        }
        let rests = plan.rests && !plan.crosses;
        let reserved = plan.reserved;
        let is_iceberg = display_quantity != Quantity::ZERO;
        let rests_plain = rests && !is_iceberg;
        sink.event(&Event::Accepted(Accepted {
            order,
            terms: accepted,
            reserved,
            rests: rests_plain,
        }));
        if let Some(link) = link {
            self.publish_exits(order, terms, link, sink);
        }
        if is_iceberg {
            let (account, instrument, side) = (terms.account, terms.instrument, terms.side);
            let set = IcebergSet { order, account, instrument, side, display_quantity };
            sink.event(&Event::IcebergSet(set));
            if rests {
                return self.rest_remainder(&taker, sink);
            }
        }
        if rests {
            self.rest(&taker);
            if self.markets[usize::from(plan.market)].auction_rules.limit_state_ms != 0 {
                self.note_limit(plan.market, terms.side, plan.limit, sink);
            }
            return taker.outcome(OrderStatus::Open);
        }
        taker.range = self.markets[usize::from(plan.market)].trading_range();
        self.send_to_match(taker, budget, sink)
    }
}

impl Market {
    /// The price that a post-only order of `quantity` which would trade at `best` is moved to: the next tick
    /// behind the best opposite price, if an order might be entered at that price. Before rules
    /// version 2 it was not `checked`, and one tick away wherever the best price was.
    pub(crate) fn slide(
        &self,
        side: Side,
        mode: PostOnly,
        best: Price,
        quantity: Quantity,
        checked: bool,
    ) -> Result<Price, RejectReason> {
        if mode != PostOnly::Slide {
            return Err(RejectReason::WouldCross);
        }
        let best = best.0;
        let tick = self.rules().tick.0;
        // Rules may have changed since the best price was entered, so that it is off the tick.
        let off = if checked { best % tick } else { 0 };
        let price = match side {
            Side::Buy if off > 0 => Some(best - off),
            Side::Buy => best.checked_sub(tick),
            Side::Sell => best.checked_add(tick - off),
        };
        let price = price.filter(|&price| price > 0).map(Price).ok_or(RejectReason::WouldCross)?;
        if checked {
            self.check_collar(price)?;
            self.check_limits(price)?;
            self.check_notional(price, quantity)?;
        } else if self.instrument.notional(price, quantity).is_none() {
            return Err(RejectReason::NotionalTooLarge);
        }
        Ok(price)
    }

    /// The protection price of a market order for an auction. `None` if the instrument has neither a last
    /// price nor a reference price.
    fn auction_limit(&self, side: Side) -> Option<Price> {
        let reference = self.reference();
        if reference == Price::ZERO {
            return None;
        }
        let limit = self.clip_to_collar(side, self.protection_price(side, reference));
        let limit = self.clip_to_limits(side, limit);
        self.check_price(limit).is_ok().then_some(limit)
    }

    /// The farthest of the next `count` prices on the other side of an order, `best` being the first. The
    /// levels of expired orders count while they are on the book.
    fn farthest_of(&self, count: usize, side: Side, best: Price) -> Price {
        let levels = self.book.levels(side.opposite()).map(|level| level.price);
        let from_best = levels.skip_while(|price| *price != best);
        from_best.take(count).last().unwrap_or(best)
    }

    /// The next end of day strictly after a time.
    fn day_end(&self, time: Timestamp) -> Timestamp {
        let end = u64::from(self.rules().day_end_s) * Timestamp::SECOND;
        let into_day = time.0 % Timestamp::DAY;
        let wait = if into_day < end { end - into_day } else { Timestamp::DAY - into_day + end };
        time.saturating_add(wait)
    }
}

#[cold]
#[inline(never)]
fn refuse_order<S: EventSink>(terms: &NewOrder, reason: RejectReason, sink: &mut S) -> Outcome {
    refuse(&Command::Place(*terms), reason, sink)
}

/// Whether it is a good-till-cancelled limit order for a base quantity, without an attribute that has checks of
/// its own, and without a client order id. The comparisons are made without branches between them.
#[inline]
fn is_simple(terms: &NewOrder) -> bool {
    (terms.kind == OrderKind::Limit)
        & (terms.time_in_force == TimeInForce::Gtc)
        & (terms.post_only == PostOnly::Off)
        & (terms.minimum_quantity == Quantity::ZERO)
        & (terms.expire_at == Timestamp::ZERO)
        & matches!(terms.size, OrderSize::Base(_))
        & terms.client_order_id.is_empty()
}

/// Whether an order's attributes go together; says whether it can rest. Market orders rest only under
/// rules that say so.
#[inline]
fn check_combination(terms: &NewOrder, market_rests: bool) -> Result<bool, RejectReason> {
    let lasts = !terms.time_in_force.trades_at_once();
    let market = terms.kind != OrderKind::Limit;
    let in_quote = matches!(terms.size, OrderSize::Quote(_));
    let post_only = terms.post_only != PostOnly::Off;
    let no_price = terms.price == Price::ZERO;
    let takes_levels = terms.kind.takes_levels();
    let fits = if terms.time_in_force.is_for_auction() {
        !post_only && !in_quote && !takes_levels && (!market || no_price)
    } else if market && lasts {
        market_rests && !post_only && !in_quote && (no_price || !takes_levels)
    } else {
        (lasts || !post_only) && (market || !in_quote) && (no_price || !takes_levels)
    };
    let fits = fits && (terms.minimum_quantity == Quantity::ZERO || takes_minimum_quantity(terms));
    if fits { Ok(lasts) } else { Err(RejectReason::InvalidCombination) }
}

/// Whether the minimum quantity that must trade at once goes with the other attributes of an order.
#[cold]
#[inline(never)]
fn takes_minimum_quantity(terms: &NewOrder) -> bool {
    let OrderSize::Base(quantity) = terms.size else { return false };
    (Quantity(1)..=quantity).contains(&terms.minimum_quantity)
        && terms.time_in_force != TimeInForce::Fok
        && !terms.time_in_force.is_for_auction()
        && terms.post_only == PostOnly::Off
}
