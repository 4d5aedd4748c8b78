//! What an operator does.

use super::connection::{Operator, named};
use super::show::{self, Align, Column, joined, or_dash};
use super::withdrawal::OperatorAction;
use crate::Error;
use crate::inspect::utc;
use crate::remote::{NO_BODY, NO_QUERY, Remote};
use crate::terminal::say;
use crate::venue::{auth_dir, keys_missing};
use clap::Subcommand;
use rialto_client::api::{
    AccountRequest, BackupRequest, CurrencyRequest, KeyAnswer, KeyCreateRequest, KeyRotateRequest,
    KeysAnswer, MemberRequest, Nothing, Route, RulesRequest, RulesVersionRequest, StateRequest,
    Str, TransferRequest,
};
use rialto_disk::{Disk, RealDisk};
use rialto_engine::BACKUP_FILE;
use rialto_gateway::{KeyStore, MasterKey};
use rialto_model::{AccountId, InstrumentKind, MemberId, Scale, Scope, SelfTrade, Timestamp};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Operates the venue.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
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
    /// List an instrument.
    Instrument(Box<Instrument>),
    /// Change rules of an instrument; the other rules stay as they are.
    Rules {
        /// The instrument.
        symbol: String,
        #[command(flatten)]
        rules: RuleArguments,
    },
    /// Halt an instrument: it accepts only cancels.
    Halt {
        /// The instrument.
        symbol: String,
    },
    /// Resume a halted instrument.
    Resume {
        /// The instrument.
        symbol: String,
    },
    /// Close an instrument: its orders are cancelled.
    Close {
        /// The instrument.
        symbol: String,
    },
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

#[derive(Debug, clap::Args)]
struct Instrument {
    /// Its symbol, such as BTC-USD.
    symbol: String,
    /// The currency that is bought and sold.
    #[arg(long)]
    base: String,
    /// The currency that prices and fees are in.
    #[arg(long)]
    quote: String,
    /// Decimal places of prices, for the instrument's life.
    #[arg(long)]
    price_scale: u8,
    /// Decimal places of quantities, for the instrument's life.
    #[arg(long)]
    quantity_scale: u8,
    #[command(flatten)]
    rules: RuleArguments,
}

#[derive(Debug, clap::Args)]
struct RuleArguments {
    /// Prices are multiples of this.
    #[arg(long)]
    tick: Option<String>,
    /// Quantities are multiples of this.
    #[arg(long)]
    lot: Option<String>,
    /// The largest quantity of one order.
    #[arg(long)]
    quantity_max: Option<String>,
    /// The least price times quantity of one order.
    #[arg(long)]
    notional_min: Option<String>,
    /// How far a price may be from the last trade, in millionths of it; 0 is no collar.
    #[arg(long)]
    collar_ppm: Option<u32>,
    /// The price that the collar is around before the first trade.
    #[arg(long)]
    reference_price: Option<String>,
    /// How far a market order may trade from the best price, in millionths of it.
    #[arg(long)]
    market_protection_ppm: Option<u32>,
    /// Fee of the resting order, in millionths; negative is a rebate.
    #[arg(long, allow_negative_numbers = true)]
    maker_fee_ppm: Option<i32>,
    /// Fee of the incoming order, in millionths.
    #[arg(long)]
    taker_fee_ppm: Option<i32>,
    /// Self-trade prevention of orders that name none.
    #[arg(long, value_parser = named::<SelfTrade>())]
    self_trade: Option<SelfTrade>,
    /// The most orders that one account may have open.
    #[arg(long)]
    open_orders_max: Option<u32>,
    /// The end of the day for day orders, in seconds after midnight UTC.
    #[arg(long)]
    day_end_s: Option<u32>,
    /// Whether balances are reserved, checked and posted.
    #[arg(long)]
    risk: Option<bool>,
}

