//! What an operator does.

use super::connection::Operator;
use super::order::fields;
use super::show::{self, Align, Column, text};
use super::withdrawal::OperatorAction;
use crate::Error;
use crate::client::escape;
use crate::terminal::say;
use crate::venue::{auth_dir, keys_missing};
use clap::Subcommand;
use rialto_disk::{Disk, RealDisk};
use rialto_engine::BACKUP_FILE;
use rialto_gateway::{KeyStore, MasterKey};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Runs the venue.
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
        /// Its number; otherwise the next free one.
        #[arg(long)]
        number: Option<u32>,
    },
    /// Open an account.
    Account {
        /// The member whose it is.
        member: u32,
        /// Its name.
        name: String,
        /// Its number; otherwise the next free one.
        #[arg(long)]
        number: Option<u32>,
    },
    /// List a currency.
    Currency {
        /// Its code, such as USD.
        code: String,
        /// Decimal places of its smallest unit.
        #[arg(long)]
        scale: u8,
    },
    /// Put value into an account.
    Deposit {
        #[command(flatten)]
        transfer: Transfer,
        /// When it was made, in nanoseconds since 1970: the same whenever the same deposit is sent
        /// again. Its reference is known for 30 days from then. Without it, from now.
        #[arg(long)]
        time: Option<u64>,
    },
    /// Take value out of an account at once.
    Withdraw(Transfer),
    /// Withdrawals that members have asked for.
    Withdrawals {
        #[command(subcommand)]
        action: OperatorAction,
    },
    /// List an instrument.
    Instrument(Box<Instrument>),
    /// Change rules of an instrument; rules that are not named stay.
    Rules {
        /// Which instrument.
        symbol: String,
        #[command(flatten)]
        rules: RuleArguments,
    },
    /// Accept nothing but cancels for an instrument.
    Halt {
        /// Which instrument.
        symbol: String,
    },
    /// Open an instrument again.
    Resume {
        /// Which instrument.
        symbol: String,
    },
    /// Close an instrument: its orders are cancelled.
    Close {
        /// Which instrument.
        symbol: String,
    },
    /// API keys.
    Key {
        #[command(subcommand)]
        action: KeyAction,
    },
    /// Have the venue make a snapshot.
    Snapshot,
    /// Have a later version of the rules decide, behind a snapshot; there is no way back.
    RulesVersion {
        /// The changelog says what each version changes.
        #[arg(value_name = "VERSION")]
        number: u32,
    },
    /// Have the venue copy a consistent state of itself.
    Backup {
        /// The name of the new directory in gateway.backup_dir.
        name: String,
    },
    /// The wall clock.
    Clock {
        #[command(subcommand)]
        action: ClockAction,
    },
}

#[derive(Debug, Subcommand)]
enum ClockAction {
    /// Have the venue follow the wall clock again, after a step that it did not follow by itself.
    Accept,
}

#[derive(Debug, clap::Args)]
struct Transfer {
    /// The account.
    account: u32,
    /// How much.
    amount: String,
    /// Of which currency.
    currency: String,
    /// The outside world's name for it: the same transfer with the same reference counts once.
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
    /// What the collar is around before the first trade.
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
    #[arg(long,
        value_parser = ["allow", "cancel_newest", "cancel_oldest", "cancel_both", "decrement"])]
    self_trade: Option<String>,
    /// Orders that one account may have open.
    #[arg(long)]
    open_orders_max: Option<u32>,
    /// When the day of day orders ends, in seconds after midnight UTC.
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
        /// What it may do.
        #[arg(long, value_delimiter = ',', default_value = "read,trade",
            value_parser = ["read", "trade", "transfer", "admin"])]
        scopes: Vec<String>,
        /// The accounts it may act for; otherwise all that the member has now.
        #[arg(long, value_delimiter = ',')]
        accounts: Option<Vec<u32>>,
        /// A name for people.
        #[arg(long)]
        label: Option<String>,
        /// When it stops working, in microseconds since 1970; otherwise never.
        #[arg(long)]
        expires_us: Option<String>,
    },
    /// List all keys, without their secrets.
    List,
    /// Give a key a new secret, which is shown once.
    Rotate {
        /// Which key.
        id: String,
        /// For how many seconds the old secret works on.
        #[arg(long, default_value_t = 3_600)]
        overlap_s: u32,
    },
    /// Revoke a key for ever.
    Revoke {
        /// Which key.
        id: String,
    },
}

