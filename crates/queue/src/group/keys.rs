//! The order of messages with one key.

use crate::message::MessageId;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The keys with outstanding messages. Keys are compared by a hash of 64 bits: two keys with one
/// hash wait for each other, which only costs time.
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
    /// Adds a message behind all earlier ones. Returns whether it is its turn.
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

    /// Whether messages of a key are outstanding.
    pub(crate) fn is_busy(&self, key: &[u8]) -> bool {
        !key.is_empty() && self.queues.contains_key(&hash(key))
    }

    /// Removes an acknowledged message; returns the next one.
    pub(crate) fn leave(&mut self, id: MessageId) -> Option<MessageId> {
        if self.of.is_empty() {
            return None;
        }
        let hash = self.of.remove(&id)?;
        let queue = self.queues.get_mut(&hash)?;
        let was_first = queue.front() == Some(&id);
        // Most messages leave in their turn, and a search would be long for a frequent key.
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
