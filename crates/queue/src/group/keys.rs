//! Keeping messages of one key in order.

use crate::message::MessageId;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Which keys are being worked on. Keys are distinguished by a hash of 64 bits: two that share one wait
/// for each other needlessly, and nothing worse.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    /// The unacknowledged messages of each key, in order; the first is the one whose turn it is.
    queues: HashMap<u64, VecDeque<MessageId>>,
    of: HashMap<MessageId, u64>,
}

fn hash(key: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

impl Keys {
    /// Notes a message that comes after all that were noted before. True if it is its turn.
    pub(crate) fn enter(&mut self, key: &[u8], id: MessageId) -> bool {
        if key.is_empty() {
            return true;
        }
        let hash = hash(key);
        self.of.insert(id, hash);
        let queue = self.queues.entry(hash).or_default();
        queue.push_back(id);
        queue.len() == 1
    }

    /// A message is acknowledged; returns the one whose turn it is now.
    pub(crate) fn leave(&mut self, id: MessageId) -> Option<MessageId> {
        if self.of.is_empty() {
            return None;
        }
        let hash = self.of.remove(&id)?;
        let queue = self.queues.get_mut(&hash)?;
        let was_first = queue.front() == Some(&id);
        // Most leave in their turn; a look at all that wait would be long for a key that is often used.
        if was_first {
            queue.pop_front();
        } else {
            queue.retain(|other| *other != id);
        }
        let next = queue.front().copied();
        if next.is_none() {
            self.queues.remove(&hash);
        }
        next.filter(|_| was_first)
    }
}
