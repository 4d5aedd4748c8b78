//! What everybody may see: books, trades, instruments.

use super::connection::{Connection, path};
use super::show::{self, Align, Column, text};
use crate::Error;
use crate::client::escape;
use crate::terminal::say;
use serde_json::Value;
use std::io::{IsTerminal, stdout};
use std::time::Duration;

/// How often a watched book is asked for.
const WATCH_PERIOD: Duration = Duration::from_millis(500);

/// Shows a book.
#[derive(Debug, clap::Args)]
pub(super) struct Book {
    /// Of which instrument, such as BTC-USD.
    symbol: String,
    /// Price levels of each side.
    #[arg(long, default_value_t = 10)]
    depth: u32,
    /// By order instead of by price.
    #[arg(long)]
    orders: bool,
    /// Show it again and again until interrupted.
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Book {
    pub(super) fn run(&self) -> Result<(), Error> {
        let client = self.connection.anonymous();
        let level = self.orders.then(|| "3".to_string());
        let parameters = [("depth", Some(self.depth.to_string())), ("level", level)];
        let path = path(&format!("/v1/book/{}", escape(&self.symbol)), &parameters);
        loop {
            let answer = client.get(&path)?;
            if self.watch && !self.connection.json && stdout().is_terminal() {
                // Home, and nothing left of what was shown before.
                say(format_args!("\x1b[H\x1b[2J"));
            }
            if self.connection.json {
                show::json(&answer);
            } else {
                self.tell(&answer);
            }
            if !self.watch {
                return Ok(());
            }
            std::thread::sleep(WATCH_PERIOD);
        }
    }

    /// Asks above, best at the bottom; bids below, best at the top.
    fn tell(&self, answer: &Value) {
        say(format_args!("{} at seq {}", text(&answer["instrument"]), text(&answer["seq"])));
        let line = |side: &str, level: &Value| {
            // By order, the id stands first; by price, the number of orders stands last.
            let at = usize::from(self.orders);
            let (price, quantity) = (text(&level[at]), text(&level[at + 1]));
            let last = if self.orders { &level[0] } else { &level[2] };
            say(format_args!("{side} {price:>16} {quantity:>18} {:>6}", text(last)));
        };
        for level in show::rows(answer, "asks").iter().rev() {
            line("ask", level);
        }
        for level in show::rows(answer, "bids") {
            line("bid", level);
        }
    }
}

/// Shows trades.
#[derive(Debug, clap::Args)]
pub(super) struct Trades {
    /// Of which instrument.
    symbol: String,
    /// The most entries to show.
    #[arg(long, default_value_t = 20)]
    limit: u32,
    #[command(flatten)]
    connection: Connection,
}

impl Trades {
    pub(super) fn run(&self) -> Result<(), Error> {
        let parameters = [("limit", Some(self.limit.to_string()))];
        let path = path(&format!("/v1/trades/{}", escape(&self.symbol)), &parameters);
        let answer = self.connection.anonymous().get(&path)?;
        if self.connection.json {
            show::json(&answer);
            return Ok(());
        }
        let columns = [
            Column("TRADE", "trade_id", Align::Left),
            Column("TAKER", "taker_side", Align::Left),
            Column("PRICE", "price", Align::Right),
            Column("QUANTITY", "quantity", Align::Right),
            Column("TIME (NS)", "time", Align::Right),
        ];
        show::table(&columns, show::rows(&answer, "trades"), "no trades");
        Ok(())
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
        let answer = self.connection.anonymous().get("/v1/instruments")?;
        if self.connection.json {
            show::json(&answer);
            return Ok(());
        }
        let columns = [
            Column("SYMBOL", "symbol", Align::Left),
            Column("STATE", "state", Align::Left),
            Column("TICK", "tick", Align::Right),
            Column("LOT", "lot", Align::Right),
            Column("LEAST", "notional_min", Align::Right),
            Column("COLLAR PPM", "collar_ppm", Align::Right),
            Column("MAKER PPM", "maker_fee_ppm", Align::Right),
            Column("TAKER PPM", "taker_fee_ppm", Align::Right),
        ];
        show::table(&columns, show::rows(&answer, "instruments"), "no instruments");
        Ok(())
    }
}
