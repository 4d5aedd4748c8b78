//! Balances and books folded from the events alone.

mod ranges;

use ranges::{Range, Ranges};
use rialto_model::{
    AccountId, Currency, CurrencyId, Event, Instrument, InstrumentId, InstrumentSpec,
    InstrumentState, MemberId, OrderId, OrderSize, Price, Quantity, Restriction, RestrictionTarget,
    Scale, Side, Text, Trigger,
};
use std::collections::{BTreeMap, BTreeSet};

/// An order as its events tell it.
#[derive(Clone, Copy, Debug)]
struct Known {
    account: AccountId,
    instrument: InstrumentId,
    side: Side,
    price: Price,
    remaining: Quantity,
    reserved: i128,
    quote_sized: bool,
    /// When it took its place in the queue; `None` while it is on no book.
    place: Option<u64>,
    is_iceberg: bool,
    /// The prices it may trade at as it comes in.
    ranges: [Range; 3],
}

impl Known {
    /// What stands before it on its side has a smaller one.
    fn rank(&self) -> (i64, Option<u64>) {
        (if self.side == Side::Buy { -self.price.0 } else { self.price.0 }, self.place)
    }
}

/// Balances and books as a fold of events. It panics where the events contradict each other.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    currencies: BTreeMap<CurrencyId, Currency>,
    instruments: BTreeMap<InstrumentId, Instrument>,
    balances: BTreeMap<(AccountId, CurrencyId), (i128, i128)>,
    orders: BTreeMap<OrderId, Known>,
    places: u64,
    trades: u64,
    phases: BTreeMap<InstrumentId, InstrumentState>,
    ranges: BTreeMap<InstrumentId, Ranges>,
    /// The prices of the last auctions.
    auction_prices: BTreeMap<InstrumentId, Price>,
    members: BTreeMap<AccountId, MemberId>,
    /// What is restricted, by whom.
    restricted: BTreeSet<(RestrictionTarget, bool)>,
    /// The fixed triggers that orders wait for.
    triggers: BTreeMap<OrderId, Trigger>,
    /// What orders with exits have traded.
    entries: BTreeMap<OrderId, i64>,
    /// The lists of linked orders and how many pairs there were before, by each of them.
    lists: BTreeMap<OrderId, (OrderId, u64)>,
    pairs: u64,
    /// The orders of pairs that have not traded, were not reduced and were not triggered.
    whole: BTreeSet<OrderId>,
    /// Of each pair the order that has traded.
    traded: BTreeMap<u64, OrderId>,
}

impl Fold {
    /// Takes the events of one command; returns how many orders of the book it touched.
    pub fn apply(&mut self, events: &[Event]) -> usize {
        let mut touched = BTreeSet::new();
        for event in events {
            self.event(event, &mut touched);
        }
        touched.len()
    }

    /// Available and reserved, wherever one of them is not zero.
    pub fn balances(&self) -> BTreeMap<(AccountId, CurrencyId), (i128, i128)> {
        self.balances.iter().filter(|(_, held)| **held != (0, 0)).map(|(k, v)| (*k, *v)).collect()
    }

    /// The orders of one side of a book, best first: id, price and what is left.
    pub fn queue(&self, instrument: InstrumentId, side: Side) -> Vec<(OrderId, Price, Quantity)> {
        let mut queue: Vec<(OrderId, &Known)> = self
            .orders
            .iter()
            .filter(|(_, order)| order.instrument == instrument && order.side == side)
            .filter(|(_, order)| order.place.is_some())
            .map(|(id, order)| (*id, order))
            .collect();
        queue.sort_by_key(|(_, order)| order.rank());
        queue.into_iter().map(|(id, order)| (id, order.price, order.remaining)).collect()
    }

    /// The fixed triggers that orders wait for.
    pub fn triggers(&self) -> &BTreeMap<OrderId, Trigger> {
        &self.triggers
    }

    fn held(&mut self, account: AccountId, currency: CurrencyId) -> &mut (i128, i128) {
        self.balances.entry((account, currency)).or_default()
    }

