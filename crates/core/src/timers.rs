//! Timers: a heap that tracks the position of each item.

use rialto_model::Timestamp;

const ABSENT: u32 = u32::MAX;
const ARITY: usize = 4;

#[derive(Clone, Copy)]
struct Entry {
    due: Timestamp,
    /// Decides between items that are due at the same time; unique.
    rank: u64,
    item: u32,
}

/// A 4-ary heap of items by due time, then by rank, with each item's position kept beside it, so
/// that an item can be taken out before it is due. Items are small numbers such as slots.
pub(crate) struct Timers {
    heap: Vec<Entry>,
    /// The position of each item in the heap, or [`ABSENT`].
    positions: Vec<u32>,
}

impl Timers {
    pub(crate) fn new() -> Timers {
        Timers { heap: Vec::new(), positions: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// The item that is due first, and when.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Timestamp, u32)> {
        self.heap.first().map(|entry| (entry.due, entry.item))
    }

    /// When the first item is due; [`Timestamp::MAX`] if there is none.
    #[inline]
    pub(crate) fn due_first(&self) -> Timestamp {
        self.first().map_or(Timestamp::MAX, |first| first.0)
    }

    pub(crate) fn due(&self, item: u32) -> Option<Timestamp> {
        match self.positions.get(item as usize) {
            Some(&at) if at != ABSENT => Some(self.heap[at as usize].due),
            _ => None,
        }
    }

    /// Adds an item that is not here.
    pub(crate) fn insert(&mut self, item: u32, due: Timestamp, rank: u64) {
        if self.positions.len() <= item as usize {
            self.positions.resize(item as usize + 1, ABSENT);
        }
        debug_assert!(self.positions[item as usize] == ABSENT, "an item has one timer");
        self.heap.push(Entry { due, rank, item });
        self.sift_up(self.heap.len() - 1);
    }

    /// Takes an item out, if it is here.
    pub(crate) fn remove(&mut self, item: u32) {
        let Some(&at) = self.positions.get(item as usize) else { return };
        if at == ABSENT {
            return;
        }
        let at = at as usize;
        self.positions[item as usize] = ABSENT;
        let last = self.heap.pop().expect("an item with a position is in the heap");
        if at < self.heap.len() {
            self.heap[at] = last;
            self.positions[last.item as usize] = at as u32;
            self.sift_down(at);
            self.sift_up(at);
        }
    }

    #[inline]
    fn before(left: &Entry, right: &Entry) -> bool {
        (left.due, left.rank) < (right.due, right.rank)
    }

    fn sift_up(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if !Self::before(&entry, &self.heap[parent]) {
                break;
            }
            self.heap[at] = self.heap[parent];
            self.positions[self.heap[at].item as usize] = at as u32;
            at = parent;
        }
        self.heap[at] = entry;
        self.positions[entry.item as usize] = at as u32;
    }

    fn sift_down(&mut self, mut at: usize) {
        let entry = self.heap[at];
        loop {
            let children = at * ARITY + 1..(at * ARITY + 1 + ARITY).min(self.heap.len());
            let least = children.reduce(|best, child| {
                if Self::before(&self.heap[child], &self.heap[best]) { child } else { best }
            });
            match least {
                Some(child) if Self::before(&self.heap[child], &entry) => {
                    self.heap[at] = self.heap[child];
                    self.positions[self.heap[at].item as usize] = at as u32;
                    at = child;
                }
                _ => break,
            }
        }
        self.heap[at] = entry;
        self.positions[entry.item as usize] = at as u32;
    }

    /// Whether the heap is in order and agrees with the positions.
    pub(crate) fn is_sound(&self) -> bool {
        let ordered = (1..self.heap.len())
            .all(|at| Self::before(&self.heap[(at - 1) / ARITY], &self.heap[at]));
        let placed = (self.heap.iter().enumerate())
            .all(|(at, entry)| self.positions[entry.item as usize] as usize == at);
        let present = self.positions.iter().filter(|&&at| at != ABSENT).count();
        ordered && placed && present == self.heap.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn items_come_out_by_due_time_and_then_by_rank() {
        let mut timers = Timers::new();
        timers.insert(1, Timestamp(20), 1);
        timers.insert(2, Timestamp(10), 9);
        timers.insert(3, Timestamp(10), 3);
        let mut order = Vec::new();
        while let Some((_, item)) = timers.first() {
            order.push(item);
            timers.remove(item);
        }
        assert_eq!(order, [3, 2, 1]);
    }

    #[test]
    fn agrees_with_an_ordered_set_while_items_come_and_go() {
        let (mut timers, mut model) = (Timers::new(), BTreeSet::new());
        let mut state = 11_u64;
        for step in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let item = (state >> 57) as u32;
            match timers.due(item) {
                Some(due) => {
                    timers.remove(item);
                    assert!(model.remove(&(due, item)), "step {step}");
                }
                None => {
                    let due = Timestamp(state >> 30 & 63);
                    timers.insert(item, due, u64::from(item));
                    model.insert((due, item));
                }
            }
            assert_eq!(timers.first(), model.first().copied(), "step {step}");
        }
        assert!(timers.is_sound());
    }

    #[test]
    fn taking_out_an_absent_item_does_nothing() {
        let mut timers = Timers::new();
        timers.insert(1, Timestamp(1), 1);
        timers.remove(7);
        assert_eq!(timers.len(), 1);
    }
}
