//! The invariants of a feed after every command, checked by tests.

use crate::trading::pledged;
use crate::{Feed, OpenOrderCounts};
use rialto_model::{AccountId, CurrencyId, InstrumentId, OrderId, Price, Side};
use std::collections::{BTreeMap, BTreeSet};

/// A violated invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedViolation {
    /// A bid and an ask on the book should have traded.
    #[error("the book of instrument {instrument} is crossed: bid {bid}, ask {ask}")]
    Crossed {
        /// The instrument.
        instrument: InstrumentId,
        /// The best bid.
        bid: Price,
        /// The best ask.
        ask: Price,
    },
    /// The balances of a currency do not sum to zero.
    #[error("all balances of currency {currency} sum to {sum} instead of zero")]
    Unbalanced {
        /// The currency.
        currency: CurrencyId,
        /// The sum of all balances.
        sum: i128,
    },
    /// An account's reserve is not that of its open orders and withdrawals.
    #[error(
        "account {account} has {reserved} reserved of currency {currency}, its orders and \
         withdrawals {orders}"
    )]
    Reserve {
        /// The account.
        account: AccountId,
        /// The currency.
        currency: CurrencyId,
        /// The reserved amount in the balance.
        reserved: i128,
        /// The sum over its open orders and withdrawals.
        orders: i128,
    },
    /// A level does not add up to its orders, or holds one that does not belong there.
    #[error("the level {price} of instrument {instrument} does not agree with its orders")]
    Level {
        /// The instrument.
        instrument: InstrumentId,
        /// The price.
        price: Price,
    },
    /// An order is linked with one that is not open, or not linked with it.
    #[error("open order {order} is linked with an order that is not linked with it")]
    Link {
        /// The order.
        order: OrderId,
    },
    /// The open orders are not as many as counted.
    #[error("the orders are {found:?}, and counted as {counted:?}")]
    Counts {
        /// As counted.
        counted: OpenOrderCounts,
        /// As the orders say.
        found: OpenOrderCounts,
    },
    /// An open order is not where it should be: on the book or in its account's list.
    #[error("open order {order} is missing on its book or in its account's list")]
    Stray {
        /// The order.
        order: OrderId,
    },
}

impl Feed {
    /// Checks the invariants after a command: no crossed book, balances of each currency that sum
    /// to zero, reserves that equal those of the open orders and withdrawals, levels that agree
    /// with their orders, counts that agree with them. It reads the whole state, for tests and diagnosis.
    pub fn check(&self) -> Result<(), FeedViolation> {
        self.check_books()?;
        self.check_orders()?;
        self.check_balances()
    }

    fn check_books(&self) -> Result<(), FeedViolation> {
        for market in &self.markets {
            let instrument = market.instrument.id;
            let (bid, ask) = (market.book.best(Side::Buy), market.book.best(Side::Sell));
            if let (Some(bid), Some(ask)) = (bid, ask)
                && bid.price >= ask.price
                && !market.instrument.state.may_be_crossed()
            {
                return Err(FeedViolation::Crossed { instrument, bid: bid.price, ask: ask.price });
            }
            for side in [Side::Buy, Side::Sell] {
                for (price, level) in market.book.raw_levels(side) {
                    let orders = || level.queue.iter(&self.orders.slab);
                    let belongs = orders().all(|order| {
                        let terms = &order.terms;
                        order.resting
                            && order.status.is_open()
                            && (terms.instrument, terms.side, terms.price)
                                == (instrument, side, price)
                            && (1..=order.remaining.0).contains(&order.displayed().0)
                    });
                    let total: i128 = orders().map(|order| i128::from(order.remaining.0)).sum();
                    let hidden: i128 = orders().map(|order| i128::from(order.hidden().0)).sum();
                    let count = orders().count();
                    let adds_up = (total, hidden) == (level.total, level.hidden);
                    if !belongs || !adds_up || count != level.queue.len() as usize {
                        return Err(FeedViolation::Level { instrument, price });
                    }
                    if count == 0 {
                        return Err(FeedViolation::Level { instrument, price });
                    }
                }
            }
        }
        Ok(())
    }

