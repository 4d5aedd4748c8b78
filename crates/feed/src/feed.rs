//! The feed: folds events, publishes updates, and keeps the state for queries.

use crate::accounts::{Accounts, TRANSIT};
use crate::fills::Fills;
use crate::market::Market;
use crate::orders::Orders;
use crate::restrictions::Restrictions;
use crate::ticker::minute_of;
use crate::view::{BegunTransition, MemberView, Moment, TimetableView};
use crate::withdrawals::Withdrawals;
use crate::{FeedConfig, FoldError, Update};
use rialto_model::{
    AccountId, Amount, Currency, CurrencyId, Event, Instrument, InstrumentId, InstrumentSpec, Seq,
    Symbol, Timestamp, Transfer,
};
use std::collections::HashMap;

/// Read models of one engine, folded from its released events.
///
/// It holds, within the limits of [`FeedConfig`] and of the engine: members, accounts, currencies,
/// instruments, books by order and by price, best prices, last trades, 24-hour tickers, open and
/// lately ended orders, fills, balances, withdrawals that are held, restrictions, and the transitions
/// that calendars plan. It does no I/O and reads no clock: time is the time of the events. The same events give the
/// same feed.
#[derive(Debug)]
pub struct Feed {
    pub(crate) config: FeedConfig,
    pub(crate) now: Moment,
    /// The sequence whose events came last; ahead of `now` between `fold` and `end_of`.
    pub(crate) folded: Seq,
    /// The least sequence since which changes of accounts are known.
    pub(crate) since: Seq,
    pub(crate) currencies: Vec<Currency>,
    pub(crate) markets: Vec<Market>,
    pub(crate) symbols: HashMap<Symbol, InstrumentId>,
    pub(crate) accounts: Accounts,
    pub(crate) orders: Orders,
    pub(crate) fills: Fills,
    pub(crate) withdrawals: Withdrawals,
    pub(crate) restrictions: Restrictions,
    pub(crate) calendars: Vec<TimetableView>,
    /// Instruments where something happened since the last end of a command.
    touched: Vec<u32>,
}

