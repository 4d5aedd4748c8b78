//! The invariants between two commands, checked from scratch. The check walks the whole state, so
//! it is for tests and for `verify`.

use crate::Core;
use crate::book::{BookViolation, Slot};
use crate::instruments::Market;
use crate::orders::{NIL, STAND_IN};
use crate::taker::Remaining;
use crate::timetable::{CalendarPlan, HALT_ITEM, change_item};
use crate::triggers::QueuePlace;
use rialto_model::{
    AccountId, Amount, CurrencyId, InstrumentId, InstrumentState, Name, OrderId, Price,
    Restriction, Side,
};
use std::collections::BTreeSet;

/// A violated invariant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// The postings of a currency do not balance.
    #[error("the balances of currency {currency} sum to {sum}, not to zero")]
    Sum {
        /// The currency.
        currency: CurrencyId,
        /// The sum.
        sum: Amount,
    },
    /// A member's balance is below zero.
    #[error("account {account} has a negative balance in currency {currency}")]
    Negative {
        /// The account.
        account: AccountId,
        /// The currency.
        currency: CurrencyId,
    },
    /// The reserved balance is not the sum of the account's orders and withdrawals.
    #[error(
        "account {account} has {held} of currency {currency} reserved, \
         and its orders and withdrawals reserve {ordered}"
    )]
    Reserve {
        /// The account.
        account: AccountId,
        /// The currency.
        currency: CurrencyId,
        /// The reserved balance in the ledger.
        held: Amount,
        /// The sum over the orders and withdrawals.
        ordered: Amount,
    },
    /// The reserve of an order does not match its terms.
    #[error("order {order} reserves {reserved} where its terms need {needed}")]
    OrderReserve {
        /// The order.
        order: OrderId,
        /// The order's reserve.
        reserved: Amount,
        /// The reserve that its terms need.
        needed: Amount,
    },
    /// A book holds orders that should have traded.
    #[error("the book of instrument {instrument} is crossed")]
    Crossed {
        /// The instrument.
        instrument: InstrumentId,
    },
    /// The list of orders that are for an auction only disagrees with the book.
    #[error("the orders of instrument {instrument} that are for an auction are listed wrongly")]
    AuctionOrders {
        /// The instrument.
        instrument: InstrumentId,
    },
    /// A book's parts disagree.
    #[error("the book of instrument {instrument} is damaged")]
    Book {
        /// The instrument.
        instrument: InstrumentId,
        /// The fault.
        #[source]
        flaw: BookViolation,
    },
    /// An order that waits is not found by the price that triggers it.
    #[error("the waiting orders of instrument {instrument} are kept wrongly")]
    Triggers {
        /// The instrument.
        instrument: InstrumentId,
    },
    /// An iceberg displays what it may not, or they are counted wrongly.
    #[error("the icebergs of instrument {instrument} are kept wrongly")]
    Icebergs {
        /// The instrument.
        instrument: InstrumentId,
    },
    /// The lists of linked orders disagree with the orders.
    #[error("linked orders are kept wrongly")]
    Links,
    /// An account's list of orders disagrees with the books.
    #[error("the orders of account {account} are listed wrongly: {what}")]
    List {
        /// The account.
        account: AccountId,
        /// The fault.
        what: &'static str,
    },
    /// What is known of the restrictions in short disagrees with them.
    #[error("the restrictions disagree with what refuses orders")]
    Restrictions,
    /// The transitions of a calendar are out of order, or its instruments do not know it.
    #[error("the timetable of calendar {calendar} is damaged")]
    Timetable {
        /// The calendar.
        calendar: Name,
    },
    /// Timers disagree with orders or accounts.
    #[error("the timers do not match the orders and accounts")]
    Timers,
}

impl Core {
    /// Checks balances, reserves, books, lists and timers against each other.
    ///
    /// # Errors
    /// The first [`Violation`] that is found.
    pub fn check(&self) -> Result<(), Violation> {
        self.check_books()?;
        self.check_lists()?;
        if !self.lists_are_sound() {
            return Err(Violation::Links);
        }
        self.check_reserves()?;
        self.check_sweeps()?;
        self.check_restrictions()?;
        self.check_timetables()?;
        self.check_timers()
    }

