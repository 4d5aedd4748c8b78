//! What an operator does.

mod admin_key;
mod audit;
mod calendar;
mod halt;
mod instrument;
mod keys;
mod restrictions;
mod statements;

pub(super) use admin_key::AdminKey;

use super::connection::{Operator, named};
use super::show::joined;
use super::withdrawal::OperatorAction;
use crate::Error;
use crate::remote::{NO_BODY, NO_QUERY, Remote};
use crate::terminal::say;
use audit::Audit;
use calendar::CalendarAction;
use clap::Subcommand;
use halt::Halt;
use instrument::{AuctionRuleArguments, ContractTermsArguments, Instrument, RuleArguments};
use keys::KeyAction;
use restrictions::{Restrict, Restrictions};
use rialto_client::api::{
    AccountRequest, BackupRequest, CurrencyRequest, MemberRequest, Nothing, PhaseRequest, Route,
    RulesVersionRequest, StateRequest, TransferRequest,
};
use rialto_model::{AccountId, InstrumentState, MemberId, Scale, Timestamp};
use serde::Serialize;
use serde_json::Value;
use statements::StatementsAction;

/// Operates the venue.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
    /// Why, for the audit trail: at most 100 bytes.
    #[arg(long, global = true, value_name = "TEXT")]
    audit_reason: Option<String>,
    #[command(flatten)]
    operator: Operator,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Admit a member.
    Member {
        /// Its name.
        name: String,
        /// Its number; by default the next free one.
        #[arg(long)]
        number: Option<u32>,
    },
    /// Open an account.
    Account {
        /// The member that owns it.
        member: u32,
        /// Its name.
        name: String,
        /// Its number; by default the next free one.
        #[arg(long)]
        number: Option<u32>,
    },
    /// List a currency.
    Currency {
        /// Its code, such as USD.
        code: String,
        /// The decimal places of its smallest unit.
        #[arg(long)]
        scale: u8,
    },
    /// Deposit an amount into an account.
    Deposit {
        #[command(flatten)]
        transfer: Transfer,
        /// The time of the deposit, in nanoseconds since 1970; repeat it when you send the same
        /// deposit again. Its reference is known for 30 days from then. The default is now.
        #[arg(long)]
        time: Option<u64>,
    },
    /// Withdraw an amount from an account at once.
    Withdraw(Transfer),
    /// Decide about the withdrawals that members requested.
    Withdrawals {
        #[command(subcommand)]
        action: OperatorAction,
    },
    /// Make the statements of all members, and list the runs that did.
    Statements {
        #[command(subcommand)]
        action: StatementsAction,
    },
    /// List an instrument.
    Instrument(Box<Instrument>),
    /// Change rules of an instrument; the other rules stay as they are.
    Rules {
        /// The instrument.
        symbol: String,
        #[command(flatten)]
        rules: RuleArguments,
    },
    /// Put an instrument into another phase. On the way from a call to trading or to the close its
    /// orders trade with each other first.
    State {
        /// The instrument.
        symbol: String,
        /// The phase.
        #[arg(value_parser = named::<InstrumentState>())]
        state: InstrumentState,
    },
    /// Change rules of an instrument's auctions; the other rules stay as they are.
    AuctionRules {
        /// The instrument.
        symbol: String,
        #[command(flatten)]
        rules: AuctionRuleArguments,
    },
    /// Change the terms of an instrument's contract: the largest notional of an order, and fees by the
    /// lot; what is not given stays as it is.
    ContractTerms {
        /// The instrument.
        symbol: String,
        #[command(flatten)]
        terms: ContractTermsArguments,
    },
    /// Restrict the venue, a member, an account or an instrument, or lift a restriction.
    Restrict(Restrict),
    /// List restrictions.
    Restrictions(Restrictions),
    /// Assign instruments to calendars, and move transitions.
    Calendar {
        #[command(subcommand)]
        action: CalendarAction,
    },
    /// Halt an instrument, a calendar or the venue: only cancels are accepted.
    Halt(Halt),
    /// Resume a halted instrument.
    Resume {
        /// The instrument.
        symbol: String,
    },
    /// Withdraw an instrument: its orders are cancelled. The same as `state SYMBOL withdrawn`.
    Close {
        /// The instrument.
        symbol: String,
    },
    /// Show which commands operators sent, and why, oldest first.
    Audit(Audit),
    /// Create, list, rotate and revoke API keys.
    Key {
        #[command(subcommand)]
        action: KeyAction,
    },
    /// Make a snapshot of the running venue.
    Snapshot,
    /// Change to a later version of the decision rules, after a snapshot. This cannot be undone.
    RulesVersion {
        /// The version. The changelog says what each one changes.
        #[arg(value_name = "VERSION")]
        number: u32,
    },
    /// Back up the running venue.
    Backup {
        /// The name of the new directory in gateway.backup_dir.
        name: String,
    },
    /// Accept the wall clock after a step.
    Clock {
        #[command(subcommand)]
        action: ClockAction,
    },
}

#[derive(Debug, Subcommand)]
enum ClockAction {
    /// Follow the wall clock again, after a step that the venue refused to follow.
    Accept,
}

#[derive(Debug, clap::Args)]
struct Transfer {
    /// The account.
    account: u32,
    /// The amount.
    amount: String,
    /// The currency.
    currency: String,
    /// The external reference of the transfer: the same transfer with the same reference counts
    /// once.
    #[arg(long)]
    reference: String,
}

impl Args {
    pub(super) fn run(&self) -> Result<(), Error> {
        let venue = self.operator.connect()?.because(self.audit_reason.as_deref());
        self.action.run(&venue)
    }
}

