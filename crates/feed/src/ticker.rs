//! The last 24 hours of trading, by minutes, which bounds the memory.

use rialto_model::{Amount, Price, Timestamp};
use std::collections::VecDeque;

const MINUTE: u64 = 60 * Timestamp::SECOND;
/// Minutes in the window, the current one included.
const MINUTES: u64 = 24 * 60;

pub(crate) fn minute_of(time: Timestamp) -> u64 {
    time.0 / MINUTE
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    minute: u64,
    open: Price,
    high: Price,
    low: Price,
    base: Amount,
    quote: Amount,
    trades: u64,
}

/// Trades of the last 24 hours: at most 1,440 minutes of about 112 bytes each.
#[derive(Debug, Default)]
pub(crate) struct Window {
    buckets: VecDeque<Bucket>,
    pub(crate) high: Option<Price>,
    pub(crate) low: Option<Price>,
    pub(crate) base: Amount,
    pub(crate) quote: Amount,
    pub(crate) trades: u64,
}

impl Window {
    /// The first price in the window.
    pub(crate) fn open(&self) -> Option<Price> {
        self.buckets.front().map(|bucket| bucket.open)
    }

    /// Adds a trade at or after the time of the last one.
    pub(crate) fn add(&mut self, time: Timestamp, price: Price, base: Amount, quote: Amount) {
        let minute = minute_of(time);
        let bucket = match self.buckets.back_mut() {
            Some(bucket) if bucket.minute >= minute => bucket,
            _ => {
                let nothing = Amount::ZERO;
                self.buckets.push_back(Bucket {
                    minute,
                    open: price,
                    high: price,
                    low: price,
                    base: nothing,
                    quote: nothing,
                    trades: 0,
                });
                let last = self.buckets.len() - 1;
                &mut self.buckets[last]
            }
        };
        bucket.high = bucket.high.max(price);
        bucket.low = bucket.low.min(price);
        bucket.base.0 = bucket.base.0.saturating_add(base.0);
        bucket.quote.0 = bucket.quote.0.saturating_add(quote.0);
        bucket.trades += 1;
        self.high = Some(self.high.map_or(price, |high| high.max(price)));
        self.low = Some(self.low.map_or(price, |low| low.min(price)));
        self.base.0 = self.base.0.saturating_add(base.0);
        self.quote.0 = self.quote.0.saturating_add(quote.0);
        self.trades += 1;
    }

    /// Drops the minutes that are too old at `time`; whether there were any.
    pub(crate) fn slide(&mut self, time: Timestamp) -> bool {
        let oldest = (minute_of(time) + 1).saturating_sub(MINUTES);
        let before = self.buckets.len();
        while self.buckets.front().is_some_and(|bucket| bucket.minute < oldest) {
            self.buckets.pop_front();
        }
        if self.buckets.len() == before {
            return false;
        }
        // Once a minute at most, so adding up again is cheap and cannot drift.
        self.high = self.buckets.iter().map(|bucket| bucket.high).max();
        self.low = self.buckets.iter().map(|bucket| bucket.low).min();
        let sum = |part: fn(&Bucket) -> i128| {
            Amount(
                self.buckets.iter().fold(0, |sum: i128, bucket| sum.saturating_add(part(bucket))),
            )
        };
        (self.base, self.quote) = (sum(|bucket| bucket.base.0), sum(|bucket| bucket.quote.0));
        self.trades = self.buckets.iter().map(|bucket| bucket.trades).sum();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: u64) -> Timestamp {
        Timestamp(minute * MINUTE + 59)
    }

    fn add(window: &mut Window, minute: u64, price: i64) {
        window.add(at(minute), Price(price), Amount(10), Amount(i128::from(price) * 10));
    }

    #[test]
    fn trades_add_up() {
        let mut window = Window::default();
        add(&mut window, 5, 100);
        add(&mut window, 5, 130);
        add(&mut window, 9, 90);
        assert_eq!(window.open(), Some(Price(100)));
        assert_eq!((window.high, window.low), (Some(Price(130)), Some(Price(90))));
        assert_eq!((window.base, window.quote), (Amount(30), Amount(3_200)));
        assert_eq!(window.trades, 3);
    }

    #[test]
    fn a_minute_leaves_when_1440_later_ones_have_begun() {
        let mut window = Window::default();
        add(&mut window, 5, 130);
        add(&mut window, 7, 90);
        assert!(!window.slide(at(5 + 1_439)));
        assert!(window.slide(at(5 + 1_440)));
        assert_eq!(window.open(), Some(Price(90)));
        assert_eq!((window.high, window.trades), (Some(Price(90)), 1));
        assert!(window.slide(at(1_000_000)));
        assert_eq!((window.open(), window.low, window.trades), (None, None, 0));
        assert_eq!((window.base, window.quote), (Amount(0), Amount(0)));
    }

    #[test]
    fn the_history_is_bounded() {
        let mut window = Window::default();
        for minute in 0..5_000 {
            add(&mut window, minute, 100);
            window.slide(at(minute));
        }
        assert_eq!(window.buckets.len(), 1_440);
        assert_eq!(window.trades, 1_440);
    }
}
