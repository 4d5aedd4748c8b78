//! The price at which a crossed book uncrosses, as at the end of a call auction.

use rialto_model::{Price, Quantity};
use std::iter::Peekable;

/// What decides the price besides the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UncrossTerms {
    /// Prices are multiples of this, which is positive.
    pub tick: Price,
    /// Of prices that are equally good, the nearest to this one is taken. Zero is none: the lowest is
    /// taken then, and market orders do not trade with each other alone.
    pub reference: Price,
    /// The sum of the market orders that buy, which trade at any price.
    pub market_buys: i128,
    /// The sum of the market orders that sell.
    pub market_sells: i128,
}

/// The result of an auction. Volume and surplus are sums of quantities, and may exceed a
/// [`Quantity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncrossing {
    /// The one price of all its trades.
    pub price: Price,
    /// The quantity that trades.
    pub volume: i128,
    /// What could trade at the price and finds nobody: positive if it is bought, negative if it is
    /// sold.
    pub surplus: i128,
}

/// The price at which most can trade; of several that with the least surplus; of several of these the
/// highest if all have a surplus of buys, the lowest if all have one of sells, and otherwise the
/// nearest to the reference, the higher of two.
///
/// Prices are all ticks between the lowest and the highest limit. `buys` and `sells` are the levels of a
/// book from the best: their prices are positive and on the tick, and no quantity is zero. Nothing if
/// nothing can trade.
///
/// It looks at the levels that trade and at two more of each side: the best buys are matched with the
/// best sells until they no longer cross, which finds the volume. Every price from the last sell to
/// the last buy that traded has this volume, and what is left beside them is the surplus.
///
/// ```
/// use rialto_core::book::{UncrossTerms, uncross};
/// use rialto_model::{Price, Quantity};
///
/// let terms = UncrossTerms {
///     tick: Price(1),
///     reference: Price(105),
///     market_buys: 0,
///     market_sells: 0,
/// };
/// let level = |(price, quantity)| (Price(price), Quantity(quantity));
/// let buys = [(102, 100), (100, 50)].map(level);
/// let sells = [(100, 100), (102, 50)].map(level);
/// let result = uncross(buys, sells, &terms).expect("they cross");
/// assert_eq!((result.price, result.volume, result.surplus), (Price(101), 100, 0));
/// ```
pub fn uncross(
    buys: impl IntoIterator<Item = (Price, Quantity)>,
    sells: impl IntoIterator<Item = (Price, Quantity)>,
    terms: &UncrossTerms,
) -> Option<Uncrossing> {
    debug_assert!(terms.tick > Price::ZERO, "a tick is positive");
    debug_assert!(terms.market_buys >= 0 && terms.market_sells >= 0, "sums of quantities");
    let on_tick = |level: &(Price, Quantity)| {
        debug_assert!(level.0.0 > 0 && level.0.0 % terms.tick.0 == 0, "a limit is on the tick");
        debug_assert!(level.1 > Quantity::ZERO, "a level has orders");
    };
    let (buys, sells) = (buys.into_iter().inspect(on_tick), sells.into_iter().inspect(on_tick));
    let mut buys = Walk::new(buys, terms.market_buys);
    let mut sells = Walk::new(sells, terms.market_sells);
    let mut volume = 0;
    while crosses(&buys.next, &sells.next) {
        let traded = buys.next.quantity.min(sells.next.quantity);
        volume += traded;
        buys.take(traded);
        sells.take(traded);
    }
    if volume == 0 {
        return None;
    }
    if buys.best.is_none() && sells.best.is_none() {
        let surplus = terms.market_buys - terms.market_sells;
        let price = terms.reference;
        return (price != Price::ZERO).then_some(Uncrossing { price, volume, surplus });
    }
    let (price, surplus) = least_surplus(buys, sells, terms);
    Some(Uncrossing { price, volume, surplus })
}

/// A part of a side: the market orders, a level, or what is left of one.
#[derive(Clone, Copy)]
struct Part {
    /// None of market orders.
    limit: Option<Price>,
    quantity: i128,
}

const NOTHING: Part = Part { limit: None, quantity: 0 };

impl Part {
    fn is_market(&self) -> bool {
        self.limit.is_none() && self.quantity > 0
    }
}

fn crosses(buy: &Part, sell: &Part) -> bool {
    let at_prices = match (buy.limit, sell.limit) {
        (Some(buy), Some(sell)) => buy >= sell,
        _ => true,
    };
    buy.quantity > 0 && sell.quantity > 0 && at_prices
}

/// A side from its best price: the market orders, then the levels.
struct Walk<I: Iterator> {
    levels: Peekable<I>,
    next: Part,
    /// The first limit.
    best: Option<Price>,
    /// The limit of the last part that traded; none of market orders.
    last: Option<Price>,
}

