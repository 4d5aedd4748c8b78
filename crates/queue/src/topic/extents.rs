//! Extents: the messages and bytes of a lane in coarse steps.

use rialto_clock::Timestamp;
use std::collections::VecDeque;

/// An extent is closed when it has this many bytes, or this many messages.
const EXTENT_BYTES: u64 = 256 << 10;
const EXTENT_MESSAGES: u64 = 4096;

/// An extent of a lane.
#[derive(Clone, Copy, Debug)]
struct Extent {
    first_seq: u64,
    last_seq: u64,
    bytes: u64,
    last_time: Timestamp,
}

/// The extents of a lane, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Extents {
    list: VecDeque<Extent>,
    bytes: u64,
}

impl Extents {
    /// Adds messages found on disk, in the order of their numbers. If they exceed an extent, they
    /// count as equally long.
    pub(crate) fn add_past(
        &mut self,
        first_seq: u64,
        last_seq: u64,
        bytes: u64,
        last_time: Timestamp,
    ) {
        if last_seq < first_seq {
            return;
        }
        let messages = last_seq - first_seq + 1;
        let extents = bytes.div_ceil(EXTENT_BYTES).clamp(1, messages);
        // The bytes below the `nth` of them.
        let below =
            |all: u64, nth: u64| (u128::from(all) * u128::from(nth) / u128::from(extents)) as u64;
        for nth in 0..extents {
            self.list.push_back(Extent {
                first_seq: first_seq + below(messages, nth),
                last_seq: first_seq + below(messages, nth + 1) - 1,
                bytes: below(bytes, nth + 1) - below(bytes, nth),
                last_time,
            });
        }
        self.bytes += bytes;
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

    /// The bytes of all extents.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes from `first_seq` on, which is in the oldest extent. The messages of that extent
    /// count as equally long.
    pub(crate) fn bytes_from(&self, first_seq: u64) -> u64 {
        let gone = self.list.front().map_or(0, |oldest| {
            let messages = u128::from(oldest.last_seq - oldest.first_seq + 1);
            let passed = u128::from(first_seq.saturating_sub(oldest.first_seq)).min(messages);
            (u128::from(oldest.bytes) * passed / messages) as u64
        });
        self.bytes - gone
    }

    pub(crate) fn forget_below(&mut self, first_seq: u64) {
        while let Some(oldest) = self.list.front()
            && oldest.last_seq < first_seq
        {
            self.bytes -= oldest.bytes;
            self.list.pop_front();
        }
    }

    /// The first message that stays when the bytes are reduced to `bytes_max`. The extent at the
    /// bound is kept whole.
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

    /// The first message of the first extent that ends after `time`, or the number after the last.
    pub(crate) fn first_after(&self, time: Timestamp) -> Option<u64> {
        let kept = self.list.iter().find(|extent| extent.last_time > time);
        kept.map(|extent| extent.first_seq)
            .or_else(|| self.list.back().map(|extent| extent.last_seq + 1))
    }

    /// The time of the newest message of the oldest extent.
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
    fn dropping_leaves_at_least_the_bound() {
        let mut extents = extents(100_000, 100);
        let first = extents.first_within(1_000_000).unwrap();
        extents.forget_below(first);
        assert!((1_000_000..1_000_000 + 2 * EXTENT_BYTES).contains(&extents.bytes()));
        assert_eq!(extents.bytes(), (100_001 - first) * 100);
    }

    #[test]
    fn messages_from_before_the_opening_are_counted_in_extents_too() {
        let mut extents = Extents::default();
        extents.add_past(1, 10_000, 64 << 20, Timestamp(1));
        extents.add_past(10_001, 10_003, 100, Timestamp(2));
        assert_eq!(extents.bytes(), (64 << 20) + 100);
        extents.forget_below(5_001);
        let half = 32 << 20;
        assert!(extents.bytes().abs_diff(half) <= EXTENT_BYTES + 100, "{}", extents.bytes());
        extents.forget_below(10_000);
        assert!(extents.bytes() <= EXTENT_BYTES + 100, "{}", extents.bytes());
        extents.forget_below(10_004);
        assert_eq!(extents.bytes(), 0);
        // A file of few long messages has no extents without one.
        extents.add_past(10_004, 10_005, 2 << 20, Timestamp(3));
        assert_eq!(extents.list.len(), 2);
    }

    #[test]
    fn the_oldest_extent_counts_in_proportion() {
        let extents = extents(10, 100);
        assert_eq!([1, 2, 10, 11].map(|first| extents.bytes_from(first)), [1_000, 900, 100, 0]);
        assert_eq!(Extents::default().bytes_from(7), 0);
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
