//! Builds a feed from the state of an engine at a sequence instead of from its first event.

use crate::list::Link;
use crate::orders::{Follower, Order, PastTerms};
use crate::trading::{ended_as, fills_of, notional_of};
use crate::view::{
    AuctionResult, LimitStateView, LinksView, MemberView, Moment, TimetableView, WithdrawalView,
};
use crate::{Feed, FeedConfig, FoldError};
use rialto_model::{
    AccountId, Amount, AuctionRules, ContractTerms, Currency, CurrencyId, DoneReason, Iceberg,
    InstrumentId, InstrumentSpec, InstrumentState, MemberId, Name, NewOrder, OrderId, OrderSize,
    OrderStatus, Price, Quantity, Restrict, Seq, Timestamp, Trade, TrailState, Transfer, Trigger,
};

/// The state of an engine as of a sequence, from a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The sequence of the last command in it.
    pub seq: Seq,
    /// The time of that command.
    pub time: Timestamp,
    /// All currencies, by number.
    pub currencies: Vec<Currency>,
    /// All instruments, by number.
    pub instruments: Vec<BaselineInstrument>,
    /// All members.
    pub members: Vec<MemberView>,
    /// All members' accounts, in order of opening if that is known.
    pub accounts: Vec<BaselineAccount>,
    /// All balances that are not zero, the house's included.
    pub balances: Vec<BaselineBalance>,
    /// All open orders; those of one instrument and side in the order in which they trade.
    pub orders: Vec<BaselineOrder>,
    /// Orders that have ended and are remembered by their client order ids, in any order.
    pub ended: Vec<BaselineEnded>,
    /// All withdrawals that are held.
    pub withdrawals: Vec<WithdrawalView>,
    /// All restrictions that are in force.
    pub restrictions: Vec<Restrict>,
    /// All calendars, in the order in which they became known.
    pub calendars: Vec<TimetableView>,
}

/// An instrument of a [`Baseline`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineInstrument {
    /// Its number.
    pub instrument: InstrumentId,
    /// Its specification with the rules in force.
    pub spec: InstrumentSpec,
    /// Its state.
    pub state: InstrumentState,
    /// The price of its last trade.
    pub last_price: Option<Price>,
    /// The rules of its auctions.
    pub auction_rules: AuctionRules,
    /// The terms of its contract.
    pub terms: ContractTerms,
    /// The price of the last trade of an auction.
    pub auction_price: Option<Price>,
    /// The calendar that it follows; empty for none.
    pub calendar: Name,
    /// When its halt ends, if that ends by itself.
    pub halted_until: Option<Timestamp>,
    /// The best price of a side stands at a limit.
    pub limit_state: Option<LimitStateView>,
}

/// An account of a [`Baseline`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineAccount {
    /// Its id.
    pub account: AccountId,
    /// Its owner.
    pub member: MemberId,
    /// Its name.
    pub name: Name,
    /// When its dead-man timer runs out; [`Timestamp::MAX`] is never.
    pub dead_man: Timestamp,
}

/// A balance of a [`Baseline`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineBalance {
    /// The account.
    pub account: AccountId,
    /// The currency.
    pub currency: CurrencyId,
    /// The available amount.
    pub available: Amount,
    /// The reserved amount.
    pub reserved: Amount,
}

/// An open order of a [`Baseline`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineOrder {
    /// Its id.
    pub order: OrderId,
    /// Its terms, with the limit and expiry in force.
    pub terms: NewOrder,
    /// Its total quantity now; zero for an order sized in quote currency.
    pub quantity: Quantity,
    /// The quantity that has traded.
    pub filled: Quantity,
    /// The remaining quantity; zero for an order sized in quote currency.
    pub remaining: Quantity,
    /// The reserve of the order.
    pub reserved: Amount,
    /// Whether it stands on the book, rather than waiting for a trigger or having more to trade as an
    /// incoming order.
    pub resting: bool,
    /// What it waits for.
    pub trigger: Option<Trigger>,
    /// What it follows, if it is a trailing stop that waits.
    pub trail: Option<TrailState>,
    /// What it displays, if it is an iceberg.
    pub iceberg: Option<Iceberg>,
    /// How it is linked with other orders, if it is.
    pub links: Option<LinksView>,
}

/// An order of a [`Baseline`] that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineEnded {
    /// Its id.
    pub order: OrderId,
    /// Its last terms; of an order sized in base currency with its last total quantity.
    pub terms: NewOrder,
    /// Why it ended; none if it was filled.
    pub done: Option<DoneReason>,
    /// The quantity that has traded.
    pub filled: Quantity,
    /// The quantity that did not trade; zero for an order sized in quote currency.
    pub remaining: Quantity,
    /// When it ended.
    pub ended: Moment,
}