impl<I: Iterator<Item = (Price, Quantity)>> Walk<I> {
    fn new(levels: I, market: i128) -> Self {
        let mut levels = levels.peekable();
        let best = levels.peek().map(|(price, _)| *price);
        let mut walk =
            Self { levels, next: Part { limit: None, quantity: market }, best, last: None };
        if market == 0 {
            walk.advance();
        }
        walk
    }

    fn advance(&mut self) {
        let part = |(price, quantity): (Price, Quantity)| Part {
            limit: Some(price),
            quantity: i128::from(quantity.0),
        };
        self.next = self.levels.next().map_or(NOTHING, part);
    }

    /// Takes what trades of the next part.
    fn take(&mut self, traded: i128) {
        self.last = self.next.limit;
        self.next.quantity -= traded;
        if self.next.quantity == 0 {
            self.advance();
        }
    }

    /// The limit of the level behind the next part.
    fn after_next(&mut self) -> Option<Price> {
        self.levels.peek().map(|(price, _)| *price)
    }
}

/// The best of the prices with the whole volume, and its surplus.
fn least_surplus<B, S>(mut buys: Walk<B>, mut sells: Walk<S>, terms: &UncrossTerms) -> (Price, i128)
where
    B: Iterator<Item = (Price, Quantity)>,
    S: Iterator<Item = (Price, Quantity)>,
{
    let (buy, sell) = (buys.next, sells.next);
    let (after_buy, after_sell) = (buys.after_next(), sells.after_next());
    // Where market orders set no bound, the furthest limit does. Limits that were
    // not read are further away than the ones that bound the result.
    let sells_read = [sells.best, sells.last, sell.limit, after_sell];
    let buys_read = [buys.best, buys.last, buy.limit, after_buy];
    let highest = || buys.best.into_iter().chain(sells_read.into_iter().flatten()).max();
    let lowest = || sells.best.into_iter().chain(buys_read.into_iter().flatten()).min();
    let high = buys.last.or_else(highest).unwrap_or(terms.reference);
    let low = sells.last.or_else(lowest).unwrap_or(terms.reference);
    // One side has more than the other at every price: the last part that traded is not used up.
    if buy.is_market() || (buy.limit.is_some() && buy.limit == buys.last) {
        let beside = buys.best.filter(|best| buy.is_market() && *best == high);
        return (high, buy.quantity + beside.map_or(0, |_| first_quantity(&mut buys)));
    }
    if sell.is_market() || (sell.limit.is_some() && sell.limit == sells.last) {
        let beside = sells.best.filter(|best| sell.is_market() && *best == low);
        return (low, -(sell.quantity + beside.map_or(0, |_| first_quantity(&mut sells))));
    }
    // Between the next buy and the next sell nothing is left.
    let grid = Grid { tick: terms.tick.0, reference: terms.reference };
    let next_buy = buy.limit.filter(|buy| *buy >= low);
    let next_sell = sell.limit.filter(|sell| *sell <= high);
    let first = next_buy.map_or(low, |buy| grid.above(buy));
    let last = next_sell.map_or(high, |sell| grid.below(sell));
    if first <= last {
        return (grid.nearest(first, last), 0);
    }
    // There is no price between them: one of the two has the least surplus.
    let (bought, sold) = (buy.quantity, sell.quantity);
    match (next_buy, next_sell) {
        (Some(price), None) => (price, bought),
        (None, Some(price)) => (price, -sold),
        (Some(price), Some(_)) if bought < sold => (price, bought),
        (Some(_), Some(price)) if sold < bought => (price, -sold),
        (Some(buy), Some(sell)) => {
            let from = after_buy.filter(|after| *after >= low).map_or(low, |it| grid.above(it));
            let to = after_sell.filter(|after| *after <= high).map_or(high, |it| grid.below(it));
            let (lower, higher) = (grid.nearest(from, buy), grid.nearest(sell, to));
            match grid.distance(lower) < grid.distance(higher) {
                true => (lower, bought),
                false => (higher, -sold),
            }
        }
        // Low and high are prices of orders that traded with each other.
        (None, None) => (low, 0),
    }
}

/// The quantity of the first level of a side of which no level was read.
fn first_quantity<I: Iterator<Item = (Price, Quantity)>>(walk: &mut Walk<I>) -> i128 {
    walk.levels.peek().map_or(0, |(_, quantity)| i128::from(quantity.0))
}

/// The prices between limits.
struct Grid {
    tick: i64,
    reference: Price,
}

impl Grid {
    /// The next tick above a price.
    fn above(&self, price: Price) -> Price {
        Price((price.0.div_euclid(self.tick)).saturating_add(1).saturating_mul(self.tick))
    }