    fn known(&mut self, order: OrderId) -> &mut Known {
        self.orders.get_mut(&order).unwrap_or_else(|| panic!("no event told of order {order}"))
    }

    /// Moves from reserved to available.
    fn release(&mut self, order: OrderId, released: i128) {
        let known = self.known(order);
        known.reserved -= released;
        let (account, side, instrument) = (known.account, known.side, known.instrument);
        let spec = self.instruments[&instrument].spec;
        let currency = if side == Side::Buy { spec.quote } else { spec.base };
        let held = self.held(account, currency);
        held.0 += released;
        held.1 -= released;
    }

    fn next_place(&mut self) -> u64 {
        self.places += 1;
        self.places
    }

    fn list(&mut self, id: InstrumentId, spec: InstrumentSpec) {
        // A currency that is not listed matters only while risk is off, and then nothing is posted.
        let unlisted = |id| Currency { id, code: Text::EMPTY, scale: Scale::MAX };
        let known = |id| self.currencies.get(&id).copied().unwrap_or_else(|| unlisted(id));
        let listed = Instrument::new(id, spec, &known(spec.base), &known(spec.quote));
        self.instruments.insert(id, listed.expect("it was listed"));
    }

    /// Nothing is entered, nor amended to more, that is restricted.
    fn assert_unrestricted(&self, account: AccountId, instrument: InstrumentId) {
        for target in [
            RestrictionTarget::Venue,
            RestrictionTarget::Member(self.members[&account]),
            RestrictionTarget::Account(account),
            RestrictionTarget::Instrument(instrument),
        ] {
            for by_member in [false, true] {
                assert!(
                    !self.restricted.contains(&(target, by_member)),
                    "{target:?} is restricted"
                );
            }
        }
    }

