//! All records of one recorder.

use crate::bounds::RecorderBounds;
use crate::clock::TickClock;
use crate::live::{Live, Outcome};
use crate::record::{Record, RecordId, Subject};
use crate::recording::{RecorderRef, Recording};
use crate::sampling::{Sampler, Sampling};
use crate::tree::Tree;
use rialto_bus::behaviour::SplitMix;
use rialto_clock::{Clock, Timestamp};
use rialto_spinlock::{Guard, SpinLock};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Records flows and requests, within bounds. See the [module](self).
#[derive(Debug)]
pub struct Recorder<C = TickClock> {
    bounds: RecorderBounds,
    clock: C,
    sampler: Sampler,
    /// Every record has a lock of its own, for which only its recording and its readers contend.
    slots: Box<[SpinLock<Live>]>,
    /// Slot `n` belongs to shard `n % shards.len()`.
    shards: Box<[Mutex<Shard>]>,
    begun: AtomicU64,
    /// The number of the last record before the first of this recorder.
    before: u64,
    counts: Counts,
}

/// The free slots of a shard. Each shard has a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard {
    free: Vec<u32>,
    /// The one that finished longest ago first.
    finished: VecDeque<u32>,
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct Counts {
    left_out: AtomicU64,
    refused: AtomicU64,
    evicted: AtomicU64,
    untaken: AtomicU64,
    forgotten: AtomicU64,
    steps_lost: AtomicU64,
    variables_lost: AtomicU64,
    variables_cut: AtomicU64,
}

/// Counts since the recorder was created. They are read one after the other and may be off by
/// concurrent records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecorderStatistics {
    /// Records that were begun.
    pub begun: u64,
    /// Records that the sampling left out.
    pub left_out: u64,
    /// Records that were refused, because all records were unfinished.
    pub refused: u64,
    /// Finished records that were replaced.
    pub evicted: u64,
    /// Replaced records that were not [taken](Recorder::take_finished) before.
    pub untaken: u64,
    /// Records that were forgotten because they succeeded, where only failures are kept.
    pub forgotten: u64,
    /// Steps that did not fit into records that have ended.
    pub steps_lost: u64,
    /// Variables that did not fit into records that have ended.
    pub variables_lost: u64,
    /// Texts that were cut in records that have ended.
    pub variables_cut: u64,
}

impl<C: Clock> Recorder<C> {
    /// A recorder that samples randomly.
    #[must_use]
    pub fn new(bounds: RecorderBounds, sampling: Sampling, clock: C) -> Recorder<C> {
        Recorder::with_chance(bounds, sampling, clock, SplitMix::from_entropy())
    }

    /// A recorder that samples by these random numbers, so that it is repeatable.
    #[must_use]
    pub fn with_chance(
        bounds: RecorderBounds,
        sampling: Sampling,
        clock: C,
        chance: SplitMix,
    ) -> Recorder<C> {
        let records_max = bounds.records_max.max(1);
        let shards = bounds.shards_used();
        let shard = |number| {
            let mut free: Vec<u32> = (number..records_max).step_by(shards as usize).collect();
            // Taken from the end.
            free.reverse();
            Mutex::new(Shard { finished: VecDeque::with_capacity(free.len()), free })
        };
        Recorder {
            bounds,
            clock,
            sampler: Sampler::new(sampling, chance),
            slots: (0..records_max).map(|_| SpinLock::new(Live::empty())).collect(),
            shards: (0..shards).map(shard).collect(),
            begun: AtomicU64::new(0),
            before: 0,
            counts: Counts::default(),
        }
    }

    /// The same recorder, whose records are numbered from behind `last` on, as if there had been
    /// others before.
    #[must_use]
    pub fn numbered_after(mut self, last: RecordId) -> Recorder<C> {
        self.before = last.0;
        *self.begun.get_mut() = last.0;
        self
    }

    /// Begins a record of this name, if the sampling chooses it and there is room.
    #[inline]
    pub fn begin(&self, name: &'static str, subject: Subject) -> Recording<'_, C> {
        let (id, slot) = self.take(name, subject);
        Recording::new(RecorderRef::Borrowed(self), id, slot)
    }

    /// The same, for a recording that outlives the borrow.
    pub fn begin_shared(
        self: &Arc<Self>,
        name: &'static str,
        subject: Subject,
    ) -> Recording<'static, C> {
        let (id, slot) = self.take(name, subject);
        Recording::new(RecorderRef::Shared(Arc::clone(self)), id, slot)
    }

