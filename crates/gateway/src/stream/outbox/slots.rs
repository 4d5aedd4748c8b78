//! The book of one subscriber: what waits to be sent of it, merged when it waits for long.

use axum::extract::ws::Utf8Bytes;
use rialto_feed::{BookDelta, DeltaMerger};
use rialto_model::Seq;
use std::sync::Arc;

/// Deltas kept while a book is read for a subscriber; when more come meanwhile, it is read anew.
const WHILE_READING_MAX: usize = 1_024;

/// What waits to be sent of a book.
pub(super) struct BookSlot {
    waits: Waits,
    /// Where the book is that the subscriber will hold when all that was taken out has been sent.
    known: Seq,
    levels_max: usize,
}

enum Waits {
    /// Nothing.
    Nothing,
    /// The whole book, to be read when its turn comes; until then no delta is of use.
    Whole,
    /// The whole book is being read; these came meanwhile.
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

/// What was taken out of a slot.
pub(super) enum Taken {
    Nothing,
    Whole,
    Text(Utf8Bytes),
    Delta(BookDelta),
}

impl BookSlot {
    /// A slot whose subscriber needs the whole book first.
    pub(super) fn new(levels_max: usize) -> BookSlot {
        BookSlot { waits: Waits::Whole, known: Seq::ZERO, levels_max }
    }

    /// Adds a delta; whether something waits now where nothing did.
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

    /// Takes out what waits. After [`Taken::Whole`] the book must be read and
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

    /// The whole book was read and is as of `seq`; whether something waits behind it.
    pub(super) fn was_read(&mut self, seq: Seq) -> bool {
        self.known = seq;
        let Waits::Reading(meanwhile) = &mut self.waits else { return false };
        let meanwhile = std::mem::take(meanwhile);
        self.waits = Waits::Nothing;
        meanwhile.into_iter().fold(false, |waits, shared| self.add_shared(shared) | waits)
    }
}
