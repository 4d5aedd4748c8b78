//! The turn of a publishing thread to write a topic.

use super::Topic;
use super::filling::Filling;
use crate::runtime::Work;
use std::sync::Arc;

/// The right of a thread to write the pending messages of a topic, which it published itself.
///
/// A thread that waits for its message anyway may as well write it. That saves waking a thread of
/// the queue and being woken by it, and lets as many topics be written at once as threads publish.
/// Dropped without a write, it leaves the messages to a thread of the queue.
pub(crate) struct WriteTurn {
    topic: Option<Arc<Topic>>,
}

impl WriteTurn {
    /// Takes the turn, unless a write is queued or in progress.
    pub(super) fn take(topic: &Arc<Topic>, filling: &mut Filling) -> Option<Self> {
        let is_taken = std::mem::replace(&mut filling.is_scheduled, true);
        (!is_taken).then(|| Self { topic: Some(topic.clone()) })
    }

    /// Writes what is pending. Messages that arrive meanwhile are left to a thread of the queue:
    /// this one is needed no longer than its own message takes.
    pub(crate) fn write(mut self) {
        let Some(topic) = self.topic.take() else { return };
        if topic.write_round() {
            topic.runtime.ask(Work::Write(topic.clone()));
        }
    }
}

impl Drop for WriteTurn {
    fn drop(&mut self) {
        if let Some(topic) = self.topic.take() {
            topic.runtime.ask(Work::Write(topic.clone()));
        }
    }
}
