//! What a member does: enter, change, cancel and list orders.

use super::connection::{Member, path};
use super::show::{self, Align, Column, text};
use crate::Error;
use crate::client::escape;
use crate::terminal::say;
use serde_json::{Map, Value, json};

/// Enters an order.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rialto order buy 0.01 BTC-USD --price 64000 --key-file key.toml\n  \
    rialto order sell 0.5 ETH-USD --market --key-file key.toml\n  \
    rialto order buy BTC-USD --market --quote 100 --key-file key.toml")]
pub(super) struct Order {
    /// Buy or sell.
    #[arg(value_parser = ["buy", "sell"])]
    side: String,
    /// How much, unless --quote says so, and of what: `0.01 BTC-USD`.
    #[arg(num_args = 1..=2, required = true, value_names = ["QUANTITY", "SYMBOL"])]
    what: Vec<String>,
    /// The limit; of a market order, the worst price that it may trade at.
    #[arg(long)]
    price: Option<String>,
    /// Trade at once with what stands there, and never rest.
    #[arg(long)]
    market: bool,
    /// Spend or raise so much of the quote currency, instead of a quantity; market orders only.
    #[arg(long, value_name = "AMOUNT", requires = "market")]
    quote: Option<String>,
    /// How long it stands: gtc, ioc, fok, day or gtd.
    #[arg(long, value_parser = ["gtc", "ioc", "fok", "day", "gtd"])]
    tif: Option<String>,
    /// When a gtd order expires, in nanoseconds since 1970.
    #[arg(long, value_name = "TIME")]
    expire_at: Option<String>,
    /// Never take liquidity: an order that would is rejected, or slides to a price at which it
    /// does not.
    #[arg(long, value_name = "HOW", num_args = 0..=1, default_missing_value = "reject",
        require_equals = true, value_parser = ["reject", "slide"])]
    post_only: Option<String>,
    /// What happens when it would trade with an order of the same member.
    #[arg(long, value_name = "HOW",
        value_parser = ["allow", "cancel_newest", "cancel_oldest", "cancel_both", "decrement"])]
    self_trade: Option<String>,
    /// Your own name for it: the same name with the same order is entered once.
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// Cancel it when the connection of the account's stream is lost.
    #[arg(long)]
    cancel_on_disconnect: bool,
    /// Wait for at least this durability: memory, buffered or synced.
    #[arg(long, value_name = "LEVEL")]
    durability: Option<String>,
    #[command(flatten)]
    member: Member,
}

impl Order {
    pub(super) fn run(&self) -> Result<(), Error> {
        let (client, account) = self.member.connect()?;
        let answer = client.call("POST", "/v1/orders", Some(&self.body(account)?))?;
        tell_order(&answer, self.member.connection.json);
        Ok(())
    }

    fn body(&self, account: Option<u32>) -> Result<Value, Error> {
        let (quantity, symbol) = match (self.what.as_slice(), &self.quote) {
            ([quantity, symbol], None) => (Some(quantity.clone()), symbol),
            ([symbol], Some(_)) => (None, symbol),
            ([_], None) => {
                let wrong = "say how much: `order buy 0.01 BTC-USD`, or --market --quote AMOUNT";
                return Err(Error::Usage(wrong.to_string()));
            }
            _ => {
                let wrong = "give either a quantity or --quote, not both";
                return Err(Error::Usage(wrong.to_string()));
            }
        };
        if self.price.is_none() && !self.market {
            return Err(Error::Usage("say at which price: --price PRICE, or --market".to_string()));
        }
        let kind = if self.market { "market" } else { "limit" };
        let mut body = fields([
            ("account", account.map(Value::from)),
            ("instrument", Some(json!(symbol))),
            ("side", Some(json!(self.side))),
            ("kind", Some(json!(kind))),
            ("quantity", quantity.map(Value::from)),
            ("quote_amount", self.quote.clone().map(Value::from)),
            ("price", self.price.clone().map(Value::from)),
            ("time_in_force", self.tif.clone().map(Value::from)),
            ("expire_at", self.expire_at.clone().map(Value::from)),
            ("post_only", self.post_only.clone().map(Value::from)),
            ("self_trade", self.self_trade.clone().map(Value::from)),
            ("client_order_id", self.client_id.clone().map(Value::from)),
            ("durability", self.durability.clone().map(Value::from)),
        ]);
        if self.cancel_on_disconnect {
            body.insert("cancel_on_disconnect".to_string(), json!(true));
        }
        Ok(Value::Object(body))
    }
}

