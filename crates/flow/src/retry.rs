//! Retry policies.

use std::time::Duration;

/// How often, and after which pauses, a retryable failure is retried.
///
/// Attempts are counted in memory: after a restart the count begins again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    attempts_max: u32,
    first: Duration,
    longest: Duration,
}

impl RetryPolicy {
    /// The first error is final.
    #[must_use]
    pub const fn never() -> Self {
        Self { attempts_max: 1, first: Duration::ZERO, longest: Duration::ZERO }
    }

    /// At most this many attempts, the first included; pauses begin at 100 ms, double each time and
    /// stay below a minute.
    #[must_use]
    pub const fn exponential(attempts_max: u32) -> Self {
        Self { attempts_max, first: Duration::from_millis(100), longest: Duration::from_secs(60) }
    }

    /// As [`RetryPolicy::exponential`], but without an end.
    #[must_use]
    pub const fn forever() -> Self {
        Self::exponential(u32::MAX)
    }

    /// Sets the first pause.
    #[must_use]
    pub const fn first(self, first: Duration) -> Self {
        Self { first, ..self }
    }

    /// Sets the longest pause.
    #[must_use]
    pub const fn longest(self, longest: Duration) -> Self {
        Self { longest, ..self }
    }

    /// The pause after this many failed attempts; `None` if there is no other attempt. A random
    /// number shortens it by up to a half, so that callers that failed together do not retry
    /// together.
    #[must_use]
    pub fn pause(self, failed: u32, random: u64) -> Option<Duration> {
        if failed >= self.attempts_max {
            return None;
        }
        let doubled = 1_u32.checked_shl(failed.saturating_sub(1)).unwrap_or(u32::MAX);
        let whole = self.first.saturating_mul(doubled).min(self.longest.max(self.first));
        let half = u64::try_from(whole.as_nanos() / 2).unwrap_or(u64::MAX / 2);
        Some(whole - Duration::from_nanos(random % (half + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_end_with_the_attempts() {
        let retry = RetryPolicy::exponential(4)
            .first(Duration::from_secs(1))
            .longest(Duration::from_secs(3));
        let pauses: Vec<_> = (1..=4).map(|failed| retry.pause(failed, 0)).collect();
        let seconds = |s| Some(Duration::from_secs(s));
        assert_eq!(pauses, [seconds(1), seconds(2), seconds(3), None]);
        assert_eq!(RetryPolicy::never().pause(1, 0), None);
        assert!(RetryPolicy::forever().pause(1_000_000, 0).is_some());
    }

    #[test]
    fn chance_takes_at_most_half_of_a_pause() {
        let retry = RetryPolicy::exponential(2);
        for random in [0, 1, 49_999_999, 50_000_000, 50_000_001, u64::MAX] {
            let pause = retry.pause(1, random).unwrap();
            assert!((50..=100).contains(&pause.as_millis()), "{pause:?} for {random}");
        }
    }
}