    fn event(&mut self, event: &Event, touched: &mut BTreeSet<OrderId>) {
        match event {
            Event::CurrencyCreated(currency) => {
                self.currencies.insert(currency.id, *currency);
            }
            Event::InstrumentCreated { instrument, spec } => {
                self.list(*instrument, *spec);
            }
            Event::RulesSet { instrument, rules } => {
                let listed = self.instruments[instrument];
                self.list(*instrument, InstrumentSpec { rules: *rules, ..listed.spec });
            }
            Event::Deposited { account, currency, amount, .. } => {
                self.held(*account, *currency).0 += amount.0;
                self.held(AccountId::TRANSIT, *currency).0 -= amount.0;
            }
            Event::Withdrawn { account, currency, amount, .. } => {
                self.held(*account, *currency).0 -= amount.0;
                self.held(AccountId::TRANSIT, *currency).0 += amount.0;
            }
            Event::WithdrawalHeld { account, currency, amount, .. } => {
                let held = self.held(*account, *currency);
                (held.0, held.1) = (held.0 - amount.0, held.1 + amount.0);
            }
            Event::WithdrawalSettled { account, currency, amount, .. } => {
                self.held(*account, *currency).1 -= amount.0;
                self.held(AccountId::TRANSIT, *currency).0 += amount.0;
            }
            Event::WithdrawalReleased { account, currency, amount, .. } => {
                let held = self.held(*account, *currency);
                (held.0, held.1) = (held.0 + amount.0, held.1 - amount.0);
            }
            Event::Accepted(accepted) => {
                let terms = accepted.terms;
                self.assert_unrestricted(terms.account, terms.instrument);
                let (remaining, quote_sized) = match terms.size {
                    OrderSize::Base(quantity) => (quantity, false),
                    OrderSize::Quote(_) => (Quantity::ZERO, true),
                };
                let place = accepted.rests.then(|| self.next_place());
                let known = Known {
                    account: terms.account,
                    instrument: terms.instrument,
                    side: terms.side,
                    price: terms.price,
                    remaining,
                    reserved: 0,
                    quote_sized,
                    place,
                    is_iceberg: false,
                    ranges: self.ranges_now(terms.instrument),
                };
                assert!(self.orders.insert(accepted.order, known).is_none(), "ids are new");
                self.release(accepted.order, -accepted.reserved.0);
            }
            Event::Rested(rested) => {
                let place = self.next_place();
                let known = self.known(rested.order);
                assert_eq!(known.place, None, "an order rests once");
                assert_eq!((known.price, known.remaining), (rested.price, rested.remaining));
                known.place = Some(place);
            }
            Event::Amended(amended) => {
                self.arrives(amended.order);
                let known = self.known(amended.order);
                assert_eq!(
                    (known.price, known.remaining),
                    (amended.old_price, amended.old_remaining)
                );
                assert_eq!(known.reserved, amended.old_reserved.0);
                known.price = amended.price;
                known.remaining = amended.remaining;
                let grows =
                    amended.price == amended.old_price && amended.remaining > amended.old_remaining;
                let keeps_place = known.is_iceberg && grows;
                known.place = known.place.filter(|_| keeps_place);
                let shrinks =
                    amended.price == amended.old_price && amended.remaining < amended.old_remaining;
                // One that waits becomes smaller by this event.
                if !shrinks {
                    self.assert_unrestricted(amended.account, amended.instrument);
                }
                if self.whole.contains(&amended.order) {
                    self.assert_no_larger_than_its_entry(amended.order);
                }
                self.release(amended.order, amended.old_reserved.0 - amended.reserved.0);
            }
            Event::Reduced(reduced) => {
                self.whole.remove(&reduced.order);
                let known = self.known(reduced.order);
                known.remaining = Quantity(known.remaining.0 - reduced.by.0);
                assert_eq!(known.remaining, reduced.remaining);
                assert!(known.remaining.0 > 0, "what has nothing left is done");
                if known.place.is_some() {
                    touched.insert(reduced.order);
                }
                self.release(reduced.order, reduced.released.0);
            }
            Event::Done(done) => {
                let known = *self.known(done.order);
                assert_eq!(known.remaining, done.remaining, "what is left of {}", done.order);
                assert_eq!(known.reserved, done.released.0, "what {} had reserved", done.order);
                if known.place.is_some() {
                    touched.insert(done.order);
                }
                self.release(done.order, done.released.0);
                self.orders.remove(&done.order);
                self.triggers.remove(&done.order);
            }
            Event::Triggered(triggered) => {
                self.whole.remove(&triggered.order);
                self.assert_unrestricted(triggered.account, triggered.instrument);
                self.arrives(triggered.order);
                let known = self.known(triggered.order);
                assert_eq!(known.place, None, "an order that waits is on no book");
                assert_eq!(known.remaining, triggered.remaining, "it has not traded");
                known.price = triggered.price;
                self.triggers.remove(&triggered.order);
                self.release(triggered.order, triggered.released.0);
            }
            Event::ExitsSet(set) => {
                let known = self.known(set.order);
                assert_eq!((known.account, known.side), (set.account, set.side));
                // It comes again when an exit is amended.
                self.entries.entry(set.order).or_insert(0);
            }
            Event::TriggerSet(set) => {
                let known = self.known(set.order);
                assert_eq!((known.account, known.side), (set.account, set.side));
                assert_eq!(known.place, None, "an order that waits is on no book");
                let before = self.triggers.insert(set.order, set.trigger);
                let is_new = before.is_none_or(|before| {
                    before.kind == set.trigger.kind && before.price != set.trigger.price
                });
                assert!(is_new, "{before:?} becomes {:?}", set.trigger);
            }
            Event::OrdersLinked(linked) => {
                let both = [linked.take_profit, linked.stop_loss];
                let is_alone = both.contains(&OrderId(0));
                self.pairs += 1;
                for id in both {
                    self.lists.insert(id, (linked.list, self.pairs));
                    if !is_alone {
                        self.whole.insert(id);
                        self.assert_no_larger_than_its_entry(id);
                    }
                }
            }
            Event::IcebergSet(set) => self.known(set.order).is_iceberg = true,
            Event::IcebergRefreshed(refreshed) => {
                let place = self.next_place();
                let known = self.known(refreshed.order);
                assert!(known.place.is_some() && known.is_iceberg, "an iceberg on the book");
                assert!((1..=known.remaining.0).contains(&refreshed.displayed.0));
                known.place = Some(place);
            }
            Event::Trade(trade) => self.trade(trade, touched),
            Event::AccountCreated { account, member, .. } => {
                self.members.insert(*account, *member);
            }
            Event::Restricted(restrict) => {
                let key = (restrict.target, restrict.by_member);
                match restrict.restriction {
                    Restriction::None => drop(self.restricted.remove(&key)),
                    _ => drop(self.restricted.insert(key)),
                }
            }
            Event::InstrumentStateSet { instrument, state } => {
                self.phases.insert(*instrument, *state);
                if *state == InstrumentState::Open {
                    self.ranges.entry(*instrument).or_default().was_extended = false;
                }
            }
            Event::AuctionRulesSet { instrument, rules } => {
                self.ranges.entry(*instrument).or_default().rules = *rules;
            }
            Event::Interrupted(it) => {
                let inside = (it.low..=it.high).contains(&it.price);
                assert!(!inside, "nothing is interrupted inside of a range: {it:?}");
                let extends = self.phases.get(&it.instrument) == Some(&InstrumentState::Uncrossing);
                self.ranges.entry(it.instrument).or_default().was_extended |= extends;
            }
            // Its volume is the largest that any tick has: the reference, which must find the same, compares them
            // all.
            Event::Uncrossed(uncrossed) => {
                assert!(uncrossed.price.0 > 0 && uncrossed.volume.0 > 0, "{uncrossed:?}");
                let ranges = self.ranges.get(&uncrossed.instrument).copied().unwrap_or_default();
                let range = ranges.of_auction(&self.instruments[&uncrossed.instrument]);
                assert!(range.contains(uncrossed.price), "{uncrossed:?} is outside {range:?}");
                self.auction_prices.insert(uncrossed.instrument, uncrossed.price);
            }
            _ => {}
        }
    }

