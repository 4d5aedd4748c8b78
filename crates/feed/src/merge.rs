//! Merges book deltas, for conflation.

use crate::{BookDelta, PriceLevel};
use rialto_model::{InstrumentId, Price, Seq, Side, Timestamp};
use std::collections::BTreeMap;

/// Merges consecutive deltas of one instrument into one with the same effect.
///
/// Its number of levels is bounded. Beyond it, the merged changes are dropped, and the reader
/// should get the whole book.
#[derive(Clone, Debug)]
pub struct DeltaMerger {
    levels_max: usize,
    bids: BTreeMap<Price, PriceLevel>,
    asks: BTreeMap<Price, PriceLevel>,
    span: Option<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    instrument: InstrumentId,
    first_seq: Seq,
    last_seq: Seq,
    prev_seq: Seq,
    time: Timestamp,
}

/// The error of merging a delta. Earlier merged changes are dropped; send the whole book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// Too many levels changed.
    #[error("more than {levels_max} levels changed")]
    Full {
        /// The limit.
        levels_max: usize,
    },
    /// The delta does not follow the one before it.
    #[error("a delta after sequence {prev_seq} does not follow one that ends at {last_seq}")]
    Gap {
        /// The last sequence of the last merged delta.
        last_seq: Seq,
        /// The `prev_seq` of the delta.
        prev_seq: Seq,
    },
}

impl DeltaMerger {
    /// A merger that holds at most `levels_max` changed levels.
    #[must_use]
    pub fn new(levels_max: usize) -> DeltaMerger {
        DeltaMerger { levels_max, bids: BTreeMap::new(), asks: BTreeMap::new(), span: None }
    }

    /// Whether there are no merged changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.span.is_none()
    }

    /// Adds the next delta. After an error the merger is empty and may be used again.
    pub fn add(&mut self, delta: &BookDelta) -> Result<(), MergeError> {
        if let Some(span) = self.span
            && (span.last_seq != delta.prev_seq || span.instrument != delta.instrument)
        {
            self.clear();
            return Err(MergeError::Gap { last_seq: span.last_seq, prev_seq: delta.prev_seq });
        }
        for (side, levels) in [(Side::Buy, &mut self.bids), (Side::Sell, &mut self.asks)] {
            levels.extend(delta.side(side).iter().map(|level| (level.price, *level)));
        }
        if self.bids.len() + self.asks.len() > self.levels_max {
            self.clear();
            return Err(MergeError::Full { levels_max: self.levels_max });
        }
        let first = self.span.map(|span| (span.first_seq, span.prev_seq));
        let (first_seq, prev_seq) = first.unwrap_or((delta.first_seq, delta.prev_seq));
        self.span = Some(Span {
            instrument: delta.instrument,
            first_seq,
            last_seq: delta.last_seq,
            prev_seq,
            time: delta.time,
        });
        Ok(())
    }

    /// Takes the merged delta, if any.
    pub fn take(&mut self) -> Option<BookDelta> {
        let span = self.span.take()?;
        let delta = BookDelta {
            instrument: span.instrument,
            first_seq: span.first_seq,
            last_seq: span.last_seq,
            prev_seq: span.prev_seq,
            time: span.time,
            bids: self.bids.values().rev().copied().collect(),
            asks: self.asks.values().copied().collect(),
        };
        self.clear();
        Some(delta)
    }

    fn clear(&mut self) {
        self.bids.clear();
        self.asks.clear();
        self.span = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_model::Quantity;

    fn level(price: i64, quantity: i64) -> PriceLevel {
        PriceLevel {
            price: Price(price),
            quantity: Quantity(quantity),
            orders: u32::from(quantity > 0),
        }
    }

    fn delta(prev: u64, seq: u64, bids: &[PriceLevel], asks: &[PriceLevel]) -> BookDelta {
        BookDelta {
            instrument: InstrumentId(1),
            first_seq: Seq(seq),
            last_seq: Seq(seq),
            prev_seq: Seq(prev),
            time: Timestamp(seq),
            bids: bids.to_vec(),
            asks: asks.to_vec(),
        }
    }

    #[test]
    fn the_last_state_of_each_level_is_what_counts() {
        let mut merger = DeltaMerger::new(10);
        assert_eq!(merger.take(), None);
        merger.add(&delta(3, 5, &[level(10, 7), level(9, 1)], &[])).unwrap();
        merger.add(&delta(5, 9, &[level(10, 0)], &[level(12, 4)])).unwrap();
        let merged = merger.take().unwrap();
        assert_eq!((merged.prev_seq, merged.first_seq, merged.last_seq), (Seq(3), Seq(5), Seq(9)));
        assert_eq!(merged.time, Timestamp(9));
        assert_eq!(merged.bids, [level(10, 0), level(9, 1)]);
        assert_eq!(merged.asks, [level(12, 4)]);
        assert!(merger.is_empty());
    }

    #[test]
    fn a_gap_is_refused() {
        let mut merger = DeltaMerger::new(10);
        merger.add(&delta(3, 5, &[level(10, 7)], &[])).unwrap();
        let error = merger.add(&delta(6, 9, &[level(10, 0)], &[]));
        assert_eq!(error, Err(MergeError::Gap { last_seq: Seq(5), prev_seq: Seq(6) }));
        assert!(merger.is_empty());
    }

    #[test]
    fn more_levels_than_allowed_are_refused() {
        let mut merger = DeltaMerger::new(2);
        merger.add(&delta(0, 1, &[level(10, 7), level(9, 7)], &[])).unwrap();
        let error = merger.add(&delta(1, 2, &[], &[level(11, 1)]));
        assert_eq!(error, Err(MergeError::Full { levels_max: 2 }));
        assert!(merger.is_empty());
    }
}