    /// The transitions of each calendar ascend and have their timer, and its instruments are those
    /// that name it.
    fn check_timetables(&self) -> Result<(), Violation> {
        for (index, calendar) in self.calendars.iter().enumerate() {
            let mut follow = (0..).zip(&self.markets).filter_map(|(at, market)| {
                (market.calendar.map(usize::from) == Some(index)).then_some(at)
            });
            let agree = follow.by_ref().eq(calendar.instruments.iter().copied());
            let is_timed = self.phase_changes.due(index as u32) == calendar.due();
            if !(agree && is_timed && calendar.is_sound() && self.is_watched_rightly(index)) {
                return Err(Violation::Timetable { calendar: calendar.name });
            }
        }
        Ok(())
    }

    /// Of the instruments of a calendar, only the one that its circuit breaker watches has a range of
    /// it, as long as it is armed.
    fn is_watched_rightly(&self, calendar: usize) -> bool {
        let CalendarPlan { instruments, breaker, .. } = &self.calendars[calendar];
        let mut agree = instruments.iter().map(|&at| {
            let watching = breaker.filter(|breaker| breaker.market == at && breaker.is_armed);
            let range = watching.map_or(0, |breaker| breaker.range_ppm);
            self.markets[usize::from(at)].breaker_ppm == range
        });
        let is_own = breaker.is_none_or(|breaker| instruments.contains(&breaker.market));
        is_own && breaker.is_none_or(|breaker| breaker.is_sound()) && agree.all(|agrees| agrees)
    }

    /// Every account knows its sweep, and a sweep stands at an order of its account.
    fn check_sweeps(&self) -> Result<(), Violation> {
        let swept = self.background.sweeps().len() + self.background.held_up().len();
        for sweep in self.background.sweeps().chain(self.background.held_up()) {
            let account = self.accounts.get(sweep.account);
            let wrong = |what| Violation::List { account: account.id, what };
            if account.under_way == 0 || self.background.sweep(account.under_way - 1) != sweep {
                return Err(wrong("it does not know its sweep"));
            }
            let stands = sweep.cursor == NIL
                || sweep.cursor == STAND_IN
                || self.open.get(sweep.cursor).account == sweep.account;
            if !stands {
                return Err(wrong("its sweep stands at an order of another account"));
            }
        }
        let known = (0..self.accounts.len()).filter(|&at| self.accounts.get(at).under_way > 0);
        if self.rules_since(2) && known.count() != swept {
            return Err(Violation::List { account: AccountId(0), what: "sweeps are lost" });
        }
        Ok(())
    }

    /// An instrument knows whether it takes orders, and one that is being cleared has its turn.
    fn check_restrictions(&self) -> Result<(), Violation> {
        let bars_agree = self.markets.iter().all(|market| {
            let bars = market.check_state().is_err() || market.restriction != Restriction::None;
            bars == market.bars_entry
        });
        match bars_agree && self.restrictions.is_sound() && self.clearings_wait() {
            true => Ok(()),
            false => Err(Violation::Restrictions),
        }
    }

    fn check_books(&self) -> Result<(), Violation> {
        for market in &self.markets {
            let instrument = market.instrument.id;
            let sound = market.book.check(&self.orders);
            sound.map_err(|flaw| Violation::Book { instrument, flaw })?;
            // A suspended taker is open, but it is not on the book.
            if market.book.is_crossed() && !market.state().may_be_crossed() {
                return Err(Violation::Crossed { instrument });
            }
            self.check_triggers(market)?;
            if !self.icebergs_are_sound(market) {
                return Err(Violation::Icebergs { instrument });
            }
            let listed = self.auction_links.iter(&market.auction_orders);
            let listed: BTreeSet<_> = listed.collect();
            let sides = [Side::Buy, Side::Sell].into_iter();
            let orders = sides.flat_map(|side| market.book.orders(&self.orders, side));
            let for_auction = orders
                .map(Slot::at)
                .filter(|slot| self.open.get(*slot).attributes.time_in_force.is_for_auction());
            if for_auction.collect::<BTreeSet<_>>() != listed {
                return Err(Violation::AuctionOrders { instrument });
            }
        }
        Ok(())
    }

