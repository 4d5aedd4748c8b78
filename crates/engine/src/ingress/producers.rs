//! State that a producer shares with the engine's threads.

use super::entry::{Entry, OtherCommands, other_commands};
use super::{ATTRIBUTED_MAX, PRODUCERS_MAX, Producer, Replies, Reply, Submitter};
use crate::Level;
use crate::signal::Signal;
use crate::state::EngineState;
use rialto_model::Attribution;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A reply on its way to the producer. It is in the ring after the command was applied; the reading
/// half returns it when the mark of `gate` has passed the answer's sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingReply {
    pub(crate) reply: Reply,
    pub(crate) gate: Level,
}

/// The attribution of a submission, which is named by how many were before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttributedAt {
    pub(crate) submission: u64,
    pub(crate) attribution: Attribution,
}

/// The sequencer's end of a producer's attributions. An attribution is here before its submission is.
pub(crate) struct Attributions {
    ring: rtrb::Consumer<AttributedAt>,
    /// The number of submissions that were taken.
    taken: u64,
}

impl Attributions {
    /// The place of the next attributed one among the submissions that were not taken yet and are
    /// visible; beyond them if there is none.
    #[inline]
    pub(crate) fn next(&mut self) -> usize {
        let next = self.ring.peek().ok();
        next.map_or(usize::MAX, |next| (next.submission - self.taken) as usize)
    }

    /// Takes the attribution of that submission.
    pub(crate) fn take(&mut self) -> Option<Attribution> {
        self.ring.pop().ok().map(|next| next.attribution)
    }

    /// Counts submissions that were taken, with their attributions.
    pub(crate) fn count(&mut self, submissions: usize) {
        self.taken += submissions as u64;
    }
}

/// The sequencer's end of a producer.
pub(crate) struct ProducerRings {
    pub(crate) slot: usize,
    pub(crate) submissions: rtrb::Consumer<Entry>,
    pub(crate) others: OtherCommands,
    pub(crate) attributions: Attributions,
    pub(crate) answers: rtrb::Producer<PendingReply>,
    pub(crate) shared: Arc<ProducerShared>,
}

/// A counter that one side writes often and the other reads rarely.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct PaddedCounter(pub(crate) AtomicU64);

#[derive(Default)]
pub(crate) struct ProducerShared {
    /// Replies taken; the submitting half subtracts them to compute its room.
    pub(crate) taken: PaddedCounter,
    pub(crate) signal: Signal,
    has_waker: AtomicBool,
    waker: Mutex<Option<Arc<dyn Fn() + Send + Sync>>>,
    /// Submissions that were never sequenced, left when the sequencer ends.
    pub(crate) abandoned: Mutex<Option<rtrb::Consumer<Entry>>>,
}

impl ProducerShared {
    /// Wakes the reading half.
    pub(crate) fn wake(&self) {
        self.signal.notify();
        if self.has_waker.load(Ordering::Acquire) {
            let waker = self.waker.lock().ok().and_then(|waker| waker.clone());
            if let Some(waker) = waker {
                waker();
            }
        }
    }

    pub(crate) fn set_waker(&self, waker: Arc<dyn Fn() + Send + Sync>) {
        if let Ok(mut slot) = self.waker.lock() {
            *slot = Some(waker);
        }
        self.has_waker.store(true, Ordering::Release);
    }
}

impl ProducerRings {
    /// Whether the submitting half is gone, and everything submitted is taken and answered.
    pub(crate) fn is_over(&self) -> bool {
        // The order matters: submissions before the end are seen after the end is.
        self.submissions.is_abandoned()
            && self.submissions.is_empty()
            && (self.answers.is_abandoned()
                || self.answers.slots() == self.answers.buffer().capacity())
    }

    /// Leaves submissions that were never sequenced to the reading half, which answers them as
    /// unknown.
    pub(crate) fn abandon(self) {
        if let Ok(mut abandoned) = self.shared.abandoned.lock() {
            *abandoned = Some(self.submissions);
        }
        self.shared.wake();
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProducerSet([u64; PRODUCERS_MAX / 64]);

impl ProducerSet {
    #[inline]
    pub(crate) fn insert(&mut self, slot: usize) {
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        let words = self.0;
        words.into_iter().enumerate().flat_map(|(index, mut word)| {
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros() as usize;
                    word &= word - 1;
                    index * 64 + bit
                })
            })
        })
    }
}

