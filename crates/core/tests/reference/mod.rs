//! The venue once more, decided from the rules alone: vectors, linear scans, no cleverness.
//!
//! It exists to be obviously right, and to differ from the core in how it comes to its answers. The
//! model tests feed both the same commands and compare every event, every answer and every balance.
//!
//! | What | The core | Here |
//! |---|---|---|
//! | Balances, reserves | kept, and changed by each posting | added up from all postings and all open orders whenever asked for |
//! | Events that tell of a reserve | what was taken off the balance | what the order binds before, less what it binds after |
//! | Books | slots, levels, a ladder of prices | one vector, sorted by price and place when it is looked at |
//! | Matching | one maker after the other, as the book changes | all steps worked out from a sorted list, then carried out |
//! | Fill-or-kill | a walk of its own past the makers | those same steps, looked at |
//! | Protection, collar, slide, lots for an amount | divided and rounded | the last tick or lot for which the rule's inequality holds |
//! | Fees | a residue kept below one unit | all that is owed and all that was charged |
//! | The price of an auction | levels matched from the best, then what is left beside them | every tick looked at |
//! | Price ranges | multiplied out and cut | the prices for which an inequality holds |
//! | Icebergs | what is displayed computed from the quantity of a trade | used up part by part |
//! | Linked orders | slots that name each other | a list of lists, gone through whenever anything trades or ends |
//! | Triggers | prices compared with the nearest one, and marks in a book of trigger prices | all waiting orders looked at after each trade |
//! | Refusals | checks along the way | a list under the names and in the order of the rules page |

mod alteration;
pub mod amend;
mod arithmetic;
mod auction;
mod cancel;
pub mod conditional;
mod contract;
pub mod coverage;
mod dice;
pub mod entry;
mod expiry;
mod fill_or_kill;
pub mod fold;
pub mod generator;
mod halt;
pub mod iceberg;
pub mod invariants;
pub mod linked;
pub mod listing;
pub mod lockstep;
mod matching;
mod postings;
mod prices;
pub mod restriction;
mod state;
mod subject;
mod sweep;
pub mod timetable;
mod trailing;
pub mod transfer;
mod withdrawal;
pub mod world;

pub use alteration::Alteration;
pub use state::{
    Account, Ended, Entered, Finish, KnownDeposit, Listed, Order, Reference, RememberedTransfer,
    Work,
};

use rialto_model::{
    AccountId, Attributed, Attribution, ClientOrderId, Command, DoneReason, Event, HaltScope,
    InstrumentId, OrderId, OrderRef, Outcome, RejectReason, Rejected, Restrict, RestrictionTarget,
    Seq, Timestamp,
};

/// Orders that one command may touch.
pub const ORDERS_PER_COMMAND: usize = 256;
/// Orders, or levels, that one fill-or-kill check may look at.
pub const FILL_OR_KILL_DEPTH: usize = 4_096;

impl Reference {
    /// Decides one command.
    /// As [`Reference::apply`]; version 4 tells first who sent the command, and why.
    pub fn apply_attributed(
        &mut self,
        seq: Seq,
        time: Timestamp,
        command: &Command,
        attribution: Option<Attribution>,
    ) -> (Vec<Event>, Outcome) {
        let told = attribution.filter(|_| self.rules_version >= 4).map(|attribution| {
            Event::Attributed(Attributed { command: command.kind(), attribution })
        });
        let (mut events, outcome) = self.apply(seq, time, command);
        events.splice(0..0, told);
        (events, outcome)
    }

