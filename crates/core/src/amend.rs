//! Changing an open order: smaller in place, or out of the book and in again.

use crate::book::{LimitOrder, Slot};
use crate::instruments::Market;
use crate::limits::ORDERS_PER_COMMAND;
use crate::links::{Link, Part};
use crate::orders::{Detail, Role, STAND_IN};
use crate::place::BALANCE_FIRST;
use crate::taker::{Remaining, Taker};
use crate::{Core, EventSink};
use rialto_model::{
    Amend, Amended, Amount, Event, Iceberg, OrderStatus, Outcome, PostOnly, Price, PriceRange,
    Quantity, ReduceReason, RejectReason, Rested, Timestamp,
};

/// What an order is before its amendment, besides its details.
pub(crate) struct OrderBefore {
    pub(crate) link: Option<Link>,
    /// What has not traded.
    pub(crate) remaining: Quantity,
    /// The most that an iceberg displays; zero for another order.
    pub(crate) display_quantity: Quantity,
}

/// An amendment that has passed its checks, except those of re-entering.
pub(crate) struct Change {
    pub(crate) price: Price,
    /// The new total, including what has traded.
    pub(crate) quantity: Quantity,
    filled: Quantity,
    /// The most that an iceberg displays; zero for another order.
    display_quantity: Quantity,
    /// Its list, if it is linked.
    link: Option<Link>,
}

impl Core {
    #[inline]
    pub(crate) fn amend<S: EventSink>(
        &mut self,
        amend: &Amend,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        let account = self.accounts.slot(amend.account)?;
        let slot = self.find_order(account, amend.account, &amend.order)?;
        self.check_alive(slot)?;
        let detail = *self.open.get(slot.at());
        let market = &self.markets[usize::from(detail.market)];
        let remaining = self.orders.get(slot).remaining;
        let link = detail.attributes.is_linked().then(|| *self.links.get(slot));
        let is_exit = link.is_some_and(|link| link.part != Part::Entry);
        if is_exit || detail.attributes.role.waits() {
            return self.amend_linked_or_waiting(slot, link, amend, sink);
        }
        if self.is_barred(market, account) {
            let lowers = amend.quantity.is_some_and(|quantity| quantity < detail.total);
            let reduces = lowers && amend.price.is_none_or(|price| price == detail.price);
            self.check_barred(market, account, reduces)?;
        }
        let mut display_quantity = Quantity::ZERO;
        if detail.attributes.role == Role::Iceberg {
            display_quantity = self.icebergs.get(slot).display_quantity;
        }
        let before = OrderBefore { link, remaining, display_quantity };
        let change = self.check_change(market, &detail, &before, amend)?;
        if change.price == detail.price && change.quantity < detail.total {
            let by = Quantity(detail.total.0 - change.quantity.0);
            let (order, price, remaining) =
                self.reduce_order(slot, by, ReduceReason::Amended, sink);
            let filled = change.filled;
            let status = open_status(filled);
            return Ok(Outcome::Order { order, status, price, filled, remaining, repeated: false });
        }
        self.reenter(slot, &detail, remaining, &change, sink)
    }