/// All producers: active ones, and new ones for the sequencer.
pub(crate) struct ProducerTable {
    slots: Vec<Mutex<Option<Arc<ProducerShared>>>>,
    arrivals: Mutex<Arrivals>,
    has_arrivals: AtomicBool,
}

/// New producers for the sequencer.
#[derive(Default)]
struct Arrivals {
    producers: Vec<ProducerRings>,
    /// The sequencer has ended.
    is_over: bool,
}

impl ProducerTable {
    pub(crate) fn new() -> Self {
        Self {
            slots: (0..PRODUCERS_MAX).map(|_| Mutex::new(None)).collect(),
            arrivals: Mutex::new(Arrivals::default()),
            has_arrivals: AtomicBool::new(false),
        }
    }

    /// Opens a producer of this capacity. Without a free slot it refuses every command.
    pub(crate) fn open(&self, capacity: usize, state: &Arc<EngineState>) -> Producer {
        let shared = Arc::new(ProducerShared::default());
        let slot = self.slots.iter().position(|slot| {
            slot.lock().is_ok_and(|mut slot| {
                let free = slot.is_none();
                if free {
                    *slot = Some(Arc::clone(&shared));
                }
                free
            })
        });
        let (to_sequencer, submissions) = rtrb::RingBuffer::new(capacity);
        let (other_sender, others) = other_commands(capacity);
        let (answers, from_sequencer) = rtrb::RingBuffer::new(capacity);
        let (to_attribute, attributions) = rtrb::RingBuffer::new(ATTRIBUTED_MAX);
        if let (Some(slot), Ok(mut arrivals)) = (slot, self.arrivals.lock()) {
            let producer = ProducerRings {
                slot,
                submissions,
                others,
                attributions: Attributions { ring: attributions, taken: 0 },
                answers,
                shared: Arc::clone(&shared),
            };
            if arrivals.is_over {
                producer.abandon();
            } else {
                arrivals.producers.push(producer);
                self.has_arrivals.store(true, Ordering::Release);
            }
        }
        Producer::new(
            Submitter::new(
                slot.map(|_| to_sequencer),
                other_sender,
                to_attribute,
                capacity,
                Arc::clone(&shared),
                Arc::clone(state),
            ),
            Replies::new(from_sequencer, shared, Arc::clone(state)),
        )
    }

    /// Moves new producers to `producers`.
    pub(crate) fn take_arrivals(&self, producers: &mut Vec<ProducerRings>) -> bool {
        if !self.has_arrivals.load(Ordering::Acquire) {
            return false;
        }
        let Ok(mut arrivals) = self.arrivals.lock() else { return false };
        self.has_arrivals.store(false, Ordering::Release);
        producers.append(&mut arrivals.producers);
        true
    }

    /// The sequencer ends: new producers, now and later, are abandoned.
    pub(crate) fn abandon_arrivals(&self) {
        if let Ok(mut arrivals) = self.arrivals.lock() {
            arrivals.is_over = true;
            arrivals.producers.drain(..).for_each(ProducerRings::abandon);
        }
    }

    pub(crate) fn close(&self, slot: usize) {
        if let Ok(mut slot) = self.slots[slot].lock() {
            *slot = None;
        }
    }

    pub(crate) fn wake(&self, producers: &ProducerSet) {
        for slot in producers.iter() {
            self.wake_slot(slot);
        }
    }

    pub(crate) fn wake_all(&self) {
        (0..self.slots.len()).for_each(|slot| self.wake_slot(slot));
    }

    fn wake_slot(&self, slot: usize) {
        let shared = self.slots[slot].lock().ok().and_then(|slot| slot.clone());
        if let Some(shared) = shared {
            shared.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_producer_set_yields_what_was_inserted() {
        let mut set = ProducerSet::default();
        for slot in [0, 63, 64, 255] {
            set.insert(slot);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 255]);
        set.clear();
        assert_eq!(set.iter().next(), None);
    }
}
