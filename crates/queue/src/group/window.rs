//! The state of the messages of one lane in a group: a window that begins with the oldest
//! unacknowledged message.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// The state of a message in a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It was not offered yet.
    #[default]
    Unseen,
    /// It is leased to a consumer.
    Leased,
    /// It is leased, and a transaction may acknowledge it.
    Reserved,
    /// It may be delivered again.
    Ready,
    /// It may be delivered again after a delay.
    Resting,
    /// It waits for another message of its key.
    Behind,
    /// Its last attempt failed and it waits for its dead-letter topic; or its lease ended while a
    /// transaction acknowledges it.
    Settling,
    /// It is acknowledged or was skipped.
    Done,
}

/// A message in the window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot {
    /// Its last lease; 0 for none.
    pub(crate) lease: u64,
    pub(crate) consumer: u32,
    /// The number of deliveries.
    pub(crate) attempts: u16,
    pub(crate) standing: Standing,
}

/// Numbers from the first to the last, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// The number below which everything is acknowledged.
    floor: u64,
    /// One slot for each message from the floor on.
    slots: VecDeque<Slot>,
    /// The number of slots that are done.
    done: usize,
    /// Messages beyond the slots that were delivered out of turn, and those acknowledged there. The
    /// messages in between take no memory.
    far: BTreeMap<u64, Slot>,
    far_done: Ranges,
}

/// Numbers, as ranges that do not touch: the last of each by its first.
#[derive(Clone, Debug, Default)]
struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    fn holds(&self, seq: u64) -> bool {
        self.0.range(..=seq).next_back().is_some_and(|(_, last)| *last >= seq)
    }

    fn add(&mut self, range: Range) {
        let Range { mut first, mut last } = range;
        while let Some((&begin, &end)) = self.0.range(..=last.saturating_add(1)).next_back()
            && end.saturating_add(1) >= first
        {
            (first, last) = (first.min(begin), last.max(end));
            self.0.remove(&begin);
        }
        self.0.insert(first, last);
    }

    /// Removes the numbers below `end` and returns them.
    fn take_below(&mut self, end: u64) -> Vec<Range> {
        let mut taken = Vec::new();
        while let Some((&first, &last)) = self.0.first_key_value()
            && first < end
        {
            self.0.remove(&first);
            if last >= end {
                self.0.insert(end, last);
            }
            taken.push(Range { first, last: last.min(end - 1) });
        }
        taken
    }
}

/// A message that is acknowledged beyond the slots.
static DONE: Slot = Slot { lease: 0, consumer: 0, attempts: 0, standing: Standing::Done };

impl Window {
    pub(crate) fn new(floor: u64) -> Self {
        let (far, far_done) = (BTreeMap::new(), Ranges::default());
        Self { floor, slots: VecDeque::new(), done: 0, far, far_done }
    }

    pub(crate) fn floor(&self) -> u64 {
        self.floor
    }

    /// The number after the last slot, messages delivered out of turn aside.
    pub(crate) fn end(&self) -> u64 {
        self.floor + self.slots.len() as u64
    }

    /// The number of messages in the window, acknowledged or not, up to the first unseen one.
    pub(crate) fn len(&self) -> usize {
        let end = self.end();
        match self.far_done.0.get(&end) {
            Some(last) => self.slots.len() + (last + 1 - end) as usize,
            None => self.slots.len(),
        }
    }

    /// The number of seen messages that are not acknowledged.
    pub(crate) fn outstanding(&self) -> usize {
        self.slots.len() - self.done + self.far.len()
    }

    /// The number of unseen messages from the end of the slots to `end`.
    pub(crate) fn unknown_below(&self, end: u64) -> u64 {
        let begin = self.end();
        let known = self.far.range(..end).count() as u64;
        let done: u64 =
            self.far_done.0.range(..end).map(|(first, last)| end.min(last + 1) - first).sum();
        end.saturating_sub(begin) - known - done
    }

    pub(crate) fn get(&self, seq: u64) -> Option<&Slot> {
        let slot = self.slots.get(usize::try_from(seq.checked_sub(self.floor)?).ok()?);
        if slot.is_none() && self.has_far() { self.get_far(seq) } else { slot }
    }

    #[inline]
    fn has_far(&self) -> bool {
        !self.far.is_empty() || !self.far_done.0.is_empty()
    }