    pub fn apply(&mut self, seq: Seq, time: Timestamp, command: &Command) -> (Vec<Event>, Outcome) {
        assert_eq!(seq, self.seq.next(), "commands are numbered without gaps");
        assert!(time >= self.time, "time never goes back");
        assert!(
            matches!(command, Command::Tick) || self.next_due() > time,
            "what is due comes before any other command"
        );
        self.seq = seq;
        self.time = time;
        let before: usize = self.accounts.values().map(|account| account.entered.len()).sum();
        let answer = match command {
            Command::Tick => Ok(self.tick()),
            Command::Place(new) => self.place(new),
            Command::PlaceConditional(new) => self.place_conditional(&new.into()),
            Command::PlaceTrailing(new) => self.place_conditional(&new.into()),
            Command::PlaceIceberg(new) => self.place_iceberg(new),
            Command::PlaceList(new) => self.place_list(new),
            Command::Cancel { account, order } => self.cancel(*account, order),
            Command::Amend(amend) => self.amend(&amend.into()),
            Command::AmendTrigger(amend) => self.amend_trigger(amend),
            Command::MassCancel(which) => self.mass_cancel(which),
            Command::Disconnect { account } => self.disconnect(*account),
            Command::SetDeadMan { account, timeout_ns } => self.set_dead_man(*account, *timeout_ns),
            Command::Deposit(deposit) => self.deposit(deposit),
            Command::Withdraw(transfer) => self.withdraw(transfer),
            Command::CreateMember { member, name } => self.create_member(*member, *name),
            Command::CreateAccount { account, member, name } => {
                self.create_account(*account, *member, *name)
            }
            Command::CreateCurrency { code, scale } => self.create_currency(*code, *scale),
            Command::CreateInstrument(spec) => self.create_instrument(spec),
            Command::SetRules { instrument, rules } => self.set_rules(*instrument, rules),
            Command::SetInstrumentState { instrument, state } => {
                self.set_instrument_state(*instrument, *state)
            }
            Command::SetRulesVersion { version } => self.set_rules_version(*version),
            Command::SetAuctionRules { instrument, rules, seed } => {
                self.set_auction_rules(*instrument, rules, *seed)
            }
            Command::Restrict(restrict) => self.restrict(restrict),
            Command::PlanTransition { calendar, number, transition } => {
                self.plan_transition(*calendar, *number, transition)
            }
            Command::AdoptPlan { calendar, count, digest, seed, replace } => {
                self.adopt_plan(*calendar, (*count, *digest), *seed, *replace)
            }
            Command::AssignCalendar { instrument, calendar } => {
                self.assign_calendar(*instrument, *calendar)
            }
            Command::MoveTransition { calendar, at, to } => {
                self.move_transition(*calendar, *at, *to)
            }
            Command::HaltTrading { scope, duration_ms } => self.halt_trading(*scope, *duration_ms),
            Command::SetCircuitBreaker(breaker) => self.set_circuit_breaker(breaker),
            Command::SetContractTerms { instrument, terms } => {
                self.set_contract_terms(*instrument, terms)
            }
            Command::HoldWithdrawal(transfer) => self.hold_withdrawal(transfer),
            Command::SettleWithdrawal { account, reference } => {
                self.settle_withdrawal(*account, *reference)
            }
            Command::ReleaseWithdrawal { account, reference } => {
                self.release_withdrawal(*account, *reference)
            }
        };
        let outcome = answer.unwrap_or_else(|reason| {
            self.events.push(Event::Rejected(rejected(command, reason)));
            Outcome::Rejected { reason }
        });
        let remembered = self.accounts.values().map(|account| account.entered.len()).sum();
        self.forget_client_ids(before < remembered);
        (std::mem::take(&mut self.events), outcome)
    }

    /// When a Tick must come before any other command.
    pub fn next_due(&self) -> Timestamp {
        if self.taking.is_some() {
            return Timestamp::ZERO;
        }
        let due = self.first_due();
        if self.rules_version >= 2 { due } else { due.min(self.first_expiry()) }
    }

    fn first_expiry(&self) -> Timestamp {
        let expiries = self.orders.iter().map(|order| order.expire_at);
        expiries.filter(|at| *at > Timestamp::ZERO).min().unwrap_or(Timestamp::MAX)
    }

    /// From when on a Tick finds something to do that need not come first.
    pub fn next_background_work(&self) -> Timestamp {
        let is_idle = self.work.is_empty() && self.sweeps.is_empty() && self.walks.is_empty();
        if !is_idle || !self.auctions.is_empty() || !self.triggering.is_empty() {
            return Timestamp::ZERO;
        }
        if self.rules_version >= 2 { self.first_expiry() } else { Timestamp::MAX }
    }

    /// Whether Ticks should come between other commands.
    pub fn has_background_work(&self) -> bool {
        self.next_background_work() <= self.time
    }

