//! A naive core, written from the rules alone: vectors, linear scans, no cleverness.
//!
//! It exists to be obviously right. The model tests feed it the commands that the real core gets
//! and compare every event, every answer and every balance.

mod alteration;
mod amend;
mod cancel;
pub mod coverage;
mod dice;
mod expiry;
mod fill_or_kill;
mod fold;
pub mod generator;
pub mod invariants;
mod ledger;
mod listing;
pub mod lockstep;
mod matching;
mod place;
mod state;
mod subject;
mod sweep;
mod transfer;
mod withdrawal;
pub mod world;

pub use alteration::Alteration;
pub use state::{
    Account, Ended, Entered, Finish, KnownDeposit, Listed, Order, Reference, RememberedTransfer,
    Work,
};

use rialto_model::{
    AccountId, ClientOrderId, Command, CommandKind, DoneReason, Event, InstrumentId, OrderId,
    OrderRef, Outcome, RejectReason, Rejected, Seq, Timestamp,
};

/// Orders that one command may touch.
pub const ORDERS_PER_COMMAND: usize = 256;
/// Orders, or levels, that one fill-or-kill check may look at.
pub const FILL_OR_KILL_DEPTH: usize = 4_096;

impl Reference {
    /// Decides one command.
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
            Command::Cancel { account, order } => self.cancel(*account, order),
            Command::Amend(amend) => self.amend(amend),
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
        let timers = self.accounts.values().filter_map(|account| account.dead_man);
        let timers = timers.min().unwrap_or(Timestamp::MAX);
        if self.rules_version >= 2 { timers } else { timers.min(self.first_expiry()) }
    }

    fn first_expiry(&self) -> Timestamp {
        let expiries = self.orders.iter().map(|order| order.expire_at);
        expiries.filter(|at| *at > Timestamp::ZERO).min().unwrap_or(Timestamp::MAX)
    }

    /// From when on a Tick finds something to do that need not come first.
    pub fn next_background_work(&self) -> Timestamp {
        if !self.work.is_empty() || !self.sweeps.is_empty() {
            return Timestamp::ZERO;
        }
        if self.rules_version >= 2 { self.first_expiry() } else { Timestamp::MAX }
    }

    /// Whether Ticks should come between other commands.
    pub fn has_background_work(&self) -> bool {
        self.next_background_work() <= self.time
    }

    /// Does what is due, then goes on with what earlier commands began.
    fn tick(&mut self) -> Outcome {
        let mut visited = 0;
        if self.rules_version >= 2 {
            match self.taking.take() {
                Some(taker) if self.is_dead(&taker) => {
                    self.end(&taker, DoneReason::Expired, taker.remaining);
                }
                Some(taker) => {
                    self.take(taker, &mut visited);
                }
                None => self.begin_dead_men(&mut visited),
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
    let mut event = Rejected {
        command: CommandKind::Tick,
        reason,
        account: AccountId(0),
        instrument: InstrumentId(0),
        order: OrderId(0),
        client_order_id: ClientOrderId::EMPTY,
    };
    let mut name_order = |order: &OrderRef| match order {
        OrderRef::Id(id) => event.order = *id,
        OrderRef::Client(name) => event.client_order_id = *name,
    };
    match command {
        Command::Tick => unreachable!("a Tick is never refused"),
        Command::Place(new) => {
            event.command = CommandKind::Place;
            event.account = new.account;
            event.instrument = new.instrument;
            event.client_order_id = new.client_order_id;
        }
        Command::Cancel { account, order } => {
            name_order(order);
            event.command = CommandKind::Cancel;
            event.account = *account;
        }
        Command::Amend(amend) => {
            name_order(&amend.order);
            event.command = CommandKind::Amend;
            event.account = amend.account;
        }
        Command::MassCancel(which) => {
            event.command = CommandKind::MassCancel;
            event.account = which.account;
            event.instrument = which.instrument.unwrap_or_default();
        }
        Command::Disconnect { account } => {
            event.command = CommandKind::Disconnect;
            event.account = *account;
        }
        Command::SetDeadMan { account, .. } => {
            event.command = CommandKind::SetDeadMan;
            event.account = *account;
        }
        Command::Deposit(deposit) => {
            event.command = CommandKind::Deposit;
            event.account = deposit.transfer.account;
        }
        Command::Withdraw(transfer) => {
            event.command = CommandKind::Withdraw;
            event.account = transfer.account;
        }
        Command::CreateMember { .. } => event.command = CommandKind::CreateMember,
        Command::CreateAccount { account, .. } => {
            event.command = CommandKind::CreateAccount;
            event.account = *account;
        }
        Command::CreateCurrency { .. } => event.command = CommandKind::CreateCurrency,
        Command::CreateInstrument(_) => event.command = CommandKind::CreateInstrument,
        Command::SetRules { instrument, .. } => {
            event.command = CommandKind::SetRules;
            event.instrument = *instrument;
        }
        Command::SetInstrumentState { instrument, .. } => {
            event.command = CommandKind::SetInstrumentState;
            event.instrument = *instrument;
        }
        Command::SetRulesVersion { .. } => event.command = CommandKind::SetRulesVersion,
        Command::HoldWithdrawal(transfer) => {
            event.command = CommandKind::HoldWithdrawal;
            event.account = transfer.account;
        }
        Command::SettleWithdrawal { account, .. } => {
            event.command = CommandKind::SettleWithdrawal;
            event.account = *account;
        }
        Command::ReleaseWithdrawal { account, .. } => {
            event.command = CommandKind::ReleaseWithdrawal;
            event.account = *account;
        }
    }
    event
}
