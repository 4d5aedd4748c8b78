//! Draws the picture: ladder on the left, trades on the right, figures of the venue above and
//! below.

use super::picture::{MarketPicture, Picture};
use super::text::{grouped, latency, megabytes, short, time_of_day};
use crate::demo::day::result;
use rialto_feed::PriceLevel;
use rialto_model::{CurrencyId, InstrumentState, Price, Scale, Side};

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[31m";
const CYAN: &str = "\x1b[36m";
const REVERSE: &str = "\x1b[7m";
const PLAIN: &str = "\x1b[0m";

/// Columns of the ladder, its bars included.
const LADDER: usize = 46;
const BAR: usize = 12;
/// Lines above and below the ladder.
const FRAME: usize = 9;

/// The lines below the picture: how to take part.
pub(crate) struct Footer<'a> {
    pub(crate) url: &'a str,
    pub(crate) order_line: &'a str,
}

/// The screen as lines for a terminal of this size.
pub(crate) fn lines(
    picture: &Picture,
    market: usize,
    footer: &Footer<'_>,
    (columns, rows): (usize, usize),
) -> Vec<String> {
    let mut lines = vec![headline(picture, footer), activity(picture), String::new()];
    lines.extend(picture.markets.iter().enumerate().map(|(at, it)| ticker(at, it, at == market)));
    let Some(chosen) = picture.markets.get(market) else { return lines };
    let room = rows.saturating_sub(FRAME).max(3);
    let trades = trades(picture, chosen, room + 1);
    let ladder = ladder(picture, chosen, room);
    lines.push(String::new());
    for at in 0..room + 1 {
        let left = ladder.get(at).cloned().unwrap_or_else(|| " ".repeat(LADDER));
        let right = match trades.get(at) {
            Some(trade) if columns >= LADDER + 32 => trade.as_str(),
            _ => "",
        };
        lines.push(format!("{left}{right}"));
    }
    lines.push(format!(
        "{DIM}1 2 3 or tab: market   q: quit{PLAIN}   {CYAN}{}{PLAIN}",
        footer.order_line
    ));
    lines.truncate(rows);
    lines
}

fn headline(picture: &Picture, footer: &Footer<'_>) -> String {
    let day = picture.day.map_or_else(String::new, |day| format!("   day {BOLD}{day}{PLAIN}"));
    format!(
        "{BOLD}RIALTO{PLAIN} demo venue{day}   {CYAN}{}{PLAIN}   level {BOLD}{}{PLAIN}   {}   seq {}   \
         {} written",
        footer.url,
        picture.level,
        picture.health,
        grouped(picture.marks.released),
        megabytes(picture.gauges.bytes),
    )
}

fn activity(picture: &Picture) -> String {
    let gauges = &picture.gauges;
    let lag = match picture.feed_lag {
        0..10_000 => String::new(),
        lag => format!("   {RED}feed {} behind{PLAIN}", grouped(lag)),
    };
    format!(
        "{BOLD}{}{PLAIN} orders/s   {BOLD}{}{PLAIN} trades/s   {} commands/s   acknowledged in \
         {BOLD}{}{PLAIN} p50, {BOLD}{}{PLAIN} p99   disk {} {}{lag}",
        whole(gauges.orders_per_s),
        whole(gauges.trades_per_s),
        whole(gauges.commands_per_s),
        latency(gauges.ack_p50_ns),
        latency(gauges.ack_p99_ns),
        write_name(picture.level),
        latency(gauges.write_p50_ns),
    )
}

/// What a write to the journal is at this level.
pub(super) fn write_name(level: rialto_engine::Level) -> &'static str {
    match level {
        rialto_engine::Level::Synced => "sync",
        _ => "write",
    }
}

fn ticker(at: usize, market: &MarketPicture, chosen: bool) -> String {
    let spec = &market.instrument.spec;
    let ticker = &market.ticker;
    let price = |price: Option<Price>| match price {
        Some(price) => grouped(price.decimal(spec.price_scale)),
        None => "-".to_string(),
    };
    let (colour, change) = match (ticker.open, ticker.change) {
        (Some(open), Some(change)) if open.0 > 0 => {
            let percent = change.0 as f64 / open.0 as f64 * 100.0;
            (if change.0 < 0 { RED } else { GREEN }, format!("{percent:+.2}%"))
        }
        _ => (PLAIN, "-".to_string()),
    };
    let mark = if chosen { REVERSE } else { "" };
    let phase = phase(market);
    let line = format!(
        " {} {mark}{:<9}{PLAIN}{BOLD}{:>13}{PLAIN} {colour}{change:>8}{PLAIN}  {phase}",
        at + 1,
        spec.symbol.as_str(),
        price(ticker.last),
    );
    if market.auction.state != InstrumentState::Open {
        return line;
    }
    format!(
        "{line}{DIM}  24 h high {:>12}  low {:>12}  volume {:>10} {}{PLAIN}",
        price(ticker.high),
        price(ticker.low),
        short(ticker.base_volume.decimal(base_scale(spec.base))),
        spec.symbol.as_str().split('-').next().unwrap_or_default(),
    )
}

