//! The real trades next to a capture.

use super::decimal;
use crate::replay::error::InputError;
use crate::replay::input::bytes_of;
use crate::replay::rows::Rows;
use crate::replay::tally::Fill;
use std::collections::HashSet;
use std::path::Path;

const COLUMNS: [(&str, bool); 8] = [
    ("trade_id", false),
    ("timestamp", false),
    ("exchange_timestamp", false),
    ("price", true),
    ("amount", true),
    ("buy_order_id", true),
    ("sell_order_id", true),
    ("side", true),
];

/// The trades of a capture, in order.
pub(super) fn read(path: &Path) -> Result<Vec<Fill>, InputError> {
    let mut rows = Rows::new(path, bytes_of(path)?);
    let [_, _, _, price, amount, buy, sell, side] =
        rows.header(&COLUMNS)?.map(|column| column.unwrap_or(0));
    let mut trades = Vec::new();
    while let Some(row) = rows.next_row()? {
        let buyer = row.parse(buy, "an order id")?;
        let seller = row.parse(sell, "an order id")?;
        let (maker, taker) = match row.text(side) {
            "buy" => (seller, buyer),
            "sell" => (buyer, seller),
            other => return Err(row.error(side, format!("{other:?} is neither buy nor sell"))),
        };
        let (price, quantity) = (decimal::price(row, price)?, decimal::quantity(row, amount)?);
        trades.push(Fill { maker, taker, price, quantity });
    }
    Ok(trades)
}

/// The orders that took liquidity.
pub(super) fn takers(trades: &[Fill]) -> HashSet<u64> {
    trades.iter().map(|trade| trade.taker).collect()
}