    /// Does what is due, then continues with what earlier commands began.
    fn tick(&mut self) -> Outcome {
        let mut visited = 0;
        if self.rules_version >= 2 {
            let mut is_free = false;
            match self.taking.take() {
                Some(taker) if self.is_dead(&taker) => {
                    self.end(&taker, DoneReason::Expired);
                }
                Some(taker) => {
                    self.take(taker, &mut visited);
                }
                None => is_free = true,
            }
            is_free |= self.rules_version >= 5;
            if is_free && self.taking.is_none() {
                self.make_due(&mut visited);
            }
            self.take_turns(&mut visited);
        } else if let Some(taker) = self.taking.take() {
            self.take(taker, &mut visited);
        } else {
            self.expire(&mut visited);
            self.fire_dead_man_timers(&mut visited);
        }
        while self.rules_version < 2 && visited < ORDERS_PER_COMMAND && !self.work.is_empty() {
            let work = self.work.remove(0);
            let (_, left) = self.work_on(work, &mut visited);
            if let Some(left) = left {
                self.work.insert(0, left);
            }
        }
        if self.events.is_empty() {
            self.events.push(Event::Ticked);
        }
        Outcome::Done
    }
}

/// The event of a refused command: what the command itself named, and why.
fn rejected(command: &Command, reason: RejectReason) -> Rejected {
    let named = match command {
        Command::Cancel { order, .. } => Some(order),
        Command::Amend(amend) => Some(&amend.order),
        Command::AmendTrigger(asked) => Some(&asked.amend.order),
        _ => None,
    };
    Rejected {
        command: command.kind(),
        reason,
        account: named_account(command).unwrap_or_default(),
        instrument: named_instrument(command).unwrap_or_default(),
        order: match named {
            Some(OrderRef::Id(id)) => *id,
            _ => OrderId(0),
        },
        client_order_id: match (named, command) {
            (Some(OrderRef::Client(name)), _) => *name,
            (_, Command::Place(new)) => new.client_order_id,
            (_, Command::PlaceConditional(new)) => new.terms.client_order_id,
            (_, Command::PlaceTrailing(new)) => new.terms.client_order_id,
            (_, Command::PlaceIceberg(new)) => new.terms.client_order_id,
            (_, Command::PlaceList(new)) => new.terms.client_order_id,
            _ => ClientOrderId::EMPTY,
        },
    }
}

/// The account that a command is about.
fn named_account(command: &Command) -> Option<AccountId> {
    Some(match command {
        Command::Place(new) => new.account,
        Command::PlaceConditional(new) => new.terms.account,
        Command::PlaceTrailing(new) => new.terms.account,
        Command::PlaceIceberg(new) => new.terms.account,
        Command::PlaceList(new) => new.terms.account,
        Command::Amend(amend) => amend.account,
        Command::AmendTrigger(asked) => asked.amend.account,
        Command::MassCancel(which) => which.account,
        Command::Deposit(deposit) => deposit.transfer.account,
        Command::Withdraw(transfer) | Command::HoldWithdrawal(transfer) => transfer.account,
        Command::Cancel { account, .. }
        | Command::Disconnect { account }
        | Command::SetDeadMan { account, .. }
        | Command::CreateAccount { account, .. }
        | Command::SettleWithdrawal { account, .. }
        | Command::ReleaseWithdrawal { account, .. } => *account,
        Command::Restrict(Restrict { target: RestrictionTarget::Account(account), .. }) => *account,
        _ => return None,
    })
}

/// The instrument that a command is about.
fn named_instrument(command: &Command) -> Option<InstrumentId> {
    match command {
        Command::Place(new) => Some(new.instrument),
        Command::PlaceConditional(new) => Some(new.terms.instrument),
        Command::PlaceTrailing(new) => Some(new.terms.instrument),
        Command::PlaceIceberg(new) => Some(new.terms.instrument),
        Command::PlaceList(new) => Some(new.terms.instrument),
        Command::MassCancel(which) => which.instrument,
        Command::SetRules { instrument, .. }
        | Command::SetInstrumentState { instrument, .. }
        | Command::SetAuctionRules { instrument, .. }
        | Command::SetContractTerms { instrument, .. }
        | Command::AssignCalendar { instrument, .. } => Some(*instrument),
        Command::Restrict(Restrict {
            target: RestrictionTarget::Instrument(instrument), ..
        }) => Some(*instrument),
        Command::HaltTrading { scope: HaltScope::Instrument(instrument), .. } => Some(*instrument),
        Command::SetCircuitBreaker(breaker) => Some(breaker.instrument),
        _ => None,
    }
}
