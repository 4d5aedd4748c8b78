//! What a member does: enter, change, cancel and list orders.

use super::connection::{Member, named};
use super::linked::{Linked, linked_with, told};
use super::show::{self, Align, Column, joined, or_dash};
use crate::Error;
use crate::inspect::utc;
use crate::remote::{NO_BODY, NO_QUERY};
use crate::terminal::say;
use rialto_client::api::{
    AccountQuery, AmendRequest, BalancesAnswer, CancelQuery, FillsAnswer, FillsQuery, ListedOrders,
    MassCancelAnswer, MassCancelQuery, OrderAnswer, OrderInfo, OrderRequest, OrderResult,
    OrdersAnswer, OrdersQuery, Route, Str,
};
use rialto_model::{
    AccountId, Capacity, Decimal, OrderKind, OrderStatus, PostOnly, Scale, SelfTrade, Side, Symbol,
    TimeInForce, Timestamp, TriggerKind, parse_decimal,
};

/// Enters an order.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rialto order buy 0.01 BTC-USD --price 64000 --key-file key.toml\n  \
    rialto order sell 0.5 ETH-USD --market --key-file key.toml\n  \
    rialto order buy BTC-USD --market --quote 100 --key-file key.toml\n  \
    rialto order sell 0.01 BTC-USD --market --stop 61000 --key-file key.toml\n  \
    rialto order buy 2 BTC-USD --price 63900 --display 0.05 --key-file key.toml\n  \
    rialto order buy 0.01 BTC-USD --price 64000 --exit-profit 66000 --exit-stop 63000 --key-file key.toml\n  \
    rialto order sell 0.01 BTC-USD --price 66000 --oco-stop 63000 --key-file key.toml")]
pub(super) struct Order {
    /// Buy or sell.
    #[arg(value_parser = named::<Side>())]
    side: Side,
    /// The quantity, unless --quote gives an amount, and the instrument: `0.01 BTC-USD`.
    #[arg(num_args = 1..=2, allow_negative_numbers = true, required = true, value_names = ["QUANTITY", "SYMBOL"])]
    what: Vec<String>,
    /// The limit; for a market order, the worst price at which it may trade.
    #[arg(long, allow_negative_numbers = true)]
    price: Option<String>,
    /// Enter a market order: trade at once with resting orders. What is left ends, or with --tif
    /// gtc, day, gtd or gfs rests at the worst price at which it may trade.
    #[arg(long)]
    market: bool,
    /// The kind of the order: limit, market, best_price (trade at the best price of the other side
    /// only) or five_levels (at its best five prices). With --tif gtc, day, gtd or gfs, what is left of a
    /// five_levels order rests at the last price that it traded at.
    #[arg(long, value_parser = named::<OrderKind>(), conflicts_with = "market")]
    kind: Option<OrderKind>,
    /// The amount of the quote currency to spend or raise, instead of a quantity. Not for limit
    /// orders, nor for orders that may rest.
    #[arg(long, value_name = "AMOUNT", allow_negative_numbers = true)]
    quote: Option<String>,
    /// The minimum quantity that must trade at once; otherwise the order is refused.
    #[arg(long, value_name = "QUANTITY", allow_negative_numbers = true)]
    minimum: Option<String>,
    /// Wait until the last price is at this one or worse: for a buy at it or above, for a sell at it
    /// or below. The order is entered then.
    #[arg(
        long,
        value_name = "PRICE",
        allow_negative_numbers = true,
        conflicts_with = "take_profit"
    )]
    stop: Option<String>,
    /// Wait until the last price is at this one or better: for a buy at it or below, for a sell at it
    /// or above.
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true)]
    take_profit: Option<String>,
    /// Enter a trailing stop: the trigger price follows the last price at this distance, given as a price,
    /// or in percent as in 1.5%.
    #[arg(long, value_name = "DISTANCE", allow_hyphen_values = true, conflicts_with_all = ["stop", "take_profit", "trigger_at_once"])]
    trail: Option<String>,
    /// With --trail: follow the last price from this price on; by default from the last price now.
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true, requires = "trail")]
    activation: Option<String>,
    /// With --stop or --take-profit: enter the order at once if the last price is there already.
    /// Otherwise it is refused.
    #[arg(long)]
    trigger_at_once: bool,
    /// Enter an iceberg: on the book it displays at most this quantity, and hides the rest.
    #[arg(long, value_name = "QUANTITY", allow_negative_numbers = true, conflicts_with_all = ["stop", "take_profit", "trail"])]
    display: Option<String>,
    #[command(flatten)]
    linked: Linked,
    /// The time in force.
    #[arg(long, value_parser = named::<TimeInForce>())]
    tif: Option<TimeInForce>,
    /// When a gtd order expires, in nanoseconds since 1970.
    #[arg(long, value_name = "TIME")]
    expire_at: Option<Timestamp>,
    /// Never take liquidity. An order that would do so is rejected, or slides to a price at which
    /// it rests.
    #[arg(long, value_name = "HOW", num_args = 0..=1, default_missing_value = "reject",
        require_equals = true, value_parser = named::<PostOnly>())]
    post_only: Option<PostOnly>,
    /// Self-trade prevention: the action when it would trade with an order of the same
    /// member.
    #[arg(long, value_name = "HOW",
        value_parser = named::<SelfTrade>())]
    self_trade: Option<SelfTrade>,
    /// The client order id: the same order with the same id is entered once.
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// Cancel it when the account's stream disconnects.
    #[arg(long)]
    cancel_on_disconnect: bool,
    /// The capacity in which you enter it: principal, agency or riskless_principal.
    #[arg(long, value_parser = named::<Capacity>())]
    capacity: Option<Capacity>,
    /// Wait for at least this durability: memory, buffered or synced.
    #[arg(long, value_name = "LEVEL")]
    durability: Option<String>,
    #[command(flatten)]
    member: Member,
}

