//! The price at which a crossed book uncrosses, as at the end of a call auction.

use rialto_model::{Price, PriceRange, Quantity, Side};
use std::collections::VecDeque;
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
    /// What could trade at the price and has no counterparty: positive for buys, negative for sells.
    pub surplus: i128,
}

/// The price at which the largest volume trades. Of several such prices it is the one with the smallest
/// surplus. Of several of these it is the highest if all have a surplus of buys, the lowest if all have
/// one of sells, and otherwise the nearest to the reference; of two equally near, the higher.
///
/// All ticks from the lowest to the highest limit are compared. `buys` and `sells` are the levels of a
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
    let level = |(price, quantity)| CallLevel { price, quantity, is_protection: false };
    uncross_call(buys.into_iter().map(level), sells.into_iter().map(level), terms)
}

/// The largest grid of prices that has the tick and all of these.
///
/// ```
/// use rialto_core::book::price_grid;
/// use rialto_model::Price;
///
/// assert_eq!(price_grid(Price(10), [Price(40), Price(25)]), Price(5));
/// ```
pub fn price_grid(tick: Price, prices: impl IntoIterator<Item = Price>) -> Price {
    prices.into_iter().fold(tick, |Price(mut grid), Price(mut price)| {
        while price != 0 {
            (grid, price) = (price, grid % price);
        }
        Price(grid)
    })
}

/// A level of a book in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLevel {
    /// The price.
    pub price: Price,
    /// The total quantity, not zero.
    pub quantity: Quantity,
    /// Whether all its orders are market orders with this protection price.
    pub is_protection: bool,
}

/// As [`uncross`], where market orders rest at their protection prices. A protection price bounds what
/// trades as a limit does, but does not set the price.
///
/// Where an end of the prices with the largest volume is a protection price, only some of them are
/// considered: those from the lowest to the highest of the following, as far as these have the largest
/// volume themselves. They are the reference price, an end that is the limit of a limit order, and on
/// each side the best limit of a limit order that does not trade. The sums of market orders in `terms`
/// are zero.
pub fn uncross_call(
    buys: impl IntoIterator<Item = CallLevel>,
    sells: impl IntoIterator<Item = CallLevel>,
    terms: &UncrossTerms,
) -> Option<Uncrossing> {
    let mut search = UncrossSearch::new(terms);
    let (mut buys, mut sells) = (buys.into_iter().peekable(), sells.into_iter().peekable());
    while search.go_on(&mut buys, &mut sells, &mut { u32::MAX }, terms.tick) {}
    search.result(&mut buys, &mut sells, terms)
}

/// The search for the price of [`uncross`]. It can stop after some steps, and continue later on the same
/// book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UncrossSearch {
    /// What trades, so far.
    pub(crate) volume: i128,
    pub(crate) buys: Progress,
    pub(crate) sells: Progress,
    /// Whether the first levels were read.
    pub(crate) began: bool,
}

/// How far a search is on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// What trades next, as far as it has not traded.
    pub(crate) next: Part,
    /// The first limit.
    pub(crate) best: Option<Price>,
    /// The limit of the last part that traded; none of market orders without a protection price.
    pub(crate) last: Option<Price>,
    /// Whether that is a protection price.
    pub(crate) last_is_protection: bool,
}

/// A part of a side: the market orders, a level, or what is left of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// None of market orders without a protection price.
    pub(crate) limit: Option<Price>,
    pub(crate) quantity: i128,
    /// Whether the limit is a protection price.
    pub(crate) is_protection: bool,
}

impl UncrossSearch {
    pub(crate) fn new(terms: &UncrossTerms) -> UncrossSearch {
        debug_assert!(terms.tick > Price::ZERO, "a tick is positive");
        debug_assert!(terms.market_buys >= 0 && terms.market_sells >= 0, "sums of quantities");
        let side = |quantity| Progress {
            next: Part { limit: None, quantity, is_protection: false },
            best: None,
            last: None,
            last_is_protection: false,
        };
        UncrossSearch {
            volume: 0,
            buys: side(terms.market_buys),
            sells: side(terms.market_sells),
            began: false,
        }
    }

    /// Matches the parts of both sides one with another, in at most `steps` steps, which it counts
    /// down. Returns whether there are more. The levels are the ones behind [`Progress::next`].
    pub(crate) fn go_on<B, S>(
        &mut self,
        buys: &mut Peekable<B>,
        sells: &mut Peekable<S>,
        steps: &mut u32,
        tick: Price,
    ) -> bool
    where
        B: Iterator<Item = CallLevel>,
        S: Iterator<Item = CallLevel>,
    {
        if !self.began {
            self.began = true;
            self.buys.begin(buys, tick);
            self.sells.begin(sells, tick);
        }
        while crosses(&self.buys.next, &self.sells.next) {
            if *steps == 0 {
                return true;
            }
            *steps -= 1;
            let traded = self.buys.next.quantity.min(self.sells.next.quantity);
            self.volume += traded;
            self.buys.take(traded, buys, tick);
            self.sells.take(traded, sells, tick);
        }
        false
    }

