//! Reading the state, of snapshots and in tests. Nothing here changes anything.

use crate::Core;
use crate::accounts::Member;
use crate::book::{Book, Orders, Slot};
use crate::client_ids::End;
use crate::halts::Breaker;
use crate::ledger::Balance;
use crate::links::{Link, Part};
use crate::orders::{Detail, NIL, Role};
use rialto_model::{
    AccountId, Amount, AuctionRules, CircuitBreakerRule, ClientOrderId, ContractTerms, Currency,
    CurrencyId, DoneReason, Handling, Iceberg, Instrument, InstrumentId, Leg, MemberId, Name,
    NewOrder, OrderId, OrderSize, PlannedTransition, PostOnly, Price, Quantity, SelfTrade, Seq,
    Side, TimeInForce, Timestamp, TrailState, Trigger, TriggerKind,
};
use std::collections::VecDeque;

/// An account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountState {
    /// Its id.
    pub id: AccountId,
    /// Its owner.
    pub member: MemberId,
    /// Its name.
    pub name: Name,
    /// The number of its open orders.
    pub open_orders: u32,
    /// When its dead-man timer runs out; [`Timestamp::MAX`] is never.
    pub dead_man_due: Timestamp,
}

/// An instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstrumentView<'a> {
    /// Its specification, rules and state.
    pub instrument: &'a Instrument,
    /// The price of its last trade; zero before the first.
    pub last_price: Price,
    /// Orders open in it.
    pub open_orders: usize,
    /// The rules of its auctions.
    pub auction_rules: &'a AuctionRules,
    /// The terms of its contract.
    pub terms: &'a ContractTerms,
    /// The price of its last auction; zero before the first.
    pub auction_price: Price,
    /// The calendar whose timetable it follows, or empty.
    pub calendar: Name,
    /// When its halt ends, if that ends by itself.
    pub halted_until: Option<Timestamp>,
    /// The side whose best price stands at a limit, and when trading is halted if it still does.
    pub limit_state: Option<(Side, Timestamp)>,
}

/// A calendar and its timetable.
#[derive(Clone, Copy, Debug)]
pub struct CalendarView<'a> {
    /// Its name.
    pub name: Name,
    /// Identifies the file of the plan that was adopted last; zero if none was.
    pub digest: u64,
    /// The transition that began last.
    pub begun: Option<PlannedTransition>,
    /// The transitions that have not begun, by time.
    pub ahead: &'a VecDeque<PlannedTransition>,
    /// The transitions of a plan that has not been adopted.
    pub draft: &'a [PlannedTransition],
    /// The circuit breaker, and whether it is armed.
    pub breaker: Option<(CircuitBreakerRule, bool)>,
}

/// An order that has ended and is remembered by its client order id, since rules version 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedOrder {
    /// Its id.
    pub order: OrderId,
    /// Its terms as they were in force: with its last limit, self-trade mode, expiry and, if it was
    /// sized in base currency, total quantity.
    pub terms: NewOrder,
    /// Why it ended; none if it was filled.
    pub reason: Option<DoneReason>,
    /// The quantity that has traded.
    pub filled: Quantity,
    /// The quantity that did not trade; zero for an order sized in quote currency.
    pub remaining: Quantity,
    /// The sequence of the command that ended it.
    pub seq: Seq,
    /// The time of that command.
    pub time: Timestamp,
}

/// What an open order is linked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Links {
    /// The first order of its list.
    pub list: OrderId,
    /// The other order of its pair, if there is one.
    pub other: Option<OrderId>,
    /// Of an entry: its exit at a better price.
    pub take_profit: Option<Leg>,
    /// Of an entry: its exit at a worse price.
    pub stop_loss: Option<Leg>,
}

/// An open order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderState {
    /// Its id.
    pub id: OrderId,
    /// The account.
    pub account: AccountId,
    /// The member.
    pub member: MemberId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// The side.
    pub side: Side,
    /// Its limit in force.
    pub price: Price,
    /// The total quantity.
    pub quantity: Quantity,
    /// The remaining quantity.
    pub remaining: Quantity,
    /// The reserve of the order.
    pub reserved: Amount,
    /// How long it stands.
    pub time_in_force: TimeInForce,
    /// When it expires; [`Timestamp::MAX`] is never.
    pub expire_at: Timestamp,
    /// Whether it may take liquidity when it is amended.
    pub post_only: PostOnly,
    /// The self-trade mode in force.
    pub self_trade: SelfTrade,
    /// How it is handled beside matching.
    pub handling: Handling,
    /// Whether it is a market order, for an auction or waiting for its trigger.
    pub is_market: bool,
    /// What it waits for, if it waits.
    pub trigger: Option<Trigger>,
    /// What it follows, if it is a trailing stop that waits.
    pub trail: Option<TrailState>,
    /// What it displays, if it is an iceberg.
    pub iceberg: Option<Iceberg>,
    /// What it is linked to, if it is.
    pub links: Option<Links>,
    /// The fee rate it pays as a maker, in millionths.
    pub maker_fee_ppm: i32,
    /// The fee rate that its reserve is for, in millionths.
    pub taker_fee_ppm: i32,
    /// The residue of its fee, in millionths of the smallest unit.
    pub fee_residue: u32,
    /// The member's own name for it, or empty.
    pub client_order_id: ClientOrderId,
}