    /// Takes an order out of the book and enters it again under its id, with the fee rates in
    /// force. The residue of its fee stays with it.
    #[inline]
    pub(crate) fn reenter<S: EventSink>(
        &mut self,
        slot: Slot,
        detail: &Detail,
        old_remaining: Quantity,
        change: &Change,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        let market = &self.markets[usize::from(detail.market)];
        let mut attributes = detail.attributes;
        // A price of its own makes a market order for an auction a limit order.
        if change.price != detail.price && attributes.role == Role::Market {
            attributes.role = Role::Plain;
        }
        let is_iceberg = attributes.role == Role::Iceberg;
        let side = attributes.side;
        let remaining = Quantity(change.quantity.0 - change.filled.0);
        let mut limit = change.price;
        let collects = market.state().collects();
        let mut crosses = !collects && market.book.reaches(side, limit);
        if crosses
            && attributes.post_only != PostOnly::Off
            && let Some(best) = self.would_trade_at(market, side, limit)?
        {
            let (mode, checked) = (attributes.post_only, self.rules_since(2));
            limit = market.slide(side, mode, best, change.quantity, checked)?;
            crosses = market.book.reaches(side, limit);
        }
        // Only its hidden quantity grows.
        let stays = is_iceberg && limit == detail.price && remaining > old_remaining;
        let leaving = if limit == detail.price { old_remaining } else { Quantity::ZERO };
        let fees = market.fees(detail.fees.residue());
        let reserved = market.reserve(side, limit, remaining, fees);
        let currency = market.reserved_currency(side);
        let more = Amount(reserved.0 - detail.reserved.0);
        let is_short =
            more != Amount::ZERO && self.ledger.balance(detail.account, currency).available < more;
        if is_short && self.rules_since(BALANCE_FIRST) {
            return Err(RejectReason::InsufficientBalance);
        }
        market.check_level(side, limit, remaining, leaving, self.limits.orders_max)?;
        if is_short {
            return Err(RejectReason::InsufficientBalance);
        }
        if more != Amount::ZERO {
            self.ledger.reserve(detail.account, currency, more);
        }
        let order = self.orders.get(slot);
        let instrument = market.instrument.id;
        let account = self.accounts.get(detail.account).id;
        let mut taker = Taker {
            order: order.id,
            account: detail.account,
            member: order.owner,
            market: detail.market,
            attributes,
            rests: true,
            amended: true,
            limit,
            range: PriceRange::ALL,
            expire_at: detail.expire_at,
            want: Remaining::Base(remaining),
            filled: change.filled,
            reserved,
            fees,
            client: detail.client,
            display_quantity: change.display_quantity,
            link: change.link,
        };
        sink.event(&Event::Amended(Amended {
            order: order.id,
            account,
            instrument,
            side,
            old_price: detail.price,
            old_remaining,
            price: limit,
            quantity: change.quantity,
            remaining,
            old_reserved: detail.reserved,
            reserved,
        }));
        let market = &mut self.markets[usize::from(detail.market)];
        if stays {
            let by = Quantity(remaining.0 - old_remaining.0);
            market.book.enlarge(&mut self.orders, slot, by);
            *self.open.get_mut(slot.at()) = taker.detail();
            return Ok(taker.outcome(open_status(change.filled)));
        }
        market.book.remove(&mut self.orders, slot);
        if is_iceberg && crosses {
            market.icebergs -= 1;
        }
        if detail.attributes.role != attributes.role {
            market.auction_orders.remove_market(side, detail.price);
        }
        if crosses {
            if let Some(link) = change.link {
                self.lists.get_mut(link.list).entry = STAND_IN;
            }
            self.relist(slot.at(), STAND_IN, detail.account);
            if detail.expire_at != Timestamp::MAX {
                self.expiries.remove(slot.at());
            }
            taker.range = self.markets[usize::from(detail.market)].trading_range();
            let mut budget = ORDERS_PER_COMMAND;
            return Ok(self.send_to_match(taker, &mut budget, sink));
        }
        let (id, owner) = (order.id, order.owner);
        let rest = LimitOrder { id, side, price: limit, quantity: remaining, owner };
        let new = market
            .book
            .insert(&mut self.orders, rest)
            .expect("an order that just left the book has room there");
        if new != slot {
            self.open.cover(self.orders.slots());
            if attributes.time_in_force.is_for_auction() {
                let list = &mut market.auction_orders;
                self.auction_links.cover(self.orders.slots());
                self.auction_links.replace(list, slot.at(), new.at());
            }
            self.relist(slot.at(), new.at(), detail.account);
            if detail.expire_at != Timestamp::MAX {
                self.expiries.remove(slot.at());
                self.expiries.insert(new.at(), detail.expire_at, order.id.0);
            }
        }
        *self.open.get_mut(new.at()) = taker.detail();
        if let Some(link) = change.link {
            self.join_list(new, link);
        }
        if is_iceberg {
            self.icebergs.set(new, Iceberg::new(taker.display_quantity, remaining));
        }
        let price = limit;
        let rested = Rested { order: order.id, account, instrument, side, price, remaining };
        sink.event(&Event::Rested(rested));
        if self.markets[usize::from(detail.market)].auction_rules.limit_state_ms != 0 {
            self.note_limit(detail.market, side, price, sink);
        }
        Ok(taker.outcome(open_status(change.filled)))
    }

    /// Replaces a slot by another in the account's list and in the background work.
    pub(crate) fn relist(&mut self, from: u32, to: u32, account: u32) {
        let account = self.accounts.get_mut(account);
        self.open.replace(account, from, to);
        let under_way = account.under_way;
        if under_way > 0 {
            self.moved(under_way, from, to);
        }
    }
}

fn open_status(filled: Quantity) -> OrderStatus {
    if filled.0 > 0 { OrderStatus::PartiallyFilled } else { OrderStatus::Open }
}

impl Core {
    pub(crate) fn check_change(
        &self,
        market: &Market,
        detail: &Detail,
        before: &OrderBefore,
        amend: &Amend,
    ) -> Result<Change, RejectReason> {
        let OrderBefore { link, remaining, display_quantity } = *before;
        market.check_cancel(self.time)?;
        let price = amend.price.unwrap_or(detail.price);
        let quantity = amend.quantity.unwrap_or(detail.total);
        if price == detail.price && quantity == detail.total {
            return Err(RejectReason::NothingToAmend);
        }
        if quantity != detail.total || self.rules_since(5) {
            market.check_quantity(quantity)?;
        }
        if price != detail.price {
            market.check_price(price)?;
            market.check_collar(price)?;
            market.check_limits(price)?;
            if let Some(link) = link {
                self.check_level_in_list(link, price)?;
            }
        }
        market.check_notional(price, quantity)?;
        let filled = Quantity(detail.total.0 - remaining.0);
        if quantity <= filled {
            return Err(RejectReason::QuantityBelowFilled);
        }
        if detail.attributes.role == Role::Iceberg
            && !Iceberg::is_allowed(display_quantity, quantity)
        {
            return Err(RejectReason::DisplayQuantityInvalid);
        }
        Ok(Change { price, quantity, filled, display_quantity, link })
    }
}