    /// Exits are for what their entry has traded.
    fn assert_no_larger_than_its_entry(&self, order: OrderId) {
        let list = self.lists.get(&order);
        let Some(traded) = list.and_then(|(list, _)| self.entries.get(list)) else { return };
        let known = self.orders[&order].remaining;
        assert!(known.0 <= *traded, "{order} is for {known}, and its entry has traded {traded}");
    }

    /// Of two linked orders one trades at most.
    fn trade_of_list(&mut self, trade: &rialto_model::Trade) {
        for id in [trade.maker_order, trade.taker_order] {
            if let Some(traded) = self.entries.get_mut(&id) {
                *traded += trade.quantity.0;
            }
            self.whole.remove(&id);
            if let Some((_, pair)) = self.lists.get(&id) {
                let first = self.traded.entry(*pair).or_insert(id);
                assert_eq!(*first, id, "both orders of a list have traded");
            }
        }
    }

    fn ranges_now(&self, id: InstrumentId) -> [Range; 3] {
        let ranges = self.ranges.get(&id).copied().unwrap_or_default();
        ranges.of_order(&self.instruments[&id])
    }

    /// An order comes in again: its ranges are those of now.
    fn arrives(&mut self, order: OrderId) {
        let instrument = self.known(order).instrument;
        let ranges = self.ranges_now(instrument);
        self.known(order).ranges = ranges;
    }