impl Args {
    pub(super) fn run(&self) -> Result<(), Error> {
        let client = self.operator.connect()?;
        let (method, path, body) = self.action.request();
        let answer = client.call(method, &path, body.as_ref())?;
        if self.operator.connection.json {
            show::json(&answer);
        } else {
            self.action.tell(&answer);
        }
        Ok(())
    }
}

impl Action {
    fn request(&self) -> (&'static str, String, Option<Value>) {
        let post = |what: &str, body| ("POST", format!("/v1/admin/{what}"), Some(body));
        match self {
            Action::Member { name, number } => {
                post("members", object([("member", number.map(Value::from)), some("name", name)]))
            }
            Action::Account { member, name, number } => post(
                "accounts",
                object([
                    ("account", number.map(Value::from)),
                    ("member", Some(json!(member))),
                    some("name", name),
                ]),
            ),
            Action::Currency { code, scale } => {
                post("currencies", json!({ "code": code, "scale": scale }))
            }
            Action::Deposit { transfer, time } => {
                let mut body = transfer.body();
                if let (Some(body), Some(time)) = (body.as_object_mut(), time) {
                    body.insert("time".to_string(), json!(time.to_string()));
                }
                post("deposits", body)
            }
            Action::Withdraw(transfer) => post("withdrawals", transfer.body()),
            Action::Withdrawals { action } => action.request(),
            Action::Instrument(instrument) => post("instruments", instrument.body()),
            Action::Rules { symbol, rules } => {
                let path = format!("/v1/admin/instruments/{}", escape(symbol));
                ("PATCH", path, Some(rules.body()))
            }
            Action::Halt { symbol } => post("halt", json!({ "instrument": symbol })),
            Action::Resume { symbol } => post("resume", json!({ "instrument": symbol })),
            Action::Close { symbol } => post("close", json!({ "instrument": symbol })),
            Action::Key { action } => action.request(),
            Action::Snapshot => ("POST", "/v1/admin/snapshot".to_string(), None),
            Action::RulesVersion { number } => post("rules-version", json!({ "version": number })),
            Action::Backup { name } => post("backup", json!({ "name": name })),
            Action::Clock { action: ClockAction::Accept } => {
                ("POST", "/v1/admin/clock/accept".to_string(), None)
            }
        }
    }

    fn tell(&self, answer: &Value) {
        match self {
            Action::Withdrawals { action } => action.tell(answer),
            Action::Key { action: KeyAction::List } => {
                let columns = [
                    Column("KEY", "id", Align::Left),
                    Column("LABEL", "label", Align::Left),
                    Column("MEMBER", "member", Align::Right),
                    Column("ACCOUNTS", "accounts", Align::Left),
                    Column("SCOPES", "scopes", Align::Left),
                    Column("REVOKED", "revoked_us", Align::Left),
                ];
                show::table(&columns, show::rows(answer, "keys"), "no keys");
            }
            Action::Key { action: KeyAction::Create { .. } | KeyAction::Rotate { .. } } => {
                say(format_args!(
                    "key = \"{}\"\nsecret = \"{}\"",
                    text(&answer["id"]),
                    text(&answer["secret"])
                ));
                crate::terminal::note(format_args!(
                    "the secret is shown this once; the two lines make a key file (chmod 600)"
                ));
            }
            _ => {
                let told = answer.as_object().into_iter().flatten();
                let told: Vec<String> =
                    told.map(|(name, value)| format!("{name} {}", text(value))).collect();
                say(format_args!("{}", told.join(", ")));
            }
        }
    }
}

impl Transfer {
    fn body(&self) -> Value {
        let Transfer { account, amount, currency, reference } = self;
        json!({
            "account": account,
            "currency": currency,
            "amount": amount,
            "reference": reference,
        })
    }
}

