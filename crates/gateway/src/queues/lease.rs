//! What a client is told of a lease.

use crate::auth::random;
use rialto_queue::MessageId;
use rialto_queue::packed::PackedLeases;

/// Turns the numbers of leases into texts and back. The numbers begin anew when a queue is opened,
/// and clients live on: what an earlier process delivered must not pass for what this one has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeaseTexts {
    epoch: u32,
}

/// The number of a lease that no message has.
const NONE: u64 = u64::MAX;

impl LeaseTexts {
    pub(super) fn new() -> LeaseTexts {
        LeaseTexts { epoch: u32::from_le_bytes(random()) }
    }

    /// What a client is told with packed leases.
    pub(crate) fn epoch(self) -> u32 {
        self.epoch
    }

    /// What packed leases are here: their own numbers or, if an earlier process handed them out,
    /// numbers that no message has.
    pub(crate) fn numbers(self, packed: &PackedLeases) -> Vec<(MessageId, u64)> {
        let is_own = packed.epoch() == self.epoch;
        packed.iter().map(|(id, lease)| (id, if is_own { lease } else { NONE })).collect()
    }

    /// What a client is told.
    pub(crate) fn text(self, lease: u64) -> String {
        format!("{:08x}.{lease}", self.epoch)
    }

    /// The number of a lease; one that no message has if an earlier process told it, and nothing if
    /// nobody did.
    pub(crate) fn number(self, text: &str) -> Option<u64> {
        let (epoch, lease) = text.split_once('.')?;
        let epoch = u32::from_str_radix(epoch, 16).ok()?;
        let lease = lease.parse().ok()?;
        Some(if epoch == self.epoch { lease } else { NONE })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_of_another_process_is_nobody_s() {
        let (one, other) = (LeaseTexts { epoch: 1 }, LeaseTexts { epoch: 2 });
        assert_eq!(one.number(&one.text(7)), Some(7));
        assert_eq!(other.number(&one.text(7)), Some(NONE));
        for bad in ["", "7", "x.7", "1.", "1.-7", "1.99999999999999999999"] {
            assert_eq!(one.number(bad), None, "{bad:?}");
        }
    }
}