    #[cold]
    fn get_far(&self, seq: u64) -> Option<&Slot> {
        self.far.get(&seq).or_else(|| self.far_done.holds(seq).then_some(&DONE))
    }

    pub(crate) fn get_mut(&mut self, seq: u64) -> Option<&mut Slot> {
        match self.slots.get_mut(usize::try_from(seq.checked_sub(self.floor)?).ok()?) {
            None => self.far.get_mut(&seq),
            slot => slot,
        }
    }

    /// The slot of a message at or behind the floor; the window grows to hold it, unless it was
    /// delivered out of turn.
    pub(crate) fn reach(&mut self, seq: u64) -> &mut Slot {
        let nth = (seq - self.floor) as usize;
        if nth >= self.slots.len() {
            if self.far.contains_key(&seq) {
                return self.reach_far(seq);
            }
            self.slots.resize(nth + 1, Slot::default());
            if self.has_far() {
                self.take_far();
            }
        }
        &mut self.slots[nth]
    }

    /// The slot of a message that is delivered out of turn.
    pub(crate) fn reach_far(&mut self, seq: u64) -> &mut Slot {
        if seq < self.end() { self.reach(seq) } else { self.far.entry(seq).or_default() }
    }

    /// Moves messages delivered out of turn into the slots when these reach them.
    #[cold]
    fn take_far(&mut self) {
        let (floor, end) = (self.floor, self.end());
        let beyond = self.far.split_off(&end);
        for (seq, slot) in std::mem::replace(&mut self.far, beyond) {
            self.slots[(seq - floor) as usize] = slot;
        }
        for Range { first, last } in self.far_done.take_below(end) {
            for seq in first..=last {
                self.slots[(seq - floor) as usize].standing = Standing::Done;
                self.done += 1;
            }
        }
    }

    /// Marks unseen messages as acknowledged, inside or beyond the slots.
    pub(crate) fn finish_far(&mut self, range: Range) {
        let first = range.first.max(self.end());
        if first <= range.last {
            self.far_done.add(Range { first, last: range.last });
            self.settle();
        }
    }

    /// Marks a message as acknowledged. Returns whether it was not before.
    #[inline]
    pub(crate) fn finish(&mut self, seq: u64) -> bool {
        if seq < self.floor {
            return false;
        }
        if !self.far.is_empty() && self.far.remove(&seq).is_some() {
            self.far_done.add(Range { first: seq, last: seq });
            self.settle();
            return true;
        }
        let slot = self.reach(seq);
        if slot.standing == Standing::Done {
            return false;
        }
        slot.standing = Standing::Done;
        self.done += 1;
        self.settle();
        true
    }

