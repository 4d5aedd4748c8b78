//! What a group knows of the messages of one lane: a window that begins with the oldest message that
//! is not done with.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Where a message stands with a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The group has not come to it yet.
    #[default]
    Unseen,
    /// A consumer has it.
    Leased,
    /// A consumer has it, and a transaction will be done with it, or will not.
    Reserved,
    /// It may be handed out again.
    Ready,
    /// It will be, later.
    Resting,
    /// It waits for another message of its key.
    Behind,
    /// Its last try has failed, and it is on its way to the dead letters; or nobody has it, and a
    /// transaction will be done with it.
    Dying,
    /// The group is done with it.
    Done,
}

/// A message in the window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot {
    /// The last lease of it; 0 when there was none.
    pub(crate) lease: u64,
    pub(crate) consumer: u32,
    /// How often it was handed out.
    pub(crate) attempts: u16,
    pub(crate) standing: Standing,
}

/// Numbers from the first to the last, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// The window of one lane.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// The group is done with everything below.
    floor: u64,
    /// One for each message from the floor on.
    slots: VecDeque<Slot>,
    /// How many of them are done.
    done: usize,
}

impl Window {
    pub(crate) fn new(floor: u64) -> Self {
        Self { floor, slots: VecDeque::new(), done: 0 }
    }

    pub(crate) fn floor(&self) -> u64 {
        self.floor
    }

    /// The number behind the last that the window holds.
    pub(crate) fn end(&self) -> u64 {
        self.floor + self.slots.len() as u64
    }

    /// How many messages lie in the window, done with or not.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// How many messages were seen and are not done with.
    pub(crate) fn outstanding(&self) -> usize {
        self.slots.len() - self.done
    }

    pub(crate) fn get(&self, seq: u64) -> Option<&Slot> {
        self.slots.get(usize::try_from(seq.checked_sub(self.floor)?).ok()?)
    }

    pub(crate) fn get_mut(&mut self, seq: u64) -> Option<&mut Slot> {
        self.slots.get_mut(usize::try_from(seq.checked_sub(self.floor)?).ok()?)
    }

    /// The slot of a message at or behind the floor; the window grows to hold it.
    pub(crate) fn reach(&mut self, seq: u64) -> &mut Slot {
        let nth = (seq - self.floor) as usize;
        if nth >= self.slots.len() {
            self.slots.resize(nth + 1, Slot::default());
        }
        &mut self.slots[nth]
    }

    /// Marks a message as done with. True if it was not before.
    #[inline]
    pub(crate) fn finish(&mut self, seq: u64) -> bool {
        if seq < self.floor {
            return false;
        }
        let slot = self.reach(seq);
        if slot.standing == Standing::Done {
            return false;
        }
        slot.standing = Standing::Done;
        self.done += 1;
        while let Some(front) = self.slots.front()
            && front.standing == Standing::Done
        {
            self.slots.pop_front();
            self.floor += 1;
            self.done -= 1;
        }
        true
    }

    /// Moves the floor up to `floor`, whatever lies below.
    pub(crate) fn pass(&mut self, floor: u64) {
        while self.floor < floor {
            match self.slots.pop_front() {
                Some(slot) => {
                    self.done -= usize::from(slot.standing == Standing::Done);
                    self.floor += 1;
                }
                None => self.floor = floor,
            }
        }
        self.settle();
    }

    fn settle(&mut self) {
        while let Some(front) = self.slots.front()
            && front.standing == Standing::Done
        {
            self.slots.pop_front();
            self.floor += 1;
            self.done -= 1;
        }
    }

    /// The messages that are not done with, from the floor on.
    pub(crate) fn each(&self) -> impl Iterator<Item = (u64, &Slot)> {
        (self.floor..).zip(&self.slots)
    }

    /// What is done with above the floor.
    pub(crate) fn done_ranges(&self) -> Vec<Range> {
        let mut ranges: Vec<Range> = Vec::new();
        for (seq, slot) in self.each().filter(|(_, slot)| slot.standing == Standing::Done) {
            let _ = slot;
            match ranges.last_mut() {
                Some(range) if range.last + 1 == seq => range.last = seq,
                _ => ranges.push(Range { first: seq, last: seq }),
            }
        }
        ranges
    }
}
