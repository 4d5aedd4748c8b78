//! The runs of a store in memory.

use super::index::Index;
use super::record::{Beginning, RunNumber};
use super::types::{End, FencingToken, NewRun, Outcome, RunFilter, RunSummary, StoredRun};
use crate::prefetch::{prefetch, prefetch_at};
use crate::{FlowId, Timestamp};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// The bits of a run's number that are its slot; the others count.
const SLOT_BITS: u32 = 24;
/// The most runs at once.
pub(super) const SLOTS_MAX: usize = 1 << SLOT_BITS;

impl RunNumber {
    fn new(count: u64, slot: usize) -> Self {
        Self(count << SLOT_BITS | slot as u64)
    }

    fn count(self) -> u64 {
        self.0 >> SLOT_BITS
    }

    /// The slot of a run, unique among the runs in the store.
    pub(crate) fn slot(self) -> usize {
        (self.0 as usize) & (SLOTS_MAX - 1)
    }
}

pub(super) struct Run {
    number: RunNumber,
    pub(super) id: FlowId,
    flow: u32,
    version: u32,
    parent: Option<RunNumber>,
    started: Timestamp,
    pub(super) ended: Option<End>,
    pub(super) holder: Option<FencingToken>,
    /// The input followed by the history, in one allocation.
    bytes: Vec<u8>,
    input_len: u32,
    /// Ended runs that are kept because this one, their parent, has not ended.
    ended_children: Vec<RunNumber>,
}

impl Run {
    /// The approximate bytes of the run in memory and in an image.
    fn weight(&self) -> usize {
        self.bytes.len() + 64
    }

    pub(super) fn history(&self) -> &[u8] {
        &self.bytes[self.input_len as usize..]
    }

    /// Whether the run is stuck: it is kept until an operator resolves it.
    pub(super) fn is_stuck(&self) -> bool {
        self.ended.is_some_and(|end| end.outcome == Outcome::Stuck)
    }
}

#[derive(Default)]
pub(super) struct Runs {
    by_id: Index,
    /// The runs by slot. A table by number would be far larger and scattered.
    slots: Vec<Option<Run>>,
    /// The slots that are free; the one that was used last is the first to be used again.
    free_slots: Vec<u32>,
    /// Unfinished runs without a holder.
    free: BTreeSet<RunNumber>,
    /// Ended runs in the order in which they ended, but for those kept for a parent.
    ended: VecDeque<(Timestamp, RunNumber)>,
    /// Runs that have not ended, or are stuck.
    live: usize,
    /// The count of the next run.
    next: u64,
    weight: usize,
    flows: Vec<Arc<str>>,
    /// Buffers of forgotten runs, so that runs come and go without allocating.
    spare: Vec<Vec<u8>>,
}

/// Room for the input and the history of a short flow.
const BYTES: usize = 120;
/// The most buffers of removed runs that are kept, and the largest size of each.
const SPARE_MAX: usize = 256;
const SPARE_BYTES_MAX: usize = 4096;

impl Runs {
    pub(super) fn find(&self, id: &FlowId) -> Option<RunNumber> {
        self.by_id.find(id, |number| self.get(number).is_some_and(|run| run.id == *id))
    }

    pub(super) fn get(&self, number: RunNumber) -> Option<&Run> {
        let run = self.slots.get(number.slot())?.as_ref();
        run.filter(|run| run.number == number)
    }

    fn get_mut(&mut self, number: RunNumber) -> Option<&mut Run> {
        let run = self.slots.get_mut(number.slot())?.as_mut();
        run.filter(|run| run.number == number)
    }

    fn all(&self) -> impl Iterator<Item = &Run> {
        self.slots.iter().flatten()
    }

    /// The number of runs that have not ended, or are stuck.
    pub(super) fn live(&self) -> usize {
        self.live
    }

    /// The approximate bytes of an image of everything.
    pub(super) fn weight(&self) -> usize {
        self.weight
    }

    /// The number of the next run; `None` if all slots are used.
    pub(super) fn next(&self) -> Option<RunNumber> {
        let slot = self.free_slots.last().map_or(self.slots.len(), |slot| *slot as usize);
        (slot < SLOTS_MAX).then(|| RunNumber::new(self.next, slot))
    }

    /// A number that is greater than those of all runs so far, and not of any that is to come.
    pub(super) fn end(&self) -> RunNumber {
        RunNumber::new(self.next, 0)
    }

    pub(super) fn set_end_at_least(&mut self, end: RunNumber) {
        self.next = self.next.max(end.count());
    }

    pub(super) fn numbers(&self) -> Vec<RunNumber> {
        let mut numbers: Vec<_> = self.all().map(|run| run.number).collect();
        numbers.sort_unstable();
        numbers
    }