    /// The price, after [`UncrossSearch::go_on`] found no more.
    pub(crate) fn result<B, S>(
        &self,
        buys: &mut Peekable<B>,
        sells: &mut Peekable<S>,
        terms: &UncrossTerms,
    ) -> Option<Uncrossing>
    where
        B: Iterator<Item = CallLevel>,
        S: Iterator<Item = CallLevel>,
    {
        let volume = self.volume;
        if volume == 0 {
            return None;
        }
        if self.buys.best.is_none() && self.sells.best.is_none() {
            let surplus = terms.market_buys - terms.market_sells;
            let price = terms.reference;
            return (price != Price::ZERO).then_some(Uncrossing { price, volume, surplus });
        }
        let buys = Walk::new(Side::Buy, &self.buys, buys);
        let sells = Walk::new(Side::Sell, &self.sells, sells);
        let (price, surplus) = least_surplus(buys, sells, terms);
        Some(Uncrossing { price, volume, surplus })
    }
}

const NOTHING: Part = Part { limit: None, quantity: 0, is_protection: false };

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

impl Progress {
    fn begin(&mut self, levels: &mut Peekable<impl Iterator<Item = CallLevel>>, tick: Price) {
        self.best = levels.peek().map(|level| level.price);
        if self.next.quantity == 0 {
            self.advance(levels, tick);
        }
    }

    fn advance(&mut self, levels: &mut impl Iterator<Item = CallLevel>, tick: Price) {
        self.next = levels.next().map_or(NOTHING, |level| {
            let CallLevel { price, quantity, is_protection } = level;
            debug_assert!(price.0 > 0 && price.0 % tick.0 == 0, "a limit is on the tick");
            debug_assert!(quantity > Quantity::ZERO, "a level has orders");
            Part { limit: Some(price), quantity: i128::from(quantity.0), is_protection }
        });
    }

    /// Takes what trades of the next part.
    fn take(&mut self, traded: i128, levels: &mut impl Iterator<Item = CallLevel>, tick: Price) {
        (self.last, self.last_is_protection) = (self.next.limit, self.next.is_protection);
        self.next.quantity -= traded;
        if self.next.quantity == 0 {
            self.advance(levels, tick);
        }
    }
}

/// A side whose search has ended, and the levels behind its next part.
struct Walk<'a, I: Iterator> {
    side: Side,
    progress: &'a Progress,
    /// Levels that were read to look further.
    ahead: VecDeque<CallLevel>,
    levels: &'a mut Peekable<I>,
}

impl<'a, I: Iterator<Item = CallLevel>> Walk<'a, I> {
    fn new(side: Side, progress: &'a Progress, levels: &'a mut Peekable<I>) -> Self {
        Walk { side, progress, ahead: VecDeque::new(), levels }
    }

    /// The limit of the level behind the next part.
    fn after_next(&mut self) -> Option<Price> {
        self.ahead.front().or_else(|| self.levels.peek()).map(|level| level.price)
    }

    /// Whether an order of this limit would trade at a price.
    fn reaches(&self, limit: Price, price: Price) -> bool {
        match self.side {
            Side::Buy => limit >= price,
            Side::Sell => limit <= price,
        }
    }

    /// Whether the last part that traded is not used up, so that something is left at every price.
    fn is_left(&self) -> bool {
        let next = &self.progress.next;
        next.is_market() || (next.limit.is_some() && next.limit == self.progress.last)
    }

    /// What would trade at a price and has not.
    fn left_at(&mut self, price: Price) -> i128 {
        let next = self.progress.next;
        if next.limit.is_some_and(|limit| !self.reaches(limit, price)) {
            return 0;
        }
        let mut left = next.quantity;
        while let Some(limit) = self.after_next()
            && self.reaches(limit, price)
        {
            let level = self.ahead.pop_front().or_else(|| self.levels.next());
            left += i128::from(level.map_or(0, |level| level.quantity.0));
        }
        left
    }

