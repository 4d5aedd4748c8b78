//! Which messages wait for which.

use super::message::{MessageNumber, OutboxMessage};
use std::collections::{BTreeSet, HashMap};

/// The lanes that have messages in them.
#[derive(Default)]
pub(super) struct Lanes {
    /// By address and name.
    lanes: HashMap<(String, String), Lane>,
}

struct Lane {
    messages: BTreeSet<MessageNumber>,
    /// The one that may be claimed. It is the first, unless an earlier one has come back while this
    /// one was claimed.
    head: MessageNumber,
}

/// What joining a lane came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Joined {
    /// Whether the message is the one that may be claimed.
    pub(super) is_head: bool,
    /// The message that was, and now waits.
    pub(super) passed: Option<MessageNumber>,
}

fn key(message: &OutboxMessage) -> Option<(String, String)> {
    message.lane.as_ref().map(|lane| (message.to.clone(), lane.clone()))
}

impl Lanes {
    /// Adds a message to its lane. A head that is claimed is never passed.
    pub(super) fn join(
        &mut self,
        message: &OutboxMessage,
        number: MessageNumber,
        is_claimed: impl FnOnce(MessageNumber) -> bool,
    ) -> Joined {
        let Some(key) = key(message) else { return Joined { is_head: true, passed: None } };
        let lane =
            self.lanes.entry(key).or_insert(Lane { messages: BTreeSet::new(), head: number });
        lane.messages.insert(number);
        let head = lane.head;
        if number < head && !is_claimed(head) {
            lane.head = number;
            return Joined { is_head: true, passed: Some(head) };
        }
        Joined { is_head: head == number, passed: None }
    }

    /// Takes a message out of its lane, and returns the one that may be claimed from now on, if that
    /// is another than before.
    pub(super) fn leave(
        &mut self,
        message: &OutboxMessage,
        number: MessageNumber,
    ) -> Option<MessageNumber> {
        let key = key(message)?;
        let lane = self.lanes.get_mut(&key)?;
        lane.messages.remove(&number);
        let Some(first) = lane.messages.first().copied() else {
            self.lanes.remove(&key);
            return None;
        };
        if lane.head != number {
            return None;
        }
        lane.head = first;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(lane: &str) -> OutboxMessage {
        OutboxMessage::new("ledger", "").in_lane(lane)
    }

    #[test]
    fn a_message_that_comes_back_passes_those_that_wait_but_not_one_under_way() {
        for claimed in [false, true] {
            let mut lanes = Lanes::default();
            lanes.join(&message("a"), MessageNumber(5), |_| false);
            let joined = lanes.join(&message("a"), MessageNumber(3), |_| claimed);
            let passed = (!claimed).then_some(MessageNumber(5));
            assert_eq!(joined, Joined { is_head: !claimed, passed });
            let next = lanes.leave(&message("a"), MessageNumber(5));
            assert_eq!(next, claimed.then_some(MessageNumber(3)));
        }
    }

    #[test]
    fn a_lane_without_messages_takes_no_room() {
        let mut lanes = Lanes::default();
        for number in (0..100).map(MessageNumber) {
            lanes.join(&message(&number.0.to_string()), number, |_| false);
            assert_eq!(lanes.leave(&message(&number.0.to_string()), number), None);
        }
        assert!(lanes.lanes.is_empty());
    }
}
