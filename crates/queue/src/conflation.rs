//! What readers that fell behind are spared: of the messages of one key, all but the last.

use crate::error::QueueError;
use crate::message::Message;
use crate::topic::{LaneCursor, Step, Topic};
use std::collections::HashMap;

/// The most keys that are told apart when a reader is conflated. Messages of further keys are handed
/// out one and all.
pub const CONFLATED_KEYS_MAX: usize = 16_384;

/// A stretch of a lane of which a reader is handed the last message of each key, and those without a
/// key.
pub(crate) struct Stretch {
    /// The number behind its last message.
    end: u64,
    /// The last message of each key.
    lasts: HashMap<Box<[u8]>, u64>,
    left_out: u64,
}

impl Stretch {
    /// Looks at all messages of a lane from `from` on. Nothing if some of them are gone, of which the
    /// reader has to be told first.
    pub(crate) fn look(topic: &Topic, nth: usize, from: u64) -> Result<Option<Self>, QueueError> {
        let end = topic.lanes[nth].visible() + 1;
        let mut stretch = Self { end, lasts: HashMap::new(), left_out: 0 };
        let mut cursor = LaneCursor::new(nth, from);
        while cursor.next() < end {
            match cursor.step(topic)? {
                Step::Message(message) if message.id().seq < end => stretch.note(&message),
                Step::Message(_) | Step::End => break,
                Step::Gap(..) => return Ok(None),
            }
        }
        Ok(Some(stretch))
    }

    fn note(&mut self, message: &Message) {
        let (key, seq) = (message.key(), message.id().seq);
        if key.is_empty() {
            return;
        }
        if let Some(last) = self.lasts.get_mut(key) {
            *last = seq;
            self.left_out += 1;
        } else if self.lasts.len() < CONFLATED_KEYS_MAX {
            self.lasts.insert(key.into(), seq);
        }
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// How many of its messages are not handed out.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Whether one of its messages is handed out.
    pub(crate) fn keeps(&self, message: &Message) -> bool {
        let seq = message.id().seq;
        seq >= self.end || self.lasts.get(message.key()).is_none_or(|last| *last == seq)
    }
}