    /// The best limit of an order that has not traded and would at a price, except market orders.
    fn next_limit(&mut self, price: Price) -> Option<Price> {
        let next = self.progress.next;
        if let Some(limit) = next.limit {
            if !self.reaches(limit, price) {
                return None;
            }
            if !next.is_protection {
                return Some(limit);
            }
        }
        while let Some(level) = self.levels.peek().copied()
            && self.reaches(level.price, price)
        {
            if !level.is_protection {
                return Some(level.price);
            }
            self.ahead.push_back(level);
            self.levels.next();
        }
        None
    }
}

/// The prices with the whole volume.
fn interval<B, S>(buys: &mut Walk<'_, B>, sells: &mut Walk<'_, S>, reference: Price) -> PriceRange
where
    B: Iterator<Item = CallLevel>,
    S: Iterator<Item = CallLevel>,
{
    // Where market orders set no bound, the furthest limit does. Limits that were
    // not read are further away than the ones that bound the result.
    let read = |one: &Progress, other: &Progress, after: Option<Price>| {
        [one.best, other.best, other.last, other.next.limit, after].into_iter().flatten()
    };
    let (after_buy, after_sell) = (buys.after_next(), sells.after_next());
    let highest = || read(buys.progress, sells.progress, after_sell).max();
    let lowest = || read(sells.progress, buys.progress, after_buy).min();
    let high = buys.progress.last.or_else(highest).unwrap_or(reference);
    let low = sells.progress.last.or_else(lowest).unwrap_or(reference);
    if !(buys.progress.last_is_protection || sells.progress.last_is_protection) {
        return PriceRange { low, high };
    }
    // Prices between limits and the reference price go before prices up to a protection price.
    let bounds = [
        (!buys.progress.last_is_protection).then_some(high),
        (!sells.progress.last_is_protection).then_some(low),
        buys.next_limit(low),
        sells.next_limit(high),
        Some(reference),
    ];
    let among = bounds.into_iter().flatten().filter(|price| (low..=high).contains(price));
    let (least, most) = (among.clone().min(), among.max());
    PriceRange { low: least.unwrap_or(low), high: most.unwrap_or(high) }
}

