//! The balances of all members as of a sequence: what a statement begins with.

use crate::error::PositionsError;
use crate::line::{EndedDetail, FillDetail, LineDetail, StatementLine};
use aws_lc_rs::digest::{Context, SHA256};
use rialto_feed::{Baseline, Moment};
use rialto_model::{
    AccountId, Amount, Currency, CurrencyId, Event, Instrument, InstrumentId, InstrumentSpec,
    MemberId, Name, OrderId, OrderSize, Quantity, Role, Seq, Side, Timestamp, Trade,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The balance of an account in a currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PositionBalance {
    /// The available amount.
    pub available: Amount,
    /// The amount that is held for open orders and withdrawals.
    pub held: Amount,
}

impl PositionBalance {
    /// Available and held together.
    #[must_use]
    pub fn total(self) -> i128 {
        self.available.0 + self.held.0
    }
}

/// An account of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountHolder {
    /// The member.
    pub member: MemberId,
    /// The name of the account.
    pub name: Name,
}

/// What a fold of events must remember in order to write statements about the events that follow.
///
/// It has no orders: an event says what it moved. The orders whose end cannot be told from a fill
/// are the exception.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Positions {
    pub(crate) seq: Seq,
    pub(crate) time: Timestamp,
    pub(crate) currencies: Vec<Currency>,
    pub(crate) specs: Vec<InstrumentSpec>,
    pub(crate) members: BTreeMap<MemberId, Name>,
    pub(crate) accounts: BTreeMap<AccountId, AccountHolder>,
    /// Currencies that an account ever had.
    pub(crate) balances: BTreeMap<(AccountId, CurrencyId), PositionBalance>,
    /// Open orders that are sized in quote currency: only an event ends them, no fill does.
    pub(crate) quote_sized: BTreeSet<OrderId>,
}

impl Positions {
    /// The positions of a venue before its first event.
    #[must_use]
    pub fn new() -> Positions {
        Positions::default()
    }

    /// The positions in the state of an engine, where older events are gone. The state must have no
    /// order whose matching is suspended.
    #[must_use]
    pub fn of_baseline(baseline: &Baseline) -> Positions {
        let is_members = |account: AccountId| !account.is_house();
        let accounts = baseline.accounts.iter().filter(|it| is_members(it.account));
        let balances = baseline.balances.iter().filter(|it| is_members(it.account));
        Positions {
            seq: baseline.seq,
            time: baseline.time,
            currencies: baseline.currencies.clone(),
            specs: baseline.instruments.iter().map(|it| it.spec).collect(),
            members: baseline.members.iter().map(|it| (it.member, it.name)).collect(),
            accounts: accounts
                .map(|it| (it.account, AccountHolder { member: it.member, name: it.name }))
                .collect(),
            balances: balances
                .map(|it| {
                    let standing = PositionBalance { available: it.available, held: it.reserved };
                    ((it.account, it.currency), standing)
                })
                .collect(),
            quote_sized: BTreeSet::new(),
        }
    }

    /// The sequence of the last command.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// The time of that command.
    #[must_use]
    pub fn time(&self) -> Timestamp {
        self.time
    }

    /// The balance of an account in a currency.
    #[must_use]
    pub fn balance(&self, account: AccountId, currency: CurrencyId) -> PositionBalance {
        self.balances.get(&(account, currency)).copied().unwrap_or_default()
    }

