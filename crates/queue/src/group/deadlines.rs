//! The ends of leases and of redelivery delays.

use crate::message::MessageId;
use rialto_clock::Timestamp;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

#[derive(Clone, Copy, Debug)]
struct End {
    at: Timestamp,
    id: MessageId,
    lease: u64,
}

/// When a new lease ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deadline {
    /// It has the group's length, so that it ends after all others of that length.
    Group(Timestamp),
    /// It has a length of its own.
    Own(Timestamp),
}

/// The deadlines of a group.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    /// The leases of the group's length, ordered by lease, and so by deadline.
    ends: VecDeque<End>,
    /// Other leases: of a length of their own, or extended. An entry never follows the deadline of
    /// its lease; [`Deadlines::later`] has the deadline.
    others: BinaryHeap<Reverse<(Timestamp, u64, MessageId)>>,
    /// The deadlines of leases that were extended or have a length of their own.
    later: HashMap<u64, Timestamp>,
    /// The number of entries in `others` above which outdated ones are removed; 0 before the first.
    others_max: usize,
    resting: BinaryHeap<Reverse<(Timestamp, MessageId)>>,
    /// The redelivery time of each delayed message. Other entries of the heap for it are outdated.
    rests: HashMap<MessageId, Timestamp>,
}

/// The number of ended leases that are removed when a lease is added.
const SWEEP: usize = 2;

/// Below this number, outdated entries are not removed.
const SWEEP_FROM: usize = 1024;

impl Deadlines {
    /// Adds a lease; numbers of leases increase. `is_current` tells whether a lease has not ended;
    /// `current` is an upper bound of their number.
    #[inline]
    pub(crate) fn lease(
        &mut self,
        deadline: Deadline,
        id: MessageId,
        lease: u64,
        current: usize,
        is_current: impl Fn(MessageId, u64) -> bool,
    ) {
        match deadline {
            Deadline::Group(at) => self.ends.push_back(End { at, id, lease }),
            Deadline::Own(at) => return self.lease_other(at, id, lease, is_current),
        }
        for _ in 0..SWEEP {
            match self.ends.front() {
                Some(front) if !is_current(front.id, front.lease) => {
                    let lease = front.lease;
                    self.forget(lease);
                    self.ends.pop_front();
                }
                _ => break,
            }
        }
        // An entry that is current may precede many that have ended.
        if self.ends.len() > SWEEP_FROM.max(4 * current) {
            let later = &mut self.later;
            self.ends.retain(|end| {
                let is_kept = is_current(end.id, end.lease);
                if !is_kept && !later.is_empty() {
                    later.remove(&end.lease);
                }
                is_kept
            });
        }
    }

    #[cold]
    fn lease_other(
        &mut self,
        at: Timestamp,
        id: MessageId,
        lease: u64,
        is_current: impl Fn(MessageId, u64) -> bool,
    ) {
        self.later.insert(lease, at);
        self.others.push(Reverse((at, lease, id)));
        self.sweep_others(is_current);
    }

    /// Removes outdated entries when the number of entries has doubled, so that an entry costs a
    /// constant on average.
    fn sweep_others(&mut self, is_current: impl Fn(MessageId, u64) -> bool) {
        if self.others.len() <= self.others_max.max(SWEEP_FROM) {
            return;
        }
        let later = &mut self.later;
        self.others.retain(|Reverse((_, lease, id))| {
            let is_kept = is_current(*id, *lease);
            if !is_kept {
                later.remove(lease);
            }
            is_kept
        });
        self.others_max = 2 * self.others.len();
    }

    /// Extends a lease, unless it ends later anyway.
    pub(crate) fn extend(&mut self, lease: u64, at: Timestamp) {
        let later = self.later.entry(lease).or_default();
        *later = at.max(*later);
    }

    /// The deadline of a current lease.
    pub(crate) fn of(&self, lease: u64) -> Option<Timestamp> {
        let place = self.ends.binary_search_by_key(&lease, |end| end.lease);
        let first = place.ok().map(|nth| self.ends[nth].at);
        first.max(self.later.get(&lease).copied())
    }

