//! What everybody may see: books, trades, instruments.

use super::connection::Connection;
use super::show::{self, Align, Column};
use crate::Error;
use crate::inspect::utc;
use crate::remote::NO_BODY;
use crate::terminal::say;
use rialto_client::api::{
    AuctionAnswer, AuctionResultInfo, BookAnswer, BookLevel, BookOf, BookOrderInfo, BookQuery,
    FreshQuery, InstrumentsAnswer, LevelInfo, LotFeesInfo, Route, TradesAnswer, TradesQuery,
};
use rialto_client::model::Decimal;
use std::fmt::Display;
use std::io::{IsTerminal, stdout};
use std::time::Duration;

/// The interval at which a watched book is fetched.
const WATCH_PERIOD: Duration = Duration::from_millis(500);

/// Shows a book.
#[derive(Debug, clap::Args)]
pub(super) struct Book {
    /// The instrument, such as BTC-USD.
    symbol: String,
    /// The price levels of each side.
    #[arg(long, default_value_t = 10)]
    depth: usize,
    /// Show single orders instead of price levels.
    #[arg(long)]
    orders: bool,
    /// Refresh until interrupted.
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Book {
    pub(super) fn run(&self) -> Result<(), Error> {
        let venue = self.connection.anonymous()?;
        let level = if self.orders { BookLevel::Orders } else { BookLevel::Prices };
        let query = BookQuery { depth: Some(self.depth), level, min_seq: None };
        loop {
            let clears = self.watch && !self.connection.json && stdout().is_terminal();
            venue.show(Route::Book, &[&self.symbol], &query, NO_BODY, |book| {
                if clears {
                    // Move to the top left, and clear the screen.
                    say(format_args!("\x1b[H\x1b[2J"));
                }
                tell(book);
            })?;
            if !self.watch {
                return Ok(());
            }
            std::thread::sleep(WATCH_PERIOD);
        }
    }
}

/// Asks above, best at the bottom; bids below, best at the top.
fn tell(book: &BookAnswer) {
    let line = |side: &str, price: &dyn Display, quantity: &dyn Display, last: &dyn Display| {
        let (price, quantity) = (price.to_string(), quantity.to_string());
        say(format_args!("{side} {price:>16} {quantity:>18} {:>6}", last.to_string()));
    };
    say(format_args!("{} at seq {}", book.instrument, book.seq));
    match &book.sides {
        BookOf::Levels(sides) => {
            for LevelInfo(price, quantity, orders) in sides.asks.iter().rev() {
                line("ask", price, quantity, orders);
            }
            for LevelInfo(price, quantity, orders) in &sides.bids {
                line("bid", price, quantity, orders);
            }
        }
        BookOf::Orders(sides) => {
            for BookOrderInfo(order, price, quantity) in sides.asks.iter().rev() {
                line("ask", price, quantity, order);
            }
            for BookOrderInfo(order, price, quantity) in &sides.bids {
                line("bid", price, quantity, order);
            }
        }
    }
}

/// Shows trades.
#[derive(Debug, clap::Args)]
pub(super) struct Trades {
    /// The instrument.
    symbol: String,
    /// The most entries to show.
    #[arg(long, default_value_t = 20)]
    limit: usize,
    #[command(flatten)]
    connection: Connection,
}

impl Trades {
    pub(super) fn run(&self) -> Result<(), Error> {
        let query = TradesQuery { limit: Some(self.limit), min_seq: None };
        let venue = self.connection.anonymous()?;
        venue.show(Route::Trades, &[&self.symbol], &query, NO_BODY, |answer: &TradesAnswer| {
            let columns = [
                Column("TRADE", Align::Left),
                Column("TAKER", Align::Left),
                Column("PRICE", Align::Right),
                Column("QUANTITY", Align::Right),
                Column("TIME (NS)", Align::Right),
            ];
            let rows = answer.trades.iter().map(|trade| {
                [
                    trade.trade_id.to_string(),
                    trade.taker_side.map_or("-", |side| side.name()).to_owned(),
                    trade.price.to_string(),
                    trade.quantity.to_string(),
                    trade.time.to_string(),
                ]
            });
            show::table(&columns, rows.collect(), "no trades");
        })
    }
}

/// Shows the phase of an instrument and its auction.
#[derive(Debug, clap::Args)]
pub(super) struct Auction {
    /// The instrument.
    symbol: String,
    /// Refresh until interrupted.
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Auction {
    pub(super) fn run(&self) -> Result<(), Error> {
        let venue = self.connection.anonymous()?;
        let query = FreshQuery::default();
        loop {
            venue.show(Route::Auction, &[&self.symbol], &query, NO_BODY, tell_auction)?;
            if !self.watch {
                return Ok(());
            }
            std::thread::sleep(WATCH_PERIOD);
        }
    }
}

fn tell_auction(answer: &AuctionAnswer) {
    let result = |result: &AuctionResultInfo| {
        let surplus = match result.surplus_side {
            Some(side) => format!(", {} left to {}", result.surplus, side.name()),
            None => String::new(),
        };
        format!("{} at {}{surplus}", result.volume, result.price)
    };
    let auction = &answer.auction;
    say(format_args!("{} is {} at seq {}", answer.instrument, auction.state.name(), answer.seq));
    let line = |name: &str, text: String| say(format_args!("{name:<14}{text}"));
    if let Some(indicative) = &auction.indicative {
        line("would trade", result(indicative));
    }
    if let Some(last) = &auction.last {
        line("last auction", result(last));
    }
    if let Some(it) = &auction.interrupted {
        let until = if it.until_command { ", until an operator ends it" } else { "" };
        line("interrupted", format!("{} is not within {} to {}{until}", it.price, it.low, it.high));
    }
    if let Some(until) = auction.halted_until {
        line("halted until", utc::show(until));
    }
    if let Some(it) = &auction.limit_state {
        let until = utc::show(it.until);
        line("at the limit", format!("the best {}, halted at {until}", it.side.name()));
    }
    if let Some(range) = &answer.trading_limits {
        line("trading limits", format!("{} to {}", range.low, range.high));
    }
    if let Some(range) = &answer.daily_limits {
        line("daily limits", format!("{} to {}", range.low, range.high));
    }
    if let Some(range) = &answer.trading_range {
        line("trading range", format!("{} to {}", range.low, range.high));
    }
}

/// Lists instruments.
#[derive(Debug, clap::Args)]
pub(super) struct Instruments {
    #[command(flatten)]
    connection: Connection,
}

impl Instruments {
    pub(super) fn run(&self) -> Result<(), Error> {
        let venue = self.connection.anonymous()?;
        let query = FreshQuery::default();
        venue.show(Route::Instruments, &[], &query, NO_BODY, |answer: &InstrumentsAnswer| {
            let columns = [
                Column("SYMBOL", Align::Left),
                Column("STATE", Align::Left),
                Column("CALENDAR", Align::Left),
                Column("TICK", Align::Right),
                Column("LOT", Align::Right),
                Column("LEAST", Align::Right),
                Column("MOST", Align::Right),
                Column("COLLAR PPM", Align::Right),
                Column("MAKER FEE", Align::Right),
                Column("TAKER FEE", Align::Right),
            ];
            let rows = answer.instruments.iter().map(|instrument| {
                let fee = |ppm: i32, by_lot: fn(&LotFeesInfo) -> Decimal| match &instrument.lot_fees
                {
                    Some(fees) => format!("{} a lot", by_lot(fees)),
                    None => format!("{ppm} ppm"),
                };
                [
                    instrument.symbol.to_string(),
                    instrument.state.name().to_owned(),
                    show::or_dash(instrument.calendar),
                    instrument.tick.to_string(),
                    instrument.lot.to_string(),
                    instrument.notional_min.to_string(),
                    show::or_dash(instrument.notional_max),
                    instrument.collar_ppm.to_string(),
                    fee(instrument.maker_fee_ppm, |fees| fees.maker),
                    fee(instrument.taker_fee_ppm, |fees| fees.taker),
                ]
            });
            show::table(&columns, rows.collect(), "no instruments");
        })
    }
}