impl Order {
    pub(super) fn run(&self) -> Result<(), Error> {
        let (venue, account) = self.member.connect()?;
        let request = self.request(account)?;
        venue.show(Route::Place, &[], NO_QUERY, Some(&request), |answer: &OrderAnswer| {
            tell_order(answer);
            if let Some(linked) = told(&request) {
                say(format_args!("{linked}"));
            }
        })
    }

    fn request(&self, account: Option<AccountId>) -> Result<OrderRequest<'_>, Error> {
        let (quantity, symbol) = match (self.what.as_slice(), &self.quote) {
            ([quantity, symbol], None) => (Some(quantity.as_str().into()), symbol),
            ([symbol], Some(_)) => (None, symbol),
            ([_], None) => {
                let wrong = "give a quantity: `order buy 0.01 BTC-USD`, or --market --quote AMOUNT";
                return Err(Error::Usage(wrong.to_string()));
            }
            _ => {
                let wrong = "give either a quantity or --quote, not both";
                return Err(Error::Usage(wrong.to_string()));
            }
        };
        let stop = self.stop.as_ref().map(|price| (TriggerKind::Stop, price));
        let take_profit = self.take_profit.as_ref().map(|price| (TriggerKind::TakeProfit, price));
        let trigger = stop.or(take_profit);
        let (trail_distance, trail_ppm) = distance("--trail", self.trail.as_deref())?;
        let usual = if self.market { OrderKind::Market } else { OrderKind::Limit };
        let kind = self.kind.unwrap_or(usual);
        if self.price.is_none() && kind == OrderKind::Limit {
            return Err(Error::Usage("give a limit: --price PRICE, or --market".to_string()));
        }
        Ok(OrderRequest {
            account,
            instrument: symbol.as_str().into(),
            side: self.side,
            kind,
            time_in_force: self.tif,
            post_only: self.post_only.unwrap_or_default(),
            self_trade: self.self_trade,
            cancel_on_disconnect: self.cancel_on_disconnect,
            capacity: self.capacity,
            quantity,
            quote_amount: self.quote.as_deref().map(Into::into),
            price: self.price.as_deref().map(Into::into),
            minimum_quantity: self.minimum.as_deref().map(Into::into),
            trigger: trigger.map(|(kind, _)| kind),
            trigger_price: trigger.map(|(_, price)| price.as_str().into()),
            trigger_at_once: self.trigger_at_once,
            trail_distance: trail_distance.map(Into::into),
            trail_ppm,
            activation_price: self.activation.as_deref().map(Into::into),
            display_quantity: self.display.as_deref().map(Into::into),
            take_profit: self.linked.take_profit(),
            stop_loss: self.linked.stop_loss()?,
            oco: self.linked.oco()?,
            expire_at: self.expire_at,
            client_order_id: self.client_id.as_deref().map(Str::from),
            durability: self.durability.as_deref().map(Str::from),
        })
    }
}

/// Cancels one order, or many.
#[derive(Debug, clap::Args)]
pub(super) struct Cancel {
    /// The order's id, or `client:` and its client order id.
    #[arg(required_unless_present = "all")]
    id: Option<String>,
    /// Cancel all orders of the account.
    #[arg(long, conflicts_with = "id")]
    all: bool,
    /// With --all: only orders of this instrument.
    #[arg(long, value_name = "SYMBOL", requires = "all")]
    instrument: Option<String>,
    /// With --all: only orders of this side.
    #[arg(long, requires = "all", value_parser = named::<Side>())]
    side: Option<Side>,
    #[command(flatten)]
    member: Member,
}

