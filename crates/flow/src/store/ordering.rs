//! The order of messages that have one ordering key.

use super::message::{MessageNumber, OutboxMessage};
use std::collections::{BTreeSet, HashMap};

#[derive(Default)]
pub(super) struct OrderedMessages {
    /// The queues by address and ordering key.
    queues: HashMap<(String, String), Queue>,
}

struct Queue {
    messages: BTreeSet<MessageNumber>,
    /// The message that may be claimed. It is the first, unless an earlier one was requeued while
    /// this one was claimed.
    head: MessageNumber,
}

/// The result of adding a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Joined {
    /// Whether the message is the one that may be claimed.
    pub(super) is_head: bool,
    /// The message that was the head before, and now waits.
    pub(super) passed: Option<MessageNumber>,
}

fn key(message: &OutboxMessage) -> Option<(String, String)> {
    message.ordering_key.as_ref().map(|key| (message.to.clone(), key.clone()))
}

impl OrderedMessages {
    /// Adds a message behind those of its key. A head that is claimed is never passed.
    pub(super) fn join(
        &mut self,
        message: &OutboxMessage,
        number: MessageNumber,
        is_claimed: impl FnOnce(MessageNumber) -> bool,
    ) -> Joined {
        let Some(key) = key(message) else { return Joined { is_head: true, passed: None } };
        let queue =
            self.queues.entry(key).or_insert(Queue { messages: BTreeSet::new(), head: number });
        queue.messages.insert(number);
        let head = queue.head;
        if number < head && !is_claimed(head) {
            queue.head = number;
            return Joined { is_head: true, passed: Some(head) };
        }
        Joined { is_head: head == number, passed: None }
    }

    /// Takes a message out of its queue, and returns the new head, if it changed.
    pub(super) fn leave(
        &mut self,
        message: &OutboxMessage,
        number: MessageNumber,
    ) -> Option<MessageNumber> {
        let key = key(message)?;
        let queue = self.queues.get_mut(&key)?;
        queue.messages.remove(&number);
        let Some(first) = queue.messages.first().copied() else {
            self.queues.remove(&key);
            return None;
        };
        if queue.head != number {
            return None;
        }
        queue.head = first;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(key: &str) -> OutboxMessage {
        OutboxMessage::new("ledger", "").with_ordering_key(key)
    }

    #[test]
    fn a_returned_message_passes_waiting_ones_but_none_in_flight() {
        for claimed in [false, true] {
            let mut ordered = OrderedMessages::default();
            ordered.join(&message("a"), MessageNumber(5), |_| false);
            let joined = ordered.join(&message("a"), MessageNumber(3), |_| claimed);
            let passed = (!claimed).then_some(MessageNumber(5));
            assert_eq!(joined, Joined { is_head: !claimed, passed });
            let next = ordered.leave(&message("a"), MessageNumber(5));
            assert_eq!(next, claimed.then_some(MessageNumber(3)));
        }
    }

    #[test]
    fn an_ordering_key_without_messages_takes_no_room() {
        let mut ordered = OrderedMessages::default();
        for number in (0..100).map(MessageNumber) {
            ordered.join(&message(&number.0.to_string()), number, |_| false);
            assert_eq!(ordered.leave(&message(&number.0.to_string()), number), None);
        }
        assert!(ordered.queues.is_empty());
    }
}
