//! The price of an auction.

use crate::page::{examples, levels};
use rialto_core::book::{UncrossTerms, Uncrossing, uncross};
use rialto_model::{Price, Quantity};

const PAGE: &str = include_str!("../../../../docs/rules/uncrossing.md");

#[test]
fn books_uncross_at_the_prices_of_the_page() {
    let mut ids = Vec::new();
    for cells in examples(PAGE) {
        let [id, buys, sells, reference, price, volume, surplus, ..] = &cells[..] else {
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
        ids.push(id.clone());
    }
    let all: Vec<_> = (1..=12).map(|number| format!("A{number}")).collect();
    assert_eq!(ids, all);
}