impl Cancel {
    pub(super) fn run(&self) -> Result<(), Error> {
        let (venue, account) = self.member.connect()?;
        if let Some(id) = &self.id {
            let query = CancelQuery { account };
            return venue.show(Route::Cancel, &[id], &query, NO_BODY, tell_order);
        }
        let instrument = self.instrument.as_deref().map(Str::from);
        let query = MassCancelQuery { account, instrument, side: self.side };
        venue.show(Route::MassCancel, &[], &query, NO_BODY, |answer: &MassCancelAnswer| {
            let more = if answer.pending == Some(true) { "; more are being cancelled" } else { "" };
            say(format_args!("cancelled {} orders{more}", or_dash(answer.cancelled)));
        })
    }
}

/// Changes an order.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rialto amend 281474976710657 --price 63950 --key-file key.toml\n  \
    rialto amend 281474976710657 --trigger-price 62000 --key-file key.toml")]
pub(super) struct Amend {
    /// The order's id, or `client:` and its client order id.
    id: String,
    /// The new limit. An order on the book loses its place in the queue.
    #[arg(long, allow_negative_numbers = true, required_unless_present_any = ["quantity", "trigger_price"])]
    price: Option<String>,
    /// The new total quantity, the filled quantity included. A smaller one keeps the order's place, and so
    /// does a larger one of an iceberg or of an order that waits. Orders of a pair and exits keep theirs.
    #[arg(long, allow_negative_numbers = true)]
    quantity: Option<String>,
    /// The new trigger price of an order that waits for a fixed one.
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true)]
    trigger_price: Option<String>,
    #[command(flatten)]
    member: Member,
}