impl Instrument {
    fn body(&self) -> Value {
        let mut body = json!({
            "symbol": self.symbol,
            "base": self.base,
            "quote": self.quote,
            "price_scale": self.price_scale,
            "quantity_scale": self.quantity_scale,
        });
        if let (Some(body), Value::Object(rules)) = (body.as_object_mut(), self.rules.body()) {
            body.extend(rules);
        }
        body
    }
}

impl RuleArguments {
    fn body(&self) -> Value {
        let text = |value: &Option<String>| value.clone().map(Value::from);
        object([
            ("tick", text(&self.tick)),
            ("lot", text(&self.lot)),
            ("quantity_max", text(&self.quantity_max)),
            ("notional_min", text(&self.notional_min)),
            ("collar_ppm", self.collar_ppm.map(Value::from)),
            ("reference_price", text(&self.reference_price)),
            ("market_protection_ppm", self.market_protection_ppm.map(Value::from)),
            ("maker_fee_ppm", self.maker_fee_ppm.map(Value::from)),
            ("taker_fee_ppm", self.taker_fee_ppm.map(Value::from)),
            ("self_trade", text(&self.self_trade)),
            ("open_orders_max", self.open_orders_max.map(Value::from)),
            ("day_end_s", self.day_end_s.map(Value::from)),
            ("risk", self.risk.map(Value::from)),
        ])
    }
}

impl KeyAction {
    fn request(&self) -> (&'static str, String, Option<Value>) {
        match self {
            KeyAction::Create { member, scopes, accounts, label, expires_us } => {
                let body = object([
                    ("member", Some(json!(member))),
                    ("scopes", Some(json!(scopes))),
                    ("accounts", accounts.as_ref().map(|accounts| json!(accounts))),
                    ("label", label.clone().map(Value::from)),
                    ("expires_us", expires_us.clone().map(Value::from)),
                ]);
                ("POST", "/v1/admin/keys".to_string(), Some(body))
            }
            KeyAction::List => ("GET", "/v1/admin/keys".to_string(), None),
            KeyAction::Rotate { id, overlap_s } => {
                let path = format!("/v1/admin/keys/{}/rotate", escape(id));
                ("POST", path, Some(json!({ "overlap_s": overlap_s })))
            }
            KeyAction::Revoke { id } => ("DELETE", format!("/v1/admin/keys/{}", escape(id)), None),
        }
    }
}

fn some<'a>(name: &'a str, value: &str) -> (&'a str, Option<Value>) {
    (name, Some(Value::from(value)))
}

fn object<const N: usize>(all: [(&str, Option<Value>); N]) -> Value {
    Value::Object(fields(all))
}

/// Has a running venue make a snapshot.
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

/// Has a running venue copy itself.
#[derive(Debug, clap::Args)]
pub(super) struct Backup {
    /// The name of the new directory, not a path: the venue writes it into the directory of its
    /// setting gateway.backup_dir, on its own machine, so that the admin key allows nothing else
    /// to be written there.
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

/// Makes the admin key of a venue that does not run.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(super) struct AdminKey {
    /// Replaces the key of the venue in this data directory. The old one stops working.
    #[arg(long, value_name = "DIR")]
    reset: Option<PathBuf>,
    /// Makes a key for a data directory without keys: a backup, or one that has lost them.
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
        let message = format!("{} is no data directory of a venue", data.display());
        return Err(Error::Usage(message));
    }
    let key = KeyStore::reset_admin_key(&dir, &MasterKey::Find)
        .map_err(|error| Error::Failed(crate::tell_all(&error)))?;
    say(format_args!("admin key: {} (shown this once; the old one is dead)", key.reveal()));
    Ok(())
}

fn begin(data: &Path) -> Result<(), Error> {
    let disk = RealDisk::new();
    if keys_missing(&disk, data).is_none() {
        let message = format!(
            "{} is no data directory that has a journal and no keys; --reset replaces an admin key",
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
        say(format_args!("admin key: {} (shown this once; there are no API keys)", key.reveal()));
    }
    Ok(())
}