    /// Each waiting order can be triggered: either a mark is about it, or its trigger price is beyond the
    /// prices with which trades are compared.
    fn check_triggers(&self, market: &Market) -> Result<(), Violation> {
        let (instrument, triggers) = (market.instrument.id, &market.triggers);
        let sound = triggers.book.check(&self.orders);
        sound.map_err(|flaw| Violation::Book { instrument, flaw })?;
        let is_found = |side: Side, slot: Slot| {
            let (_, price) = triggers.book.locate(&self.orders, slot);
            let place = self.waiting.place(slot);
            let is_expected = match side {
                Side::Sell => price >= triggers.book_above,
                Side::Buy => price <= triggers.book_below,
            };
            let is_marked = triggers.is_triggered(&self.orders, &self.waiting, slot);
            let waits = self.open.get(slot.at()).attributes.role.waits();
            let is_later = place >= QueuePlace::new(self.orders.get(slot).id);
            waits && is_later && place <= triggers.newest && (is_expected || is_marked)
        };
        let is_sorted = |side: Side| {
            let orders = triggers.book.orders(&self.orders, side);
            let places = orders.map(|slot| {
                let (_, price) = triggers.book.locate(&self.orders, slot);
                (price, self.waiting.place(slot))
            });
            let places: Vec<_> = places.collect();
            places.windows(2).all(|pair| pair[0].0 != pair[1].0 || pair[0].1 < pair[1].1)
        };
        let all_found = [Side::Buy, Side::Sell].into_iter().all(|side| {
            let mut orders = triggers.book.orders(&self.orders, side);
            is_sorted(side) && orders.all(|slot| is_found(side, slot))
        });
        let turns = self
            .background
            .triggering()
            .filter(|at| self.markets[usize::from(*at)].instrument.id == instrument);
        let has_turn = turns.count() == usize::from(triggers.has_turn);
        // Where no order waits above, the price of none is the largest there is.
        let last = market.last_price;
        let (above, below) = (triggers.book_above, triggers.book_below);
        let is_above = last < above || above == Price::MAX;
        let unreached = (is_above && last > below) || last == Price::ZERO;
        let trailing = triggers.trailing.as_ref().is_none_or(|trailing| {
            let prices = (last, market.rules().tick);
            trailing.is_sound(&self.orders, &self.waiting, &triggers.marks, prices)
        });
        match all_found && has_turn && unreached && trailing {
            true => Ok(()),
            false => Err(Violation::Triggers { instrument }),
        }
    }

    fn check_lists(&self) -> Result<(), Violation> {
        let mut listed = 0;
        for slot in 0..self.accounts.len() {
            let account = self.accounts.get(slot);
            let wrong = |what| Violation::List { account: account.id, what };
            let (mut at, mut last, mut count) = (account.head, None, 0);
            while at != NIL {
                let id = self.listed_id(at);
                if last >= Some(id) {
                    return Err(wrong("ids do not ascend"));
                }
                if at != STAND_IN && self.open.get(at).account != slot {
                    return Err(wrong("an order of another account is among them"));
                }
                listed += usize::from(at != STAND_IN);
                (at, last, count) = (self.open.next(at), Some(id), count + 1);
            }
            if count != account.open_orders {
                return Err(wrong("their count differs"));
            }
            let by_instrument: u32 =
                (0..self.markets.len() as u16).map(|at| self.open_counts.get(slot, at)).sum();
            if count != by_instrument {
                return Err(wrong("their counts by instrument differ"));
            }
        }
        let held: usize = self.markets.iter().map(|market| market.open_orders()).sum();
        if listed != held || listed != self.orders.len() {
            return Err(Violation::List { account: AccountId(0), what: "some are in no list" });
        }
        Ok(())
    }

