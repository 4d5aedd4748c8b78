//! A capture of live orders as operations.

use super::decimal::{self, PRICE_SCALE, QUANTITY_SCALE};
use super::trades;
use crate::replay::error::InputError;
use crate::replay::input::{Operations, bytes_of};
use crate::replay::operation::{Action, Operation, Overview, Placement};
use crate::replay::rows::{Row, Rows};
use crate::replay::tally::Fill;
use clap::ValueEnum;
use rialto_model::{OrderKind, PostOnly, Price, Quantity, Side, TimeInForce, Timestamp};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const COLUMNS: [(&str, bool); 7] = [
    ("id", true),
    ("timestamp", false),
    ("exchange_timestamp", true),
    ("price", true),
    ("volume", true),
    ("action", true),
    ("direction", true),
];
const ID: usize = 0;
const TIME: usize = 2;
const PRICE: usize = 3;
const VOLUME: usize = 4;
const ACTION: usize = 5;
const DIRECTION: usize = 6;

/// The one account of a capture, which does not say whose orders they are.
const ACCOUNT: u32 = 1;
/// The largest tick that is looked for: one dollar.
const TICK_MAX: i64 = 100;

/// What becomes of an order that never took liquidity when it would take some here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::replay) enum Passive {
    /// It is rejected.
    Reject,
    /// It is moved to one tick short of the opposite best price.
    #[default]
    Slide,
}

/// A capture, with the real trades if they are next to it.
pub(in crate::replay) struct Capture {
    path: PathBuf,
    passive: PostOnly,
    /// The orders that may take liquidity.
    takers: Arc<HashSet<u64>>,
    /// The real trades, if they are known.
    pub(in crate::replay) trades: Option<Vec<Fill>>,
    /// Where they were looked for.
    pub(in crate::replay) trades_path: PathBuf,
}

impl Capture {
    pub(in crate::replay) fn open(
        path: &Path,
        trades: Option<&Path>,
        passive: Passive,
    ) -> Result<Capture, InputError> {
        let trades_path = trades.map_or_else(|| path.with_file_name("trades.csv"), Path::to_owned);
        let is_there = trades.is_some() || trades_path.exists();
        let trades = if is_there { Some(trades::read(&trades_path)?) } else { None };
        let takers = match &trades {
            Some(trades) => trades::takers(trades),
            None => inferred_takers(path)?,
        };
        let passive = match passive {
            Passive::Reject => PostOnly::Reject,
            Passive::Slide => PostOnly::Slide,
        };
        Ok(Capture {
            path: path.to_owned(),
            passive,
            takers: Arc::new(takers),
            trades,
            trades_path,
        })
    }

    pub(in crate::replay) fn scan(&self) -> Result<Overview, InputError> {
        let mut lines = Lines::open(&self.path)?;
        let (mut operations, mut first, mut tick) = (0, None, TICK_MAX);
        while let Some(line) = lines.next_line()? {
            operations += 1;
            first.get_or_insert(line.time);
            while line.price.0 % tick != 0 {
                tick /= 10;
            }
        }
        Ok(Overview {
            operations,
            accounts: BTreeSet::from([ACCOUNT]),
            first,
            price_scale: PRICE_SCALE,
            quantity_scale: QUANTITY_SCALE,
            tick: Price(tick),
            symbol: "BTC-USD",
            currencies: ["BTC", "USD"],
        })
    }

    pub(in crate::replay) fn operations(&self) -> Result<Operations, InputError> {
        let mut lines = Lines::open(&self.path)?;
        let (takers, passive) = (Arc::clone(&self.takers), self.passive);
        let mut prices = HashMap::new();
        Ok(Box::new(std::iter::from_fn(move || {
            let line = lines.next_line().transpose()?;
            Some(line.map(|line| {
                let takes = takers.contains(&line.id);
                let action = action(&line, takes, passive, &mut prices);
                Operation { at: Some(line.time), action }
            }))
        })))
    }
}

