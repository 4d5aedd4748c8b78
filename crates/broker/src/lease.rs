//! The encoding of leases for clients.

use rialto_queue::MessageId;
use rialto_queue::packed::PackedLeases;

/// Translates between lease numbers and the tokens that clients send back.
///
/// Lease numbers restart when a queue is opened, but clients keep running. A token therefore carries
/// an epoch, so that a lease of an earlier process does not match one of this process.
#[derive(Clone, Copy, Debug)]
pub struct LeaseTokens {
    epoch: u32,
}

/// A lease number that no message has.
const NO_LEASE: u64 = u64::MAX;

impl LeaseTokens {
    /// A random epoch.
    pub(crate) fn new() -> LeaseTokens {
        let mut epoch = [0; 4];
        getrandom::fill(&mut epoch)
            .expect("a system without random numbers cannot tell leases of two processes apart");
        LeaseTokens { epoch: u32::from_le_bytes(epoch) }
    }

    /// The epoch that packed leases carry.
    #[must_use]
    pub fn epoch(self) -> u32 {
        self.epoch
    }

    /// The numbers of packed leases. Leases of an earlier process get a number that no message has.
    #[must_use]
    pub fn numbers(self, packed: &PackedLeases) -> Vec<(MessageId, u64)> {
        let is_own = packed.epoch() == self.epoch;
        packed.iter().map(|(id, lease)| (id, if is_own { lease } else { NO_LEASE })).collect()
    }

    /// The token of a lease.
    #[must_use]
    pub fn token(self, lease: u64) -> String {
        format!("{:08x}.{lease}", self.epoch)
    }

    /// The number of a lease; `None` if the text is not a token. A token of an earlier process gets
    /// a number that no message has.
    #[must_use]
    pub fn number(self, token: &str) -> Option<u64> {
        let (epoch, lease) = token.split_once('.')?;
        let epoch = u32::from_str_radix(epoch, 16).ok()?;
        let lease = lease.parse().ok()?;
        Some(if epoch == self.epoch { lease } else { NO_LEASE })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_of_another_process_matches_no_message() {
        let (one, other) = (LeaseTokens { epoch: 1 }, LeaseTokens { epoch: 2 });
        assert_eq!(one.number(&one.token(7)), Some(7));
        assert_eq!(other.number(&one.token(7)), Some(NO_LEASE));
        for bad in ["", "7", "x.7", "1.", "1.-7", "1.99999999999999999999"] {
            assert_eq!(one.number(bad), None, "{bad:?}");
        }
    }
}
