//! What must hold of a feed after every command; the tests check it.

use crate::Feed;
use crate::trading::pledged;
use rialto_model::{AccountId, CurrencyId, InstrumentId, OrderId, Price, Side};
use std::collections::BTreeMap;

/// Something that must not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A buyer and a seller stand on the book who should have traded.
    #[error("the book of instrument {instrument} is crossed: bid {bid}, ask {ask}")]
    Crossed {
        /// Where.
        instrument: InstrumentId,
        /// The best bid.
        bid: Price,
        /// The best ask.
        ask: Price,
    },
    /// A currency was made out of nothing or lost.
    #[error("all balances of currency {currency} sum to {sum} instead of zero")]
    Unbalanced {
        /// Which.
        currency: CurrencyId,
        /// The sum of all balances.
        sum: i128,
    },
    /// An account's reserve is not that of its open orders.
    #[error(
        "account {account} has {reserved} reserved of currency {currency}, its orders {orders}"
    )]
    Reserve {
        /// Whose.
        account: AccountId,
        /// Of what.
        currency: CurrencyId,
        /// In the balance.
        reserved: i128,
        /// Over its open orders.
        orders: i128,
    },
    /// A level does not add up to its orders, or holds one that does not belong there.
    #[error("the level {price} of instrument {instrument} does not agree with its orders")]
    Level {
        /// Where.
        instrument: InstrumentId,
        /// Of which price.
        price: Price,
    },
    /// An open order is not where it should be: on the book or in its account's list.
    #[error("order {order} is open but not where it belongs")]
    Stray {
        /// Which.
        order: OrderId,
    },
}

impl Feed {
    /// Checks what must hold after every command: no crossed book, balances of each currency that
    /// sum to zero, reserves that equal those of the open orders, levels that agree with their
    /// orders. It looks at everything: meant for tests and doubts.
    pub fn check(&self) -> Result<(), Violation> {
        self.check_books()?;
        self.check_orders()?;
        self.check_balances()
    }

    fn check_books(&self) -> Result<(), Violation> {
        for market in &self.markets {
            let instrument = market.instrument.id;
            let (bid, ask) = (market.book.best(Side::Buy), market.book.best(Side::Sell));
            if let (Some(bid), Some(ask)) = (bid, ask)
                && bid.price >= ask.price
            {
                return Err(Violation::Crossed { instrument, bid: bid.price, ask: ask.price });
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
                            && order.remaining.0 > 0
                    });
                    let total: i128 = orders().map(|order| i128::from(order.remaining.0)).sum();
                    let count = orders().count();
                    if !belongs || total != level.total || count != level.queue.len() as usize {
                        return Err(Violation::Level { instrument, price });
                    }
                    if count == 0 {
                        return Err(Violation::Level { instrument, price });
                    }
                }
            }
        }
        Ok(())
    }

    /// Every open order stands in its account's list, and on the book exactly if it says so.
    fn check_orders(&self) -> Result<(), Violation> {
        let sides = [Side::Buy, Side::Sell];
        let books = self.markets.iter().flat_map(|market| {
            sides.into_iter().flat_map(|side| market.book.orders(side, &self.orders.slab))
        });
        let on_books: std::collections::BTreeSet<OrderId> =
            books.map(|order| order.order).collect();
        let accounts = self.accounts.slots.iter();
        let owned: std::collections::BTreeSet<OrderId> = accounts
            .flat_map(|account| account.open.iter(&self.orders.slab))
            .map(|order| order.order)
            .collect();
        let stray = self.orders.open().find(|order| {
            order.resting != on_books.contains(&order.order) || !owned.contains(&order.order)
        });
        match stray {
            Some(order) => Err(Violation::Stray { order: order.order }),
            None => Ok(()),
        }
    }

    fn check_balances(&self) -> Result<(), Violation> {
        let mut reserves: BTreeMap<(AccountId, CurrencyId), i128> = BTreeMap::new();
        for order in self.orders.open() {
            let spec = &self.markets[order.terms.instrument.0 as usize - 1].instrument.spec;
            let currency = pledged(order.terms.side, spec.base, spec.quote);
            *reserves.entry((order.terms.account, currency)).or_default() += order.reserved.0;
        }
        for currency in &self.currencies {
            let currency = currency.id;
            let mut sum = 0;
            for account in &self.accounts.slots {
                let balance = account.balance(currency);
                sum += balance.available.0 + balance.reserved.0;
                let orders = reserves.get(&(account.account, currency)).copied().unwrap_or(0);
                if balance.reserved.0 != orders {
                    return Err(Violation::Reserve {
                        account: account.account,
                        currency,
                        reserved: balance.reserved.0,
                        orders,
                    });
                }
            }
            if sum != 0 {
                return Err(Violation::Unbalanced { currency, sum });
            }
        }
        Ok(())
    }
}
