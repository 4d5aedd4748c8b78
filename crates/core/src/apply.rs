//! The entry point: dispatches a command and hands out its refusal or its events.

use crate::halts::WITH_RESUMED_PHASES;
use crate::instruments::Market;
use crate::limits::DEAD_MAN_MAX_NS;
use crate::phases::WITH_AUCTIONS;
use crate::transfers::Ended;
use crate::{Core, EventSink, RULES_VERSIONS};
use rialto_model::{
    AccountId, AmendTrigger, ClientOrderId, Command, CommandKind, ConditionalOrder, Event,
    HaltScope, IcebergOrder, InstrumentId, MemberId, Name, NewOrder, OrderId, OrderList, OrderRef,
    Outcome, RejectReason, Rejected, RestrictionTarget, Seq, Timestamp, TrailingOrder,
};

impl Core {
    /// Applies the command at position `seq`, stamped with `time`, and hands its events (at least
    /// one) to `sink` in order.
    ///
    /// # Panics
    /// If the caller is not a sequencer: if `seq` does not follow the last one, if time goes back,
    /// or if a command other than a tick comes while a tick is due (see [`Core::next_due`]).
    #[inline]
    pub fn apply<S: EventSink>(
        &mut self,
        seq: Seq,
        time: Timestamp,
        command: &Command,
        sink: &mut S,
    ) -> Outcome {
        self.begin(seq, time);
        if matches!(command, Command::Tick) {
            return self.tick(sink);
        }
        self.assert_nothing_due(seq, time);
        // Each arm unwraps its own result: a result that the arms share is written field by field
        // and read at once as a whole, which makes the processor wait for its stores.
        match command {
            Command::Place(terms) => self.place(terms, sink),
            Command::PlaceConditional(order) => self.place_conditional(order, sink),
            Command::PlaceTrailing(order) => self.place_trailing(order, sink),
            Command::PlaceIceberg(order) => self.place_iceberg(order, sink),
            Command::PlaceList(list) => self.place_list(list, sink),
            Command::Cancel { account, order } => match self.cancel(*account, order, sink) {
                Ok(outcome) => outcome,
                Err(reason) => refuse(command, reason, sink),
            },
            Command::Amend(amend) => match self.amend(amend, sink) {
                Ok(outcome) => outcome,
                Err(reason) => refuse(command, reason, sink),
            },
            _ => match self.apply_rare(command, sink) {
                Ok(outcome) => outcome,
                Err(reason) => refuse(command, reason, sink),
            },
        }
    }

    /// Applies `Command::Place(*terms)` without building the command.
    ///
    /// # Panics
    /// As [`Core::apply`].
    #[inline]
    pub fn apply_order<S: EventSink>(
        &mut self,
        seq: Seq,
        time: Timestamp,
        terms: &NewOrder,
        sink: &mut S,
    ) -> Outcome {
        self.begin(seq, time);
        self.assert_nothing_due(seq, time);
        self.place(terms, sink)
    }

    #[inline(always)]
    fn begin(&mut self, seq: Seq, time: Timestamp) {
        assert!(seq.0 == self.seq.0 + 1, "command {seq} does not follow command {}", self.seq);
        assert!(time >= self.time, "time goes back from {} to {time} at command {seq}", self.time);
        (self.seq, self.time) = (seq, time);
    }

    #[inline(always)]
    fn assert_nothing_due(&self, seq: Seq, time: Timestamp) {
        assert!(self.next_due() > time, "a tick is due before command {seq}");
    }