    fn check_reserves(&self) -> Result<(), Violation> {
        let currencies = self.currencies.len();
        let mut ordered = vec![0_i128; currencies * self.accounts.len() as usize];
        let mut order = |account: u32, currency: CurrencyId, reserved: Amount| {
            if reserved != Amount::ZERO {
                let at = account as usize * currencies + usize::from(currency.0) - 1;
                // Amounts that were forged may be too large to be added up.
                ordered[at] = ordered[at].saturating_add(reserved.0);
            }
        };
        for market in &self.markets {
            for slot in market.slots(&self.orders, &self.waiting) {
                let detail = self.open.get(slot.at());
                let held = self.orders.get(slot);
                let side = detail.attributes.side;
                let (price, reserved) = (detail.price, detail.reserved);
                let needed = market.reserve(side, price, held.remaining, detail.fees);
                let needed = self.beyond_its_pair(slot, needed);
                if needed != reserved {
                    return Err(Violation::OrderReserve { order: held.id, reserved, needed });
                }
                order(detail.account, market.reserved_currency(side), reserved);
            }
        }
        if let Some(taker) = &self.urgent {
            let market = &self.markets[usize::from(taker.market)];
            order(taker.account, market.reserved_currency(taker.attributes.side), taker.reserved);
        }
        for held in self.withdrawals.iter().map(|held| held.transfer) {
            let account = self.accounts.slot(held.account);
            let account = account.expect("an account that holds a withdrawal is never closed");
            order(account, held.currency, held.amount);
        }
        for currency in self.currencies.iter().map(|currency| currency.id) {
            let sum = Amount(self.ledger.sum(currency));
            if sum != Amount::ZERO {
                return Err(Violation::Sum { currency, sum });
            }
            for slot in 0..self.accounts.len() {
                let account = self.accounts.get(slot).id;
                let balance = self.ledger.balance(slot, currency);
                if balance.available.0 < 0 || balance.reserved.0 < 0 {
                    return Err(Violation::Negative { account, currency });
                }
                let at = slot as usize * currencies + usize::from(currency.0) - 1;
                let (held, ordered) = (balance.reserved, Amount(ordered[at]));
                if held != ordered {
                    return Err(Violation::Reserve { account, currency, held, ordered });
                }
            }
        }
        Ok(())
    }

    fn check_timers(&self) -> Result<(), Violation> {
        let expiring =
            self.markets.iter().flat_map(|market| market.slots(&self.orders, &self.waiting));
        let expiring = expiring.filter(|slot| {
            let due = self.open.get(slot.at()).expire_at;
            self.expiries.due(slot.at()).is_some_and(|known| known == due)
        });
        let waiting =
            self.markets.iter().flat_map(|market| market.slots(&self.orders, &self.waiting));
        let never = rialto_model::Timestamp::MAX;
        let waiting = waiting.filter(|slot| self.open.get(slot.at()).expire_at != never).count();
        let mut markets = (0..).zip(&self.markets);
        let calls_agree = markets.all(|(at, market)| {
            let at_limit = market.limit_state.is_some();
            let is_open = market.state() == InstrumentState::Open && market.call.is_none();
            self.phase_changes.due(change_item(at)) == market.change_due() && (is_open || !at_limit)
        });
        let first = self.dead_men.due_first().min(self.phase_changes.due_first());
        let due = if self.urgent.is_some() { rialto_model::Timestamp::ZERO } else { first };
        let halting = self.halting.map(|halting| halting.since);
        let agree = calls_agree
            && self.phase_changes.due(HALT_ITEM) == halting
            && self.due == due
            && expiring.count() == waiting
            && waiting == self.expiries.len();
        let rests = |want| matches!(want, Remaining::Base(_));
        let taker_fine = self.urgent.is_none_or(|taker| !taker.rests || rests(taker.want));
        let sound = [&self.expiries, &self.dead_men, &self.phase_changes];
        if agree && taker_fine && sound.iter().all(|timers| timers.is_sound()) {
            return Ok(());
        }
        Err(Violation::Timers)
    }
}