    pub(crate) fn forget(&mut self, lease: u64) {
        if !self.later.is_empty() {
            self.later.remove(&lease);
        }
    }

    /// Delays a message until this time.
    pub(crate) fn rest(&mut self, until: Timestamp, id: MessageId) {
        if self.rests.insert(id, until) != Some(until) {
            self.resting.push(Reverse((until, id)));
        }
        // Entries of messages that were acknowledged meanwhile would stay until they are due.
        if self.resting.len() > SWEEP_FROM.max(4 * self.rests.len()) {
            let rests = &self.rests;
            self.resting.retain(|Reverse((until, id))| rests.get(id) == Some(until));
        }
    }

    /// Removes the delay of a message, if it has one.
    #[inline]
    pub(crate) fn forget_rest(&mut self, id: MessageId) {
        if !self.rests.is_empty() {
            self.rests.remove(&id);
        }
    }

    /// The time until which a message is delayed. It is outdated if the message was delivered
    /// since.
    pub(crate) fn rests(&self, id: MessageId) -> Option<Timestamp> {
        self.rests.get(&id).copied()
    }

    /// The next lease that has ended and was not extended.
    pub(crate) fn next_ended(
        &mut self,
        now: Timestamp,
        is_current: impl Fn(MessageId, u64) -> bool,
    ) -> Option<(MessageId, u64)> {
        while let Some(&End { at, id, lease }) = self.ends.front()
            && at <= now
        {
            self.ends.pop_front();
            if self.has_ended(now, id, lease, &is_current) {
                return Some((id, lease));
            }
        }
        while let Some(&Reverse((at, lease, id))) = self.others.peek()
            && at <= now
        {
            self.others.pop();
            if self.has_ended(now, id, lease, &is_current) {
                return Some((id, lease));
            }
        }
        None
    }

    /// Whether a lease whose entry is due has ended. If it was extended, it gets another entry.
    fn has_ended(
        &mut self,
        now: Timestamp,
        id: MessageId,
        lease: u64,
        is_current: impl Fn(MessageId, u64) -> bool,
    ) -> bool {
        let later = self.later.get(&lease).copied();
        if is_current(id, lease)
            && let Some(later) = later
            && later > now
        {
            self.others.push(Reverse((later, lease, id)));
            self.sweep_others(is_current);
            return false;
        }
        self.forget(lease);
        is_current(id, lease)
    }

    pub(crate) fn next_rested(&mut self, now: Timestamp) -> Option<MessageId> {
        while let Some(&Reverse((due, id))) = self.resting.peek()
            && due <= now
        {
            self.resting.pop();
            if self.rests.get(&id) == Some(&due) {
                self.rests.remove(&id);
                return Some(id);
            }
        }
        None
    }

