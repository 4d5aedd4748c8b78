//! Retries of failed requests.

use super::randomness::{Randomness, SplitMix};
use super::time::Timer;
use crate::{Behaviour, Context, Handler, Request, Result};
use std::time::Duration;

/// The number of attempts, and the pauses between them.
#[derive(Clone, Copy, Debug)]
pub struct RetryPlan {
    /// The most attempts, including the first.
    pub tries_max: u32,
    /// The longest pause after the first try. It doubles with every try.
    pub pause_first: Duration,
    /// No pause is longer.
    pub pause_max: Duration,
}

impl Default for RetryPlan {
    /// Three tries, with pauses of up to 50 ms and 100 ms.
    fn default() -> RetryPlan {
        RetryPlan {
            tries_max: 3,
            pause_first: Duration::from_millis(50),
            pause_max: Duration::from_secs(2),
        }
    }
}

impl RetryPlan {
    /// The pause after this many tries: between half of what it has doubled to and all of it, so
    /// that callers that failed together do not retry together.
    #[must_use]
    pub fn pause(&self, tries: u32, random: u64) -> Duration {
        let doubled = 1u32.checked_shl(tries.saturating_sub(1)).unwrap_or(u32::MAX);
        let whole = self.pause_first.saturating_mul(doubled).min(self.pause_max);
        let half_ns = u64::try_from(whole.as_nanos() / 2).unwrap_or(u64::MAX);
        whole - Duration::from_nanos(((u128::from(random) * u128::from(half_ns)) >> 64) as u64)
    }
}

/// Tries a request again, after a pause, if it fails with an error that is marked as
/// [retryable](crate::Error::is_retryable).
///
/// It gives the last error when it has tried often enough, or when the pause would last beyond the
/// deadline. Do not use it for requests that must not take effect twice, such as orders, without an
/// idempotency key.
#[derive(Clone, Copy, Debug)]
pub struct Retry<T, G = SplitMix> {
    plan: RetryPlan,
    timer: T,
    randomness: G,
}

impl<T: Timer> Retry<T> {
    /// Retries by this plan and waits on this clock.
    #[must_use]
    pub fn new(plan: RetryPlan, timer: T) -> Retry<T> {
        Retry { plan, timer, randomness: SplitMix::from_entropy() }
    }
}

impl<T: Timer, G: Randomness> Retry<T, G> {
    /// Retries by this plan, waits on this clock and draws the pauses from this source.
    #[must_use]
    pub fn with_randomness(plan: RetryPlan, timer: T, randomness: G) -> Retry<T, G> {
        Retry { plan, timer, randomness }
    }
}

impl<R: Request + Clone, T: Timer, G: Randomness> Behaviour<R> for Retry<T, G> {
    async fn call<N: Handler<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> Result<R::Response> {
        for tries in 1..self.plan.tries_max {
            let error = match next.handle(request.clone(), cx).await {
                Err(error) if error.is_retryable() => error,
                answer => return answer,
            };
            let pause = self.plan.pause(tries, self.randomness.next());
            let Some(until) = self.timer.monotonic().checked_add(pause) else { return Err(error) };
            if cx.deadline.is_some_and(|deadline| until >= deadline) {
                return Err(error);
            }
            cx.note("tries_again_after", &error);
            self.timer.sleep_until(until).await;
        }
        next.handle(request, cx).await
    }
}