    /// The balances of an account in all currencies that it ever had, by currency.
    pub fn of_account(
        &self,
        account: AccountId,
    ) -> impl Iterator<Item = (CurrencyId, PositionBalance)> + '_ {
        self.balances
            .range((account, CurrencyId(0))..=(account, CurrencyId(u16::MAX)))
            .map(|((_, currency), standing)| (*currency, *standing))
    }

    /// The accounts of a member.
    pub fn accounts_of(&self, member: MemberId) -> impl Iterator<Item = (AccountId, Name)> + '_ {
        let own = self.accounts.iter().filter(move |(_, holder)| holder.member == member);
        own.map(|(account, holder)| (*account, holder.name))
    }

    /// A currency.
    #[must_use]
    pub fn currency(&self, currency: CurrencyId) -> Option<&Currency> {
        self.currencies.get(usize::from(currency.0).checked_sub(1)?)
    }

    /// The specification of an instrument.
    #[must_use]
    pub fn spec(&self, instrument: InstrumentId) -> Option<&InstrumentSpec> {
        self.specs.get((instrument.0 as usize).checked_sub(1)?)
    }

    /// A digest of all balances that are not zero. Equal digests mean equal balances.
    #[must_use]
    pub fn digest(&self) -> BalancesDigest {
        let balances = self.balances.iter();
        BalancesDigest::of(balances.map(|((account, currency), standing)| {
            (*account, *currency, standing.available, standing.held)
        }))
    }

    /// Takes an event of the command `seq`, and passes on the lines that it makes. Events come in
    /// their order, and every command has at least one.
    ///
    /// # Errors
    /// A sequence is missing, or the event contradicts earlier ones.
    pub fn fold(
        &mut self,
        seq: Seq,
        time: Timestamp,
        event: &Event,
        tell: &mut impl FnMut(&StatementLine),
    ) -> Result<(), PositionsError> {
        if seq != self.seq && seq != self.seq.next() {
            return Err(PositionsError::OutOfOrder { after: self.seq, got: seq });
        }
        (self.seq, self.time) = (seq, time);
        let mut fold = Fold { at: Moment { seq, time }, positions: self, tell };
        match *event {
            Event::Ticked
            | Event::Rested(_)
            | Event::Rejected(_)
            | Event::Repeated { .. }
            | Event::CancelProgress { .. }
            | Event::DeadManSet { .. }
            | Event::InstrumentStateSet { .. }
            | Event::AuctionRulesSet { .. }
            | Event::ContractTermsSet { .. }
            | Event::Uncrossed(_)
            | Event::Interrupted(_)
            | Event::Attributed(_)
            | Event::Restricted(_)
            | Event::TransitionPlanned { .. }
            | Event::PlanAdopted { .. }
            | Event::CalendarAssigned { .. }
            | Event::TransitionMoved { .. }
            | Event::TransitionBegun { .. }
            | Event::TradingHalted(_)
            | Event::CircuitBreakerSet(_)
            | Event::LimitStateSet { .. }
            | Event::TriggerSet(_)
            | Event::TrailSet(_)
            | Event::TrailActivated(_)
            | Event::IcebergSet(_)
            | Event::IcebergRefreshed(_)
            | Event::ExitsSet(_)
            | Event::OrdersLinked(_)
            | Event::ExitsRefused(_)
            | Event::RulesVersionSet { .. } => Ok(()),
            Event::Accepted(ref accepted) => {
                let terms = &accepted.terms;
                if let OrderSize::Quote(_) = terms.size {
                    fold.positions.quote_sized.insert(accepted.order);
                }
                fold.reserve(terms.account, terms.instrument, terms.side, accepted.reserved.0)
            }
            Event::Amended(ref it) => {
                let change = it.reserved.0 - it.old_reserved.0;
                fold.reserve(it.account, it.instrument, it.side, change)
            }
            Event::Reduced(ref it) => {
                fold.reserve(it.account, it.instrument, it.side, -it.released.0)
            }
            Event::Triggered(ref it) => {
                fold.reserve(it.account, it.instrument, it.side, -it.released.0)
            }
            Event::Trade(ref trade) => fold.trade(trade),
            Event::Done(ref it) => {
                fold.positions.quote_sized.remove(&it.order);
                let ended = EndedDetail {
                    order: it.order,
                    instrument: it.instrument,
                    side: it.side,
                    price: Some(it.price),
                    remaining: it.remaining,
                    reason: Some(it.reason),
                };
                fold.ended(it.account, ended, it.released.0)
            }
            Event::Deposited { account, currency, amount, reference } => {
                fold.post(account, currency, amount.0, 0, LineDetail::Deposit(reference))
            }
            Event::Withdrawn { account, currency, amount, reference } => {
                fold.post(account, currency, -amount.0, 0, LineDetail::Withdrawal(reference))
            }
            Event::WithdrawalHeld { account, currency, amount: Amount(amount), reference } => {
                fold.post(account, currency, -amount, amount, LineDetail::WithdrawalHeld(reference))
            }
            Event::WithdrawalSettled { account, currency, amount, reference } => {
                fold.post(account, currency, 0, -amount.0, LineDetail::WithdrawalSettled(reference))
            }
            Event::WithdrawalReleased { account, currency, amount: Amount(amount), reference } => {
                fold.post(
                    account,
                    currency,
                    amount,
                    -amount,
                    LineDetail::WithdrawalReleased(reference),
                )
            }
            Event::MemberCreated { member, name } => {
                self.members.insert(member, name);
                Ok(())
            }
            Event::AccountCreated { account, member, name } => {
                self.accounts.insert(account, AccountHolder { member, name });
                Ok(())
            }
            Event::CurrencyCreated(currency) => {
                let number = usize::from(currency.id.0);
                if number != self.currencies.len() + 1 {
                    return Err(PositionsError::Contradiction { seq, what: "a currency's number" });
                }
                self.currencies.push(currency);
                Ok(())
            }
            Event::InstrumentCreated { instrument, spec } => {
                if instrument.0 as usize != self.specs.len() + 1 {
                    return Err(PositionsError::Contradiction {
                        seq,
                        what: "an instrument's number",
                    });
                }
                self.specs.push(spec);
                Ok(())
            }
            Event::RulesSet { instrument, rules } => {
                let index = (instrument.0 as usize).wrapping_sub(1);
                let unknown = PositionsError::Contradiction { seq, what: "an instrument" };
                self.specs.get_mut(index).ok_or(unknown)?.rules = rules;
                Ok(())
            }
        }
    }

    fn instrument(&self, seq: Seq, id: InstrumentId) -> Result<Instrument, PositionsError> {
        let unknown = PositionsError::Contradiction { seq, what: "an instrument" };
        let spec = *self.spec(id).ok_or(unknown)?;
        let unlisted = PositionsError::Contradiction { seq, what: "a currency" };
        let (Some(base), Some(quote)) = (self.currency(spec.base), self.currency(spec.quote))
        else {
            return Err(unlisted);
        };
        Instrument::new(id, spec, base, quote)
            .map_err(|_| PositionsError::Contradiction { seq, what: "an instrument's rules" })
    }
}

