//! Counts of requests by type and outcome.

use super::interceptor::{Interceptor, Outcome, both_ways, outcome_of, outcome_of_abandoned};
use crate::{Context, ErrorKind, Request, Result};
use std::any::TypeId;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The kinds of failure, in the order of [`index_of`].
const KINDS: [ErrorKind; 11] = [
    ErrorKind::Invalid,
    ErrorKind::Unauthenticated,
    ErrorKind::Forbidden,
    ErrorKind::NotFound,
    ErrorKind::Conflict,
    ErrorKind::Busy,
    ErrorKind::Timeout,
    ErrorKind::Unavailable,
    ErrorKind::Cancelled,
    ErrorKind::Panicked,
    ErrorKind::Internal,
];

/// A count for each kind, and one for success.
const OUTCOMES: usize = KINDS.len() + 1;

#[inline]
fn index_of(outcome: Outcome) -> usize {
    match outcome {
        Ok(()) => 0,
        Err(ErrorKind::Invalid) => 1,
        Err(ErrorKind::Unauthenticated) => 2,
        Err(ErrorKind::Forbidden) => 3,
        Err(ErrorKind::NotFound) => 4,
        Err(ErrorKind::Conflict) => 5,
        Err(ErrorKind::Busy) => 6,
        Err(ErrorKind::Timeout) => 7,
        Err(ErrorKind::Unavailable) => 8,
        Err(ErrorKind::Cancelled) => 9,
        Err(ErrorKind::Panicked) => 10,
        Err(ErrorKind::Internal) => 11,
    }
}

/// Counts requests by type and outcome. It allocates only when it is created.
///
/// A request whose future is dropped before its answer counts as
/// [`Cancelled`](ErrorKind::Cancelled).
#[derive(Debug)]
pub struct Counters {
    /// A table with open addressing; a slot once taken is never freed.
    slots: Box<[Slot]>,
    others: Slot,
}

/// Each slot has cache lines of its own, so that counting one type does not slow another down.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Slot {
    owner: OnceLock<(TypeId, &'static str)>,
    counts: [AtomicU64; OUTCOMES],
}

/// Where the search for the slot of a request begins: known when the program is compiled.
struct Start<R>(std::marker::PhantomData<R>);

impl<R: Request> Start<R> {
    const AT: usize = {
        // FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/
        let name = R::NAME.as_bytes();
        let mut hash: u32 = 0x811c_9dc5;
        let mut at = 0;
        while at < name.len() {
            hash = (hash ^ name[at] as u32).wrapping_mul(0x0100_0193);
            at += 1;
        }
        hash as usize
    };
}

impl Counters {
    /// Counters for up to this many types of requests, rounded up to a power of two. Further types
    /// are counted together, under the name `others`.
    #[must_use]
    pub fn new(types_max: usize) -> Counters {
        let slots = (0..types_max.next_power_of_two()).map(|_| Slot::default()).collect();
        Counters { slots, others: Slot::default() }
    }

    #[inline]
    fn slot<R: Request>(&self) -> &Slot {
        let id = TypeId::of::<R>();
        let mask = self.slots.len() - 1;
        for step in 0..self.slots.len() {
            let slot = &self.slots[Start::<R>::AT.wrapping_add(step) & mask];
            // Two types that reach for one free slot at once: one gets it, the other continues.
            if slot.owner.get_or_init(|| (id, R::NAME)).0 == id {
                return slot;
            }
        }
        &self.others
    }

    /// The counts of requests of this type.
    #[must_use]
    pub fn of<R: Request>(&self) -> Counts {
        self.slot::<R>().read()
    }

    /// The counts of requests of each type, by the name of the request.
    pub fn each(&self) -> impl Iterator<Item = (&'static str, Counts)> {
        let named = self.slots.iter().filter_map(|slot| Some((slot.owner.get()?.1, slot.read())));
        let others = Some(("others", self.others.read())).filter(|(_, counts)| counts.total() > 0);
        named.chain(others)
    }
}

impl Default for Counters {
    /// Counters for 64 types of requests.
    fn default() -> Counters {
        Counters::new(64)
    }
}

impl Slot {
    #[inline]
    fn count(&self, outcome: Outcome) {
        self.counts[index_of(outcome)].fetch_add(1, Ordering::Relaxed);
    }

    fn read(&self) -> Counts {
        Counts(std::array::from_fn(|at| self.counts[at].load(Ordering::Relaxed)))
    }
}

/// The counts of a type of request by outcome. They are read one after the other, so that a sum may
/// be off by concurrent requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; OUTCOMES]);

impl Counts {
    /// The number with this outcome.
    #[must_use]
    pub fn of(&self, outcome: Outcome) -> u64 {
        self.0[index_of(outcome)]
    }

    /// The number of answers.
    #[must_use]
    pub fn succeeded(&self) -> u64 {
        self.of(Ok(()))
    }

    /// The number of failures.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.total() - self.succeeded()
    }

    /// The number of requests.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The number of failures of each kind that occurred.
    pub fn failures(&self) -> impl Iterator<Item = (ErrorKind, u64)> {
        KINDS.into_iter().map(|kind| (kind, self.of(Err(kind)))).filter(|(_, count)| *count > 0)
    }
}

/// Counts a request as abandoned unless its answer comes.
pub(crate) struct Counting<'a>(&'a Slot);

impl Drop for Counting<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.count(outcome_of_abandoned());
    }
}

impl<R: Request> Interceptor<R> for Counters {
    type Guard<'a> = Counting<'a>;

    #[inline]
    fn enter(&self, _: &R, _: &Context<'_>) -> Result<Counting<'_>> {
        Ok(Counting(self.slot::<R>()))
    }

    #[inline]
    fn leave(held: Counting<'_>, answer: &Result<R::Response>) {
        held.0.count(outcome_of(answer));
        std::mem::forget(held);
    }
}

both_ways!([] Counters where R: Request);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_count_of_its_own() {
        for (at, kind) in KINDS.into_iter().enumerate() {
            assert_eq!(index_of(Err(kind)), at + 1, "{kind:?}");
        }
    }
}