/// The phase of a market; in a call with what its auction would be now.
fn phase(market: &MarketPicture) -> String {
    let state = market.auction.state;
    let name = state.name();
    match &market.auction.indicative {
        Some(indicative) => {
            let indicative = result(&market.instrument, indicative);
            format!("{CYAN}{name}{PLAIN}  {BOLD}{indicative}{PLAIN}")
        }
        None if state == InstrumentState::Open => format!("{GREEN}{name}{PLAIN}"),
        None => format!("{CYAN}{name}{PLAIN}"),
    }
}

fn base_scale(currency: CurrencyId) -> Scale {
    let at = usize::from(currency.0).saturating_sub(1);
    crate::demo::markets::CURRENCIES.get(at).map_or(Scale::default(), |currency| currency.scale())
}

/// The book: asks above, best at the bottom; the spread; bids below, best at the top.
fn ladder(picture: &Picture, market: &MarketPicture, room: usize) -> Vec<String> {
    let spec = &market.instrument.spec;
    let each = (room - 1) / 2;
    let depth = &picture.depth;
    let shown = || depth.asks.iter().take(each).chain(depth.bids.iter().take(each));
    let largest = shown().map(|level| level.quantity.0).max().unwrap_or(1).max(1);
    let line = |level: Option<&PriceLevel>, side: Side| {
        let Some(level) = level else { return " ".repeat(LADDER) };
        let colour = if side == Side::Buy { GREEN } else { RED };
        let filled = (level.quantity.0 as f64 / largest as f64 * BAR as f64).ceil() as usize;
        let bar: String = "▮".repeat(filled.min(BAR));
        format!(
            " {colour}{:>13}{PLAIN} {:>12} {DIM}{:>3}{PLAIN} {colour}{bar:<BAR$}{PLAIN}  ",
            grouped(level.price.decimal(spec.price_scale)),
            level.quantity.decimal(spec.quantity_scale).to_string(),
            level.orders.min(999),
        )
    };
    let mut lines: Vec<String> =
        (0..each).rev().map(|at| line(depth.asks.get(at), Side::Sell)).collect();
    lines.push(spread(picture, spec.price_scale));
    lines.extend((0..each).map(|at| line(depth.bids.get(at), Side::Buy)));
    lines
}

fn spread(picture: &Picture, scale: Scale) -> String {
    let best = picture.depth.bids.first().zip(picture.depth.asks.first());
    let text = match best {
        // In a call, until its orders trade.
        Some((bid, ask)) if bid.price >= ask.price => "crossed".to_string(),
        Some((bid, ask)) => {
            let spread = Price(ask.price.0 - bid.price.0).decimal(scale);
            format!("spread {spread}")
        }
        None => "one-sided".to_string(),
    };
    format!("{DIM} {text:>13} {:─<width$}{PLAIN} ", "", width = LADDER - 16)
}

/// The last trades, newest first.
fn trades(picture: &Picture, market: &MarketPicture, room: usize) -> Vec<String> {
    let spec = &market.instrument.spec;
    let mut lines = vec![format!("{DIM}last trades        price     quantity{PLAIN}")];
    lines.extend(picture.trades.iter().take(room.saturating_sub(1)).map(|trade| {
        let (colour, arrow) = match trade.taker_side {
            // Nobody came in.
            _ if trade.auction => (CYAN, "●"),
            Side::Buy => (GREEN, "▲"),
            Side::Sell => (RED, "▼"),
        };
        format!(
            "{DIM}{}{PLAIN} {colour}{arrow} {:>13}{PLAIN} {:>12}",
            time_of_day(trade.at.time),
            grouped(trade.price.decimal(spec.price_scale)),
            trade.quantity.decimal(spec.quantity_scale).to_string(),
        )
    }));
    lines
}

fn whole(rate: f64) -> String {
    grouped(rate.round() as u64)
}
