//! The best price of an auction, among all ticks.

use super::super::listing::common;
use super::super::{Alteration, Listed, Reference};
use super::Best;
use rialto_model::{InstrumentId, Price, Side};

impl Reference {
    /// The quantities at each price of a side, best first.
    pub(super) fn levels(&self, id: InstrumentId, side: Side) -> Vec<(i64, i128)> {
        let mut levels: Vec<(i64, i128)> = Vec::new();
        for order in self.queue(id, side) {
            match levels.last_mut() {
                Some(level) if level.0 == order.price.0 => level.1 += i128::from(order.remaining.0),
                _ => levels.push((order.price.0, i128::from(order.remaining.0))),
            }
        }
        levels
    }

    /// How often a level of the one side is matched with one of the other.
    pub(super) fn search_steps(&self, id: InstrumentId) -> usize {
        let (mut buys, mut sells) = (self.levels(id, Side::Buy), self.levels(id, Side::Sell));
        buys.reverse();
        sells.reverse();
        let mut steps = 0;
        while let (Some(buy), Some(sell)) = (buys.last_mut(), sells.last_mut())
            && buy.0 >= sell.0
        {
            steps += 1;
            let traded = buy.1.min(sell.1);
            (buy.1, sell.1) = (buy.1 - traded, sell.1 - traded);
            if buy.1 == 0 {
                buys.pop();
            }
            if sells.last().is_some_and(|sell| sell.1 == 0) {
                sells.pop();
            }
        }
        steps
    }

    /// Looks at every tick between the lowest and the highest limit.
    pub fn best_of_all_ticks(&self, id: InstrumentId) -> Option<Best> {
        let listed = self.listed(id).expect("it is listed");
        let (buys, sells) = (self.levels(id, Side::Buy), self.levels(id, Side::Sell));
        let limits: Vec<i64> = buys.iter().chain(&sells).map(|level| level.0).collect();
        let (low, high) = (*limits.iter().min()?, *limits.iter().max()?);
        let at = |price: i64| {
            let bought: i128 = buys.iter().filter(|buy| buy.0 >= price).map(|buy| buy.1).sum();
            let sold: i128 = sells.iter().filter(|sell| sell.0 <= price).map(|sell| sell.1).sum();
            Best { price, volume: bought.min(sold), surplus: bought - sold }
        };
        let mut all: Vec<Best> = self
            .ticks(listed, &limits, low, high)
            .into_iter()
            .map(at)
            .filter(|best| best.volume > 0)
            .collect();
        let most = all.iter().map(|best| best.volume).max()?;
        all.retain(|best| best.volume == most);
        if let Some((from, to)) = self.considered(id, listed, most) {
            let is_in = |best: &Best| (from..=to).contains(&best.price);
            if all.iter().any(is_in) {
                all.retain(is_in);
            } else {
                // The reference price is off the tick, and alone.
                let below = all.iter().rev().find(|best| best.price < from).copied();
                let above = all.iter().find(|best| best.price > to).copied();
                all = below.into_iter().chain(above).collect();
            }
        }
        let least = all.iter().map(|best| best.surplus.abs()).min()?;
        all.retain(|best| best.surplus.abs() == least);
        if self.gets_wrong(Alteration::AuctionTakesLowest) {
            return all.first().copied();
        }
        if all.iter().all(|best| best.surplus > 0) {
            return all.last().copied();
        }
        if all.iter().all(|best| best.surplus < 0) {
            return all.first().copied();
        }
        let reference = listed.reference().unwrap_or(Price::ZERO).0;
        all.iter().rev().min_by_key(|best| best.price.abs_diff(reference)).copied()
    }

    /// Where the price of an auction is looked for, if a protection price is one end of the prices with
    /// the largest volume.
    fn considered(&self, id: InstrumentId, listed: &Listed, volume: i128) -> Option<(i64, i64)> {
        let reference = listed.reference().unwrap_or(Price::ZERO).0;
        // The last price of a side that trades, whether an order of its own is at it, and the best
        // price of another one that has something left.
        let end = |side| {
            let (mut traded, mut last, mut next) = (0, None, None);
            for (price, quantity) in self.levels(id, side) {
                let mut at = self.queue(id, side).into_iter();
                let is_limit = at.any(|order| order.price.0 == price && !order.is_market);
                if traded < volume {
                    last = Some((price, is_limit));
                }
                traded += quantity;
                if traded > volume && is_limit && next.is_none() {
                    next = Some(price);
                }
            }
            last.map(|(price, is_limit)| (price, is_limit, next))
        };
        let ((high, high_is_limit, next_buy), (low, low_is_limit, next_sell)) =
            (end(Side::Buy)?, end(Side::Sell)?);
        if high_is_limit && low_is_limit {
            return None;
        }
        let ends = [Some(high).filter(|_| high_is_limit), Some(low).filter(|_| low_is_limit)];
        let others = [next_buy, next_sell, Some(reference)];
        let bounds: Vec<i64> = ends
            .into_iter()
            .chain(others)
            .flatten()
            .filter(|it| (low..=high).contains(it))
            .collect();
        Some((*bounds.iter().min()?, *bounds.iter().max()?))
    }

    /// The ticks between two prices; where they are too many to look at, the ones beside a limit or
    /// the reference, between which nothing changes.
    fn ticks(&self, listed: &Listed, limits: &[i64], low: i64, high: i64) -> Vec<i64> {
        let tick = listed.instrument.spec.rules.tick.0;
        let grid = limits.iter().fold(tick, |grid, limit| common(grid, *limit));
        if (high - low) / grid <= 10_000 {
            return (low..=high).filter(|price| price % grid == 0).collect();
        }
        let reference = listed.reference().unwrap_or(Price::ZERO).0;
        let near = limits.iter().chain([&reference]).flat_map(|limit| {
            let below = limit - limit.rem_euclid(grid);
            [below.saturating_sub(grid), below, below.saturating_add(grid)]
        });
        let mut ticks: Vec<i64> = near.filter(|price| (low..=high).contains(price)).collect();
        ticks.sort_unstable();
        ticks.dedup();
        ticks
    }
}