    /// A recording that records nothing, whatever the sampling, nor its children.
    #[must_use]
    pub fn leave_out(self: &Arc<Self>) -> Recording<'static, C> {
        Recording::new(RecorderRef::Shared(Arc::clone(self)), RecordId::LEFT_OUT, 0)
    }

    #[inline]
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    #[inline]
    pub(super) fn slot(&self, slot: u32) -> Guard<'_, Live> {
        // A field that panics while it is written leaves a record that is short of it, and sound.
        self.slots[slot as usize].lock()
    }

    #[inline]
    fn shard(&self, number: u64) -> MutexGuard<'_, Shard> {
        // There is a power of two of them.
        let at = number as usize & (self.shards.len() - 1);
        self.shards[at].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, name: &'static str, subject: Subject) -> (RecordId, u32) {
        let mut read = None;
        let mut now = || *read.get_or_insert_with(|| self.clock.now());
        let is_chosen = match subject.parent {
            RecordId::NONE => self.sampler.chooses(&mut now),
            RecordId::LEFT_OUT => false,
            _ => true,
        };
        if !is_chosen {
            self.counts.left_out.fetch_add(1, Ordering::Relaxed);
            return (RecordId::LEFT_OUT, 0);
        }
        let now = now();
        let number = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        let Some(slot) = self.room(number) else {
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
            return (RecordId::LEFT_OUT, 0);
        };
        let id = RecordId(number);
        if self.slot(slot).begin(id, name, subject, now, &self.bounds) {
            self.counts.untaken.fetch_add(1, Ordering::Relaxed);
        }
        (id, slot)
    }

    /// A slot for the record of this number. Records take the shards in turn, so that all are used
    /// alike and the oldest of a shard is about the oldest of all.
    #[inline]
    fn room(&self, number: u64) -> Option<u32> {
        for skipped in 0..self.shards.len() as u64 {
            let mut shard = self.shard(number.wrapping_add(skipped));
            if let Some(slot) = shard.free.pop() {
                return Some(slot);
            }
            if let Some(slot) = shard.finished.pop_front() {
                self.counts.evicted.fetch_add(1, Ordering::Relaxed);
                return Some(slot);
            }
        }
        None
    }

    #[inline]
    pub(crate) fn end(&self, slot: u32, outcome: Outcome, message: &str) {
        let now = self.clock.now();
        let is_kept = outcome != Outcome::Succeeded || self.sampler.keeps_successes();
        let mut record = self.slot(slot);
        self.count_losses(&record);
        if is_kept {
            record.end(outcome, message, now);
        } else {
            record.forget();
        }
        drop(record);
        let mut shard = self.shard(u64::from(slot));
        if is_kept {
            shard.finished.push_back(slot);
        } else {
            shard.free.push(slot);
            drop(shard);
            self.counts.forgotten.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[inline]
    fn count_losses(&self, record: &Live) {
        let losses = [
            (&self.counts.steps_lost, record.steps_lost),
            (&self.counts.variables_lost, record.variables.lost),
            (&self.counts.variables_cut, record.variables.cut),
        ];
        for (count, lost) in losses {
            if lost > 0 {
                count.fetch_add(u64::from(lost), Ordering::Relaxed);
            }
        }
    }

    /// Its capacities.
    #[must_use]
    pub fn bounds(&self) -> &RecorderBounds {
        &self.bounds
    }

    /// The counts.
    #[must_use]
    pub fn statistics(&self) -> RecorderStatistics {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let refused = read(&self.counts.refused);
        RecorderStatistics {
            // The numbers of refused records are not used again.
            begun: read(&self.begun).saturating_sub(refused + self.before),
            left_out: read(&self.counts.left_out),
            refused,
            evicted: read(&self.counts.evicted),
            untaken: read(&self.counts.untaken),
            forgotten: read(&self.counts.forgotten),
            steps_lost: read(&self.counts.steps_lost),
            variables_lost: read(&self.counts.variables_lost),
            variables_cut: read(&self.counts.variables_cut),
        }
    }

    /// The memory of the records, in bytes; never more than [`RecorderBounds::memory_bytes_max`].
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let records = (0..self.slots.len() as u32).map(|slot| self.slot(slot).allocated() as u64);
        records.sum::<u64>() + size_of_val(&*self.slots) as u64
    }

    /// Copies of the records that this wants, in the order in which they began.
    #[must_use]
    pub fn find(&self, wanted: impl Fn(&Record) -> bool) -> Vec<Record> {
        let mut found = self.copies(|_| true);
        found.retain(wanted);
        found
    }

    /// Copies of the records whose numbers this wants, in the order in which they began.
    fn copies(&self, wanted: impl Fn(RecordId) -> bool) -> Vec<Record> {
        let mut found: Vec<Record> = (0..self.slots.len() as u32)
            .filter_map(|slot| {
                let live = self.slot(slot);
                (live.id().is_record() && wanted(live.id())).then(|| live.copy())
            })
            .collect();
        found.sort_by_key(Record::id);
        found
    }

    /// Copies of the records that have ended and were not taken before, in the order in which they
    /// began: to be stored. They stay in the recorder until they are replaced.
    #[must_use]
    pub fn take_finished(&self) -> Vec<Record> {
        let mut taken = Vec::new();
        for shard in 0..self.shards.len() as u64 {
            let finished: Vec<u32> = self.shard(shard).finished.iter().copied().collect();
            // One that has made room meanwhile is in progress, and not taken.
            taken.extend(finished.into_iter().filter_map(|slot| self.slot(slot).take()));
        }
        taken.sort_by_key(Record::id);
        taken
    }

    /// Copies of all records, those in progress included, in the order in which they began.
    #[must_use]
    pub fn list(&self) -> Vec<Record> {
        self.copies(|_| true)
    }

    /// A copy of one record.
    #[must_use]
    pub fn get(&self, id: RecordId) -> Option<Record> {
        self.copies(|held| held == id).pop()
    }

    /// A record with its descendants, as a tree.
    #[must_use]
    pub fn show(&self, id: RecordId) -> Option<Tree> {
        Tree::of(self.copies(|held| held >= id), id)
    }
}