/// Cancels one order, or many.
#[derive(Debug, clap::Args)]
pub(super) struct Cancel {
    /// The order's id, or `client:` and your own name for it.
    #[arg(required_unless_present = "all")]
    id: Option<String>,
    /// Cancel all orders of the account.
    #[arg(long, conflicts_with = "id")]
    all: bool,
    /// With --all: only orders of this instrument.
    #[arg(long, value_name = "SYMBOL", requires = "all")]
    instrument: Option<String>,
    /// With --all: only orders of this side.
    #[arg(long, requires = "all", value_parser = ["buy", "sell"])]
    side: Option<String>,
    #[command(flatten)]
    member: Member,
}

impl Cancel {
    pub(super) fn run(&self) -> Result<(), Error> {
        let (client, account) = self.member.connect()?;
        let account = account.map(|account| account.to_string());
        let Some(id) = &self.id else {
            let parameters = [
                ("account", account),
                ("instrument", self.instrument.clone()),
                ("side", self.side.clone()),
            ];
            let answer = client.call("DELETE", &path("/v1/orders", &parameters), None)?;
            if self.member.connection.json {
                show::json(&answer);
            } else {
                let more = answer["pending"].as_bool().unwrap_or_default();
                let more = if more { "; more are being cancelled" } else { "" };
                say(format_args!("cancelled {} orders{more}", text(&answer["cancelled"])));
            }
            return Ok(());
        };
        let path = path(&format!("/v1/orders/{}", escape(id)), &[("account", account)]);
        tell_order(&client.call("DELETE", &path, None)?, self.member.connection.json);
        Ok(())
    }
}

/// Changes an order.
#[derive(Debug, clap::Args)]
pub(super) struct Amend {
    /// The order's id, or `client:` and your own name for it.
    id: String,
    /// The new limit; the order loses its place in the queue.
    #[arg(long, required_unless_present = "quantity")]
    price: Option<String>,
    /// The new total quantity, what has traded included. A smaller one keeps the order's place.
    #[arg(long)]
    quantity: Option<String>,
    #[command(flatten)]
    member: Member,
}

impl Amend {
    pub(super) fn run(&self) -> Result<(), Error> {
        let (client, account) = self.member.connect()?;
        let body = Value::Object(fields([
            ("account", account.map(Value::from)),
            ("price", self.price.clone().map(Value::from)),
            ("quantity", self.quantity.clone().map(Value::from)),
        ]));
        let path = format!("/v1/orders/{}", escape(&self.id));
        tell_order(&client.call("PATCH", &path, Some(&body))?, self.member.connection.json);
        Ok(())
    }
}

/// Lists orders.
#[derive(Debug, clap::Args)]
pub(super) struct Orders {
    /// Only orders of this instrument.
    #[arg(long, value_name = "SYMBOL")]
    instrument: Option<String>,
    /// Show ended orders, newest first, instead of open ones.
    #[arg(long)]
    ended: bool,
    /// The most entries to show.
    #[arg(long, default_value_t = 100)]
    limit: u32,
    #[command(flatten)]
    member: Member,
}

