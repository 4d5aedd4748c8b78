//! The rate at which bytes are stored, of each tenant and of all.
//!
//! A writer that is ahead of the rate waits. It never waits for the piece that it writes itself, so that a
//! low rate lets a large piece pass. The wait for one piece is bounded: a writer that would wait longer,
//! because many others wait before it, is refused.

use crate::DepotError;
use crate::pool::Pool;
use crate::tenant::Tenant;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The bytes that may be stored at once after a pause: those of this time.
const BURST: Duration = Duration::from_millis(250);
/// The interval at which a writer that waits looks whether the pool is closed or the tenant disabled.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The settings of rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateOptions {
    /// The most bytes a second of all tenants together; 0 is no limit.
    pub bytes_per_second: u64,
    /// The most bytes a second of one tenant; 0 is no limit.
    pub tenant_bytes_per_second: u64,
    /// The longest wait for one piece of a content; a writer that would wait longer is refused.
    pub wait_max: Duration,
}

impl Default for RateOptions {
    fn default() -> Self {
        Self { bytes_per_second: 0, tenant_bytes_per_second: 0, wait_max: Duration::from_secs(10) }
    }
}

/// When the bytes that were admitted so far are paid for.
#[derive(Debug, Default)]
pub(crate) struct Rate {
    paid_at: Mutex<Option<Instant>>,
}

/// How long this many bytes take at a rate.
fn time_of(bytes: u64, rate: u64) -> Duration {
    let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(rate.max(1));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

impl Rate {
    /// Admits bytes. Returns how long their writer waits; as an error, how long it would, if that is
    /// above `wait_max`. Nothing is admitted then.
    fn admit(
        &self,
        bytes: u64,
        rate: u64,
        wait_max: Duration,
        now: Instant,
    ) -> Result<Duration, Duration> {
        if rate == 0 {
            return Ok(Duration::ZERO);
        }
        let mut paid_at = self.paid_at.lock().unwrap_or_else(PoisonError::into_inner);
        let from = paid_at.map_or(now, |paid_at| paid_at.max(now));
        let wait = from.saturating_duration_since(now).saturating_sub(BURST);
        if wait > wait_max {
            return Err(wait);
        }
        *paid_at = Some(from + time_of(bytes, rate));
        Ok(wait)
    }

    /// Takes back what was admitted.
    fn take_back(&self, bytes: u64, rate: u64) {
        if rate > 0 {
            let mut paid_at = self.paid_at.lock().unwrap_or_else(PoisonError::into_inner);
            *paid_at = paid_at.and_then(|paid_at| paid_at.checked_sub(time_of(bytes, rate)));
        }
    }
}

impl Pool {
    /// Waits until a piece of this length may be stored.
    pub(crate) fn keep_rate(&self, tenant: &Tenant, bytes: u64) -> Result<(), DepotError> {
        let RateOptions { bytes_per_second, tenant_bytes_per_second, wait_max } =
            self.options.rates;
        if bytes_per_second == 0 && tenant_bytes_per_second == 0 {
            return Ok(());
        }
        let began = self.options.clock.monotonic();
        let own = tenant.rate.admit(bytes, tenant_bytes_per_second, wait_max, began);
        let own = own.map_err(|wait| DepotError::RateReached {
            tenant: Some(tenant.name.clone()),
            bytes_per_second: tenant_bytes_per_second,
            wait,
        })?;
        let all = self.rate.admit(bytes, bytes_per_second, wait_max, began);
        let all = all.map_err(|wait| {
            tenant.rate.take_back(bytes, tenant_bytes_per_second);
            DepotError::RateReached { tenant: None, bytes_per_second, wait }
        })?;
        let wait = own.max(all);
        loop {
            let waited = self.options.clock.monotonic().saturating_duration_since(began);
            let left = wait.saturating_sub(waited);
            if left.is_zero() {
                return Ok(());
            }
            thread::sleep(left.min(LOOK_EVERY));
            self.check_open()?;
            tenant.check("accepts no files", false)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn bytes_are_admitted_at_the_rate() {
        let (rate, began) = (Rate::default(), Instant::now());
        let admit = |bytes, at| rate.admit(bytes, 1_000, 10 * SECOND, began + at);
        // The first piece does not wait for itself, whatever its length.
        assert_eq!(admit(4_000, Duration::ZERO), Ok(Duration::ZERO));
        assert_eq!(admit(1_000, Duration::ZERO), Ok(4 * SECOND - BURST));
        assert_eq!(admit(1_000, SECOND), Ok(4 * SECOND - BURST));
        // A pause does not save up more than a burst.
        assert_eq!(admit(500, 100 * SECOND), Ok(Duration::ZERO));
        assert_eq!(admit(500, 100 * SECOND), Ok(SECOND / 2 - BURST));
    }

    #[test]
    fn a_writer_that_would_wait_too_long_is_refused_and_takes_nothing() {
        let (rate, now) = (Rate::default(), Instant::now());
        let admit = |bytes| rate.admit(bytes, 1_000, 3 * SECOND, now);
        assert_eq!(admit(3_250), Ok(Duration::ZERO));
        assert_eq!(admit(1_000), Ok(3 * SECOND));
        for _ in 0..3 {
            assert_eq!(admit(1_000), Err(4 * SECOND));
        }
        rate.take_back(1_000, 1_000);
        assert_eq!(admit(1), Ok(3 * SECOND));
    }

    #[test]
    fn no_rate_is_no_limit() {
        let (rate, now) = (Rate::default(), Instant::now());
        for _ in 0..3 {
            assert_eq!(rate.admit(u64::MAX, 0, SECOND, now), Ok(Duration::ZERO));
        }
    }
}