    fn trade(&mut self, trade: &rialto_model::Trade, touched: &mut BTreeSet<OrderId>) {
        self.trades += 1;
        assert_eq!(
            trade.trade.0 & ((1 << 48) - 1),
            self.trades,
            "trades are numbered without gaps"
        );
        touched.insert(trade.maker_order);
        self.trade_of_list(trade);
        let phase = self.phases.get(&trade.instrument).copied().unwrap_or_default();
        let expected =
            if trade.auction { InstrumentState::Uncrossing } else { InstrumentState::Open };
        assert_eq!(phase, expected, "trades belong to a phase");
        let instrument = self.instruments[&trade.instrument];
        let maker = *self.known(trade.maker_order);
        let taker = *self.known(trade.taker_order);
        let ranges = self.ranges.entry(trade.instrument).or_default();
        ranges.last_price = trade.price;
        if trade.auction {
            ranges.auction_price = trade.price;
            touched.insert(trade.taker_order);
            return self.trade_of_auction(trade, &instrument, [maker, taker]);
        }
        assert_eq!(maker.price, trade.price, "the maker's price decides");
        let outside = taker.ranges.into_iter().find(|range| !range.contains(trade.price));
        assert!(outside.is_none(), "{trade:?} is outside {outside:?}");
        assert_eq!((maker.side, taker.side), (trade.taker_side.opposite(), trade.taker_side));
        assert_eq!((maker.account, taker.account), (trade.maker_account, trade.taker_account));
        assert!(maker.place.is_some() && taker.place.is_none(), "one of them was on the book");
        self.assert_is_first(&maker);
        self.take_traded(trade, &instrument);
    }

    /// Both sides of a trade in an auction rest, each first on its side, and neither at a worse price
    /// than its own.
    fn trade_of_auction(
        &mut self,
        trade: &rialto_model::Trade,
        instrument: &Instrument,
        [maker, taker]: [Known; 2],
    ) {
        assert_eq!((maker.side, taker.side), (trade.taker_side.opposite(), trade.taker_side));
        assert_eq!((maker.account, taker.account), (trade.maker_account, trade.taker_account));
        assert!(trade.maker_order < trade.taker_order, "the older order counts as the maker");
        for order in [maker, taker] {
            let suits = match order.side {
                Side::Buy => order.price >= trade.price,
                Side::Sell => order.price <= trade.price,
            };
            assert!(suits && order.place.is_some(), "{order:?} in {trade:?}");
            self.assert_is_first(&order);
        }
        let price = self.auction_prices.get(&trade.instrument);
        assert_eq!(price, Some(&trade.price), "an auction has one price");
        self.take_traded(trade, instrument);
    }

    fn assert_is_first(&self, order: &Known) {
        let better = |other: &Known| {
            let same_queue = (other.instrument, other.side) == (order.instrument, order.side);
            same_queue && other.place.is_some() && other.rank() < order.rank()
        };
        assert!(!self.orders.values().any(better), "the best order trades first");
    }

    fn take_traded(&mut self, trade: &rialto_model::Trade, instrument: &Instrument) {
        if instrument.spec.rules.risk {
            self.settle(trade, instrument);
        }
        for (id, left) in
            [(trade.maker_order, trade.maker_remaining), (trade.taker_order, trade.taker_remaining)]
        {
            let known = self.known(id);
            if known.quote_sized {
                assert_eq!(left, Quantity::ZERO);
                continue;
            }
            known.remaining = Quantity(known.remaining.0 - trade.quantity.0);
            assert_eq!(known.remaining, left);
            if left == Quantity::ZERO {
                assert_eq!(known.reserved, 0, "a filled order has nothing reserved");
                self.orders.remove(&id);
            }
        }
    }

    fn settle(&mut self, trade: &rialto_model::Trade, instrument: &Instrument) {
        let delivered = instrument.base_amount(trade.quantity).0;
        let spec = instrument.spec;
        let (buyer, buyer_fee, seller, seller_fee) = match trade.taker_side {
            Side::Buy => (trade.taker_order, trade.taker_fee, trade.maker_order, trade.maker_fee),
            Side::Sell => (trade.maker_order, trade.maker_fee, trade.taker_order, trade.taker_fee),
        };
        self.release(buyer, trade.buyer_unreserved.0);
        self.release(seller, delivered);
        let buyer = self.known(buyer).account;
        let seller = self.known(seller).account;
        self.held(buyer, spec.quote).0 -= trade.notional.0 + buyer_fee.0;
        self.held(buyer, spec.base).0 += delivered;
        self.held(seller, spec.base).0 -= delivered;
        self.held(seller, spec.quote).0 += trade.notional.0 - seller_fee.0;
        self.held(AccountId::FEES, spec.quote).0 += trade.maker_fee.0 + trade.taker_fee.0;
    }
}
