//! Withdrawals: what their owners do, and what the operator decides.

use super::connection::{Member, path};
use super::order::fields;
use super::show::{self, Align, Column, text};
use crate::Error;
use crate::client::escape;
use crate::terminal::say;
use clap::Subcommand;
use serde_json::{Value, json};

/// Asks for a withdrawal.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    rialto withdraw 250 USD --reference rent-2026-11 --key-file key.toml")]
pub(super) struct Withdraw {
    /// How much.
    amount: String,
    /// Of which currency.
    currency: String,
    /// Your own name for it: asking twice under one name asks for one withdrawal.
    #[arg(long)]
    reference: String,
    #[command(flatten)]
    member: Member,
}

impl Withdraw {
    pub(super) fn run(&self) -> Result<(), Error> {
        let (client, account) = self.member.connect()?;
        let body = Value::Object(fields([
            ("account", account.map(Value::from)),
            ("currency", Some(json!(self.currency))),
            ("amount", Some(json!(self.amount))),
            ("reference", Some(json!(self.reference))),
        ]));
        tell(&client.call("POST", "/v1/withdrawals", Some(&body))?, self.member.connection.json);
        Ok(())
    }
}

/// Withdrawals of an account.
#[derive(Debug, clap::Args)]
pub(super) struct Withdrawals {
    #[command(subcommand)]
    action: OwnAction,
}

#[derive(Debug, Subcommand)]
enum OwnAction {
    /// List open withdrawals, oldest first.
    Ls {
        #[command(flatten)]
        page: Page,
        #[command(flatten)]
        member: Member,
    },
    /// Show how one stands.
    Show {
        /// Which: the account, a dash and your own name for it, as in 7-rent-2026-11.
        id: String,
        #[command(flatten)]
        member: Member,
    },
    /// Cancel a withdrawal that has not been decided; the held amount is released.
    Cancel {
        /// Which: the account, a dash and your own name for it, as in 7-rent-2026-11.
        id: String,
        #[command(flatten)]
        member: Member,
    },
}

impl Withdrawals {
    pub(super) fn run(&self) -> Result<(), Error> {
        match &self.action {
            OwnAction::Ls { page, member } => {
                let (client, account) = member.connect()?;
                let answer = client.get(&page.path("/v1/withdrawals", account))?;
                page.tell(&answer, member.connection.json);
            }
            OwnAction::Show { id, member } => {
                let (client, _) = member.connect()?;
                tell(&client.get(&one("/v1/withdrawals", id))?, member.connection.json);
            }
            OwnAction::Cancel { id, member } => {
                let (client, _) = member.connect()?;
                let answer = client.call("DELETE", &one("/v1/withdrawals", id), None)?;
                tell(&answer, member.connection.json);
            }
        }
        Ok(())
    }
}

/// What the operator does about withdrawals.
#[derive(Debug, Subcommand)]
pub(super) enum OperatorAction {
    /// List open withdrawals of all accounts, oldest first.
    Ls {
        #[command(flatten)]
        page: Page,
        /// Only withdrawals of this account.
        #[arg(long, value_name = "NUMBER")]
        account: Option<u32>,
    },
    /// Approve a withdrawal, which is then paid out.
    Approve {
        /// The withdrawal, such as 7-rent-2026-11.
        id: String,
        /// What the bank or the chain calls the payment.
        #[arg(long)]
        receipt: String,
    },
    /// Give one back.
    Reject {
        /// The withdrawal, such as 7-rent-2026-11.
        id: String,
        /// Why, in words for its owner.
        #[arg(long, default_value = "")]
        reason: String,
    },
}

impl OperatorAction {
    pub(super) fn request(&self) -> (&'static str, String, Option<Value>) {
        let decide = |id: &str, what: &str, body| {
            let path = format!("{}/{what}", one("/v1/admin/withdrawals", id));
            ("POST", path, Some(body))
        };
        match self {
            OperatorAction::Ls { page, account } => {
                ("GET", page.path("/v1/admin/withdrawals", *account), None)
            }
            OperatorAction::Approve { id, receipt } => {
                decide(id, "approve", json!({ "receipt": receipt }))
            }
            OperatorAction::Reject { id, reason } => {
                decide(id, "reject", json!({ "reason": reason }))
            }
        }
    }

    pub(super) fn tell(&self, answer: &Value) {
        match self {
            OperatorAction::Ls { page, .. } => page.tell(answer, false),
            _ => tell(answer, false),
        }
    }
}

/// Which page of a list.
#[derive(Debug, clap::Args)]
pub(super) struct Page {
    /// Show ended withdrawals, newest first, instead of open ones.
    #[arg(long)]
    ended: bool,
    /// Continue behind this one: the last of the page before.
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// The most entries to show.
    #[arg(long, default_value_t = 100)]
    limit: u32,
}

impl Page {
    fn path(&self, at: &str, account: Option<u32>) -> String {
        let parameters = [
            ("account", account.map(|account| account.to_string())),
            ("status", Some(self.status().to_string())),
            ("after", self.after.clone()),
            ("limit", Some(self.limit.to_string())),
        ];
        path(at, &parameters)
    }

    fn status(&self) -> &'static str {
        if self.ended { "ended" } else { "open" }
    }

    fn tell(&self, answer: &Value, as_json: bool) {
        if as_json {
            show::json(answer);
            return;
        }
        let columns = [
            Column("WITHDRAWAL", "id", Align::Left),
            Column("AMOUNT", "amount", Align::Right),
            Column("CURRENCY", "currency", Align::Left),
            Column("STATE", "state", Align::Left),
            Column("RECEIPT", "receipt", Align::Left),
            Column("REASON", "reason", Align::Left),
        ];
        let none = format!("no {} withdrawals", self.status());
        show::table(&columns, show::rows(answer, "withdrawals"), &none);
        if let Some(next) = answer["next"].as_str() {
            say(format_args!("more: --after {next}"));
        }
    }
}

fn one(at: &str, id: &str) -> String {
    format!("{at}/{}", escape(id))
}

/// One withdrawal in one line.
fn tell(answer: &Value, as_json: bool) {
    if as_json {
        show::json(answer);
        return;
    }
    let withdrawal = &answer["withdrawal"];
    let field = |name: &str| text(&withdrawal[name]);
    let mut line = format!(
        "withdrawal {} {}: {} {}",
        field("id"),
        field("state"),
        field("amount"),
        field("currency"),
    );
    for name in ["receipt", "reason"] {
        if !withdrawal[name].is_null() {
            line.push_str(&format!(", {name} {}", field(name)));
        }
    }
    if answer["repeated"] == true {
        line.push_str(" (asked for before)");
    }
    say(format_args!("{line}"));
}