    /// Raises the floor to `floor`.
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
        if self.has_far() {
            self.far = self.far.split_off(&floor);
            self.far_done.take_below(floor);
        }
        self.settle();
    }

    #[inline]
    fn settle(&mut self) {
        while let Some(front) = self.slots.front()
            && front.standing == Standing::Done
        {
            self.slots.pop_front();
            self.floor += 1;
            self.done -= 1;
        }
        if self.slots.is_empty()
            && let Some(last) = self.far_done.0.get(&self.floor).copied()
        {
            self.far_done.0.remove(&self.floor);
            self.floor = last + 1;
        }
    }

    /// The seen messages from the floor on, except those acknowledged beyond the slots.
    pub(crate) fn each(&self) -> impl Iterator<Item = (u64, &Slot)> {
        (self.floor..).zip(&self.slots).chain(self.far.iter().map(|(seq, slot)| (*seq, slot)))
    }

    /// As [`Window::each`], from this message on.
    pub(crate) fn each_from(&self, seq: u64) -> impl Iterator<Item = (u64, &Slot)> {
        let first = seq.clamp(self.floor, self.end());
        let slots = self.slots.range((first - self.floor) as usize..);
        (first..).zip(slots).chain(self.far.range(seq..).map(|(seq, slot)| (*seq, slot)))
    }

    /// The first message from this one on that is not acknowledged, seen or not.
    pub(crate) fn first_open(&self, seq: u64) -> u64 {
        let mut seq = seq.max(self.floor);
        while let Some(slot) = self.slots.get((seq - self.floor) as usize) {
            if slot.standing != Standing::Done {
                return seq;
            }
            seq += 1;
        }
        // Ranges do not touch.
        match self.far_done.0.range(..=seq).next_back() {
            Some((_, last)) if *last >= seq => last + 1,
            _ => seq,
        }
    }

    /// The acknowledged ranges above the floor.
    pub(crate) fn done_ranges(&self) -> Vec<Range> {
        let mut ranges: Vec<Range> = Vec::new();
        for (seq, _) in self.each().filter(|(_, slot)| slot.standing == Standing::Done) {
            match ranges.last_mut() {
                Some(range) if range.last + 1 == seq => range.last = seq,
                _ => ranges.push(Range { first: seq, last: seq }),
            }
        }
        let far = self.far_done.0.iter();
        ranges.extend(far.map(|(first, last)| Range { first: *first, last: *last }));
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contents of a window, one message after the other.
    fn contents(window: &Window, upto: u64) -> (u64, usize, Vec<Option<Standing>>) {
        let standing = |seq| match window.get(seq).map(|slot| slot.standing) {
            None if seq < window.floor() => Some(Standing::Done),
            Some(Standing::Unseen) => None,
            standing => standing,
        };
        (window.floor(), window.outstanding(), (1..=upto).map(standing).collect())
    }

    #[test]
    fn a_message_delivered_out_of_turn_has_the_same_state_as_in_turn() {
        const UPTO: u64 = 40;
        for seed in 1..500_u64 {
            let mut random = seed;
            let mut draw = |below: u64| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 33) % below
            };
            let (mut window, mut next) = (Window::new(1), 1);
            let mut naive = vec![None; UPTO as usize];
            for _ in 0..60 {
                let seq = 1 + draw(UPTO);
                let nth = (seq - 1) as usize;
                match draw(5) {
                    // The next in turn that is not leased.
                    0 | 1 => {
                        while next <= UPTO && naive[(next - 1) as usize].is_some() {
                            next += 1;
                        }
                        if next <= UPTO {
                            window.reach(next).standing = Standing::Leased;
                            naive[(next - 1) as usize] = Some(Standing::Leased);
                        }
                    }
                    2 if naive[nth].is_none() => {
                        window.reach_far(seq).standing = Standing::Leased;
                        naive[nth] = Some(Standing::Leased);
                    }
                    3 if naive[nth].is_some() => {
                        let was_done = naive[nth] == Some(Standing::Done);
                        assert_eq!(window.finish(seq), !was_done, "seed {seed}");
                        naive[nth] = Some(Standing::Done);
                    }
                    4 if draw(8) == 0 => {
                        window.pass(seq);
                        naive[..nth].fill(Some(Standing::Done));
                    }
                    _ => {}
                }
                let open = naive.iter().position(|it| *it != Some(Standing::Done));
                let floor = open.map_or(UPTO + 1, |nth| nth as u64 + 1);
                assert_eq!(window.floor(), floor, "seed {seed}");
                let leased = naive.iter().filter(|it| **it == Some(Standing::Leased)).count();
                assert_eq!(
                    window.each().filter(|(_, it)| it.standing == Standing::Leased).count(),
                    leased,
                    "seed {seed}"
                );
                let (_, _, standings) = contents(&window, UPTO);
                assert_eq!(standings, naive, "seed {seed}");
                // The window that a later process restores from it.
                let mut again = Window::new(window.floor());
                window.done_ranges().into_iter().for_each(|range| again.finish_far(range));
                let done = |it: &Option<Standing>| *it == Some(Standing::Done);
                let (floor, outstanding, standings) = contents(&again, UPTO);
                assert_eq!(
                    (floor, outstanding, again.len()),
                    (window.floor(), 0, 0),
                    "seed {seed}"
                );
                assert!(standings.iter().map(done).eq(naive.iter().map(done)), "seed {seed}");
            }
        }
    }

    #[test]
    fn messages_before_one_delivered_out_of_turn_take_no_memory() {
        let mut window = Window::new(1);
        window.reach_far(1 << 40).standing = Standing::Leased;
        assert_eq!((window.len(), window.outstanding(), window.end()), (0, 1, 1));
        assert!(window.finish(1 << 40));
        assert_eq!(window.outstanding(), 0);
        assert_eq!(window.unknown_below(1 << 41), (1 << 41) - 2);
        window.pass(1 << 40);
        assert_eq!(window.floor(), (1 << 40) + 1);
    }
}