#[derive(Debug, Subcommand)]
enum KeyAction {
    /// Make a key for a member. Its secret is shown once.
    Create {
        /// The member.
        member: u32,
        /// Its scopes.
        #[arg(long, value_delimiter = ',', default_value = "read,trade",
            value_parser = named::<Scope>())]
        scopes: Vec<Scope>,
        /// The accounts that it may act for; by default all that the member has now.
        #[arg(long, value_delimiter = ',')]
        accounts: Option<Vec<u32>>,
        /// A label.
        #[arg(long)]
        label: Option<String>,
        /// Its expiry, such as 2027-01-31T00:00:00Z, or in nanoseconds since 1970; by default none.
        #[arg(long, value_name = "TIME", value_parser = utc::parse)]
        expires_at: Option<Timestamp>,
    },
    /// List all keys, without their secrets.
    List,
    /// Give a key a new secret, which is shown once.
    Rotate {
        /// The key's id.
        id: String,
        /// The seconds for which the old secret still works.
        #[arg(long, default_value_t = 3_600)]
        overlap_s: u32,
    },
    /// Revoke a key. This cannot be undone.
    Revoke {
        /// The key's id.
        id: String,
    },
}

impl Args {
    pub(super) fn run(&self) -> Result<(), Error> {
        self.action.run(&self.operator.connect()?)
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
            Action::Instrument(instrument) => {
                change(venue, Route::AdminInstruments, &[], &instrument.request()?)
            }
            Action::Rules { symbol, rules } => {
                change(venue, Route::AdminRules, &[symbol], &rules.request())
            }
            Action::Halt { symbol } => change(venue, Route::AdminHalt, &[], &state(symbol)),
            Action::Resume { symbol } => change(venue, Route::AdminResume, &[], &state(symbol)),
            Action::Close { symbol } => change(venue, Route::AdminClose, &[], &state(symbol)),
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

/// An instrument to list, with its rules; omitted ones have their default.
#[derive(Serialize)]
struct Listing<'a> {
    symbol: &'a str,
    kind: InstrumentKind,
    base: &'a str,
    quote: &'a str,
    price_scale: Scale,
    quantity_scale: Scale,
    #[serde(flatten)]
    rules: RulesRequest<'a>,
}

impl Instrument {
    fn request(&self) -> Result<Listing<'_>, Error> {
        Ok(Listing {
            symbol: &self.symbol,
            kind: InstrumentKind::default(),
            base: &self.base,
            quote: &self.quote,
            price_scale: scale_of(self.price_scale)?,
            quantity_scale: scale_of(self.quantity_scale)?,
            rules: self.rules.request(),
        })
    }
}

impl RuleArguments {
    fn request(&self) -> RulesRequest<'_> {
        RulesRequest {
            tick: self.tick.as_deref().map(Into::into),
            lot: self.lot.as_deref().map(Into::into),
            quantity_max: self.quantity_max.as_deref().map(Into::into),
            notional_min: self.notional_min.as_deref().map(Into::into),
            collar_ppm: self.collar_ppm,
            reference_price: self.reference_price.as_deref().map(Into::into),
            market_protection_ppm: self.market_protection_ppm,
            maker_fee_ppm: self.maker_fee_ppm,
            taker_fee_ppm: self.taker_fee_ppm,
            self_trade: self.self_trade,
            open_orders_max: self.open_orders_max,
            day_end_s: self.day_end_s,
            risk: self.risk,
        }
    }
}

impl KeyAction {
    fn run(&self, venue: &Remote) -> Result<(), Error> {
        match self {
            KeyAction::Create { member, scopes, accounts, label, expires_at } => {
                let accounts = accounts.as_ref();
                let request = KeyCreateRequest {
                    label: label.as_deref().map(Str::from),
                    member: MemberId(*member),
                    accounts: accounts.map(|all| all.iter().copied().map(AccountId).collect()),
                    scopes: scopes.clone(),
                    queues: Vec::new(),
                    expires_at: *expires_at,
                };
                venue.show(Route::AdminKeyCreate, &[], NO_QUERY, Some(&request), tell_secret)
            }
            KeyAction::List => venue.show(Route::AdminKeys, &[], NO_QUERY, NO_BODY, tell_keys),
            KeyAction::Rotate { id, overlap_s } => {
                let request = KeyRotateRequest { overlap_s: *overlap_s };
                venue.show(Route::AdminKeyRotate, &[id], NO_QUERY, Some(&request), tell_secret)
            }
            KeyAction::Revoke { id } => {
                venue.show(Route::AdminKeyRevoke, &[id], NO_QUERY, NO_BODY, tell)
            }
        }
    }
}