/// The operation of a line. `prices` are the last recorded ones of open orders.
fn action(line: &Line, takes: bool, passive: PostOnly, prices: &mut HashMap<u64, Price>) -> Action {
    match line.happened {
        Happened::Created => {
            prices.insert(line.id, line.price);
            // A market order to sell is recorded as one that sells for nothing.
            let is_market = takes && line.price == Price::ZERO;
            let (kind, time_in_force) = match is_market {
                true => (OrderKind::Market, TimeInForce::Ioc),
                false => (OrderKind::Limit, TimeInForce::Gtc),
            };
            Action::Place(Placement {
                id: line.id,
                account: ACCOUNT,
                side: line.side,
                kind,
                time_in_force,
                post_only: if takes { PostOnly::Off } else { passive },
                price: line.price,
                quantity: line.volume,
            })
        }
        Happened::Deleted => {
            prices.remove(&line.id);
            Action::Cancel { id: line.id }
        }
        Happened::Changed => {
            // The line of an order that takes carries the price of the trade, not its limit.
            let before = if takes { None } else { prices.insert(line.id, line.price) };
            let price = before.filter(|before| *before != line.price).map(|_| line.price);
            Action::Left { id: line.id, price, remaining: line.volume }
        }
    }
}

/// Without the real trades, an order is held to take when a line shows it at a price that is not
/// its limit: that of its trade.
fn inferred_takers(path: &Path) -> Result<HashSet<u64>, InputError> {
    let mut lines = Lines::open(path)?;
    let (mut limits, mut takers) = (HashMap::new(), HashSet::new());
    while let Some(line) = lines.next_line()? {
        match line.happened {
            Happened::Created => {
                limits.insert(line.id, line.price);
            }
            Happened::Changed | Happened::Deleted => {
                if limits.get(&line.id).is_some_and(|limit| *limit != line.price) {
                    takers.insert(line.id);
                }
            }
        }
    }
    Ok(takers)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Happened {
    Created,
    Changed,
    Deleted,
}

struct Line {
    id: u64,
    time: Timestamp,
    price: Price,
    volume: Quantity,
    happened: Happened,
    side: Side,
}

struct Lines {
    rows: Rows,
    columns: [usize; COLUMNS.len()],
    last: Timestamp,
}

impl Lines {
    fn open(path: &Path) -> Result<Lines, InputError> {
        let mut rows = Rows::new(path, bytes_of(path)?);
        let columns = rows.header(&COLUMNS)?.map(|column| column.unwrap_or(0));
        Ok(Lines { rows, columns, last: Timestamp::ZERO })
    }

    fn next_line(&mut self) -> Result<Option<Line>, InputError> {
        let columns = self.columns;
        let Some(row) = self.rows.next_row()? else { return Ok(None) };
        let line = decode(row, columns)?;
        if line.time < self.last {
            let reason = "this is before the time of an earlier line".into();
            return Err(row.error(columns[TIME], reason));
        }
        self.last = line.time;
        Ok(Some(line))
    }
}

fn decode(row: Row<'_>, columns: [usize; COLUMNS.len()]) -> Result<Line, InputError> {
    let time_ms: u64 = row.parse(columns[TIME], "a time in milliseconds")?;
    let Some(time_ns) = time_ms.checked_mul(1_000_000) else {
        return Err(row.error(columns[TIME], format!("{time_ms} ms is out of range")));
    };
    let happened = match row.text(columns[ACTION]) {
        "created" => Happened::Created,
        "changed" => Happened::Changed,
        "deleted" => Happened::Deleted,
        other => {
            let reason = format!("{other:?} is none of created, changed, deleted");
            return Err(row.error(columns[ACTION], reason));
        }
    };
    let side = match row.text(columns[DIRECTION]) {
        "bid" => Side::Buy,
        "ask" => Side::Sell,
        other => {
            let reason = format!("{other:?} is neither bid nor ask");
            return Err(row.error(columns[DIRECTION], reason));
        }
    };
    Ok(Line {
        id: row.parse(columns[ID], "an order id")?,
        time: Timestamp(time_ns),
        price: decimal::price(row, columns[PRICE])?,
        volume: decimal::quantity(row, columns[VOLUME])?,
        happened,
        side,
    })
}