impl Feed {
    /// A feed that begins with `baseline` and continues with the events after it.
    ///
    /// It does not know earlier trades, fills and ended orders without a client order id.
    /// [`Feed::backfill_trade`] adds trades and fills from older events, if available.
    pub fn from_snapshot(config: FeedConfig, baseline: &Baseline) -> Result<Feed, FoldError> {
        let mut feed = Feed::new(config);
        let at = Moment { seq: baseline.seq, time: baseline.time };
        let seq = at.seq;
        (feed.now, feed.folded, feed.since) = (at, seq, seq);
        feed.calendars.clone_from(&baseline.calendars);
        for currency in &baseline.currencies {
            let number = u32::from(currency.id.0);
            if number as usize != feed.currencies.len() + 1 {
                return Err(FoldError::NumberTaken { seq, what: "currency", number });
            }
            feed.currencies.push(*currency);
        }
        for listed in &baseline.instruments {
            feed.list(at, listed.instrument, &listed.spec)?;
            let index = feed.market_index(at, listed.instrument)?;
            let market = &mut feed.markets[index];
            (market.instrument.state, market.auction.state) = (listed.state, listed.state);
            market.auction.halted_until = listed.halted_until;
            market.auction.limit_state = listed.limit_state;
            market.call_changed = market.is_in_call();
            market.last_price = listed.last_price;
            market.calendar = listed.calendar;
            market.auction_rules = listed.auction_rules;
            market.terms = listed.terms;
            (market.auction_price, market.may_be_off_tick) = (listed.auction_price, true);
            // How much traded is not part of the state.
            market.auction.last = listed.auction_price.map(|price| AuctionResult {
                price,
                volume: Quantity::ZERO,
                surplus: Quantity::ZERO,
            });
        }
        for view in &baseline.members {
            if feed.accounts.members.insert(view.member, *view).is_some() {
                let number = view.member.0;
                return Err(FoldError::NumberTaken { seq, what: "member", number });
            }
        }
        for opened in &baseline.accounts {
            if !feed.accounts.members.contains_key(&opened.member) {
                return Err(FoldError::UnknownMember { seq, member: opened.member });
            }
            if !feed.accounts.open(opened.account, opened.member, opened.name) {
                let number = opened.account.0;
                return Err(FoldError::NumberTaken { seq, what: "account", number });
            }
            let slot = feed.account_slot(at, opened.account)?;
            feed.accounts.slots[slot as usize].dead_man = opened.dead_man;
        }
        for balance in &baseline.balances {
            let currency = balance.currency;
            if feed.currency(currency).is_none() {
                return Err(FoldError::UnknownCurrency { seq, currency });
            }
            let slot = feed.account_slot(at, balance.account)?;
            feed.accounts.post(slot, currency, balance.available.0, balance.reserved.0, seq);
        }
        for held in &baseline.withdrawals {
            let WithdrawalView { account, currency, amount, reference, .. } = *held;
            feed.listed(at, currency)?;
            let transfer = Transfer { account, currency, amount, reference };
            feed.enter_withdrawal(held.held, &transfer)?;
        }
        for restrict in &baseline.restrictions {
            feed.restricted(at, restrict)?;
        }
        feed.enter_ended(at, &baseline.ended)?;
        feed.enter(at, &baseline.orders)?;
        feed.settle_in(at);
        Ok(feed)
    }

    /// Enters the orders that have ended, in the order of their ends.
    fn enter_ended(&mut self, at: Moment, orders: &[BaselineEnded]) -> Result<(), FoldError> {
        let mut by_end: Vec<&BaselineEnded> = orders.iter().collect();
        by_end.sort_unstable_by_key(|ended| (ended.ended.seq, ended.order));
        for ended in by_end {
            let account = self.check_new(at, ended.order, &ended.terms)?;
            let untraded = ended.filled == Quantity::ZERO;
            let order = Order {
                order: ended.order,
                terms: ended.terms,
                account,
                status: ended.done.map_or(OrderStatus::Filled, |done| ended_as(done, ended.filled)),
                done: ended.done,
                trigger: None,
                follower: None,
                iceberg: None,
                links: None,
                past: None,
                resting: false,
                changed: false,
                quantity: match ended.terms.size {
                    OrderSize::Base(quantity) => quantity,
                    OrderSize::Quote(_) => Quantity::ZERO,
                },
                filled: ended.filled,
                remaining: ended.remaining,
                filled_notional: untraded.then_some(Amount::ZERO),
                fee: untraded.then_some(Amount::ZERO),
                reserved: Amount::ZERO,
                accepted: None,
                updated: ended.ended,
                queue: Link::LOOSE,
                owner: Link::LOOSE,
            };
            self.orders.insert_ended(order, &mut self.accounts.slots[account as usize]);
        }
        self.orders.forget_beyond(&self.config, &mut self.accounts.slots);
        Ok(())
    }