impl Core {
    /// All members, in order of admission.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        self.accounts.members()
    }

    /// All members' accounts, in order of opening.
    pub fn accounts(&self) -> impl ExactSizeIterator<Item = AccountState> {
        (0..self.accounts.len()).map(|slot| self.account_view(slot))
    }

    /// A member's account.
    #[must_use]
    pub fn account(&self, id: AccountId) -> Option<AccountState> {
        self.accounts.slot(id).ok().map(|slot| self.account_view(slot))
    }

    fn account_view(&self, slot: u32) -> AccountState {
        let account = self.accounts.get(slot);
        AccountState {
            id: account.id,
            member: account.member,
            name: self.accounts.name(slot),
            open_orders: account.open_orders,
            dead_man_due: self.dead_men.due(slot).unwrap_or(Timestamp::MAX),
        }
    }

    /// The balance of an account, a member's or one of the venue's own, in a currency. `None` if
    /// there is no such account or currency.
    #[must_use]
    pub fn balance(&self, account: AccountId, currency: CurrencyId) -> Option<Balance> {
        if usize::from(currency.0).wrapping_sub(1) >= self.currencies.len() {
            return None;
        }
        let house = |available| Balance { available, reserved: Amount::ZERO };
        match account {
            AccountId::FEES => Some(house(self.ledger.fees(currency))),
            AccountId::TRANSIT => Some(house(self.ledger.transit(currency))),
            AccountId::INSURANCE | AccountId::CLEARING => Some(Balance::default()),
            _ => self.accounts.slot(account).ok().map(|slot| self.ledger.balance(slot, currency)),
        }
    }

    /// All currencies, in order of listing.
    #[must_use]
    pub fn currencies(&self) -> &[Currency] {
        &self.currencies
    }

    /// All instruments, in order of listing.
    pub fn instruments(&self) -> impl ExactSizeIterator<Item = InstrumentView<'_>> {
        self.markets.iter().map(|market| InstrumentView {
            instrument: &market.instrument,
            last_price: market.last_price,
            open_orders: market.open_orders(),
            auction_rules: &market.auction_rules,
            terms: &market.terms,
            auction_price: market.auction_price,
            calendar: market
                .calendar
                .map_or(Name::EMPTY, |at| self.calendars[usize::from(at)].name),
            halted_until: market.halt.map(|halt| halt.until),
            limit_state: market.limit_state.map(|state| (state.side, state.ends)),
        })
    }

    /// All calendars, in the order in which they became known.
    pub fn calendars(&self) -> impl ExactSizeIterator<Item = CalendarView<'_>> {
        self.calendars.iter().map(|calendar| CalendarView {
            name: calendar.name,
            digest: calendar.digest,
            begun: calendar.begun,
            ahead: &calendar.ahead,
            draft: &calendar.draft,
            breaker: calendar.breaker.map(|breaker| {
                let instrument = self.markets[usize::from(breaker.market)].instrument.id;
                let Breaker { range_ppm, halt_ms, is_armed, .. } = breaker;
                let calendar = calendar.name;
                (CircuitBreakerRule { calendar, instrument, range_ppm, halt_ms }, is_armed)
            }),
        })
    }

    /// An instrument.
    #[must_use]
    pub fn instrument(&self, id: InstrumentId) -> Option<InstrumentView<'_>> {
        let at = self.market(id).ok()?;
        self.instruments().nth(usize::from(at))
    }

    /// The book of an instrument; its orders are in [`Core::resting`].
    #[must_use]
    pub fn book(&self, instrument: InstrumentId) -> Option<&Book> {
        let at = self.market(instrument).ok()?;
        Some(&self.markets[usize::from(at)].book)
    }

    /// The resting orders of all books.
    #[must_use]
    pub fn resting(&self) -> &Orders {
        &self.orders
    }

    /// An open order that is on the book.
    #[must_use]
    pub fn order(&self, id: OrderId) -> Option<OrderState> {
        self.orders.find(id).map(|slot| self.order_view(slot))
    }

    /// The open orders of one side of an instrument, in priority.
    pub fn orders(
        &self,
        instrument: InstrumentId,
        side: Side,
    ) -> impl Iterator<Item = OrderState> + '_ {
        let book = self.book(instrument).into_iter();
        book.flat_map(move |book| book.orders(&self.orders, side)).map(|slot| self.order_view(slot))
    }

    /// The waiting orders of an instrument: first the ones triggered at or below their trigger price, the
    /// highest price first, then the ones triggered at or above it, the lowest first; and then the trailing
    /// stops in order of entry.
    pub fn waiting_orders(
        &self,
        instrument: InstrumentId,
    ) -> impl Iterator<Item = OrderState> + '_ {
        let at = self.market(instrument).ok();
        let triggers = at.map(|at| &self.markets[usize::from(at)].triggers).into_iter();
        triggers
            .flat_map(|triggers| triggers.slots(&self.orders, &self.waiting))
            .map(|slot| self.order_view(slot))
    }

    /// The open orders of an account, by ascending id.
    pub fn orders_of(&self, account: AccountId) -> impl Iterator<Item = OrderState> + '_ {
        let known = |slot: u32| (slot != NIL).then_some(slot);
        let head = self.accounts.slot(account).ok();
        let head = head.and_then(|slot| known(self.accounts.get(slot).head));
        std::iter::successors(head, move |&slot| known(self.open.next(slot)))
            .filter_map(Slot::new)
            .map(|slot| self.order_view(slot))
    }

    /// The orders that have ended and are remembered by their client order ids, by account and in
    /// order of entry.
    pub fn ended_orders(&self) -> impl Iterator<Item = EndedOrder> + '_ {
        let accounts = 0..self.accounts.len();
        accounts.flat_map(|account| self.client_ids.window(account)).filter_map(|at| {
            let known = self.client_ids.get(at);
            let (order, end) = (known.order()?, known.end?);
            let mut terms = known.terms.after_entry();
            terms.price = end.price;
            terms.self_trade = Some(end.self_trade);
            if terms.time_in_force.ends_by_timetable() {
                terms.expire_at = end.expire_at;
            }
            if let OrderSize::Base(quantity) = &mut terms.size {
                quantity.0 = end.filled.0 + end.remaining.0;
            }
            let End { reason, filled, remaining, seq, time, .. } = end;
            Some(EndedOrder { order, terms, reason, filled, remaining, seq, time })
        })
    }

    fn trail_of(&self, slot: Slot, detail: &Detail) -> Option<TrailState> {
        let attributes = detail.attributes;
        if !attributes.role.trails() {
            return None;
        }
        let triggers = &self.markets[usize::from(detail.market)].triggers;
        let extreme = triggers.extreme(&self.waiting, slot, attributes.side);
        Some(TrailState { trail: self.waiting.follower(slot).trail, extreme })
    }

    fn links_of(&self, slot: Slot) -> Links {
        let Link { list, part } = *self.links.get(slot);
        let list = self.lists.get(list);
        let mut others =
            list.orders.into_iter().filter(|other| *other != NIL && *other != slot.at());
        let is_entry = part == Part::Entry;
        let [take_profit, stop_loss] = if is_entry { list.legs } else { [None, None] };
        let other = others.next().filter(|_| !is_entry).map(|other| self.order_at(other).id);
        Links { list: list.id, other, take_profit, stop_loss }
    }

    /// What an order waits for, unless it trails or does not wait.
    pub(crate) fn trigger_of(&self, slot: Slot, detail: &Detail) -> Option<Trigger> {
        if !detail.attributes.role.waits() || detail.attributes.role.trails() {
            return None;
        }
        let triggers = &self.markets[usize::from(detail.market)].triggers;
        let (trigger_side, price) = triggers.book.locate(&self.orders, slot);
        let kind = match trigger_side == detail.attributes.side {
            true => TriggerKind::TakeProfit,
            false => TriggerKind::Stop,
        };
        Some(Trigger { kind, price })
    }

    pub(crate) fn order_view(&self, slot: Slot) -> OrderState {
        let trail = self.trail_of(slot, self.open.get(slot.at()));
        OrderState { trail, ..self.order_terms(slot) }
    }

    /// The order without what it follows, which takes a look at all queued prices.
    pub(crate) fn order_terms(&self, slot: Slot) -> OrderState {
        let order = self.orders.get(slot);
        let detail = self.open.get(slot.at());
        let attributes = detail.attributes;
        let client = detail.client.checked_sub(1).map(|at| self.client_ids.get(at).terms);
        OrderState {
            id: order.id,
            account: self.accounts.get(detail.account).id,
            member: order.owner,
            instrument: InstrumentId(u32::from(detail.market) + 1),
            side: attributes.side,
            price: detail.price,
            quantity: detail.total,
            remaining: order.remaining,
            reserved: detail.reserved,
            time_in_force: attributes.time_in_force,
            expire_at: detail.expire_at,
            post_only: attributes.post_only,
            self_trade: attributes.self_trade,
            handling: attributes.unpacked_handling(),
            is_market: attributes.role.is_market(),
            trigger: self.trigger_of(slot, detail),
            trail: None,
            iceberg: (attributes.role == Role::Iceberg).then(|| *self.icebergs.get(slot)),
            links: attributes.is_linked().then(|| self.links_of(slot)),
            maker_fee_ppm: detail.fees.maker_ppm(),
            taker_fee_ppm: detail.fees.taker_ppm(),
            fee_residue: detail.fees.residue(),
            client_order_id: client.map_or(ClientOrderId::EMPTY, |terms| terms.client_order_id),
        }
    }
}