/// A digest of the balances of all members: SHA-256 over account, currency, available and held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BalancesDigest([u8; 32]);

impl BalancesDigest {
    /// The digest of balances in the order of accounts and currencies. Zero balances and those of
    /// the venue's own accounts do not count.
    pub fn of(
        balances: impl Iterator<Item = (AccountId, CurrencyId, Amount, Amount)>,
    ) -> BalancesDigest {
        let mut digest = Context::new(&SHA256);
        for (account, currency, available, held) in balances {
            if account.is_house() || (available.0 == 0 && held.0 == 0) {
                continue;
            }
            digest.update(&account.0.to_le_bytes());
            digest.update(&currency.0.to_le_bytes());
            digest.update(&available.0.to_le_bytes());
            digest.update(&held.0.to_le_bytes());
        }
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest.finish().as_ref());
        BalancesDigest(bytes)
    }
}

/// The fold of one event.
struct Fold<'a, T> {
    at: Moment,
    positions: &'a mut Positions,
    tell: &'a mut T,
}

impl<T: FnMut(&StatementLine)> Fold<'_, T> {
    /// Changes a balance, and passes the line on. The venue's own accounts have no statements.
    fn post(
        &mut self,
        account: AccountId,
        currency: CurrencyId,
        available: i128,
        held: i128,
        detail: LineDetail,
    ) -> Result<(), PositionsError> {
        if account.is_house() {
            return Ok(());
        }
        let seq = self.at.seq;
        if !self.positions.accounts.contains_key(&account) {
            return Err(PositionsError::Contradiction { seq, what: "an account" });
        }
        if available != 0 || held != 0 {
            let standing = self.positions.balances.entry((account, currency)).or_default();
            let changed = standing.available.0.checked_add(available);
            let changed = changed.zip(standing.held.0.checked_add(held));
            let (now, held_now) = changed
                .filter(|(now, held_now)| *now >= 0 && *held_now >= 0)
                .ok_or(PositionsError::BelowZero { seq, account, currency })?;
            *standing = PositionBalance { available: Amount(now), held: Amount(held_now) };
        }
        (self.tell)(&StatementLine { at: self.at, account, currency, available, held, detail });
        Ok(())
    }

    /// Moves an amount from available to held for an order; a negative one back.
    fn reserve(
        &mut self,
        account: AccountId,
        instrument: InstrumentId,
        side: Side,
        amount: i128,
    ) -> Result<(), PositionsError> {
        let (currency, is_posted) = self.pledged(instrument, side)?;
        if amount == 0 || !is_posted {
            return Ok(());
        }
        self.post(account, currency, -amount, amount, LineDetail::Reserve)
    }

    /// The currency that covers an order, and whether anything is held for it at all.
    fn pledged(
        &self,
        instrument: InstrumentId,
        side: Side,
    ) -> Result<(CurrencyId, bool), PositionsError> {
        let seq = self.at.seq;
        let unknown = PositionsError::Contradiction { seq, what: "an instrument" };
        let spec = self.positions.spec(instrument).ok_or(unknown)?;
        let currency = if side == Side::Buy { spec.quote } else { spec.base };
        Ok((currency, spec.rules.risk))
    }

    fn ended(
        &mut self,
        account: AccountId,
        ended: EndedDetail,
        released: i128,
    ) -> Result<(), PositionsError> {
        let (currency, is_posted) = self.pledged(ended.instrument, ended.side)?;
        let released = if is_posted { released } else { 0 };
        self.post(account, currency, released, -released, LineDetail::OrderEnded(ended))
    }

    fn trade(&mut self, trade: &Trade) -> Result<(), PositionsError> {
        let instrument = self.positions.instrument(self.at.seq, trade.instrument)?;
        let maker_side = trade.taker_side.opposite();
        let fill = |of: Role| {
            let (order, side, fee) = match of {
                Role::Taker => (trade.taker_order, trade.taker_side, trade.taker_fee),
                _ => (trade.maker_order, maker_side, trade.maker_fee),
            };
            let role = if trade.auction { Role::Auction } else { of };
            FillDetail {
                trade: trade.trade,
                order,
                instrument: trade.instrument,
                side,
                role,
                price: trade.price,
                quantity: trade.quantity,
                notional: trade.notional,
                fee,
            }
        };
        let sides = [(Role::Maker, trade.maker_account), (Role::Taker, trade.taker_account)];
        for (role, account) in sides {
            self.fill(&instrument, account, fill(role), trade.buyer_unreserved.0)?;
        }
        let taker_is_filled = trade.taker_remaining == Quantity::ZERO
            && !self.positions.quote_sized.contains(&trade.taker_order);
        let filled = [trade.maker_remaining == Quantity::ZERO, taker_is_filled];
        for ((role, account), is_filled) in sides.into_iter().zip(filled) {
            if is_filled {
                let FillDetail { order, instrument, side, .. } = fill(role);
                let (price, remaining, reason) = (None, Quantity::ZERO, None);
                let ended = EndedDetail { order, instrument, side, price, remaining, reason };
                self.ended(account, ended, 0)?;
            }
        }
        Ok(())
    }

    fn fill(
        &mut self,
        instrument: &Instrument,
        account: AccountId,
        fill: FillDetail,
        buyer_unreserved: i128,
    ) -> Result<(), PositionsError> {
        let spec = &instrument.spec;
        if !spec.rules.risk {
            return self.post(account, spec.base, 0, 0, LineDetail::Fill(fill));
        }
        let quantity = instrument.base_amount(fill.quantity).0;
        let (notional, fee) = (fill.notional.0, fill.fee.0);
        let (base, quote) = match fill.side {
            Side::Buy => {
                let paid = notional + fee;
                ((quantity, 0), (buyer_unreserved - paid, -buyer_unreserved))
            }
            Side::Sell => ((0, -quantity), (notional - fee, 0)),
        };
        self.post(account, spec.base, base.0, base.1, LineDetail::Fill(fill))?;
        self.post(account, spec.quote, quote.0, quote.1, LineDetail::Payment(fill))
    }
}
