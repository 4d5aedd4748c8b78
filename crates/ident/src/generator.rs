//! Makes ids.

use crate::clock::BlockingTimer;
use crate::error::IdError;
use crate::id::Id;
use crate::layout::{Layout, Part};
use crate::local::LocalGenerator;
use crate::policy::Policy;
use crate::sequence::Sequence;
use crate::worker::Worker;
use std::iter::FusedIterator;
use std::ops::Range;

/// The configuration of a generator, besides its clock.
#[derive(Debug)]
pub struct Config {
    /// The layout of its ids.
    pub layout: Layout,
    /// The worker.
    pub worker: Worker,
    /// The datacenter; 0 if the layout has none.
    pub datacenter: u64,
    /// What to do when the clock does not allow the next id.
    pub policy: Policy,
    /// An id that every id of the generator is to be greater than, such as the last one of the
    /// process before.
    pub after: Option<Id>,
}

impl Config {
    /// A generator of this layout and worker, in datacenter 0, with the default [`Policy`].
    #[must_use]
    pub fn new(layout: Layout, worker: Worker) -> Config {
        Config { layout, worker, datacenter: 0, policy: Policy::default(), after: None }
    }
}

/// Makes ids, without a lock and without allocating. Share it between threads by reference or in
/// an `Arc`.
///
/// The ids of one generator are distinct, and an id that is asked for after another was returned is
/// greater, whatever the clock does. Those of two generators are distinct if they differ in worker
/// or datacenter.
#[derive(Debug)]
pub struct Generator<C> {
    sequence: Sequence,
    form: Form,
    clock: C,
    layout: Layout,
    worker: Worker,
}

impl<C: BlockingTimer> Generator<C> {
    /// A generator. If its worker id is leased, its ids begin after the ids of the previous
    /// holder, as far as the lease knows them.
    ///
    /// # Errors
    /// Worker or datacenter do not fit into the layout.
    pub fn new(config: Config, clock: C) -> Result<Generator<C>, IdError> {
        let Config { layout, worker, datacenter, policy, after } = config;
        let form = Form {
            place: layout.place(datacenter, worker.id())?,
            time_shift: layout.time_shift(),
            sequence_bits: layout.sequence_bits(),
        };
        // The next millisecond, because the id before may be one of a greater worker.
        let after_ms = after.map_or(0, |id| layout.parts(id).unix_ms.saturating_add(1));
        let from_ms = after_ms.max(worker.first_ms()).saturating_sub(layout.epoch().unix_ms());
        let from = from_ms.min(layout.max(Part::Time)) << layout.sequence_bits();
        let sequence = Sequence::new(&layout, policy, from);
        Ok(Generator { sequence, form, clock, layout, worker })
    }

    /// The layout of its ids.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The worker.
    #[must_use]
    pub fn worker(&self) -> &Worker {
        &self.worker
    }

    /// The next id.
    ///
    /// # Errors
    /// The clock does not allow it, and the [`Policy`] allows neither to wait nor to borrow for so
    /// long; or the clock is outside the years of the layout. A later call may succeed.
    #[inline]
    pub fn next(&self) -> Result<Id, IdError> {
        self.sequence.take(&self.clock).map(|ticket| self.form.id(ticket))
    }

    /// Reserves ids that follow each other, at the price of one. If the millisecond has fewer left,
    /// they extend into later ones, and the policy decides about the last of them.
    ///
    /// # Errors
    /// As [`Generator::next`]. There are all of them or none.
    pub fn reserve(&self, count: u32) -> Result<Reserved, IdError> {
        let first = match count {
            0 => 0,
            _ => self.sequence.take_many(count, &self.clock)?,
        };
        Ok(Reserved { tickets: first..first + u64::from(count), form: self.form })
    }

    /// Takes ids in blocks of `block` (at least one) for one thread, which is faster if many
    /// threads make ids, with less order between them: see [`LocalGenerator`].
    #[must_use]
    pub fn local(&self, block: u32) -> LocalGenerator<'_, C> {
        LocalGenerator::new(self, block)
    }

    pub(crate) fn clock(&self) -> &C {
        &self.clock
    }

    /// An empty reservation.
    pub(crate) fn none(&self) -> Reserved {
        Reserved { tickets: 0..0, form: self.form }
    }

    /// The time of an id of this generator, in milliseconds since 1970.
    pub(crate) fn unix_ms(&self, id: Id) -> u64 {
        self.layout.parts(id).unix_ms
    }
}

/// Records the last id in the lease, so that its next holder continues after it.
impl<C> Drop for Generator<C> {
    fn drop(&mut self) {
        self.worker.used_until(self.layout.epoch().unix_ms() + self.sequence.next_unit());
    }
}

/// Converts a ticket to an id: the time is shifted up to make room for datacenter and worker.
#[derive(Clone, Copy, Debug)]
struct Form {
    place: u64,
    time_shift: u32,
    sequence_bits: u32,
}

impl Form {
    #[inline]
    fn id(self, ticket: u64) -> Id {
        let sequence = ticket & ((1 << self.sequence_bits) - 1);
        Id::of_parts(((ticket >> self.sequence_bits) << self.time_shift) | self.place | sequence)
    }
}

/// Ids that were reserved, in ascending order. Ids that are not taken are never used.
#[derive(Clone, Debug)]
pub struct Reserved {
    tickets: Range<u64>,
    form: Form,
}

impl Reserved {
    pub(crate) fn greatest(&self) -> Option<Id> {
        self.tickets.clone().next_back().map(|ticket| self.form.id(ticket))
    }
}

impl Iterator for Reserved {
    type Item = Id;

    #[inline]
    fn next(&mut self) -> Option<Id> {
        self.tickets.next().map(|ticket| self.form.id(ticket))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.tickets.size_hint()
    }
}

impl ExactSizeIterator for Reserved {
    fn len(&self) -> usize {
        // A reservation counts in 32 bits.
        (self.tickets.end - self.tickets.start) as usize
    }
}

impl FusedIterator for Reserved {}