impl Feed {
    /// A feed that knows nothing yet and begins with the events of sequence 1.
    #[must_use]
    pub fn new(config: FeedConfig) -> Feed {
        Feed {
            config,
            now: Moment { seq: Seq::ZERO, time: Timestamp::ZERO },
            folded: Seq::ZERO,
            since: Seq::ZERO,
            currencies: Vec::new(),
            markets: Vec::new(),
            symbols: HashMap::new(),
            accounts: Accounts::default(),
            orders: Orders::default(),
            fills: Fills::new(config.fills_per_account, config.fills_total),
            withdrawals: Withdrawals::new(),
            restrictions: Restrictions::default(),
            calendars: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// The sequence that queries are complete up to.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.now.seq
    }

    /// The time of that command.
    #[must_use]
    pub fn time(&self) -> Timestamp {
        self.now.time
    }

    /// Takes the next event of the command `seq`, whose time is `time`.
    ///
    /// Every command has at least one event, so that sequences have no gaps. It is an error if they
    /// have, or if an event contradicts earlier ones.
    pub fn fold(
        &mut self,
        seq: Seq,
        time: Timestamp,
        event: &Event,
        emit: &mut impl FnMut(Update<'_>),
    ) -> Result<(), FoldError> {
        if seq != self.folded && seq != self.folded.next() || seq <= self.now.seq {
            return Err(FoldError::OutOfOrder { after: self.folded, got: seq });
        }
        self.folded = seq;
        let at = Moment { seq, time };
        match *event {
            Event::Ticked
            | Event::Rejected(_)
            | Event::Repeated { .. }
            | Event::CancelProgress { .. } => {}
            Event::RulesVersionSet { .. } => {
                self.markets.iter_mut().for_each(|market| market.may_be_off_tick = true);
            }
            Event::Accepted(ref accepted) => self.accepted(at, accepted)?,
            Event::Rested(ref rested) => self.rested(at, rested)?,
            Event::Trade(ref trade) => self.trade(at, trade, emit)?,
            Event::Done(ref done) => self.done(at, done)?,
            Event::Reduced(ref reduced) => self.reduced(at, reduced)?,
            Event::Amended(ref amended) => self.amended(at, amended)?,
            Event::TriggerSet(ref set) => self.trigger_set(at, set)?,
            Event::Triggered(ref triggered) => self.triggered(at, triggered)?,
            Event::TrailSet(ref set) => self.trail_set(at, set)?,
            Event::TrailActivated(ref activated) => self.trail_activated(at, activated)?,
            Event::ExitsSet(ref set) => self.exits_set(at, set)?,
            Event::OrdersLinked(ref linked) => self.orders_linked(at, linked)?,
            // What is left of the entry ends by an event of its own.
            Event::ExitsRefused(_) => {}
            Event::IcebergSet(ref set) => self.iceberg_set(at, set)?,
            Event::IcebergRefreshed(ref refreshed) => self.iceberg_refreshed(at, refreshed)?,
            Event::DeadManSet { account, due } => {
                let slot = self.account_slot(at, account)?;
                self.accounts.slots[slot as usize].dead_man = due;
            }
            Event::Deposited { account, currency, amount, .. } => {
                self.transfer(at, account, currency, amount)?;
            }
            Event::Withdrawn { account, currency, amount, .. } => {
                self.transfer(at, account, currency, Amount(-amount.0))?;
            }
            Event::WithdrawalHeld { account, currency, amount, reference } => {
                self.hold(at, &Transfer { account, currency, amount, reference })?;
            }
            Event::WithdrawalSettled { account, currency, amount, reference } => {
                self.end_withdrawal(at, (account, currency, amount), reference, Some(TRANSIT))?;
            }
            Event::WithdrawalReleased { account, currency, amount, reference } => {
                self.end_withdrawal(at, (account, currency, amount), reference, None)?;
            }
            Event::MemberCreated { member, name } => {
                let view = MemberView { member, name };
                if self.accounts.members.insert(member, view).is_some() {
                    return Err(FoldError::NumberTaken { seq, what: "member", number: member.0 });
                }
            }
            Event::AccountCreated { account, member, name } => {
                if !self.accounts.members.contains_key(&member) {
                    return Err(FoldError::UnknownMember { seq, member });
                }
                if !self.accounts.open(account, member, name) {
                    return Err(FoldError::NumberTaken { seq, what: "account", number: account.0 });
                }
            }
            Event::CurrencyCreated(currency) => {
                let number = u32::from(currency.id.0);
                if number as usize != self.currencies.len() + 1 {
                    return Err(FoldError::NumberTaken { seq, what: "currency", number });
                }
                self.currencies.push(currency);
            }
            Event::InstrumentCreated { instrument, ref spec } => {
                self.list(at, instrument, spec)?;
                emit(Update::Instrument(&self.markets[instrument.0 as usize - 1].instrument));
            }
            Event::RulesSet { instrument, rules } => {
                let index = self.market_index(at, instrument)?;
                let market = &mut self.markets[index];
                market.instrument.spec.rules = rules;
                market.call_changed = market.is_in_call();
                emit(Update::Instrument(&market.instrument));
                self.arm_breakers(instrument);
            }
            Event::InstrumentStateSet { instrument, state } => {
                self.set_state(at, instrument, state, emit)?;
            }
            Event::AuctionRulesSet { instrument, ref rules } => {
                self.set_auction_rules(at, instrument, rules, emit)?;
            }
            Event::ContractTermsSet { instrument, terms } => {
                let index = self.market_index(at, instrument)?;
                let market = &mut self.markets[index];
                market.terms = terms;
                emit(Update::Instrument(&market.instrument));
            }
            Event::Uncrossed(ref uncrossed) => self.uncrossed(at, uncrossed, emit)?,
            Event::Interrupted(ref interrupted) => self.interrupted(at, interrupted)?,
            Event::Attributed(_) => {}
            Event::Restricted(ref restrict) => self.restricted(at, restrict)?,
            Event::TransitionPlanned { calendar, number, ref transition } => {
                self.transition_planned(at, calendar, number, transition)?;
            }
            Event::PlanAdopted { calendar, count, digest, replace } => {
                self.plan_adopted(at, calendar, count, digest, replace)?;
            }
            Event::CalendarAssigned { instrument, calendar } => {
                self.calendar_assigned(at, instrument, calendar, emit)?;
            }
            Event::TransitionMoved { calendar, at: from, to } => {
                self.transition_moved(at, calendar, (from, to))?;
            }
            Event::TransitionBegun { calendar, at: planned, state } => {
                self.transition_begun(at, calendar, BegunTransition { at: planned, state })?;
            }
            Event::TradingHalted(ref halted) => self.trading_halted(at, halted, emit)?,
            Event::CircuitBreakerSet(ref rule) => self.circuit_breaker_set(at, rule)?,
            Event::LimitStateSet { instrument, side, until, .. } => {
                self.limit_state_set(at, instrument, side, until, emit)?;
            }
        }
        Ok(())
    }

    /// Ends the command `seq`: publishes its changes, and makes them visible to queries.
    ///
    /// It may be called after several commands; then their changes are published together, and
    /// queries must wait until then.
    pub fn end_of(
        &mut self,
        seq: Seq,
        time: Timestamp,
        emit: &mut impl FnMut(Update<'_>),
    ) -> Result<(), FoldError> {
        if seq != self.folded || seq <= self.now.seq {
            return Err(FoldError::OutOfOrder { after: self.folded, got: seq });
        }
        let at = Moment { seq, time };
        let minute_passed = minute_of(time) != minute_of(self.now.time);
        self.now = at;
        for index in self.touched.drain(..) {
            let market = &mut self.markets[index as usize];
            market.touched = false;
            if market.book.take_changed() {
                market.call_changed = market.is_in_call();
            }
            if std::mem::take(&mut market.phase_changed) && market.is_covered() {
                // What is published of a call begins with its first indicative price, so that no two
                // deltas have one sequence.
                market.refresh_auction(at, emit);
            }
            market.publish_book(at, emit);
            if market.ticker_changed && !minute_passed {
                market.ticker_changed = false;
                emit(Update::Ticker(&market.ticker(at)));
            }
        }
        if minute_passed {
            for market in &mut self.markets {
                // Both sides matter: a trade may have come in the same command that lets others go.
                if market.window.slide(time) | std::mem::take(&mut market.ticker_changed) {
                    emit(Update::Ticker(&market.ticker(at)));
                }
            }
        }
        for slot in self.orders.changed.drain(..) {
            let order = &mut self.orders.slab[slot as usize];
            order.changed = false;
            emit(Update::Order(&order.view(&self.markets)));
        }
        self.accounts.drain_changed(|balance| emit(Update::Balance(balance)));
        self.orders.forget_beyond(&self.config, &mut self.accounts.slots);
        Ok(())
    }

    fn transfer(
        &mut self,
        at: Moment,
        account: AccountId,
        currency: CurrencyId,
        amount: Amount,
    ) -> Result<(), FoldError> {
        self.listed(at, currency)?;
        let slot = self.account_slot(at, account)?;
        self.accounts.post(slot, currency, amount.0, 0, at.seq);
        self.accounts.post(TRANSIT, currency, -amount.0, 0, at.seq);
        Ok(())
    }

    /// Whether there is such a currency.
    pub(crate) fn listed(&self, at: Moment, currency: CurrencyId) -> Result<(), FoldError> {
        match self.currency(currency) {
            Some(_) => Ok(()),
            None => Err(FoldError::UnknownCurrency { seq: at.seq, currency }),
        }
    }

    /// Lists an instrument under the next number.
    pub(crate) fn list(
        &mut self,
        at: Moment,
        id: InstrumentId,
        spec: &InstrumentSpec,
    ) -> Result<(), FoldError> {
        let seq = at.seq;
        if id.0 as usize != self.markets.len() + 1 {
            return Err(FoldError::NumberTaken { seq, what: "instrument", number: id.0 });
        }
        let currency = |currency: CurrencyId| {
            self.currency(currency).ok_or(FoldError::UnknownCurrency { seq, currency })
        };
        let instrument = Instrument::new(id, *spec, &currency(spec.base)?, &currency(spec.quote)?)
            .map_err(|source| FoldError::Instrument { seq, instrument: id, source })?;
        self.symbols.insert(spec.symbol, id);
        self.markets.push(Market::new(instrument, at));
        Ok(())
    }

    /// Notes that something happened in an instrument.
    pub(crate) fn touch(&mut self, index: usize) {
        let market = &mut self.markets[index];
        if !market.touched {
            market.touched = true;
            self.touched.push(index as u32);
        }
    }

    pub(crate) fn market_index(
        &self,
        at: Moment,
        instrument: InstrumentId,
    ) -> Result<usize, FoldError> {
        let index = (instrument.0 as usize).wrapping_sub(1);
        if index < self.markets.len() {
            Ok(index)
        } else {
            Err(FoldError::UnknownInstrument { seq: at.seq, instrument })
        }
    }

    pub(crate) fn account_slot(&self, at: Moment, account: AccountId) -> Result<u32, FoldError> {
        self.accounts.slot(account).ok_or(FoldError::UnknownAccount { seq: at.seq, account })
    }
}
