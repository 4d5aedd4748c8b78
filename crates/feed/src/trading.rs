//! Folds the events of orders, from acceptance to end.

use crate::accounts::FEES;
use crate::book::Cause;
use crate::list::Link;
use crate::market::Market;
use crate::orders::{Follower, Order};
use crate::view::{Fill, LinksView, Moment};
use crate::{Feed, FoldError, Update};
use rialto_model::{
    Accepted, AccountId, Amended, Amount, CurrencyId, Done, DoneReason, ExitsSet, Iceberg,
    IcebergRefreshed, IcebergSet, Instrument, InstrumentId, OrderId, OrderKind, OrderSize,
    OrderStatus, OrdersLinked, Price, Quantity, ReduceReason, Reduced, Rested, Role, Side, Trade,
    TrailActivated, TrailSet, TriggerSet, Triggered,
};

impl Feed {
    pub(crate) fn accepted(&mut self, at: Moment, event: &Accepted) -> Result<(), FoldError> {
        let terms = event.terms.after_entry();
        let index = self.market_index(at, terms.instrument)?;
        let account = self.account_slot(at, terms.account)?;
        if self.orders.slot(event.order).is_some() {
            return Err(mismatch(at, event.order, "the number of orders", 1, 2));
        }
        let quantity = match terms.size {
            OrderSize::Base(quantity) => quantity,
            OrderSize::Quote(_) => Quantity::ZERO,
        };
        let order = Order {
            order: event.order,
            terms,
            account,
            status: OrderStatus::Open,
            done: None,
            trigger: None,
            follower: None,
            iceberg: None,
            links: None,
            past: None,
            resting: false,
            changed: false,
            quantity,
            filled: Quantity::ZERO,
            remaining: quantity,
            filled_notional: Some(Amount::ZERO),
            fee: Some(Amount::ZERO),
            reserved: event.reserved,
            accepted: Some(at),
            updated: at,
            queue: Link::LOOSE,
            owner: Link::LOOSE,
        };
        let owner = &mut self.accounts.slots[account as usize];
        let slot = self.orders.insert(order, owner);
        self.orders.touch(slot, at);
        self.reserve(at, index, account, terms.side, event.reserved);
        if event.rests {
            self.touch(index);
            self.markets[index].book.push_back(&mut self.orders, slot, at.seq);
        }
        Ok(())
    }

    pub(crate) fn rested(&mut self, at: Moment, event: &Rested) -> Result<(), FoldError> {
        let (slot, index) = self.open_order(at, event.order, event.instrument)?;
        self.touch(index);
        let order = &mut self.orders.slab[slot as usize];
        agree(at, event.order, "what remains", event.remaining.0, order.remaining.0)?;
        agree(at, event.order, "the price", event.price.0, order.terms.price.0)?;
        agree(at, event.order, "its stay on the book", 0, i64::from(order.resting))?;
        agree(at, event.order, "its wait for a price", 0, i64::from(order.waits()))?;
        order.display(event.remaining);
        self.orders.touch(slot, at);
        self.markets[index].book.push_back(&mut self.orders, slot, at.seq);
        Ok(())
    }