    /// The slot of the account of an order that is not known yet.
    fn check_new(&self, at: Moment, order: OrderId, terms: &NewOrder) -> Result<u32, FoldError> {
        if self.orders.slot(order).is_some() {
            let (what, event, folded) = ("the number of orders", 1, 2);
            return Err(FoldError::Mismatch { seq: at.seq, order, what, event, folded });
        }
        self.market_index(at, terms.instrument)?;
        self.account_slot(at, terms.account)
    }

    /// Enters the open orders: by id, as queries list them, then on the books in their order.
    fn enter(&mut self, at: Moment, orders: &[BaselineOrder]) -> Result<(), FoldError> {
        let mut by_id: Vec<&BaselineOrder> = orders.iter().collect();
        by_id.sort_unstable_by_key(|order| order.order);
        for entered in by_id {
            let (order, mut terms) = (entered.order, entered.terms);
            let account = self.check_new(at, order, &terms)?;
            if let OrderSize::Base(quantity) = &mut terms.size {
                *quantity = entered.quantity;
            }
            let untraded = entered.filled == Quantity::ZERO;
            let waits = entered.trigger.is_some() || entered.trail.is_some();
            let status = match (waits, untraded) {
                (true, _) => OrderStatus::Waiting,
                (false, true) => OrderStatus::Open,
                (false, false) => OrderStatus::PartiallyFilled,
            };
            let follower =
                entered.trail.map(|state| Box::new(Follower { trail: state.trail, active: None }));
            let order = Order {
                order,
                terms,
                account,
                status,
                done: None,
                trigger: entered.trigger,
                follower,
                iceberg: entered.iceberg.map(Box::new),
                links: entered.links.map(Box::new),
                past: past_terms(entered),
                resting: false,
                changed: false,
                quantity: entered.quantity,
                filled: entered.filled,
                remaining: entered.remaining,
                filled_notional: untraded.then_some(Amount::ZERO),
                fee: untraded.then_some(Amount::ZERO),
                reserved: entered.reserved,
                accepted: None,
                updated: at,
                queue: Link::LOOSE,
                owner: Link::LOOSE,
            };
            let index = self.market_index(at, terms.instrument)?;
            let slot = self.orders.insert(order, &mut self.accounts.slots[account as usize]);
            if let Some(extreme) = entered.trail.and_then(|state| state.extreme) {
                self.activate(slot, index, extreme);
            }
        }
        for entered in orders.iter().filter(|order| order.resting) {
            let order = entered.order;
            let unknown = FoldError::UnknownOrder { seq: at.seq, order };
            let slot = self.orders.slot(order).ok_or(unknown)?;
            let index = self.market_index(at, entered.terms.instrument)?;
            self.markets[index].book.push_back(&mut self.orders, slot, at.seq);
        }
        Ok(())
    }

    /// Clears the changes that entering the baseline has noted: subscribers do not need them.
    fn settle_in(&mut self, at: Moment) {
        for market in &mut self.markets {
            if market.is_covered() {
                market.refresh_auction(at, &mut |_| {});
            }
            market.publish_book(at, &mut |_| {});
            market.book.take_changed();
            let best = market.best();
            market.best_told = (best.bid, best.ask);
        }
        self.accounts.drain_changed(|_| {});
    }

    /// Adds a trade from before the baseline to the last trades, the tickers and the fills;
    /// books, balances and orders have it already.
    ///
    /// To be called in the order of the events, after [`Feed::from_snapshot`] and before the first
    /// [`Feed::fold`]: a trade after the baseline, or one that comes when events have been folded,
    /// is refused.
    pub fn backfill_trade(
        &mut self,
        seq: Seq,
        time: Timestamp,
        event: &Trade,
    ) -> Result<(), FoldError> {
        if seq > self.since || self.folded != self.since {
            return Err(FoldError::OutOfOrder { after: self.folded, got: seq });
        }
        let at = Moment { seq, time };
        let index = self.market_index(at, event.instrument)?;
        let slots = [
            self.account_slot(at, event.maker_account)?,
            self.account_slot(at, event.taker_account)?,
        ];
        let market = &mut self.markets[index];
        let notional = notional_of(&market.instrument, event);
        market.record(event, notional, at, self.config.trades_per_instrument);
        market.window.slide(self.now.time);
        market.ticker_changed = false;
        for (fill, slot) in fills_of(event, at).into_iter().zip(slots) {
            self.fills.push(fill, slot, &mut self.accounts.slots);
        }
        Ok(())
    }
}

/// What an order will be shown with once it has ended, as far as the baseline tells.
fn past_terms(order: &BaselineOrder) -> Option<Box<PastTerms>> {
    let past = PastTerms {
        trigger: order.trigger,
        trail: order.trail.map(|state| state.trail),
        display_quantity: order.iceberg.map(|iceberg| iceberg.display_quantity),
        list: order.links.map(|links| links.list),
    };
    let is_plain = past.trigger.is_none()
        && past.trail.is_none()
        && past.display_quantity.is_none()
        && past.list.is_none();
    (!is_plain).then(|| Box::new(past))
}
