//! Counters of the folding thread.

use rialto_model::{DoneReason, Event, EventKind, RejectReason};
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of folded commands and events since the start. Commands that were released before the
/// start do not count. A clone is of one moment only while the feed is locked.
#[derive(Clone, Debug, Default)]
pub struct FoldCounts {
    commands: Counter,
    events: Counters<{ places(EventKind::ALL.len()) }>,
    ended: Counters<{ places(DoneReason::ALL.len()) }>,
    rejects: Counters<{ places(RejectReason::ALL.len()) }>,
}

/// The length of a table indexed by the numbers of an enumeration, which begin with 0 or 1.
const fn places(values: usize) -> usize {
    values + 1
}

/// A counter to which one thread adds, so that a load and a store replace an atomic addition.
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

/// Counters indexed by the number of a value.
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

    /// Orders that ended with a reason. A filled order has none, unless it was sized in quote currency.
    pub fn ended(&self, reason: DoneReason) -> u64 {
        self.ended.of(reason.number()).get()
    }

    /// Commands rejected for a reason.
    pub fn rejects(&self, reason: RejectReason) -> u64 {
        self.rejects.of(reason.number()).get()
    }

    /// Adds other counts, while nothing else counts.
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