    /// The next deadline.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        let end = self.ends.front().map(|end| end.at);
        let other = self.others.peek().map(|Reverse((at, ..))| *at);
        let rest = self.resting.peek().map(|Reverse((due, _))| *due);
        end.into_iter().chain(other).chain(rest).min()
    }

    /// The number of entries for leases.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.ends.len() + self.others.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const ID: MessageId = MessageId { lane: 0, seq: 1 };

    #[test]
    fn leases_that_are_over_are_forgotten_though_an_older_one_lasts() {
        let mut deadlines = Deadlines::default();
        let last = Cell::new(0);
        for lease in 1..=100_000 {
            last.set(lease);
            let at = Deadline::Group(Timestamp(lease));
            deadlines.lease(at, ID, lease, 2, |_, it| it == 1 || it == last.get());
        }
        assert!(deadlines.len() <= SWEEP_FROM + 1, "{}", deadlines.len());
        let ended = deadlines.next_ended(Timestamp(u64::MAX), |_, lease| lease == 1);
        assert_eq!(ended, Some((ID, 1)));
    }

    #[test]
    fn rests_of_messages_that_are_done_with_are_forgotten() {
        let mut deadlines = Deadlines::default();
        let day = Timestamp(86_400_000_000_000);
        deadlines.rest(day, ID);
        for seq in 2..=100_000 {
            let id = MessageId { lane: 0, seq };
            deadlines.rest(Timestamp(day.0 + seq), id);
            deadlines.forget_rest(id);
        }
        let remembered = (deadlines.rests.len(), deadlines.resting.len());
        assert!(remembered.0 == 1 && remembered.1 <= SWEEP_FROM + 1, "{remembered:?}");
        assert_eq!(deadlines.next_rested(day), Some(ID));
        assert_eq!(deadlines.next_rested(Timestamp(u64::MAX)), None);
    }

    #[test]
    fn an_extension_counts_once() {
        let mut deadlines = Deadlines::default();
        deadlines.lease(Deadline::Group(Timestamp(10)), ID, 1, 1, |_, _| true);
        deadlines.extend(1, Timestamp(20));
        assert_eq!(deadlines.next_ended(Timestamp(15), |_, _| true), None);
        assert_eq!(deadlines.next_due(), Some(Timestamp(20)));
        assert_eq!(deadlines.next_ended(Timestamp(20), |_, _| true), Some((ID, 1)));
    }

    #[test]
    fn leases_end_by_their_own_deadlines() {
        let mut deadlines = Deadlines::default();
        deadlines.lease(Deadline::Group(Timestamp(30)), ID, 1, 9, |_, _| true);
        deadlines.lease(Deadline::Own(Timestamp(10)), ID, 2, 9, |_, _| true);
        deadlines.lease(Deadline::Own(Timestamp(90)), ID, 3, 9, |_, _| true);
        deadlines.lease(Deadline::Group(Timestamp(40)), ID, 4, 9, |_, _| true);
        assert_eq!(deadlines.next_due(), Some(Timestamp(10)));
        let at = (1..=5).map(|lease| deadlines.of(lease).map(|it| it.0)).collect::<Vec<_>>();
        assert_eq!(at, [Some(30), Some(10), Some(90), Some(40), None]);
        let ends = |deadlines: &mut Deadlines, now| {
            let next = || deadlines.next_ended(Timestamp(now), |_, _| true);
            std::iter::from_fn(next).map(|(_, lease)| lease).collect::<Vec<_>>()
        };
        assert_eq!(ends(&mut deadlines, 10), [2]);
        deadlines.extend(4, Timestamp(60));
        assert_eq!(ends(&mut deadlines, 40), [1]);
        assert_eq!(
            (deadlines.of(4), deadlines.next_due()),
            (Some(Timestamp(60)), Some(Timestamp(60)))
        );
        // An extension never ends a lease earlier.
        deadlines.extend(3, Timestamp(50));
        assert_eq!(ends(&mut deadlines, 60), [4]);
        assert_eq!(ends(&mut deadlines, 90), [3]);
        assert_eq!((deadlines.len(), deadlines.later.len()), (0, 0));
    }

    #[test]
    fn long_leases_that_are_over_are_forgotten() {
        let mut deadlines = Deadlines::default();
        let last = Cell::new(0);
        for lease in 1..=100_000 {
            last.set(lease);
            let is_current = |_, it| it == 1 || it == last.get();
            deadlines.lease(Deadline::Own(Timestamp(1 << 40)), ID, lease, 2, is_current);
        }
        let left = (deadlines.len(), deadlines.later.len());
        assert!(left.0 <= SWEEP_FROM + 1 && left.1 <= left.0, "{left:?}");
        // Leases of the group that were extended by much, and then acknowledged.
        let mut deadlines = Deadlines::default();
        for lease in 1..=100_000 {
            last.set(lease);
            let is_current = |_, it| it == 1 || it == last.get();
            deadlines.lease(Deadline::Group(Timestamp(lease)), ID, lease, 2, is_current);
            deadlines.extend(lease, Timestamp(1 << 40));
            assert_eq!(deadlines.next_ended(Timestamp(lease), is_current), None);
        }
        let left = (deadlines.len(), deadlines.later.len());
        assert!(left.0 <= SWEEP_FROM + 1 && left.1 <= left.0, "{left:?}");
    }
}