    fn intern(&mut self, flow: &str) -> u32 {
        // A program has a few dozen flows at most.
        let known = self.flows.iter().position(|known| **known == *flow);
        let at = known.unwrap_or_else(|| {
            self.flows.push(flow.into());
            self.flows.len() - 1
        });
        at as u32
    }

    /// Begins a run whose id is not known yet.
    pub(super) fn begin(
        &mut self,
        number: RunNumber,
        new: &NewRun<'_>,
        holder: Option<FencingToken>,
    ) {
        self.next = self.next.max(number.count() + 1);
        let slot = number.slot();
        if self.free_slots.last().is_some_and(|free| *free as usize == slot) {
            self.free_slots.pop();
        }
        if slot >= self.slots.len() {
            self.slots.resize_with(slot + 1, || None);
        }
        let mut bytes = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(BYTES));
        bytes.extend_from_slice(new.input);
        let run = Run {
            number,
            id: new.id,
            flow: self.intern(new.flow),
            version: new.version,
            parent: new.parent,
            started: new.at,
            ended: None,
            holder,
            input_len: new.input.len() as u32,
            bytes,
            ended_children: Vec::new(),
        };
        self.weight += run.weight();
        self.live += 1;
        if holder.is_none() {
            self.free.insert(number);
        }
        let slots = &self.slots;
        self.by_id.insert(new.id, number, |held| {
            slots[held.slot()].as_ref().is_some_and(|run| run.number == held && run.id == new.id)
        });
        self.slots[slot] = Some(run);
    }

    /// Adds to the history of a run. False if there is no such run.
    pub(super) fn advance(
        &mut self,
        number: RunNumber,
        entries: &[u8],
        ended: Option<End>,
    ) -> bool {
        let Some(run) = self.get_mut(number) else { return false };
        run.bytes.extend_from_slice(entries);
        let ends = ended.filter(|_| run.ended.is_none());
        self.weight += entries.len();
        if let Some(end) = ends {
            self.end_run(number, end);
        }
        true
    }

    fn end_run(&mut self, number: RunNumber, end: End) {
        let at = end.at;
        let Some(run) = self.get_mut(number) else { return };
        run.ended = Some(end);
        let held = run.holder.take().is_some();
        let children = std::mem::take(&mut run.ended_children);
        let parent = run.parent;
        if !held {
            self.free.remove(&number);
        }
        self.ended.extend(children.into_iter().map(|child| (at, child)));
        if end.outcome == Outcome::Stuck {
            return;
        }
        self.live -= 1;
        let waits = parent.and_then(|parent| self.get_mut(parent));
        match waits.filter(|parent| parent.ended.is_none()) {
            Some(parent) => parent.ended_children.push(number),
            None => self.ended.push_back((at, number)),
        }
    }

    /// Lets a stuck run continue. False if there is no such run.
    pub(super) fn reopen(
        &mut self,
        number: RunNumber,
        holder: Option<FencingToken>,
        entries: &[u8],
    ) -> bool {
        let Some(run) = self.get_mut(number).filter(|run| run.is_stuck()) else { return false };
        run.ended = None;
        run.holder = holder;
        run.bytes.extend_from_slice(entries);
        self.weight += entries.len();
        if holder.is_none() {
            self.free.insert(number);
        }
        true
    }

    /// The next run that need not be kept: when more than `keep` have ended, or it ended before.
    pub(super) fn oldest_ended(&self, keep: usize, before: Timestamp) -> Option<RunNumber> {
        let (at, number) = self.ended.front()?;
        (self.ended.len() > keep || *at < before).then_some(*number)
    }

    /// The number of ended runs that can be removed.
    pub(super) fn ended(&self) -> usize {
        self.ended.len()
    }

    /// Prefetches the memory of the runs that are removed next, which new runs will use.
    pub(super) fn approach_ended(&self, count: usize) {
        for (_, number) in self.ended.iter().take(count) {
            self.approach(*number);
        }
        for (_, number) in self.ended.iter().take(count) {
            if let Some(run) = self.get(*number) {
                prefetch(&run.bytes[..]);
                self.by_id.approach(&run.id);
            }
        }
    }

    /// Prefetches the memory of a run.
    pub(super) fn approach(&self, number: RunNumber) {
        if let Some(slot) = self.slots.get(number.slot()) {
            prefetch(slot);
        }
    }

    /// Prefetches the end of a run's history, where `bytes` will be added. The run itself should be
    /// in the cache already.
    pub(super) fn approach_history(&self, number: RunNumber, bytes: usize) {
        if let Some(run) = self.get(number) {
            prefetch_at(run.bytes.as_ptr().wrapping_add(run.bytes.len()), bytes);
        }
    }

    /// Removes a run; `None` if there is none. While records are being read, the order of ended
    /// runs may be wrong; [`Runs::settle`] corrects it.
    pub(super) fn forget(&mut self, number: RunNumber) {
        if self.ended.front().is_some_and(|(_, front)| *front == number) {
            self.ended.pop_front();
        }
        if self.get(number).is_none() {
            return;
        }
        let Some(mut run) = self.slots[number.slot()].take() else { return };
        self.free_slots.push(number.slot() as u32);
        self.weight -= run.weight();
        self.by_id.remove(&run.id, number);
        if run.ended.is_none() || run.is_stuck() {
            self.live -= 1;
            self.free.remove(&number);
        }
        if self.spare.len() < SPARE_MAX && run.bytes.capacity() <= SPARE_BYTES_MAX {
            run.bytes.clear();
            self.spare.push(run.bytes);
        }
    }

    /// Restores a run from its image, replacing an earlier one.
    pub(super) fn restore(
        &mut self,
        beginning: &Beginning<'_>,
        ended: Option<End>,
        history: &[u8],
    ) {
        self.forget(beginning.run);
        let new = NewRun {
            id: beginning.id,
            flow: beginning.flow,
            version: beginning.version,
            parent: beginning.parent,
            at: beginning.at,
            input: beginning.input,
        };
        self.begin(beginning.run, &new, None);
        self.advance(beginning.run, history, ended);
    }

    /// After everything has been read: the ended runs in the order in which they ended, whatever the
    /// order of their images.
    pub(super) fn settle(&mut self) {
        let mut ended = VecDeque::new();
        let mut kept: Vec<(RunNumber, RunNumber)> = Vec::new();
        for run in self.all() {
            let Some(End { at, .. }) = run.ended.filter(|_| !run.is_stuck()) else { continue };
            let parent = run
                .parent
                .filter(|parent| self.get(*parent).is_some_and(|parent| parent.ended.is_none()));
            match parent {
                Some(parent) => kept.push((parent, run.number)),
                None => ended.push_back((at, run.number)),
            }
        }
        ended.make_contiguous().sort_unstable();
        kept.sort_unstable();
        self.ended = ended;
        self.slots.iter_mut().flatten().for_each(|run| run.ended_children.clear());
        let free = self.slots.iter().enumerate().rev().filter(|(_, slot)| slot.is_none());
        self.free_slots = free.map(|(slot, _)| slot as u32).collect();
        for (parent, child) in kept {
            if let Some(parent) = self.get_mut(parent) {
                parent.ended_children.push(child);
            }
        }
    }

    /// Claims unfinished runs without a holder for a worker.
    pub(super) fn claim(&mut self, worker: FencingToken, max: usize) -> Vec<StoredRun> {
        let mut claimed = Vec::new();
        while claimed.len() < max
            && let Some(number) = self.free.pop_first()
        {
            if let Some(run) = self.get_mut(number) {
                run.holder = Some(worker);
            }
            claimed.extend(self.stored(number));
        }
        claimed
    }

    /// Takes all runs from a worker.
    pub(super) fn release(&mut self, worker: FencingToken) {
        for run in self.slots.iter_mut().flatten() {
            if run.holder == Some(worker) {
                run.holder = None;
                self.free.insert(run.number);
            }
        }
    }

    pub(super) fn beginning(&self, number: RunNumber) -> Option<(Beginning<'_>, &Run)> {
        let run = self.get(number)?;
        let beginning = Beginning {
            run: number,
            id: run.id,
            flow: &self.flows[run.flow as usize],
            version: run.version,
            parent: run.parent,
            at: run.started,
            input: &run.bytes[..run.input_len as usize],
        };
        Some((beginning, run))
    }

    /// The runs that pass a filter and come after a number, in order.
    pub(super) fn list(
        &self,
        filter: &RunFilter,
        after: Option<RunNumber>,
        max: usize,
    ) -> Vec<RunSummary> {
        let summary = |run: &Run| RunSummary {
            run: run.number,
            id: run.id,
            flow: self.flows[run.flow as usize].clone(),
            version: run.version,
            parent: run.parent,
            started: run.started,
            ended: run.ended,
            history_bytes: run.history().len(),
        };
        let later = self.all().filter(|run| Some(run.number) > after).map(summary);
        let mut listed: Vec<_> = later.filter(|it| filter.passes(it)).collect();
        if max < listed.len() {
            listed.select_nth_unstable_by_key(max, |it| it.run);
            listed.truncate(max);
        }
        listed.sort_unstable_by_key(|it| it.run);
        listed
    }

    pub(super) fn stored(&self, number: RunNumber) -> Option<StoredRun> {
        let run = self.get(number)?;
        Some(StoredRun {
            run: number,
            id: run.id,
            flow: self.flows[run.flow as usize].clone(),
            version: run.version,
            parent: run.parent,
            started: run.started,
            ended: run.ended,
            input: run.bytes[..run.input_len as usize].to_vec(),
            history: run.history().to_vec(),
        })
    }
}
