//! The extremes of a sequence of prices since points in it.

use rialto_model::{Price, Side};

/// A stretch of points with one extreme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The first of its points.
    pub(crate) first: u64,
    pub(crate) extreme: Price,
    /// How many follow the price from one of its points.
    pub(crate) followers: u64,
}

/// The highest or the lowest price since any of a number of points in a sequence of prices.
///
/// A price that is beyond an earlier one hides it from all points before, so that only a falling sequence of
/// highs (or a rising one of lows) is kept: at most one for each follower. A price costs constant time, spread
/// over the calls.
///
/// ```
/// use rialto_core::Extremes;
/// use rialto_model::{Price, Side};
///
/// let mut highs = Extremes::new(Side::Sell);
/// let first = highs.follow(Price(100));
/// highs.push(Price(103));
/// let second = highs.follow(Price(101));
/// assert_eq!((highs.since(first), highs.since(second)), (Price(103), Price(101)));
/// highs.push(Price(102));
/// assert_eq!((highs.since(first), highs.since(second)), (Price(103), Price(102)));
/// ```
#[derive(Clone, Debug)]
pub struct Extremes {
    /// A sell follows the highest price, a buy the lowest.
    side: Side,
    /// The oldest first. The extreme of each is beyond those behind it.
    stretches: Vec<Stretch>,
    /// The next point.
    next: u64,
}

impl Extremes {
    /// Keeps the highest prices for sells, the lowest for buys. No point is followed yet.
    #[must_use]
    pub fn new(side: Side) -> Extremes {
        Extremes { side, stretches: Vec::new(), next: 0 }
    }

    /// Makes room for extremes, so that none below that number allocates.
    pub(crate) fn reserve(&mut self, extremes: usize) {
        self.stretches.reserve(extremes);
    }

    /// Begins anew. Nobody follows the sequence.
    pub(crate) fn clear(&mut self) {
        self.stretches.clear();
        self.next = 0;
    }

    /// Takes the next price of the sequence.
    #[inline]
    pub fn push(&mut self, price: Price) {
        let Some(mut last) = self.stretches.last().copied() else { return };
        if !self.is_beyond(price, last.extreme) {
            return;
        }
        self.stretches.pop();
        while let Some(before) = self.stretches.last().copied()
            && !self.is_beyond(before.extreme, price)
        {
            self.stretches.pop();
            last.first = before.first;
            last.followers += before.followers;
        }
        last.extreme = price;
        self.stretches.push(last);
    }

    /// Begins to follow the sequence from its last price, `price`, on. Returns the point.
    pub fn follow(&mut self, price: Price) -> u64 {
        let point = self.next;
        self.next += 1;
        match self.stretches.last_mut() {
            Some(last) if last.extreme == price => last.followers += 1,
            _ => self.stretches.push(Stretch { first: point, extreme: price, followers: 1 }),
        }
        point
    }

    /// The extreme since a point that is followed.
    ///
    /// # Panics
    /// If nobody follows the sequence from there.
    #[must_use]
    #[inline]
    pub fn since(&self, point: u64) -> Price {
        self.stretches[self.stretch(point)].extreme
    }

    /// No longer follows the sequence from a point.
    ///
    /// # Panics
    /// If nobody follows the sequence from there.
    pub fn unfollow(&mut self, point: u64) {
        let at = self.stretch(point);
        self.stretches[at].followers -= 1;
        if self.stretches[at].followers == 0 {
            self.stretches.remove(at);
        }
    }

    /// The extreme since the oldest point.
    pub(crate) fn farthest(&self) -> Option<Price> {
        self.stretches.first().map(|first| first.extreme)
    }

    /// The extreme since the newest point.
    pub(crate) fn latest(&self) -> Option<Price> {
        self.stretches.last().map(|last| last.extreme)
    }

    pub(crate) fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    pub(crate) fn next_point(&self) -> u64 {
        self.next
    }

    /// Restores what was kept, without followers. None if it cannot have been kept.
    pub(crate) fn restore(side: Side, kept: &[(u64, Price)], next: u64) -> Option<Extremes> {
        let mut extremes = Extremes { side, stretches: Vec::new(), next };
        for &(first, extreme) in kept {
            let fits = extremes
                .stretches
                .last()
                .is_none_or(|last| last.first < first && extremes.is_beyond(last.extreme, extreme));
            if !fits || first >= next || extreme.0 <= 0 {
                return None;
            }
            extremes.stretches.push(Stretch { first, extreme, followers: 0 });
        }
        Some(extremes)
    }

    /// Restores that a point is followed. False if it cannot be.
    pub(crate) fn restore_follower(&mut self, point: u64) -> bool {
        let known = self.stretches.first().is_some_and(|first| first.first <= point);
        if known && point < self.next {
            let at = self.stretch(point);
            self.stretches[at].followers += 1;
        }
        known && point < self.next
    }

    #[inline]
    fn is_beyond(&self, price: Price, other: Price) -> bool {
        match self.side {
            Side::Sell => price > other,
            Side::Buy => price < other,
        }
    }

    #[inline]
    fn stretch(&self, point: u64) -> usize {
        self.stretches.partition_point(|stretch| stretch.first <= point) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_has_the_extreme_of_the_prices_behind_it() {
        let mut state = 7_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for side in [Side::Sell, Side::Buy] {
            let mut extremes = Extremes::new(side);
            let mut followed: Vec<(u64, Price)> = Vec::new();
            let mut price = Price(50);
            for _ in 0..20_000 {
                match random(4) {
                    0 => followed.push((extremes.follow(price), price)),
                    1 if !followed.is_empty() => {
                        let at = random(followed.len() as u64) as usize;
                        let (point, _) = followed.swap_remove(at);
                        extremes.unfollow(point);
                    }
                    _ => {
                        price = Price(1 + random(100) as i64);
                        extremes.push(price);
                        for (_, extreme) in &mut followed {
                            *extreme = match side {
                                Side::Sell => price.max(*extreme),
                                Side::Buy => price.min(*extreme),
                            };
                        }
                    }
                }
                for (point, extreme) in &followed {
                    assert_eq!(extremes.since(*point), *extreme);
                }
                if followed.len() > 40 {
                    followed.drain(..20).for_each(|(point, _)| extremes.unfollow(point));
                }
                assert!(extremes.stretches().len() <= followed.len().max(1));
            }
        }
    }
}