    #[inline(never)]
    fn apply_rare<S: EventSink>(
        &mut self,
        command: &Command,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        let (event, outcome) = match command {
            Command::Tick
            | Command::Place(_)
            | Command::PlaceConditional(_)
            | Command::PlaceTrailing(_)
            | Command::PlaceIceberg(_)
            | Command::PlaceList(_)
            | Command::Cancel { .. }
            | Command::Amend(_) => {
                unreachable!("these are dispatched before")
            }
            Command::AmendTrigger(change) => return self.amend_trigger(change, sink),
            Command::MassCancel(mass_cancel) => return self.mass_cancel(mass_cancel, sink),
            Command::Disconnect { account } => return self.disconnect(*account, sink),
            Command::SetInstrumentState { instrument, state } => {
                return self.set_instrument_state(*instrument, *state, sink);
            }
            Command::Restrict(restrict) => return self.restrict(restrict, sink),
            Command::HaltTrading { scope, duration_ms } => {
                return self.halt_trading(*scope, *duration_ms, sink);
            }
            Command::SetDeadMan { account, timeout_ns } => {
                self.set_dead_man(*account, *timeout_ns)?
            }
            Command::Deposit(deposit) => self.deposit(deposit)?,
            Command::Withdraw(transfer) => self.withdraw(transfer)?,
            Command::CreateMember { member, name } => self.create_member(*member, *name)?,
            Command::CreateAccount { account, member, name } => {
                self.create_account(*account, *member, *name)?
            }
            Command::CreateCurrency { code, scale } => self.create_currency(*code, *scale)?,
            Command::CreateInstrument(spec) => self.create_instrument(spec)?,
            Command::SetRules { instrument, rules } => self.set_rules(*instrument, rules)?,
            Command::SetRulesVersion { version } => self.set_rules_version(*version)?,
            Command::SetAuctionRules { instrument, rules, seed } => {
                self.set_auction_rules(*instrument, rules, *seed)?
            }
            Command::PlanTransition { calendar, number, transition } => {
                self.plan_transition(*calendar, *number, transition)?
            }
            Command::AdoptPlan { calendar, count, digest, seed, replace } => {
                self.adopt_plan(*calendar, *count, *digest, *seed, *replace)?
            }
            Command::AssignCalendar { instrument, calendar } => {
                self.assign_calendar(*instrument, *calendar)?
            }
            Command::MoveTransition { calendar, at, to } => {
                self.move_transition(*calendar, *at, *to)?
            }
            Command::SetCircuitBreaker(breaker) => self.set_circuit_breaker(breaker)?,
            Command::SetContractTerms { instrument, terms } => {
                self.set_contract_terms(*instrument, terms)?
            }
            Command::HoldWithdrawal(transfer) => self.hold_withdrawal(transfer)?,
            Command::SettleWithdrawal { account, reference } => {
                self.end_withdrawal(*account, *reference, Ended::Settled)?
            }
            Command::ReleaseWithdrawal { account, reference } => {
                self.end_withdrawal(*account, *reference, Ended::Released)?
            }
        };
        sink.event(&event);
        Ok(outcome)
    }

    fn set_dead_man(
        &mut self,
        account: AccountId,
        timeout_ns: u64,
    ) -> Result<(Event, Outcome), RejectReason> {
        let slot = self.accounts.slot(account)?;
        if timeout_ns > DEAD_MAN_MAX_NS {
            return Err(RejectReason::TimerInvalid);
        }
        self.dead_men.remove(slot);
        let mut due = Timestamp::MAX;
        if timeout_ns > 0 {
            due = self.time.saturating_add(timeout_ns);
        }
        if due < Timestamp::MAX {
            self.dead_men.insert(slot, due, u64::from(account.0));
        }
        self.settle_due();
        Ok((Event::DeadManSet { account, due }, Outcome::Done))
    }

    fn create_member(
        &mut self,
        wanted: MemberId,
        name: Name,
    ) -> Result<(Event, Outcome), RejectReason> {
        if name.is_empty() {
            return Err(RejectReason::NameInvalid);
        }
        let member = self.accounts.create_member(&self.limits, wanted, name)?;
        Ok((Event::MemberCreated { member, name }, Outcome::Created { number: member.0 }))
    }

