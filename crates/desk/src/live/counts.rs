//! Counters of the folding thread.

use rialto_model::{DoneReason, Event, EventKind, RejectReason};
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of folded commands and events since the start. Commands that were released before the
/// start do not count.
#[derive(Clone, Debug, Default)]
pub struct FoldCounts {
    commands: Counter,
    events: Counters<{ places(EventKind::ALL.len()) }>,
    ended: Counters<{ places(DoneReason::ALL.len()) }>,
    rejects: Counters<{ places(RejectReason::ALL.len()) }>,
}

/// The places of a table by number, for `values` numbers from 0 or from 1.
const fn places(values: usize) -> usize {
    values + 1
}

/// Only one thread adds, so that a load and a store suffice instead of an atomic addition.
#[derive(Debug, Default)]
struct Counter(AtomicU64);

impl Counter {
    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn add(&self, count: u64) {
        self.0.store(self.get() + count, Ordering::Relaxed);
    }
}

impl Clone for Counter {
    fn clone(&self) -> Self {
        Counter(AtomicU64::new(self.get()))
    }
}

/// Counters by number.
#[derive(Clone, Debug)]
struct Counters<const N: usize>([Counter; N]);

impl<const N: usize> Default for Counters<N> {
    fn default() -> Self {
        Counters(std::array::from_fn(|_| Counter::default()))
    }
}

impl<const N: usize> Counters<N> {
    fn of(&self, number: u8) -> &Counter {
        &self.0[usize::from(number)]
    }

    fn add_all(&self, others: &Self) {
        for (own, other) in self.0.iter().zip(&others.0) {
            own.add(other.get());
        }
    }
}

impl FoldCounts {
    /// Commands.
    pub fn commands(&self) -> u64 {
        self.commands.get()
    }

    /// Events of a kind.
    pub fn events(&self, kind: EventKind) -> u64 {
        self.events.of(kind.number()).get()
    }

    /// Orders that ended for a reason, other than those that were filled.
    pub fn ended(&self, reason: DoneReason) -> u64 {
        self.ended.of(reason.number()).get()
    }

    /// Commands rejected for a reason.
    pub fn rejects(&self, reason: RejectReason) -> u64 {
        self.rejects.of(reason.number()).get()
    }

    /// Adds the counts of another feed, when neither is counting.
    pub(super) fn add_all(&self, others: &FoldCounts) {
        self.commands.add(others.commands());
        self.events.add_all(&others.events);
        self.ended.add_all(&others.ended);
        self.rejects.add_all(&others.rejects);
    }

    pub(super) fn count_command(&self) {
        self.commands.add(1);
    }

    pub(super) fn count(&self, event: &Event) {
        self.events.of(event.kind().number()).add(1);
        match event {
            Event::Rejected(it) => self.rejects.of(it.reason.number()).add(1),
            Event::Done(it) => self.ended.of(it.reason.number()).add(1),
            _ => {}
        }
    }
}