impl Action {
    fn run(&self, venue: &Remote) -> Result<(), Error> {
        match self {
            Action::Member { name, number } => {
                let member = MemberId(number.unwrap_or_default());
                let request = MemberRequest { member, name: name.as_str().into() };
                change(venue, Route::AdminMembers, &[], &request)
            }
            Action::Account { member, name, number } => {
                let account = AccountId(number.unwrap_or_default());
                let (member, name) = (MemberId(*member), name.as_str().into());
                let request = AccountRequest { account, member, name };
                change(venue, Route::AdminAccounts, &[], &request)
            }
            Action::Currency { code, scale } => {
                let request =
                    CurrencyRequest { code: code.as_str().into(), scale: scale_of(*scale)? };
                change(venue, Route::AdminCurrencies, &[], &request)
            }
            Action::Deposit { transfer, time } => {
                change(venue, Route::AdminDeposits, &[], &transfer.request(*time))
            }
            Action::Withdraw(transfer) => {
                change(venue, Route::AdminPayOut, &[], &transfer.request(None))
            }
            Action::Withdrawals { action } => action.run(venue),
            Action::Statements { action } => action.run(venue),
            Action::Instrument(instrument) => {
                change(venue, Route::AdminInstruments, &[], &instrument.request()?)
            }
            Action::Rules { symbol, rules } => {
                change(venue, Route::AdminRules, &[symbol], &rules.request())
            }
            Action::State { symbol, state } => {
                let request = PhaseRequest { instrument: symbol.as_str().into(), state: *state };
                change(venue, Route::AdminState, &[], &request)
            }
            Action::AuctionRules { symbol, rules } => {
                change(venue, Route::AdminAuctionRules, &[], &rules.request(symbol))
            }
            Action::ContractTerms { symbol, terms } => {
                change(venue, Route::AdminContractTerms, &[], &terms.request(symbol))
            }
            Action::Restrict(restrict) => {
                change(venue, Route::AdminRestrict, &[], &restrict.request())
            }
            Action::Restrictions(list) => list.run(venue),
            Action::Calendar { action } => action.run(venue),
            Action::Halt(halt) => change(venue, Route::AdminHalt, &[], &halt.request()?),
            Action::Resume { symbol } => change(venue, Route::AdminResume, &[], &state(symbol)),
            Action::Close { symbol } => change(venue, Route::AdminClose, &[], &state(symbol)),
            Action::Audit(audit) => audit.run(venue),
            Action::Key { action } => action.run(venue),
            Action::Snapshot => plain(venue, Route::AdminSnapshot, NO_BODY),
            Action::RulesVersion { number } => {
                let request = RulesVersionRequest { version: *number };
                change(venue, Route::AdminRulesVersion, &[], &request)
            }
            Action::Backup { name } => {
                let request = BackupRequest { name: name.as_str().into() };
                change(venue, Route::AdminBackup, &[], &request)
            }
            Action::Clock { action: ClockAction::Accept } => {
                plain(venue, Route::AdminClockAccept, NO_BODY)
            }
        }
    }
}

/// Sends a change to the venue, and prints each field of its answer.
fn change(
    venue: &Remote,
    route: Route,
    arguments: &[&str],
    request: &impl Serialize,
) -> Result<(), Error> {
    venue.show(route, arguments, NO_QUERY, Some(request), tell)
}

fn plain(venue: &Remote, route: Route, body: Option<&Nothing>) -> Result<(), Error> {
    venue.show(route, &[], NO_QUERY, body, tell)
}

/// Every field of an answer.
fn tell(answer: &Value) {
    let told = answer.as_object().into_iter().flatten();
    let told: Vec<String> = told.map(|(name, value)| format!("{name} {}", text(value))).collect();
    say(format_args!("{}", told.join(", ")));
}

/// A field as text, without the quotes that JSON puts around decimals.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_string(),
        Value::String(text) => text.clone(),
        Value::Array(values) => joined(values.iter().map(text)),
        other => other.to_string(),
    }
}

fn state(symbol: &str) -> StateRequest<'_> {
    StateRequest { instrument: symbol.into() }
}

fn scale_of(places: u8) -> Result<Scale, Error> {
    let wrong = || Error::Usage(format!("{places} decimal places are too many"));
    Scale::new(places).ok_or_else(wrong)
}

impl Transfer {
    fn request(&self, time: Option<u64>) -> TransferRequest<'_> {
        TransferRequest {
            account: AccountId(self.account),
            currency: self.currency.as_str().into(),
            amount: self.amount.as_str().into(),
            reference: self.reference.as_str().into(),
            time: time.map(Timestamp),
            durability: None,
        }
    }
}

/// Makes a snapshot of a running venue.
#[derive(Debug, clap::Args)]
pub(super) struct Snapshot {
    #[command(flatten)]
    operator: Operator,
}

impl Snapshot {
    pub(super) fn run(self) -> Result<(), Error> {
        let operator = self.operator;
        Args { action: Action::Snapshot, audit_reason: None, operator }.run()
    }
}

/// Backs up a running venue.
#[derive(Debug, clap::Args)]
pub(super) struct Backup {
    /// The name of the new directory, not a path. The venue creates it in the directory of its
    /// setting gateway.backup_dir, on its own machine.
    name: String,
    #[command(flatten)]
    operator: Operator,
}

impl Backup {
    pub(super) fn run(self) -> Result<(), Error> {
        if self.name.contains('/') {
            return Err(Error::Usage(format!(
                "{} is a path; a backup is called by a name, such as `rialto backup monday`. The \
                 venue writes it into the directory that its setting gateway.backup_dir names",
                self.name
            )));
        }
        let (action, operator) = (Action::Backup { name: self.name }, self.operator);
        Args { action, audit_reason: None, operator }.run()
    }
}