    fn create_account(
        &mut self,
        wanted: AccountId,
        member: MemberId,
        name: Name,
    ) -> Result<(Event, Outcome), RejectReason> {
        if name.is_empty() {
            return Err(RejectReason::NameInvalid);
        }
        let account = self.open_account(wanted, member, name)?;
        let event = Event::AccountCreated { account, member, name };
        Ok((event, Outcome::Created { number: account.0 }))
    }

    /// Opens an account under any name: snapshots hold accounts of a time when it could be empty.
    pub(crate) fn open_account(
        &mut self,
        wanted: AccountId,
        member: MemberId,
        name: Name,
    ) -> Result<AccountId, RejectReason> {
        let account = self.accounts.create_account(&self.limits, wanted, member, name)?;
        self.ledger.add_account();
        self.client_ids.add_account();
        self.withdrawals.add_account();
        self.ended_withdrawals.add_account();
        Ok(account)
    }

    fn set_rules_version(&mut self, version: u32) -> Result<(Event, Outcome), RejectReason> {
        if !RULES_VERSIONS.contains(&version) {
            return Err(RejectReason::RulesVersionUnknown);
        }
        if version < self.rules_version {
            return Err(RejectReason::RulesVersionOlder);
        }
        if self.rules_version < 2 && version >= 2 {
            self.adopt_works();
        }
        if self.rules_version < WITH_AUCTIONS && version >= WITH_AUCTIONS {
            self.markets.iter_mut().for_each(Market::adopt_auctions);
        }
        if self.rules_version < WITH_RESUMED_PHASES && version >= WITH_RESUMED_PHASES {
            self.markets.iter_mut().for_each(Market::adopt_halt);
        }
        self.rules_version = version;
        Ok((Event::RulesVersionSet { version }, Outcome::Done))
    }
}

#[cold]
#[inline(never)]
pub(crate) fn refuse<S: EventSink>(
    command: &Command,
    reason: RejectReason,
    sink: &mut S,
) -> Outcome {
    sink.event(&Event::Rejected(naming(command, reason)));
    Outcome::Rejected { reason }
}