fn tell_keys(answer: &KeysAnswer) {
    let columns = [
        Column("KEY", Align::Left),
        Column("LABEL", Align::Left),
        Column("MEMBER", Align::Right),
        Column("ACCOUNTS", Align::Left),
        Column("SCOPES", Align::Left),
        Column("REVOKED", Align::Left),
    ];
    let rows = answer.keys.iter().map(|key| {
        [
            key.id.clone(),
            key.label.clone(),
            key.member.to_string(),
            joined(&key.accounts),
            joined(key.scopes.iter().map(|scope| scope.name())),
            or_dash(key.revoked_at.map(utc::show)),
        ]
    });
    show::table(&columns, rows.collect(), "no keys");
}

fn tell_secret(key: &KeyAnswer) {
    let secret = key.secret.as_deref().unwrap_or_default();
    say(format_args!("key = \"{}\"\nsecret = \"{secret}\"", key.id));
    crate::terminal::note(format_args!(
        "the secret is shown only once; the two lines make a key file (chmod 600)"
    ));
}

/// Makes a snapshot of a running venue.
#[derive(Debug, clap::Args)]
pub(super) struct Snapshot {
    #[command(flatten)]
    operator: Operator,
}

impl Snapshot {
    pub(super) fn run(self) -> Result<(), Error> {
        Args { action: Action::Snapshot, operator: self.operator }.run()
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
        Args { action: Action::Backup { name: self.name }, operator: self.operator }.run()
    }
}

/// Makes the admin key of a venue that is not running.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(super) struct AdminKey {
    /// Replaces the key of the venue in this data directory. The old one stops working.
    #[arg(long, value_name = "DIR")]
    reset: Option<PathBuf>,
    /// Makes a key for a data directory without keys, such as a backup.
    #[arg(long, value_name = "DIR")]
    new: Option<PathBuf>,
}

impl AdminKey {
    pub(super) fn run(&self) -> Result<(), Error> {
        match (&self.reset, &self.new) {
            (Some(data), _) => reset(data),
            (None, Some(data)) => begin(data),
            (None, None) => unreachable!("the group asks for one of them"),
        }
    }
}

fn reset(data: &Path) -> Result<(), Error> {
    if let Some(missing) = keys_missing(&RealDisk::new(), data) {
        return Err(Error::Usage(missing.to_string()));
    }
    let dir = auth_dir(data);
    if !dir.is_dir() {
        let message = format!("{} is not the data directory of a venue", data.display());
        return Err(Error::Usage(message));
    }
    let key = KeyStore::reset_admin_key(&dir, &MasterKey::Find)
        .map_err(|error| Error::Failed(crate::tell_all(&error)))?;
    say(format_args!("admin key: {} (shown only once; the old one no longer works)", key.reveal()));
    Ok(())
}

fn begin(data: &Path) -> Result<(), Error> {
    let disk = RealDisk::new();
    if keys_missing(&disk, data).is_none() {
        let message = format!(
            "{} either has no journal or already has keys; use --reset to replace the admin key",
            data.display()
        );
        return Err(Error::Usage(message));
    }
    let failed = |error: &dyn std::error::Error| Error::Failed(crate::tell_all(error));
    let opened = KeyStore::open(&auth_dir(data), &MasterKey::Find).map_err(|it| failed(&it))?;
    match disk.remove(&data.join(BACKUP_FILE)) {
        Err(error) if !error.is_not_found() => return Err(failed(&error)),
        _ => disk.sync_dir(data).map_err(|error| failed(&error))?,
    }
    if let Some(key) = opened.new_admin_key {
        say(format_args!("admin key: {} (shown only once; there are no API keys)", key.reveal()));
    }
    Ok(())
}