impl Amend {
    pub(super) fn run(&self) -> Result<(), Error> {
        let (venue, account) = self.member.connect()?;
        let request = AmendRequest {
            account,
            price: self.price.as_deref().map(Into::into),
            quantity: self.quantity.as_deref().map(Into::into),
            trigger_price: self.trigger_price.as_deref().map(Into::into),
            ..AmendRequest::default()
        };
        venue.show(Route::Amend, &[&self.id], NO_QUERY, Some(&request), tell_order)
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
    /// Show only conditional orders that have not been triggered.
    #[arg(long, conflicts_with = "ended")]
    waiting: bool,
    /// The most entries to show.
    #[arg(long, default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    member: Member,
}

impl Orders {
    pub(super) fn run(&self) -> Result<(), Error> {
        let (venue, account) = self.member.connect()?;
        let (status, none) = match (self.ended, self.waiting) {
            (true, _) => (ListedOrders::Ended, "no ended orders"),
            (_, true) => (ListedOrders::Waiting, "no waiting orders"),
            _ => (ListedOrders::Open, "no open orders"),
        };
        let query = OrdersQuery {
            account,
            instrument: self.instrument.as_deref().map(Str::from),
            status,
            limit: Some(self.limit),
            ..OrdersQuery::default()
        };
        venue.show(Route::Orders, &[], &query, NO_BODY, |answer: &OrdersAnswer| {
            let columns = [
                Column("ORDER", Align::Left),
                Column("CLIENT ID", Align::Left),
                Column("INSTRUMENT", Align::Left),
                Column("SIDE", Align::Left),
                Column("TRIGGER", Align::Left),
                Column("PRICE", Align::Right),
                Column("QUANTITY", Align::Right),
                Column("DISPLAYED", Align::Right),
                Column("FILLED", Align::Right),
                Column("AVERAGE", Align::Right),
                Column("FEE", Align::Right),
                Column("CURRENCY", Align::Left),
                Column("TIF", Align::Left),
                Column("EXPIRES (UTC)", Align::Left),
                Column("LINKED", Align::Left),
                Column("STATUS", Align::Left),
            ];
            let rows = answer.orders.iter().map(|order| {
                [
                    order.order_id.to_string(),
                    or_dash(order.client_order_id),
                    order.instrument.to_string(),
                    order.side.name().to_owned(),
                    or_dash(waits_for(order)),
                    or_dash(order.price),
                    or_dash(order.quantity),
                    or_dash(order.iceberg.map(|iceberg| iceberg.displayed)),
                    order.filled.to_string(),
                    or_dash(order.result.average_price),
                    or_dash(order.result.fee),
                    or_dash(order.result.fee_currency),
                    order.time_in_force.name().to_owned(),
                    or_dash(order.expire_at.map(utc::brief)),
                    or_dash(linked_with(order)),
                    status_and_reason(order.status, &order.result),
                ]
            });
            show::table(&columns, rows.collect(), none);
        })
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
    limit: usize,
    #[command(flatten)]
    member: Member,
}

impl Fills {
    pub(super) fn run(&self) -> Result<(), Error> {
        let (venue, account) = self.member.connect()?;
        let query = FillsQuery {
            account,
            instrument: self.instrument.as_deref().map(Str::from),
            limit: Some(self.limit),
            ..FillsQuery::default()
        };
        venue.show(Route::Fills, &[], &query, NO_BODY, |answer: &FillsAnswer| {
            let columns = [
                Column("TRADE", Align::Left),
                Column("ORDER", Align::Left),
                Column("INSTRUMENT", Align::Left),
                Column("SIDE", Align::Left),
                Column("ROLE", Align::Left),
                Column("PRICE", Align::Right),
                Column("QUANTITY", Align::Right),
                Column("FEE", Align::Right),
                Column("CURRENCY", Align::Left),
            ];
            let rows = answer.fills.iter().map(|fill| {
                [
                    fill.trade_id.to_string(),
                    fill.order_id.to_string(),
                    fill.instrument.to_string(),
                    fill.side.name().to_owned(),
                    fill.role.name().to_owned(),
                    fill.price.to_string(),
                    fill.quantity.to_string(),
                    fill.fee.to_string(),
                    fill.fee_currency.to_string(),
                ]
            });
            show::table(&columns, rows.collect(), "no fills");
        })
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
        let (venue, account) = self.member.connect()?;
        let query = AccountQuery { account, min_seq: None };
        venue.show(Route::Balances, &[], &query, NO_BODY, |answer: &BalancesAnswer| {
            let columns = [
                Column("CURRENCY", Align::Left),
                Column("AVAILABLE", Align::Right),
                Column("RESERVED", Align::Right),
            ];
            let rows = answer.balances.iter().map(|balance| {
                [
                    balance.currency.to_string(),
                    balance.available.to_string(),
                    balance.reserved.to_string(),
                ]
            });
            show::table(&columns, rows.collect(), "no balances");
        })
    }
}

/// What an order waits for, or waited for if it has ended.
fn waits_for(order: &OrderInfo) -> Option<String> {
    let now = order.trigger.zip(order.trigger_price);
    let now = now.map(|(kind, price)| format!("{} {price}", kind.name()));
    let Some(trail) = &order.trail else { return now };
    let distance = match (trail.trail_distance, trail.trail_ppm) {
        (Some(distance), _) => distance.to_string(),
        (None, ppm) => in_percent(ppm.unwrap_or(0)),
    };
    Some(match now {
        Some(now) => format!("{now}, trails {distance}"),
        None => format!("trails {distance} from {}", trail.activation_price),
    })
}

/// Millionths as a percentage.
pub(super) fn in_percent(ppm: u32) -> String {
    let percent = Decimal { value: ppm.into(), scale: percent_scale() }.to_string();
    format!("{}%", percent.trim_end_matches('0').trim_end_matches('.'))
}

/// The distance of a trailing stop that an argument gives, as a price or in millionths.
pub(super) fn distance<'a>(
    argument: &str,
    text: Option<&'a str>,
) -> Result<(Option<&'a str>, Option<u32>), Error> {
    let Some(text) = text else { return Ok((None, None)) };
    Ok(match text.strip_suffix('%') {
        Some(percent) => (None, Some(millionths(argument, percent)?)),
        None => (Some(text), None),
    })
}

/// The scale on which a percentage is a number of millionths.
fn percent_scale() -> Scale {
    Scale::new(4).expect("four places are few")
}

/// A percentage in millionths.
fn millionths(argument: &str, percent: &str) -> Result<u32, Error> {
    let parsed =
        parse_decimal(percent, percent_scale()).ok().and_then(|value| u32::try_from(value).ok());
    parsed.ok_or_else(|| {
        let wrong = "give a percentage with up to four decimal places";
        Error::Usage(format!("{argument} {percent}%: {wrong}"))
    })
}

/// The status of an order, and why it ended unless it is filled.
fn status_and_reason(status: OrderStatus, result: &OrderResult) -> String {
    match result.done_reason {
        Some(reason) if status != OrderStatus::Filled => {
            format!("{} ({})", status.name(), reason.name())
        }
        _ => status.name().to_owned(),
    }
}

/// The state of an order in one line.
struct StateLine {
    status: Option<OrderStatus>,
    side: Option<Side>,
    instrument: Option<Symbol>,
    price: Option<Decimal>,
    filled: Option<Decimal>,
    remaining: Option<Decimal>,
    result: OrderResult,
}

impl StateLine {
    fn answered(answer: &OrderAnswer) -> StateLine {
        let OrderAnswer { status, side, instrument, price, filled, remaining, result, .. } =
            *answer;
        StateLine { status, side, instrument, price, filled, remaining, result }
    }