impl Orders {
    pub(super) fn run(&self) -> Result<(), Error> {
        let (client, account) = self.member.connect()?;
        let status = if self.ended { "ended" } else { "open" };
        let parameters = [
            ("account", account.map(|account| account.to_string())),
            ("instrument", self.instrument.clone()),
            ("status", Some(status.to_string())),
            ("limit", Some(self.limit.to_string())),
        ];
        let answer = client.get(&path("/v1/orders", &parameters))?;
        if self.member.connection.json {
            show::json(&answer);
            return Ok(());
        }
        let columns = [
            Column("ORDER", "order_id", Align::Left),
            Column("CLIENT ID", "client_order_id", Align::Left),
            Column("INSTRUMENT", "instrument", Align::Left),
            Column("SIDE", "side", Align::Left),
            Column("PRICE", "price", Align::Right),
            Column("QUANTITY", "quantity", Align::Right),
            Column("FILLED", "filled", Align::Right),
            Column("TIF", "time_in_force", Align::Left),
            Column("STATUS", "status", Align::Left),
        ];
        show::table(&columns, show::rows(&answer, "orders"), &format!("no {status} orders"));
        Ok(())
    }
}

/// Lists fills.
#[derive(Debug, clap::Args)]
pub(super) struct Fills {
    /// Only fills of this instrument.
    #[arg(long, value_name = "SYMBOL")]
    instrument: Option<String>,
    /// The most entries to show.
    #[arg(long, default_value_t = 20)]
    limit: u32,
    #[command(flatten)]
    member: Member,
}

impl Fills {
    pub(super) fn run(&self) -> Result<(), Error> {
        let (client, account) = self.member.connect()?;
        let parameters = [
            ("account", account.map(|account| account.to_string())),
            ("instrument", self.instrument.clone()),
            ("limit", Some(self.limit.to_string())),
        ];
        let answer = client.get(&path("/v1/fills", &parameters))?;
        if self.member.connection.json {
            show::json(&answer);
            return Ok(());
        }
        let columns = [
            Column("TRADE", "trade_id", Align::Left),
            Column("ORDER", "order_id", Align::Left),
            Column("INSTRUMENT", "instrument", Align::Left),
            Column("SIDE", "side", Align::Left),
            Column("ROLE", "role", Align::Left),
            Column("PRICE", "price", Align::Right),
            Column("QUANTITY", "quantity", Align::Right),
            Column("FEE", "fee", Align::Right),
        ];
        show::table(&columns, show::rows(&answer, "fills"), "no fills");
        Ok(())
    }
}

/// Lists balances.
#[derive(Debug, clap::Args)]
pub(super) struct Balances {
    #[command(flatten)]
    member: Member,
}

impl Balances {
    pub(super) fn run(&self) -> Result<(), Error> {
        let (client, account) = self.member.connect()?;
        let parameters = [("account", account.map(|account| account.to_string()))];
        let answer = client.get(&path("/v1/balances", &parameters))?;
        if self.member.connection.json {
            show::json(&answer);
            return Ok(());
        }
        let columns = [
            Column("CURRENCY", "currency", Align::Left),
            Column("AVAILABLE", "available", Align::Right),
            Column("RESERVED", "reserved", Align::Right),
        ];
        show::table(&columns, show::rows(&answer, "balances"), "no balances");
        Ok(())
    }
}

/// The fields that there are.
pub(super) fn fields<const N: usize>(all: [(&str, Option<Value>); N]) -> Map<String, Value> {
    let there = all.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?)));
    there.collect()
}

/// One order in one line.
fn tell_order(answer: &Value, as_json: bool) {
    if as_json {
        show::json(answer);
        return;
    }
    let repeated = match answer["repeated"].as_bool() {
        Some(true) => " (as answered before)",
        _ => "",
    };
    say(format_args!(
        "order {} {}: {} {} at {}, filled {}, remaining {}, seq {}{repeated}",
        text(&answer["order_id"]),
        text(&answer["status"]),
        text(&answer["side"]),
        text(&answer["instrument"]),
        text(&answer["price"]),
        text(&answer["filled"]),
        text(&answer["remaining"]),
        text(&answer["seq"]),
    ));
}
