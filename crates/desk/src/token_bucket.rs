//! A token bucket in one atomic number.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const SECOND_NS: u64 = 1_000_000_000;

/// A rate of tokens.
#[derive(Clone, Copy, Debug)]
pub struct TokenRate {
    interval_ns: u64,
    burst_ns: u64,
}

impl TokenRate {
    /// `per_second` on average, `burst` at once after a pause; each at least one.
    #[must_use]
    pub fn new(per_second: u32, burst: u32) -> TokenRate {
        // Concurrent threads may pass times out of order: a burst of zero length would refuse the
        // one with the earlier time.
        let interval_ns = (SECOND_NS / u64::from(per_second.max(1))).max(1);
        TokenRate { interval_ns, burst_ns: interval_ns * u64::from(burst.max(1)) }
    }

    /// At most this many in this time on average, with a burst of as many.
    #[must_use]
    pub fn over(time: Duration, many: u64) -> TokenRate {
        let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let interval_ns = (time_ns / many.max(1)).max(1);
        TokenRate { interval_ns, burst_ns: interval_ns.saturating_mul(many) }
    }
}

/// A token bucket, initially full. It stores the time at which it is full again, so that it needs
/// no refill. Clones share one allowance.
#[derive(Clone, Debug, Default)]
pub struct TokenBucket {
    full_at_ns: Arc<AtomicU64>,
}

impl TokenBucket {
    /// Takes a token, if there is one. `now` is the time since a fixed moment.
    #[must_use]
    pub fn take(&self, rate: TokenRate, now: Duration) -> bool {
        self.take_many(rate, 1, now).is_some()
    }

    /// Takes this many tokens, if all are available; returns the number of tokens left.
    #[must_use]
    pub fn take_many(&self, rate: TokenRate, tokens: u64, now: Duration) -> Option<u64> {
        let now_ns = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        let next = |full_at: u64| {
            full_at.max(now_ns).saturating_add(rate.interval_ns.saturating_mul(tokens))
        };
        let taken = self.full_at_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |full_at| {
            Some(next(full_at)).filter(|next| *next <= now_ns.saturating_add(rate.burst_ns))
        });
        let used_ns = next(taken.ok()?).saturating_sub(now_ns);
        Some(rate.burst_ns.saturating_sub(used_ns) / rate.interval_ns)
    }

    /// Returns tokens that were taken for what did not happen.
    pub fn give_back(&self, rate: TokenRate, tokens: u64) {
        let given_ns = rate.interval_ns.saturating_mul(tokens);
        // `take_many` counts from `now` at the earliest, so the bucket never holds more than its burst.
        let earlier = |full_at: u64| Some(full_at.saturating_sub(given_ns));
        let _ = self.full_at_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, earlier);
    }

    /// Whether the bucket is full, so that it can be forgotten.
    #[must_use]
    pub fn is_full(&self, now: Duration) -> bool {
        u128::from(self.full_at_ns.load(Ordering::Relaxed)) <= now.as_nanos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_time_has_the_burst_too() {
        let (bucket, rate) = (TokenBucket::default(), TokenRate::new(u32::MAX, u32::MAX));
        let taken = [2, 1].map(|us| bucket.take(rate, Duration::from_micros(us)));
        assert_eq!(taken, [true, true]);
    }

    #[test]
    fn a_burst_and_then_the_rate() {
        let (bucket, rate) = (TokenBucket::default(), TokenRate::new(10, 3));
        let at = |ms| Duration::from_millis(ms);
        let taken = |ms| bucket.take_many(rate, 1, at(ms));
        assert_eq!([taken(0), taken(0), taken(0), taken(0)], [Some(2), Some(1), Some(0), None]);
        assert_eq!([taken(99), taken(100), taken(100)], [None, Some(0), None]);
        assert!(!bucket.is_full(at(399)));
        assert!(bucket.is_full(at(400)));
        assert_eq!([taken(900), taken(900), taken(950)], [Some(2), Some(1), Some(0)]);
        assert_eq!([taken(999), taken(1_000), taken(2_000)], [None, Some(0), Some(2)]);
    }
    #[test]
    fn tokens_that_are_given_back_are_taken_again_and_never_more() {
        let (bucket, rate, now) = (TokenBucket::default(), TokenRate::new(10, 3), Duration::ZERO);
        let take = |tokens| bucket.take_many(rate, tokens, now);
        assert_eq!([take(2), take(2)], [Some(1), None]);
        bucket.give_back(rate, 1);
        assert_eq!([take(2), take(1)], [Some(0), None]);
        bucket.give_back(rate, 100);
        assert_eq!([take(3), take(1)], [Some(0), None]);
    }
}