    /// Every open order stands in its account's list, and on the book exactly if it says so. Only there
    /// does an iceberg display a part of its quantity. Links are mutual. The orders are as many as counted.
    fn check_orders(&self) -> Result<(), FeedViolation> {
        let sides = [Side::Buy, Side::Sell];
        let books = self.markets.iter().flat_map(|market| {
            sides.into_iter().flat_map(|side| market.book.orders(side, &self.orders.slab))
        });
        let on_books: BTreeSet<OrderId> = books.map(|order| order.order).collect();
        let accounts = self.accounts.slots.iter();
        let owned: BTreeSet<OrderId> = accounts
            .flat_map(|account| account.open.iter(&self.orders.slab))
            .map(|order| order.order)
            .collect();
        let stray = self.orders.open().find(|order| {
            let displays_rightly = order.iceberg.as_ref().is_none_or(|it| {
                order.resting == (it.displayed.0 > 0) && it.displayed <= it.display_quantity
            });
            order.resting != on_books.contains(&order.order)
                || !displays_rightly
                || !owned.contains(&order.order)
        });
        if let Some(order) = stray {
            return Err(FeedViolation::Stray { order: order.order });
        }
        let (waiting, entered): (Vec<_>, Vec<_>) =
            self.orders.open().partition(|order| order.waits());
        let found = OpenOrderCounts { waiting: waiting.len(), entered: entered.len() };
        let counted = self.orders.open_counts();
        if counted != found {
            return Err(FeedViolation::Counts { counted, found });
        }
        let other = |order: OrderId| {
            let slot = self.orders.slot(order)?;
            self.orders.slab[slot as usize].links.as_ref()?.other
        };
        let loose = self.orders.open().find(|order| {
            let linked = order.links.as_ref().and_then(|links| links.other);
            linked.is_some_and(|linked| other(linked) != Some(order.order))
        });
        match loose {
            Some(order) => Err(FeedViolation::Link { order: order.order }),
            None => Ok(()),
        }
    }

