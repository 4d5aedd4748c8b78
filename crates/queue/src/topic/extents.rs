//! How many messages and bytes lie where, in steps coarse enough to be cheap.

use rialto_clock::Timestamp;
use std::collections::VecDeque;

/// An extent is closed when it has this many bytes, or this many messages.
const EXTENT_BYTES: u64 = 256 << 10;
const EXTENT_MESSAGES: u64 = 4096;

/// A stretch of a lane.
#[derive(Clone, Copy, Debug)]
struct Extent {
    first_seq: u64,
    last_seq: u64,
    bytes: u64,
    last_time: Timestamp,
}

/// The stretches of a lane, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Extents {
    list: VecDeque<Extent>,
    bytes: u64,
}

impl Extents {
    /// Notes messages that were there before, in the order of their numbers.
    pub(crate) fn add_past(
        &mut self,
        first_seq: u64,
        last_seq: u64,
        bytes: u64,
        last_time: Timestamp,
    ) {
        if last_seq >= first_seq {
            self.list.push_back(Extent { first_seq, last_seq, bytes, last_time });
            self.bytes += bytes;
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, seq: u64, bytes: u64, time: Timestamp) {
        self.bytes += bytes;
        if let Some(last) = self.list.back_mut()
            && last.bytes < EXTENT_BYTES
            && last.last_seq - last.first_seq < EXTENT_MESSAGES
        {
            last.last_seq = seq;
            last.bytes += bytes;
            last.last_time = time;
            return;
        }
        self.list.push_back(Extent { first_seq: seq, last_seq: seq, bytes, last_time: time });
    }

    /// The bytes of everything that is noted.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Forgets what lies wholly below `first_seq`.
    pub(crate) fn forget_below(&mut self, first_seq: u64) {
        while let Some(oldest) = self.list.front()
            && oldest.last_seq < first_seq
        {
            self.bytes -= oldest.bytes;
            self.list.pop_front();
        }
    }

    /// The first message that may stay if the bytes are to come down to `bytes_max`. At least that
    /// many stay: the stretch in which the bound falls is kept whole.
    pub(crate) fn first_within(&self, bytes_max: u64) -> Option<u64> {
        let mut bytes = self.bytes;
        let mut first = None;
        for extent in &self.list {
            if bytes <= bytes_max || bytes - extent.bytes < bytes_max {
                break;
            }
            bytes -= extent.bytes;
            first = Some(extent.last_seq + 1);
        }
        first
    }

    /// The first message of the first stretch that ends after `time`, or what comes behind all.
    pub(crate) fn first_after(&self, time: Timestamp) -> Option<u64> {
        let kept = self.list.iter().find(|extent| extent.last_time > time);
        kept.map(|extent| extent.first_seq)
            .or_else(|| self.list.back().map(|extent| extent.last_seq + 1))
    }

    /// When the youngest message of the oldest stretch was published.
    pub(crate) fn oldest_time(&self) -> Option<Timestamp> {
        self.list.front().map(|extent| extent.last_time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extents(messages: u64, bytes: u64) -> Extents {
        let mut extents = Extents::default();
        for seq in 1..=messages {
            extents.add(seq, bytes, Timestamp(seq));
        }
        extents
    }

    #[test]
    fn what_is_dropped_leaves_at_least_the_bound() {
        let mut extents = extents(100_000, 100);
        let first = extents.first_within(1_000_000).unwrap();
        extents.forget_below(first);
        assert!((1_000_000..1_000_000 + 2 * EXTENT_BYTES).contains(&extents.bytes()));
        assert_eq!(extents.bytes(), (100_001 - first) * 100);
    }

    #[test]
    fn nothing_is_dropped_within_the_bound() {
        assert_eq!(extents(10, 100).first_within(1_000), None);
    }

    #[test]
    fn age_takes_whole_stretches() {
        let extents = extents(10_000, 100);
        let first = extents.first_after(Timestamp(5_000)).unwrap();
        assert!(first <= 5_001 && first > 5_001 - EXTENT_MESSAGES, "{first}");
        assert_eq!(extents.first_after(Timestamp(10_000)), Some(10_001));
    }
}
