//! Compares the trades of a replay with the real ones.

use crate::replay::tally::Fill;
use std::collections::{HashMap, HashSet};

/// The real trades held against those of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// Real trades.
    pub(crate) real: u64,
    /// Real trades that the replay made with the same maker, taker, price and quantity.
    pub(crate) reproduced: u64,
    /// The same two orders traded, at another price or for another quantity.
    pub(crate) other_terms: u64,
    /// The taker traded, but not with this maker.
    pub(crate) other_maker: u64,
    /// The taker did not trade.
    pub(crate) no_trade: u64,
    /// Trades of the replay that are not among the real ones.
    pub(crate) surplus: u64,
}

impl Comparison {
    /// Each trade of one side matches at most one of the other.
    pub(crate) fn of(real: &[Fill], ours: &[Fill]) -> Comparison {
        let mut unmatched: HashMap<Fill, u64> = HashMap::new();
        for fill in ours {
            *unmatched.entry(*fill).or_default() += 1;
        }
        let pairs: HashSet<(u64, u64)> = ours.iter().map(|fill| (fill.maker, fill.taker)).collect();
        let takers: HashSet<u64> = ours.iter().map(|fill| fill.taker).collect();
        let mut comparison = Comparison { real: real.len() as u64, ..Comparison::default() };
        for trade in real {
            let counter = match unmatched.get_mut(trade) {
                Some(left) if *left > 0 => {
                    *left -= 1;
                    &mut comparison.reproduced
                }
                _ if pairs.contains(&(trade.maker, trade.taker)) => &mut comparison.other_terms,
                _ if takers.contains(&trade.taker) => &mut comparison.other_maker,
                _ => &mut comparison.no_trade,
            };
            *counter += 1;
        }
        comparison.surplus = ours.len() as u64 - comparison.reproduced;
        comparison
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_model::{Price, Quantity};

    fn fill(maker: u64, taker: u64, price: i64, quantity: i64) -> Fill {
        Fill { maker, taker, price: Price(price), quantity: Quantity(quantity) }
    }

    #[test]
    fn every_real_trade_is_of_one_kind() {
        let real = [fill(1, 9, 10, 5), fill(2, 9, 10, 5), fill(3, 9, 10, 5), fill(4, 8, 10, 5)];
        let ours = [fill(1, 9, 10, 5), fill(2, 9, 10, 4), fill(7, 6, 1, 1)];
        let expected = Comparison {
            real: 4,
            reproduced: 1,
            other_terms: 1,
            other_maker: 1,
            no_trade: 1,
            surplus: 2,
        };
        assert_eq!(Comparison::of(&real, &ours), expected);
    }

    #[test]
    fn a_trade_made_once_reproduces_only_one_of_two_alike() {
        let real = [fill(1, 9, 10, 5), fill(1, 9, 10, 5)];
        let comparison = Comparison::of(&real, &real[..1]);
        assert_eq!((comparison.reproduced, comparison.other_terms), (1, 1));
    }
}
