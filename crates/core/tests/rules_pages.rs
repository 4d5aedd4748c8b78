//! The examples of the pages under `docs/rules`, read from the pages.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_core::book::{UncrossTerms, Uncrossing, uncross};
use rialto_model::{Price, Quantity};
use std::collections::BTreeMap;

const UNCROSSING: &str = include_str!("../../../docs/rules/uncrossing.md");

/// The rows of the tables of a page whose first cell is an id such as `A1`.
fn examples(page: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    page.lines().filter_map(|line| {
        let cells: Vec<_> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
        let (letter, number) = cells.first()?.split_at_checked(1)?;
        let is_id = letter.chars().all(char::is_uppercase) && number.parse::<u32>().is_ok();
        is_id.then_some(cells)
    })
}

/// Orders such as `200@202 100@201` as the levels of a side, by ascending price.
fn levels(orders: &str) -> BTreeMap<i64, i64> {
    let mut levels = BTreeMap::new();
    for order in orders.split_whitespace() {
        let (quantity, price) = order.split_once('@').unwrap();
        *levels.entry(price.parse().unwrap()).or_default() += quantity.parse::<i64>().unwrap();
    }
    levels
}

#[test]
fn books_uncross_at_the_prices_of_the_page() {
    let mut ids = Vec::new();
    for cells in examples(UNCROSSING) {
        let [id, buys, sells, reference, price, volume, surplus, ..] = cells[..] else {
            panic!("{cells:?}")
        };
        let reference = Price(reference.parse().unwrap_or(0));
        let terms = UncrossTerms { tick: Price(1), reference, market_buys: 0, market_sells: 0 };
        let level = |(price, quantity)| (Price(price), Quantity(quantity));
        let (buys, sells) = (levels(buys).into_iter().rev(), levels(sells).into_iter());
        let expected = Uncrossing {
            price: Price(price.parse().unwrap()),
            volume: volume.parse().unwrap(),
            surplus: surplus.parse().unwrap(),
        };
        assert_eq!(uncross(buys.map(level), sells.map(level), &terms), Some(expected), "{id}");
        ids.push(id);
    }
    let all: Vec<_> = (1..=12).map(|number| format!("A{number}")).collect();
    assert_eq!(ids, all);
}
