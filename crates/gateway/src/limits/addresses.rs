//! Allowances of addresses for requests without a valid signature.

use super::source_of;
use rialto_desk::{TokenBucket, TokenRate};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// One allowance for each address, up to a number of addresses; all further ones share one.
pub(crate) struct Addresses {
    rate: TokenRate,
    max: usize,
    buckets: Mutex<HashMap<IpAddr, TokenBucket>>,
    shared: TokenBucket,
}

impl Addresses {
    pub(crate) fn new(rate: TokenRate, max: usize) -> Addresses {
        Addresses { rate, max, buckets: Mutex::default(), shared: TokenBucket::default() }
    }

    /// Takes one request from the address's allowance, if there is any left.
    pub(crate) fn take(&self, address: IpAddr, now: Duration) -> bool {
        let address = source_of(address);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= self.max && !buckets.contains_key(&address) {
            buckets.retain(|_, bucket| !bucket.is_full(now));
            if buckets.len() >= self.max {
                return self.shared.take(self.rate, now);
            }
        }
        buckets.entry(address).or_default().take(self.rate, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_allowances_of_their_own_and_those_beyond_the_bound_share_one() {
        let addresses = Addresses::new(TokenRate::new(1, 1), 2);
        let take = |last, seconds| {
            addresses.take(IpAddr::from([127, 0, 0, last]), Duration::from_secs(seconds))
        };
        assert_eq!([take(1, 0), take(2, 0), take(1, 0)], [true, true, false]);
        assert_eq!([take(3, 0), take(4, 0)], [true, false]);
        assert_eq!([take(3, 9), take(4, 9), take(3, 9)], [true, true, false]);
    }
}
