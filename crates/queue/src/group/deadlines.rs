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

/// The deadlines of a group.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    /// Ordered by deadline: all leases have the same length, so that a new one ends last.
    ends: VecDeque<End>,
    extended: HashMap<u64, Timestamp>,
    resting: BinaryHeap<Reverse<(Timestamp, MessageId)>>,
    /// The redelivery time of each delayed message. Other entries of the heap for it are outdated.
    rests: HashMap<MessageId, Timestamp>,
}

/// The number of ended leases that are removed when a lease is added.
const SWEEP: usize = 2;

/// Below this number, outdated entries are not removed.
const SWEEP_FROM: usize = 1024;

impl Deadlines {
    /// Adds a lease. `is_current` tells whether a lease has not ended; `current` is an upper bound
    /// of their number.
    #[inline]
    pub(crate) fn lease(
        &mut self,
        at: Timestamp,
        id: MessageId,
        lease: u64,
        current: usize,
        is_current: impl Fn(MessageId, u64) -> bool,
    ) {
        self.ends.push_back(End { at, id, lease });
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
            let extended = &mut self.extended;
            self.ends.retain(|end| {
                let is_kept = is_current(end.id, end.lease);
                if !is_kept && !extended.is_empty() {
                    extended.remove(&end.lease);
                }
                is_kept
            });
        }
    }

    /// Extends a lease.
    pub(crate) fn extend(&mut self, lease: u64, at: Timestamp) {
        self.extended.insert(lease, at);
    }

    pub(crate) fn forget(&mut self, lease: u64) {
        if !self.extended.is_empty() {
            self.extended.remove(&lease);
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
            let later = self.extended.remove(&lease);
            if !is_current(id, lease) {
                continue;
            }
            match later {
                Some(later) if later > now => self.reschedule(later, id, lease),
                _ => return Some((id, lease)),
            }
        }
        None
    }

    /// An extended lease is ordered as if it had begun at its extension.
    fn reschedule(&mut self, at: Timestamp, id: MessageId, lease: u64) {
        let after = self.ends.partition_point(|other| other.at <= at);
        self.ends.insert(after, End { at, id, lease });
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
        let rest = self.resting.peek().map(|Reverse((due, _))| *due);
        match (end, rest) {
            (Some(end), Some(rest)) => Some(end.min(rest)),
            (end, rest) => end.or(rest),
        }
    }

    /// The number of entries for leases.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
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
            let at = Timestamp(lease);
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
        deadlines.lease(Timestamp(10), ID, 1, 1, |_, _| true);
        deadlines.extend(1, Timestamp(20));
        assert_eq!(deadlines.next_ended(Timestamp(15), |_, _| true), None);
        assert_eq!(deadlines.next_due(), Some(Timestamp(20)));
        assert_eq!(deadlines.next_ended(Timestamp(20), |_, _| true), Some((ID, 1)));
    }
}