/// The refusal of a command, with the ids that the command named.
fn naming(command: &Command, reason: RejectReason) -> Rejected {
    let mut rejected = Rejected {
        command: CommandKind::Tick,
        reason,
        account: AccountId(0),
        instrument: InstrumentId(0),
        order: OrderId(0),
        client_order_id: ClientOrderId::EMPTY,
    };
    let mut name_order = |order: &OrderRef| match order {
        OrderRef::Id(id) => rejected.order = *id,
        OrderRef::Client(id) => rejected.client_order_id = *id,
    };
    match command {
        Command::Tick => {}
        Command::Place(terms) => {
            rejected.command = CommandKind::Place;
            rejected.account = terms.account;
            rejected.instrument = terms.instrument;
            rejected.client_order_id = terms.client_order_id;
        }
        Command::Cancel { account, order } => {
            name_order(order);
            rejected.command = CommandKind::Cancel;
            rejected.account = *account;
        }
        Command::Amend(amend) => {
            name_order(&amend.order);
            rejected.command = CommandKind::Amend;
            rejected.account = amend.account;
        }
        Command::AmendTrigger(AmendTrigger { amend, .. }) => {
            name_order(&amend.order);
            rejected.command = CommandKind::AmendTrigger;
            rejected.account = amend.account;
        }
        Command::MassCancel(mass_cancel) => {
            rejected.command = CommandKind::MassCancel;
            rejected.account = mass_cancel.account;
            rejected.instrument = mass_cancel.instrument.unwrap_or_default();
        }
        Command::Disconnect { account } => {
            rejected.command = CommandKind::Disconnect;
            rejected.account = *account;
        }
        Command::SetDeadMan { account, .. } => {
            rejected.command = CommandKind::SetDeadMan;
            rejected.account = *account;
        }
        Command::Deposit(deposit) => {
            rejected.command = CommandKind::Deposit;
            rejected.account = deposit.transfer.account;
        }
        Command::Withdraw(transfer) => {
            rejected.command = CommandKind::Withdraw;
            rejected.account = transfer.account;
        }
        Command::CreateMember { .. } => rejected.command = CommandKind::CreateMember,
        Command::CreateAccount { account, .. } => {
            rejected.command = CommandKind::CreateAccount;
            rejected.account = *account;
        }
        Command::CreateCurrency { .. } => rejected.command = CommandKind::CreateCurrency,
        Command::CreateInstrument(_) => rejected.command = CommandKind::CreateInstrument,
        Command::SetRules { instrument, .. } => {
            rejected.command = CommandKind::SetRules;
            rejected.instrument = *instrument;
        }
        Command::SetInstrumentState { instrument, .. } => {
            rejected.command = CommandKind::SetInstrumentState;
            rejected.instrument = *instrument;
        }
        Command::SetRulesVersion { .. } => rejected.command = CommandKind::SetRulesVersion,
        Command::SetAuctionRules { instrument, .. } => {
            rejected.command = CommandKind::SetAuctionRules;
            rejected.instrument = *instrument;
        }
        Command::Restrict(restrict) => {
            rejected.command = CommandKind::Restrict;
            match restrict.target {
                RestrictionTarget::Venue | RestrictionTarget::Member(_) => {}
                RestrictionTarget::Account(account) => rejected.account = account,
                RestrictionTarget::Instrument(instrument) => rejected.instrument = instrument,
            }
        }
        Command::PlanTransition { .. } => rejected.command = CommandKind::PlanTransition,
        Command::AdoptPlan { .. } => rejected.command = CommandKind::AdoptPlan,
        Command::AssignCalendar { instrument, .. } => {
            rejected.command = CommandKind::AssignCalendar;
            rejected.instrument = *instrument;
        }
        Command::MoveTransition { .. } => rejected.command = CommandKind::MoveTransition,
        Command::HaltTrading { scope, .. } => {
            rejected.command = CommandKind::HaltTrading;
            if let HaltScope::Instrument(instrument) = scope {
                rejected.instrument = *instrument;
            }
        }
        Command::SetCircuitBreaker(breaker) => {
            rejected.command = CommandKind::SetCircuitBreaker;
            rejected.instrument = breaker.instrument;
        }
        Command::PlaceConditional(ConditionalOrder { terms, .. }) => {
            rejected.command = CommandKind::PlaceConditional;
            rejected.account = terms.account;
            rejected.instrument = terms.instrument;
            rejected.client_order_id = terms.client_order_id;
        }
        Command::PlaceTrailing(TrailingOrder { terms, .. }) => {
            rejected.command = CommandKind::PlaceTrailing;
            rejected.account = terms.account;
            rejected.instrument = terms.instrument;
            rejected.client_order_id = terms.client_order_id;
        }
        Command::PlaceIceberg(IcebergOrder { terms, .. }) => {
            rejected.command = CommandKind::PlaceIceberg;
            rejected.account = terms.account;
            rejected.instrument = terms.instrument;
            rejected.client_order_id = terms.client_order_id;
        }
        Command::PlaceList(OrderList { terms, .. }) => {
            rejected.command = CommandKind::PlaceList;
            rejected.account = terms.account;
            rejected.instrument = terms.instrument;
            rejected.client_order_id = terms.client_order_id;
        }
        Command::SetContractTerms { instrument, .. } => {
            rejected.command = CommandKind::SetContractTerms;
            rejected.instrument = *instrument;
        }
        Command::HoldWithdrawal(transfer) => {
            rejected.command = CommandKind::HoldWithdrawal;
            rejected.account = transfer.account;
        }
        Command::SettleWithdrawal { account, .. } => {
            rejected.command = CommandKind::SettleWithdrawal;
            rejected.account = *account;
        }
        Command::ReleaseWithdrawal { account, .. } => {
            rejected.command = CommandKind::ReleaseWithdrawal;
            rejected.account = *account;
        }
    }
    rejected
}