    pub(crate) fn trade(
        &mut self,
        at: Moment,
        event: &Trade,
        emit: &mut impl FnMut(Update<'_>),
    ) -> Result<(), FoldError> {
        let (maker, index) = self.open_order(at, event.maker_order, event.instrument)?;
        let (taker, _) = self.open_order(at, event.taker_order, event.instrument)?;
        self.touch(index);
        let instrument = self.markets[index].instrument;
        let notional = notional_of(&instrument, event);

        let order = &mut self.orders.slab[maker as usize];
        agree(at, event.maker_order, "its stay on the book", 1, i64::from(order.resting))?;
        let left = order.remaining.0 - event.quantity.0;
        agree(at, event.maker_order, "what remains", event.maker_remaining.0, left)?;
        order.fill(event.quantity, notional, event.maker_fee);
        order.unlink();
        let maker_account = order.account;
        self.orders.touch(maker, at);
        let cause = if event.auction { Cause::Auction } else { Cause::Trade };
        let book = &mut self.markets[index].book;
        book.reduce(&mut self.orders, maker, event.quantity, cause, at.seq);

        let order = &mut self.orders.slab[taker as usize];
        let rested = i64::from(event.auction);
        agree(at, event.taker_order, "its stay on the book", rested, i64::from(order.resting))?;
        agree(at, event.taker_order, "its wait for a price", 0, i64::from(order.waits()))?;
        let in_quote = order.sized_in_quote();
        let left = order.remaining.0 - if in_quote { 0 } else { event.quantity.0 };
        agree(at, event.taker_order, "what remains", event.taker_remaining.0, left)?;
        order.fill(event.quantity, notional, event.taker_fee);
        order.unlink();
        let taker_account = order.account;
        let taker_filled = left == 0 && !in_quote;
        if event.auction {
            let book = &mut self.markets[index].book;
            book.reduce(&mut self.orders, taker, event.quantity, cause, at.seq);
        } else {
            self.orders.slab[taker as usize].remaining.0 = left;
        }
        self.orders.touch(taker, at);

        if instrument.spec.rules.risk {
            self.settle(at, &instrument, event, [maker, taker]);
        }
        if event.maker_remaining == Quantity::ZERO {
            let owner = &mut self.accounts.slots[maker_account as usize];
            self.orders.end(maker, OrderStatus::Filled, owner);
        }
        if taker_filled {
            let owner = &mut self.accounts.slots[taker_account as usize];
            self.orders.end(taker, OrderStatus::Filled, owner);
        }

        self.markets[index].extremes.iter_mut().for_each(|extremes| extremes.push(event.price));
        let keep = self.config.trades_per_instrument;
        emit(Update::Trade(&self.markets[index].record(event, notional, at, keep)));
        for (fill, account) in fills_of(event, at).into_iter().zip([maker_account, taker_account]) {
            emit(Update::Fill(&fill));
            self.fills.push(fill, account, &mut self.accounts.slots);
        }
        Ok(())
    }

    /// Posts a trade: the reserves of both sides, the two currencies and the fees.
    fn settle(&mut self, at: Moment, instrument: &Instrument, event: &Trade, orders: [u32; 2]) {
        let [maker, taker] = orders;
        let (buyer, buyer_fee, seller, seller_fee) = match event.taker_side {
            Side::Buy => (taker, event.taker_fee, maker, event.maker_fee),
            Side::Sell => (maker, event.maker_fee, taker, event.taker_fee),
        };
        let (base, quote) = (instrument.spec.base, instrument.spec.quote);
        let delivered = instrument.base_amount(event.quantity).0;
        let unreserved = event.buyer_unreserved.0;

        let order = &mut self.orders.slab[buyer as usize];
        order.reserved.0 -= unreserved;
        let account = order.account;
        let paid = event.notional.0 + buyer_fee.0;
        self.accounts.post(account, quote, unreserved - paid, -unreserved, at.seq);
        self.accounts.post(account, base, delivered, 0, at.seq);

        let order = &mut self.orders.slab[seller as usize];
        order.reserved.0 -= delivered;
        let account = order.account;
        self.accounts.post(account, base, 0, -delivered, at.seq);
        self.accounts.post(account, quote, event.notional.0 - seller_fee.0, 0, at.seq);

        let fees = event.maker_fee.0 + event.taker_fee.0;
        if fees != 0 {
            self.accounts.post(FEES, quote, fees, 0, at.seq);
        }
    }

    pub(crate) fn done(&mut self, at: Moment, event: &Done) -> Result<(), FoldError> {
        let (slot, index) = self.open_order(at, event.order, event.instrument)?;
        let order = &self.orders.slab[slot as usize];
        agree(at, event.order, "what remains", event.remaining.0, order.remaining.0)?;
        if event.released != order.reserved {
            let (said, folded) = (event.released.0, order.reserved.0);
            return Err(mismatch(at, event.order, "what is released", said, folded));
        }
        let (account, resting) = (order.account, order.resting);
        let other = order.links.as_ref().and_then(|links| links.other);
        if resting {
            self.touch(index);
            self.markets[index].book.remove(&mut self.orders, slot, at.seq);
        }
        self.release(at, index, slot, event.released);
        let order = &mut self.orders.slab[slot as usize];
        (order.done, order.trigger) = (Some(event.reason), None);
        let status = ended_as(event.reason, order.filled);
        self.unfollow(slot, index);
        self.orders.touch(slot, at);
        self.orders.end(slot, status, &mut self.accounts.slots[account as usize]);
        if let Some(other) = other.and_then(|other| self.orders.slot(other)) {
            self.orders.slab[other as usize].unlink();
            self.orders.touch(other, at);
        }
        Ok(())
    }

    pub(crate) fn reduced(&mut self, at: Moment, event: &Reduced) -> Result<(), FoldError> {
        let (slot, index) = self.open_order(at, event.order, event.instrument)?;
        let order = &mut self.orders.slab[slot as usize];
        let left = order.remaining.0 - event.by.0;
        agree(at, event.order, "what remains", event.remaining.0, left)?;
        order.set_quantity(Quantity(order.quantity.0 - event.by.0));
        if event.reason == ReduceReason::SelfTrade {
            order.unlink();
        }
        if order.resting {
            self.touch(index);
            let book = &mut self.markets[index].book;
            book.reduce(&mut self.orders, slot, event.by, Cause::Reduction, at.seq);
        } else {
            order.remaining = event.remaining;
        }
        self.release(at, index, slot, event.released);
        self.orders.touch(slot, at);
        Ok(())
    }

    pub(crate) fn amended(&mut self, at: Moment, event: &Amended) -> Result<(), FoldError> {
        let (slot, index) = self.open_order(at, event.order, event.instrument)?;
        let order = &self.orders.slab[slot as usize];
        agree(at, event.order, "what remains", event.old_remaining.0, order.remaining.0)?;
        agree(at, event.order, "the price", event.old_price.0, order.terms.price.0)?;
        let (resting, waits) = (order.resting, order.waits());
        let more = Quantity(event.remaining.0 - event.old_remaining.0);
        if !resting && !waits {
            // Of an incoming order only the price changes, to the last one that it traded at.
            let has_traded = order.filled > Quantity::ZERO;
            agree(at, event.order, "its stay on the book", 1, i64::from(has_traded))?;
            agree(at, event.order, "the quantity", event.quantity.0, order.quantity.0)?;
            agree(at, event.order, "what remains", event.remaining.0, order.remaining.0)?;
        }
        // Of an iceberg at the same price only the hidden quantity grows.
        let stays = order.iceberg.is_some() && event.price == event.old_price && more.0 > 0;
        if resting {
            self.touch(index);
            let book = &mut self.markets[index].book;
            match stays {
                true => book.enlarge(&mut self.orders, slot, more),
                false => book.remove(&mut self.orders, slot, at.seq),
            }
        }
        self.release(at, index, slot, event.old_reserved);
        let order = &mut self.orders.slab[slot as usize];
        if event.price != event.old_price && !waits {
            // A price of its own makes a market order for an auction a limit order. A market order that
            // waits stays one.
            order.terms.kind = OrderKind::Limit;
        }
        order.terms.price = event.price;
        order.set_quantity(event.quantity);
        order.remaining = event.remaining;
        order.reserved = event.reserved;
        let account = order.account;
        self.orders.touch(slot, at);
        self.reserve(at, index, account, event.side, event.reserved);
        Ok(())
    }

    pub(crate) fn trigger_set(&mut self, at: Moment, event: &TriggerSet) -> Result<(), FoldError> {
        let (slot, _) = self.open_order(at, event.order, event.instrument)?;
        let order = &mut self.orders.slab[slot as usize];
        agree(at, event.order, "its stay on the book", 0, i64::from(order.resting))?;
        order.trigger = Some(event.trigger);
        order.past().trigger = Some(event.trigger);
        self.orders.wait(slot);
        self.orders.touch(slot, at);
        Ok(())
    }

    pub(crate) fn trail_set(&mut self, at: Moment, event: &TrailSet) -> Result<(), FoldError> {
        let (slot, _) = self.open_order(at, event.order, event.instrument)?;
        let order = &mut self.orders.slab[slot as usize];
        agree(at, event.order, "its stay on the book", 0, i64::from(order.resting))?;
        order.follower = Some(Box::new(Follower { trail: event.trail, active: None }));
        order.past().trail = Some(event.trail);
        self.orders.wait(slot);
        self.orders.touch(slot, at);
        Ok(())
    }

    pub(crate) fn trail_activated(
        &mut self,
        at: Moment,
        event: &TrailActivated,
    ) -> Result<(), FoldError> {
        let (slot, index) = self.open_order(at, event.order, event.instrument)?;
        let waits = self.orders.slab[slot as usize].follower.is_some();
        agree(at, event.order, "its wait for a price", 1, i64::from(waits))?;
        self.activate(slot, index, event.extreme);
        self.orders.touch(slot, at);
        Ok(())
    }

    /// A trailing stop has followed the price up to `extreme` when its instrument has traded last.
    pub(crate) fn activate(&mut self, slot: u32, index: usize, extreme: Price) {
        let Market { last_price, extremes, .. } = &mut self.markets[index];
        let order = &mut self.orders.slab[slot as usize];
        if let Some(follower) = &mut order.follower
            && follower.active.is_none()
        {
            let from = last_price.unwrap_or(extreme);
            let point = extremes[order.terms.side as usize].follow(from);
            follower.active = Some((extreme, point));
        }
    }

    /// A trailing stop follows the price no longer, if it has.
    fn unfollow(&mut self, slot: u32, index: usize) {
        let order = &mut self.orders.slab[slot as usize];
        if let Some((_, point)) = order.follower.take().and_then(|follower| follower.active) {
            self.markets[index].extremes[order.terms.side as usize].unfollow(point);
        }
    }

    pub(crate) fn triggered(&mut self, at: Moment, event: &Triggered) -> Result<(), FoldError> {
        let (slot, index) = self.open_order(at, event.order, event.instrument)?;
        let order = &mut self.orders.slab[slot as usize];
        agree(at, event.order, "its wait for a price", 1, i64::from(order.waits()))?;
        agree(at, event.order, "what remains", event.remaining.0, order.remaining.0)?;
        order.trigger = None;
        order.unlink();
        order.terms.price = event.price;
        self.orders.trigger(slot);
        self.unfollow(slot, index);
        self.release(at, index, slot, event.released);
        self.orders.touch(slot, at);
        Ok(())
    }

    pub(crate) fn iceberg_set(&mut self, at: Moment, event: &IcebergSet) -> Result<(), FoldError> {
        let (slot, _) = self.open_order(at, event.order, event.instrument)?;
        let order = &mut self.orders.slab[slot as usize];
        let IcebergSet { display_quantity, .. } = *event;
        agree(at, event.order, "its stay on the book", 0, i64::from(order.resting))?;
        let is_part = (Quantity(1)..=order.remaining).contains(&display_quantity);
        agree(at, event.order, "its display of less than remains", 1, i64::from(is_part))?;
        order.iceberg = Some(Box::new(Iceberg { display_quantity, displayed: Quantity::ZERO }));
        order.past().display_quantity = Some(display_quantity);
        self.orders.touch(slot, at);
        Ok(())
    }

    pub(crate) fn iceberg_refreshed(
        &mut self,
        at: Moment,
        event: &IcebergRefreshed,
    ) -> Result<(), FoldError> {
        let (slot, index) = self.open_order(at, event.order, event.instrument)?;
        let order = &self.orders.slab[slot as usize];
        agree(at, event.order, "its stay on the book", 1, i64::from(order.resting))?;
        agree(at, event.order, "its being an iceberg", 1, i64::from(order.iceberg.is_some()))?;
        agree(at, event.order, "the price", event.price.0, order.terms.price.0)?;
        agree(at, event.order, "what it displays", event.displayed.0, order.displayed().0)?;
        self.touch(index);
        self.markets[index].book.requeue(&mut self.orders, slot, at.seq);
        self.orders.touch(slot, at);
        Ok(())
    }

    pub(crate) fn exits_set(&mut self, at: Moment, event: &ExitsSet) -> Result<(), FoldError> {
        let (slot, _) = self.open_order(at, event.order, event.instrument)?;
        let ExitsSet { order: list, take_profit, stop_loss, .. } = *event;
        let links = LinksView { list, other: None, take_profit, stop_loss };
        self.orders.slab[slot as usize].link_with(links);
        self.orders.touch(slot, at);
        Ok(())
    }

    pub(crate) fn orders_linked(
        &mut self,
        at: Moment,
        event: &OrdersLinked,
    ) -> Result<(), FoldError> {
        let OrdersLinked { list, take_profit, stop_loss, .. } = *event;
        self.market_index(at, event.instrument)?;
        // An exit that is entered alone has not been accepted yet, and is linked with nothing.
        for (order, other) in [(take_profit, stop_loss), (stop_loss, take_profit)] {
            let other = Some(other).filter(|other| *other != OrderId::default());
            let slot = self.orders.slot(order).filter(|slot| {
                let order = &self.orders.slab[*slot as usize];
                order.status.is_open()
            });
            if slot.is_none() && other.is_some() && order != OrderId::default() {
                return Err(FoldError::UnknownOrder { seq: at.seq, order });
            }
            if let Some(slot) = slot {
                let links = LinksView { list, other, take_profit: None, stop_loss: None };
                self.orders.slab[slot as usize].link_with(links);
                self.orders.touch(slot, at);
            }
        }
        Ok(())
    }

    /// The slot of an order that is open, and the index of its instrument.
    fn open_order(
        &self,
        at: Moment,
        order: OrderId,
        instrument: InstrumentId,
    ) -> Result<(u32, usize), FoldError> {
        let slot = self.orders.slot(order).filter(|slot| {
            let order = &self.orders.slab[*slot as usize];
            order.status.is_open() && order.terms.instrument == instrument
        });
        let slot = slot.ok_or(FoldError::UnknownOrder { seq: at.seq, order })?;
        Ok((slot, self.market_index(at, instrument)?))
    }

    fn reserve(&mut self, at: Moment, index: usize, account: u32, side: Side, amount: Amount) {
        let spec = &self.markets[index].instrument.spec;
        // Without risk nothing is reserved; then the balance is not even marked as changed.
        if spec.rules.risk {
            let currency = pledged(side, spec.base, spec.quote);
            self.accounts.post(account, currency, -amount.0, amount.0, at.seq);
        }
    }

    /// Moves `amount` of an order's reserve back to available.
    fn release(&mut self, at: Moment, index: usize, slot: u32, amount: Amount) {
        let order = &mut self.orders.slab[slot as usize];
        order.reserved.0 -= amount.0;
        let (account, side) = (order.account, order.terms.side);
        self.reserve(at, index, account, side, Amount(-amount.0));
    }
}

/// The currency that an order's reserve is in.
pub(crate) fn pledged(side: Side, base: CurrencyId, quote: CurrencyId) -> CurrencyId {
    match side {
        Side::Buy => quote,
        Side::Sell => base,
    }
}

/// Price times quantity, which the event leaves out where the instrument's risk is off.
pub(crate) fn notional_of(instrument: &Instrument, event: &Trade) -> Amount {
    if event.notional.0 != 0 {
        return event.notional;
    }
    instrument.notional(event.price, event.quantity).unwrap_or(Instrument::NOTIONAL_MAX)
}

/// The fills of a trade: of the maker and of the taker, or of both orders of an auction.
#[must_use]
pub fn fills_of(event: &Trade, at: Moment) -> [Fill; 2] {
    let fill = |role, account: AccountId, order, side, fee| Fill {
        account,
        trade: event.trade,
        order,
        instrument: event.instrument,
        side,
        role,
        price: event.price,
        quantity: event.quantity,
        notional: event.notional,
        fee,
        at,
    };
    let (maker_side, taker_side) = (event.taker_side.opposite(), event.taker_side);
    let role = |role| if event.auction { Role::Auction } else { role };
    let (maker, taker) = (role(Role::Maker), role(Role::Taker));
    [
        fill(maker, event.maker_account, event.maker_order, maker_side, event.maker_fee),
        fill(taker, event.taker_account, event.taker_order, taker_side, event.taker_fee),
    ]
}

pub(crate) fn ended_as(reason: DoneReason, filled: Quantity) -> OrderStatus {
    match reason {
        DoneReason::Expired => OrderStatus::Expired,
        DoneReason::QuoteSpent if filled > Quantity::ZERO => OrderStatus::Filled,
        _ => OrderStatus::Cancelled,
    }
}

fn agree(
    at: Moment,
    order: OrderId,
    what: &'static str,
    event: i64,
    folded: i64,
) -> Result<(), FoldError> {
    if event == folded {
        return Ok(());
    }
    Err(mismatch(at, order, what, event.into(), folded.into()))
}

fn mismatch(
    at: Moment,
    order: OrderId,
    what: &'static str,
    event: i128,
    folded: i128,
) -> FoldError {
    FoldError::Mismatch { seq: at.seq, order, what, event, folded }
}