    fn check_balances(&self) -> Result<(), FeedViolation> {
        let mut reserves: BTreeMap<(AccountId, CurrencyId), i128> = BTreeMap::new();
        for order in self.orders.open() {
            let spec = &self.markets[order.terms.instrument.0 as usize - 1].instrument.spec;
            let currency = pledged(order.terms.side, spec.base, spec.quote);
            *reserves.entry((order.terms.account, currency)).or_default() += order.reserved.0;
        }
        let mut withdrawing: BTreeMap<(AccountId, CurrencyId), i128> = BTreeMap::new();
        for held in self.withdrawals.values() {
            let key = (held.account, held.currency);
            *reserves.entry(key).or_default() += held.amount.0;
            *withdrawing.entry(key).or_default() += held.amount.0;
        }
        for currency in &self.currencies {
            let currency = currency.id;
            let mut sum = 0;
            for account in &self.accounts.slots {
                let balance = account.balance(currency);
                sum += balance.available.0 + balance.reserved.0;
                let orders = reserves.get(&(account.account, currency)).copied().unwrap_or(0);
                let bound = withdrawing.get(&(account.account, currency)).copied().unwrap_or(0);
                if balance.reserved.0 != orders || balance.withdrawing.0 != bound {
                    return Err(FeedViolation::Reserve {
                        account: account.account,
                        currency,
                        reserved: balance.reserved.0,
                        orders,
                    });
                }
            }
            if sum != 0 {
                return Err(FeedViolation::Unbalanced { currency, sum });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Baseline, BaselineAccount, BaselineBalance, BaselineInstrument, BaselineOrder, FeedConfig,
        MemberView,
    };
    use rialto_model::{
        Amount, AuctionRules, ContractTerms, Currency, EngineId, Iceberg, InstrumentKind,
        InstrumentSpec, InstrumentState, MemberId, Name, NewOrder, OrderStatus, Quantity, Scale,
        SelfTrade, Seq, Timestamp, TradingRules,
    };

    /// One buy and one sell order of 10, each of which reserves 100.
    fn baseline(bid: i64, ask: i64) -> Baseline {
        let scale = Scale::new(0).unwrap();
        let (instrument, account, member) = (InstrumentId(1), AccountId(1), MemberId(1));
        let currency = |number, code: &str| {
            let id = CurrencyId(number);
            Currency { id, code: code.parse().unwrap(), scale }
        };
        let order = |number, side, price| BaselineOrder {
            order: OrderId::from_parts(EngineId(1), number),
            terms: NewOrder {
                self_trade: Some(SelfTrade::Allow),
                ..NewOrder::limit(account, instrument, side, Quantity(10), Price(price))
            },
            quantity: Quantity(10),
            filled: Quantity(0),
            remaining: Quantity(10),
            reserved: Amount(100),
            resting: true,
            trigger: None,
            trail: None,
            iceberg: None,
            links: None,
        };
        let held = |account, number, available, reserved| BaselineBalance {
            account,
            currency: CurrencyId(number),
            available: Amount(available),
            reserved: Amount(reserved),
        };
        Baseline {
            seq: Seq(9),
            time: Timestamp(9),
            currencies: vec![currency(1, "A"), currency(2, "B")],
            instruments: vec![BaselineInstrument {
                instrument,
                spec: InstrumentSpec {
                    symbol: "A-B".parse().unwrap(),
                    kind: InstrumentKind::Spot,
                    base: CurrencyId(1),
                    quote: CurrencyId(2),
                    price_scale: scale,
                    quantity_scale: scale,
                    rules: TradingRules {
                        quantity_max: Quantity(10),
                        market_protection_ppm: 0,
                        open_orders_max: 1,
                        ..TradingRules::unrestrained()
                    },
                },
                state: InstrumentState::Open,
                last_price: None,
                auction_rules: AuctionRules::PLAIN,
                terms: ContractTerms::PLAIN,
                auction_price: None,
                calendar: Name::EMPTY,
                halted_until: None,
                limit_state: None,
            }],
            members: vec![MemberView { member, name: Name::EMPTY }],
            accounts: vec![BaselineAccount {
                account,
                member,
                name: Name::EMPTY,
                dead_man: Timestamp::MAX,
            }],
            balances: vec![
                held(account, 1, 0, 100),
                held(account, 2, 0, 100),
                held(AccountId::TRANSIT, 1, -100, 0),
                held(AccountId::TRANSIT, 2, -100, 0),
            ],
            orders: vec![order(1, Side::Buy, bid), order(2, Side::Sell, ask)],
            ended: Vec::new(),
            withdrawals: Vec::new(),
            restrictions: Vec::new(),
            calendars: Vec::new(),
        }
    }

    fn check(baseline: &Baseline) -> Result<(), FeedViolation> {
        Feed::from_snapshot(FeedConfig::default(), baseline).unwrap().check()
    }

    #[test]
    fn a_sound_state_passes() {
        assert_eq!(check(&baseline(10, 11)), Ok(()));
    }

    #[test]
    fn a_crossed_book_is_seen() {
        let crossed =
            FeedViolation::Crossed { instrument: InstrumentId(1), bid: Price(11), ask: Price(11) };
        assert_eq!(check(&baseline(11, 11)), Err(crossed));
    }

    #[test]
    fn value_out_of_nothing_is_seen() {
        let mut baseline = baseline(10, 11);
        baseline.balances[1].available = Amount(1);
        let unbalanced = FeedViolation::Unbalanced { currency: CurrencyId(2), sum: 1 };
        assert_eq!(check(&baseline), Err(unbalanced));
    }

    #[test]
    fn a_reserve_without_an_order_is_seen() {
        let mut baseline = baseline(10, 11);
        baseline.orders.pop();
        assert!(matches!(
            check(&baseline),
            Err(FeedViolation::Reserve { reserved: 100, orders: 0, .. })
        ));
    }

    #[test]
    fn a_level_that_does_not_add_up_is_seen() {
        let mut feed = Feed::from_snapshot(FeedConfig::default(), &baseline(10, 11)).unwrap();
        feed.orders.slab[0].remaining = Quantity(9);
        let level = FeedViolation::Level { instrument: InstrumentId(1), price: Price(10) };
        assert_eq!(feed.check(), Err(level));
    }

    /// The order 1 as an iceberg that displays this much, 6 of its 10 at most.
    fn with_iceberg(displayed: i64) -> Baseline {
        let mut baseline = baseline(10, 11);
        let (display_quantity, displayed) = (Quantity(6), Quantity(displayed));
        baseline.orders[0].iceberg = Some(Iceberg { display_quantity, displayed });
        baseline
    }

    #[test]
    fn an_iceberg_that_displays_more_than_it_may_is_seen() {
        assert_eq!(check(&with_iceberg(6)), Ok(()));
        let stray = FeedViolation::Stray { order: OrderId::from_parts(EngineId(1), 1) };
        assert_eq!(check(&with_iceberg(7)), Err(stray));
        let level = FeedViolation::Level { instrument: InstrumentId(1), price: Price(10) };
        assert_eq!(check(&with_iceberg(11)), Err(level));
        assert_eq!(check(&with_iceberg(0)), Err(level));
    }

    #[test]
    fn a_level_that_hides_something_else_than_its_orders_is_seen() {
        let mut feed = Feed::from_snapshot(FeedConfig::default(), &with_iceberg(6)).unwrap();
        feed.orders.slab[0].display(Quantity(5));
        let level = FeedViolation::Level { instrument: InstrumentId(1), price: Price(10) };
        assert_eq!(feed.check(), Err(level));
    }

    #[test]
    fn open_orders_that_are_counted_wrongly_are_seen() {
        let mut feed = Feed::from_snapshot(FeedConfig::default(), &baseline(10, 11)).unwrap();
        let found = OpenOrderCounts { waiting: 0, entered: 2 };
        assert_eq!(feed.open_order_counts(), found);
        // It waits, and is counted as waiting; then it only says that it does.
        feed.orders.wait(0);
        let slot_waits = OpenOrderCounts { waiting: 1, entered: 1 };
        assert_eq!(feed.open_order_counts(), slot_waits);
        feed.orders.trigger(0);
        feed.orders.slab[0].status = OrderStatus::Waiting;
        let violation = FeedViolation::Counts { counted: found, found: slot_waits };
        assert_eq!(feed.check(), Err(violation));
    }

    #[test]
    fn an_order_off_its_book_is_seen() {
        let mut feed = Feed::from_snapshot(FeedConfig::default(), &baseline(10, 11)).unwrap();
        let slot = feed.orders.slot(OrderId::from_parts(EngineId(1), 1)).unwrap();
        feed.markets[0].book.remove(&mut feed.orders, slot, Seq(10));
        feed.orders.slab[slot as usize].resting = true;
        let stray = FeedViolation::Stray { order: OrderId::from_parts(EngineId(1), 1) };
        assert_eq!(feed.check(), Err(stray));
    }
}
