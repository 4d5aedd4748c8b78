//! The waiting changes of one subscriber's book, merged.

use axum::extract::ws::Utf8Bytes;
use rialto_feed::{BookDelta, DeltaMerger};
use rialto_model::Seq;
use std::sync::Arc;

/// The most deltas to keep while a snapshot is read; beyond it, it is read again.
const WHILE_READING_MAX: usize = 1_024;

/// The waiting changes of a book.
pub(super) struct BookSlot {
    waits: Waits,
    /// The subscriber's sequence of the book, after all taken messages.
    known: Seq,
    levels_max: usize,
}

enum Waits {
    /// Nothing.
    Nothing,
    /// A snapshot, to be read when it is sent; deltas before it are not needed.
    Whole,
    /// A snapshot that is being read, with the deltas since.
    Reading(Vec<Shared>),
    /// One delta, encoded for all subscribers.
    One(Shared),
    /// Several, merged.
    Merged(DeltaMerger),
}

#[derive(Clone)]
struct Shared {
    delta: Arc<BookDelta>,
    text: Utf8Bytes,
}

/// The content taken from a slot.
pub(super) enum Taken {
    Nothing,
    Whole,
    Text(Utf8Bytes),
    Delta(BookDelta),
}

impl BookSlot {
    /// A slot whose subscriber needs a snapshot first.
    pub(super) fn new(levels_max: usize) -> BookSlot {
        BookSlot { waits: Waits::Whole, known: Seq::ZERO, levels_max }
    }

    /// Adds a delta; returns whether the slot was empty.
    pub(super) fn add(&mut self, delta: &Arc<BookDelta>, text: &Utf8Bytes) -> bool {
        let shared = Shared { delta: Arc::clone(delta), text: text.clone() };
        self.add_shared(shared)
    }

    fn add_shared(&mut self, shared: Shared) -> bool {
        if shared.delta.last_seq <= self.known {
            return false;
        }
        let (waits, begins) = match std::mem::replace(&mut self.waits, Waits::Whole) {
            Waits::Nothing => (Waits::One(shared), true),
            Waits::Whole => (Waits::Whole, false),
            Waits::Reading(meanwhile) if meanwhile.len() >= WHILE_READING_MAX => {
                (Waits::Whole, true)
            }
            Waits::Reading(mut meanwhile) => {
                meanwhile.push(shared);
                (Waits::Reading(meanwhile), false)
            }
            Waits::One(first) => {
                let mut merger = DeltaMerger::new(self.levels_max);
                let merged = merger.add(&first.delta).and_then(|()| merger.add(&shared.delta));
                (merged.map_or(Waits::Whole, |()| Waits::Merged(merger)), false)
            }
            Waits::Merged(mut merger) => {
                let merged = merger.add(&shared.delta);
                (merged.map_or(Waits::Whole, |()| Waits::Merged(merger)), false)
            }
        };
        self.waits = waits;
        begins
    }

    /// Takes the waiting content. After [`Taken::Whole`] the book must be read and
    /// [`BookSlot::was_read`] called.
    pub(super) fn take(&mut self) -> Taken {
        match std::mem::replace(&mut self.waits, Waits::Nothing) {
            Waits::Nothing => Taken::Nothing,
            Waits::Whole => {
                self.waits = Waits::Reading(Vec::new());
                Taken::Whole
            }
            Waits::Reading(meanwhile) => {
                self.waits = Waits::Reading(meanwhile);
                Taken::Nothing
            }
            Waits::One(shared) => {
                self.known = shared.delta.last_seq;
                Taken::Text(shared.text)
            }
            Waits::Merged(mut merger) => match merger.take() {
                Some(delta) => {
                    self.known = delta.last_seq;
                    Taken::Delta(delta)
                }
                None => Taken::Nothing,
            },
        }
    }

    /// The snapshot was read as of `seq`; returns whether a delta waits after it.
    pub(super) fn was_read(&mut self, seq: Seq) -> bool {
        self.known = seq;
        let Waits::Reading(meanwhile) = &mut self.waits else { return false };
        let meanwhile = std::mem::take(meanwhile);
        self.waits = Waits::Nothing;
        meanwhile.into_iter().fold(false, |waits, shared| self.add_shared(shared) | waits)
    }
}