    fn now(order: &OrderInfo) -> StateLine {
        let OrderInfo { status, side, instrument, price, filled, remaining, result, .. } = *order;
        let (status, side, instrument) = (Some(status), Some(side), Some(instrument));
        StateLine {
            status,
            side,
            instrument,
            price,
            filled: Some(filled),
            remaining: Some(remaining),
            result,
        }
    }

    fn line(&self) -> String {
        let (side, instrument) = (or_dash(self.side.map(Side::name)), or_dash(self.instrument));
        let filled = or_dash(self.filled);
        let average = self.result.average_price.map(|price| format!(" at an average of {price}"));
        let fee = match (self.result.fee, self.result.fee_currency) {
            (Some(fee), Some(currency)) => format!(", fee {fee} {currency}"),
            _ => String::new(),
        };
        let average = average.unwrap_or_default();
        if self.status == Some(OrderStatus::Filled) {
            return format!("filled: {side} {filled} {instrument}{average}{fee}");
        }
        let status = or_dash(self.status.map(|status| status_and_reason(status, &self.result)));
        let limit = self.price.map(|price| format!(" at {price}"));
        format!(
            "{status}: {side} {instrument}{}, filled {filled}{average}, remaining {}{fee}",
            limit.unwrap_or_default(),
            or_dash(self.remaining),
        )
    }
}

/// An order in one line; a repeated one in two.
fn tell_order(answer: &OrderAnswer) {
    let ids = [("order", or_dash(answer.order_id)), ("seq", answer.seq.to_string())];
    let ids = joined(ids.iter().map(|(name, id)| format!(" {name} {id}")));
    say(format_args!("{};{ids}", StateLine::answered(answer).line()));
    if answer.repeated == Some(true) {
        let now =
            answer.now.as_ref().map(|order| format!("; now {}", StateLine::now(order).line()));
        say(format_args!("answered before{}", now.unwrap_or_default()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        let answer: OrderAnswer = serde_json::from_str(text).expect("an answer");
        StateLine::answered(&answer).line()
    }

    #[test]
    fn an_order_is_sent_with_its_capacity() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            order: Order,
        }
        let line = ["order", "buy", "1", "BTC-USD", "--market", "--capacity", "agency"];
        let parsed: Line = clap::Parser::try_parse_from(line).expect("a valid line");
        let sent = serde_json::to_value(parsed.order.request(None).expect("an order")).unwrap();
        assert_eq!(sent["capacity"], "agency");
    }

    #[test]
    fn the_line_of_an_order_tells_what_happened() {
        let filled = r#"{"order_id":"1","client_order_id":null,"account":1,"instrument":"BTC-USD",
            "side":"buy","status":"filled","price":null,"filled":"0.5","remaining":"0.0",
            "average_price":"64123.50","filled_notional":"32061.75","fee":"3.20",
            "fee_currency":"USD","done_reason":null,"seq":"9","time":"1"}"#;
        let expected = "filled: buy 0.5 BTC-USD at an average of 64123.50, fee 3.20 USD";
        assert_eq!(line(filled), expected);
        let open = filled.replace("\"filled\",\"price\":null", "\"open\",\"price\":\"64000.00\"");
        let open = open.replace("\"0.5\"", "\"0.0\"").replace("\"64123.50\"", "null");
        let open =
            open.replace("\"3.20\"", "null").replace("\"0.0\",\"average", "\"0.5\",\"average");
        let open = open.replace("\"remaining\":\"0.0\"", "\"remaining\":\"0.5\"");
        let expected = "open: buy BTC-USD at 64000.00, filled 0.0, remaining 0.5";
        assert_eq!(line(&open), expected);
        let ended = filled.replace("\"filled\",\"price", "\"cancelled\",\"price");
        let ended = ended.replace("\"done_reason\":null", "\"done_reason\":\"remainder\"");
        let expected = "cancelled (remainder): buy BTC-USD, filled 0.5 at an average of 64123.50, \
                        remaining 0.0, fee 3.20 USD";
        assert_eq!(line(&ended), expected);
    }
}