    /// The next tick below a price.
    fn below(&self, price: Price) -> Price {
        Price((price.0 - 1).div_euclid(self.tick) * self.tick)
    }

    /// The price from `first` to `last` that is nearest to the reference.
    fn nearest(&self, first: Price, last: Price) -> Price {
        let below = Price(self.reference.0.div_euclid(self.tick) * self.tick);
        let above = if below == self.reference { below } else { self.above(below) };
        let nearest = |price: Price| price.clamp(first, last);
        let (below, above) = (nearest(below), nearest(above));
        if self.distance(below) < self.distance(above) { below } else { above }
    }

    fn distance(&self, price: Price) -> u64 {
        price.0.abs_diff(self.reference.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Orders = Vec<(i64, i64)>;

    /// The same by looking at every tick.
    fn naive(buys: &Orders, sells: &Orders, terms: &UncrossTerms) -> Option<Uncrossing> {
        let limits = || buys.iter().chain(sells).map(|(price, _)| *price);
        let sums = |price: i64| {
            let bought = buys.iter().filter(|(limit, _)| *limit >= price);
            let sold = sells.iter().filter(|(limit, _)| *limit <= price);
            let sum = |orders: i128, quantity: &(i64, i64)| orders + i128::from(quantity.1);
            (bought.fold(terms.market_buys, sum), sold.fold(terms.market_sells, sum))
        };
        let result = |price: i64| {
            let (bought, sold) = sums(price);
            let (volume, surplus) = (bought.min(sold), bought - sold);
            Uncrossing { price: Price(price), volume, surplus }
        };
        let (Some(lowest), Some(highest)) = (limits().min(), limits().max()) else {
            let result = result(terms.reference.0);
            return (result.volume > 0 && terms.reference != Price::ZERO).then_some(result);
        };
        let mut all: Vec<_> = (lowest..=highest)
            .filter(|price| price % terms.tick.0 == 0)
            .map(result)
            .filter(|result| result.volume > 0)
            .collect();
        let volume = all.iter().map(|result| result.volume).max()?;
        all.retain(|result| result.volume == volume);
        let surplus = all.iter().map(|result| result.surplus.abs()).min()?;
        all.retain(|result| result.surplus.abs() == surplus);
        if all.iter().all(|result| result.surplus > 0) {
            return all.last().copied();
        }
        if all.iter().all(|result| result.surplus < 0) {
            return all.first().copied();
        }
        let distance = |result: &&Uncrossing| result.price.0.abs_diff(terms.reference.0);
        // The last of several that are equally near.
        all.iter().rev().min_by_key(distance).copied()
    }

    fn levels(orders: &Orders) -> BTreeMap<i64, i64> {
        let mut levels = BTreeMap::new();
        orders.iter().for_each(|(price, quantity)| *levels.entry(*price).or_default() += quantity);
        levels
    }

    fn of_levels(buys: &Orders, sells: &Orders, terms: &UncrossTerms) -> Option<Uncrossing> {
        let level = |(price, quantity)| (Price(price), Quantity(quantity));
        uncross(
            levels(buys).into_iter().rev().map(level),
            levels(sells).into_iter().map(level),
            terms,
        )
    }

    /// Prices on a tick, close enough to each other that few are better than the rest.
    fn orders(tick: i64) -> impl Strategy<Value = Orders> {
        proptest::collection::vec((1_i64..14, 1_i64..5), 0..8)
            .prop_map(move |orders| orders.into_iter().map(|(at, it)| (at * tick, it)).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn it_is_the_best_of_all_ticks(
            (tick, buys, sells) in (1_i64..4).prop_flat_map(|tick| (Just(tick), orders(tick), orders(tick))),
            reference in 0_i64..45,
            market_buys in prop_oneof![Just(0_i128), 0_i128..8],
            market_sells in prop_oneof![Just(0_i128), 0_i128..8],
        ) {
            let (tick, reference) = (Price(tick), Price(reference));
            let terms = UncrossTerms { tick, reference, market_buys, market_sells };
            prop_assert_eq!(of_levels(&buys, &sells, &terms), naive(&buys, &sells, &terms));
        }
    }

    #[test]
    fn sums_beyond_a_quantity_and_prices_at_the_end_are_exact() {
        let most = i64::MAX;
        let buys = [(most, most), (most - 1, most)];
        let sells = [(1, most), (2, most)];
        let terms =
            UncrossTerms { tick: Price(1), reference: Price(7), market_buys: 0, market_sells: 0 };
        let level = |(price, quantity): &(i64, i64)| (Price(*price), Quantity(*quantity));
        let result = uncross(buys.iter().map(level), sells.iter().map(level), &terms).unwrap();
        let volume = 2 * i128::from(most);
        assert_eq!(result, Uncrossing { price: Price(7), volume, surplus: 0 });
    }
}
