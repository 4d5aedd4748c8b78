//! The chained hash of the event log.
//!
//! Sequences are divided into spans of [`CHAIN_SPAN`]: 1 to 4,096, 4,097 to 8,192 and so on. The
//! value of a span is the BLAKE3 hash of the previous value followed by the framed bytes of the
//! span's records; the first span follows 32 zeros. It depends only on the events, not on their
//! groups, so that one value verifies everything before it.

use super::block::{frame_bytes, frame_len};
use rialto_model::Seq;

/// The number of sequences of a span.
pub(crate) const CHAIN_SPAN: u64 = 4_096;

pub(crate) type ChainValue = [u8; 32];

/// The chain up to a sequence.
#[derive(Clone)]
pub(crate) struct Chain {
    /// The value of the last complete span.
    value: ChainValue,
    /// The hash of the open span.
    open: blake3::Hasher,
    next: Seq,
}

impl Chain {
    /// The chain before the first event.
    pub(crate) fn start() -> Self {
        Self::resume(Seq::ZERO, [0; 32])
    }

    /// The chain after `seq`, the last of a span, with that span's value.
    pub(crate) fn resume(seq: Seq, value: ChainValue) -> Self {
        debug_assert!(seq.0.is_multiple_of(CHAIN_SPAN), "a chain resumes behind a whole span");
        let mut open = blake3::Hasher::new();
        open.update(&value);
        Self { value, open, next: seq.next() }
    }

    /// The sequence before the span of the sequence after `seq`.
    pub(crate) fn span_start(seq: Seq) -> Seq {
        Seq(seq.0 - seq.0 % CHAIN_SPAN)
    }

    /// The value of the last complete span.
    pub(crate) fn value(&self) -> ChainValue {
        self.value
    }

    /// A hash of everything up to here, the open span included: equal digests mean equal events.
    pub(crate) fn digest(&self) -> ChainValue {
        *self.open.finalize().as_bytes()
    }

    /// The next sequence.
    pub(crate) fn next(&self) -> Seq {
        self.next
    }

    /// Adds the framed records of the next sequences.
    pub(crate) fn extend(&mut self, records: u64, mut framed: &[u8]) {
        let mut left = records;
        while left > 0 {
            let to_span_end = CHAIN_SPAN - (self.next.0 - 1) % CHAIN_SPAN;
            let count = left.min(to_span_end);
            // Frames are parsed only if a span ends among them.
            let bytes = if count == left { framed.len() } else { frames_len(framed, count) };
            let (now, later) = framed.split_at(bytes);
            self.open.update(now);
            self.next = Seq(self.next.0 + count);
            if count == to_span_end {
                self.value = *self.open.finalize().as_bytes();
                self.open.reset();
                self.open.update(&self.value);
            }
            framed = later;
            left -= count;
        }
    }
}

/// The length of the first `count` frames.
fn frames_len(framed: &[u8], count: u64) -> usize {
    let mut end = 0;
    for _ in 0..count {
        end += framed.get(end..).and_then(frame_len).map_or(0, frame_bytes);
    }
    end.min(framed.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(seqs: std::ops::Range<u64>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for seq in seqs {
            let len = (seq % 13) as usize;
            bytes.extend_from_slice(&(len as u32).to_le_bytes());
            bytes.extend(std::iter::repeat_n(seq as u8, frame_bytes(len) - 4));
        }
        bytes
    }

    #[test]
    fn grouping_does_not_matter() {
        let end = 3 * CHAIN_SPAN + 100;
        let mut whole = Chain::start();
        whole.extend(end - 1, &framed(1..end));
        let mut parts = Chain::start();
        let mut at = 1;
        for size in [1, 4_000, 95, 1, 1, 5_000, 2_000].into_iter().cycle() {
            let next = (at + size).min(end);
            parts.extend(next - at, &framed(at..next));
            at = next;
            if at == end {
                break;
            }
        }
        assert_eq!(whole.value(), parts.value());
        assert_eq!(whole.next(), parts.next());
    }

    #[test]
    fn a_chain_resumes_at_the_start_of_its_span() {
        let mut whole = Chain::start();
        whole.extend(CHAIN_SPAN + 50, &framed(1..CHAIN_SPAN + 51));
        let at_span = Chain::span_start(Seq(CHAIN_SPAN + 50));
        let mut resumed = Chain::resume(at_span, whole.value());
        resumed.extend(50, &framed(CHAIN_SPAN + 1..CHAIN_SPAN + 51));
        for chain in [&mut whole, &mut resumed] {
            chain.extend(CHAIN_SPAN, &framed(CHAIN_SPAN + 51..2 * CHAIN_SPAN + 51));
        }
        assert_eq!(whole.value(), resumed.value());
    }

    #[test]
    fn every_event_counts() {
        let mut chain = Chain::start();
        chain.extend(CHAIN_SPAN, &framed(1..CHAIN_SPAN + 1));
        let mut changed = framed(1..CHAIN_SPAN + 1);
        *changed.last_mut().unwrap() ^= 1;
        let mut other = Chain::start();
        other.extend(CHAIN_SPAN, &changed);
        assert_ne!(chain.value(), other.value());
    }
}