/// The best of the prices with the whole volume, and its surplus.
fn least_surplus<B, S>(
    mut buys: Walk<'_, B>,
    mut sells: Walk<'_, S>,
    terms: &UncrossTerms,
) -> (Price, i128)
where
    B: Iterator<Item = CallLevel>,
    S: Iterator<Item = CallLevel>,
{
    let grid = Grid { tick: terms.tick.0, reference: terms.reference };
    // Its ends are limits, except that the reference may be off the tick.
    let (low, high) = grid.within(interval(&mut buys, &mut sells, terms.reference));
    let (buy, sell) = (buys.progress.next, sells.progress.next);
    let next_buy = buy.limit.filter(|buy| *buy >= low);
    let next_sell = sell.limit.filter(|sell| *sell <= high);
    // One side has more than the other at every price.
    if buys.is_left() || next_buy.is_some_and(|buy| buy >= high) {
        return (high, buys.left_at(high));
    }
    if sells.is_left() || next_sell.is_some_and(|sell| sell <= low) {
        return (low, -sells.left_at(low));
    }
    let (after_buy, after_sell) = (buys.after_next(), sells.after_next());
    // Between the next buy and the next sell nothing is left.
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

    /// The ticks in a range; the ones around it if there are none in it.
    fn within(&self, PriceRange { low, high }: PriceRange) -> (Price, Price) {
        let at_most = |price: Price| Price(price.0.div_euclid(self.tick) * self.tick);
        let at_least = |price| match at_most(price) {
            tick if tick == price => tick,
            _ => self.above(price),
        };
        let (first, last) = (at_least(low), at_most(high));
        if first <= last { (first, last) } else { (at_most(low), at_least(high)) }
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

    /// Price, quantity, and whether it is a market order with this protection price.
    type Orders = Vec<(i64, i64, bool)>;

    /// The same by looking at every tick.
    fn naive(buys: &Orders, sells: &Orders, terms: &UncrossTerms) -> Option<Uncrossing> {
        let limits = || buys.iter().chain(sells).map(|(price, ..)| *price);
        let sums = |price: i64| {
            let bought = buys.iter().filter(|(limit, ..)| *limit >= price);
            let sold = sells.iter().filter(|(limit, ..)| *limit <= price);
            let sum = |orders: i128, order: &(i64, i64, bool)| orders + i128::from(order.1);
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
        if let Some((low, high)) = considered(buys, sells, terms, volume) {
            let ticks: Vec<i64> = all.iter().map(|result| result.price.0).collect();
            let inside = |price: &i64| (low..=high).contains(price);
            let (mut from, mut to) = (low, high);
            if !ticks.iter().any(inside) {
                from = *ticks.iter().rfind(|tick| **tick <= low).unwrap();
                to = *ticks.iter().find(|tick| **tick >= high).unwrap();
            }
            all.retain(|result| (from..=to).contains(&result.price.0));
        }
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

    /// Between which prices it is looked for, where a protection price is an end.
    fn considered(
        buys: &Orders,
        sells: &Orders,
        terms: &UncrossTerms,
        volume: i128,
    ) -> Option<(i64, i64)> {
        let (high, high_is_protection, next_buy) = last(buys, terms.market_buys, volume, true)?;
        let (low, low_is_protection, next_sell) = last(sells, terms.market_sells, volume, false)?;
        if !(high_is_protection || low_is_protection) {
            return None;
        }
        let bounds = [
            Some(high).filter(|_| !high_is_protection),
            Some(low).filter(|_| !low_is_protection),
            next_buy,
            next_sell,
            Some(terms.reference.0),
        ];
        let among: Vec<i64> =
            bounds.into_iter().flatten().filter(|it| (low..=high).contains(it)).collect();
        Some((*among.iter().min()?, *among.iter().max()?))
    }

    /// The price of the last order of a side that trades, whether only market orders are at it, and the
    /// best price of another order that has something left.
    fn last(
        orders: &Orders,
        market: i128,
        volume: i128,
        falls: bool,
    ) -> Option<(i64, bool, Option<i64>)> {
        let mut by_price: Vec<_> = levels(orders).into_iter().collect();
        if falls {
            by_price.reverse();
        }
        let (mut traded, mut last, mut next) = (market, None, None);
        for (price, (quantity, is_protection)) in by_price {
            if traded < volume {
                last = Some((price, is_protection));
            }
            traded += i128::from(quantity);
            if traded > volume && !is_protection && next.is_none() {
                next = Some(price);
            }
        }
        last.map(|(price, is_protection)| (price, is_protection, next))
    }

    fn levels(orders: &Orders) -> BTreeMap<i64, (i64, bool)> {
        let mut levels = BTreeMap::new();
        for (price, quantity, is_protection) in orders {
            let level = levels.entry(*price).or_insert((0, true));
            *level = (level.0 + quantity, level.1 && *is_protection);
        }
        levels
    }

    fn of_levels(buys: &Orders, sells: &Orders, terms: &UncrossTerms) -> Option<Uncrossing> {
        let level = |(price, (quantity, is_protection))| CallLevel {
            price: Price(price),
            quantity: Quantity(quantity),
            is_protection,
        };
        let (buys, sells) = (levels(buys), levels(sells));
        uncross_call(buys.into_iter().rev().map(level), sells.into_iter().map(level), terms)
    }

    /// Prices on a tick, close enough to each other that few are better than the rest.
    fn orders(tick: i64) -> impl Strategy<Value = Orders> {
        let order = (1_i64..14, 1_i64..5, any::<bool>());
        let on_tick = move |orders: Orders| -> Orders {
            orders.into_iter().map(|(at, it, kind)| (at * tick, it, kind)).collect()
        };
        let all = proptest::collection::vec(order, 0..8).prop_map(on_tick);
        // As often only limit orders.
        (all, any::<bool>()).prop_map(|(orders, some)| {
            orders.into_iter().map(|(at, it, kind)| (at, it, kind && some)).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40_000))]

        #[test]
        fn it_is_the_best_of_all_ticks(
            (tick, buys, sells) in (1_i64..4).prop_flat_map(|tick| (Just(tick), orders(tick), orders(tick))),
            reference in 0_i64..45,
            market_buys in prop_oneof![Just(0_i128), 0_i128..8],
            market_sells in prop_oneof![Just(0_i128), 0_i128..8],
        ) {
            let (tick, reference) = (Price(tick), Price(reference));
            let terms = UncrossTerms { tick, reference, market_buys, market_sells };
            // Market orders have protection prices or have none.
            let (mut buys, mut sells) = (buys, sells);
            if market_buys + market_sells > 0 {
                buys.iter_mut().chain(&mut sells).for_each(|order| order.2 = false);
            }
            prop_assert_eq!(of_levels(&buys, &sells, &terms), naive(&buys, &sells, &terms));
        }
    }

    #[test]
    fn market_orders_alone_trade_at_the_reference_price() {
        let terms = UncrossTerms {
            tick: Price(1),
            reference: Price(1_000),
            market_buys: 0,
            market_sells: 0,
        };
        let (buys, sells) = (vec![(1_100, 3, true)], vec![(900, 2, true)]);
        let result = of_levels(&buys, &sells, &terms).unwrap();
        assert_eq!((result.price, result.volume, result.surplus), (Price(1_000), 2, 1));
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
