//! Conflation: a reader that fell behind gets only the last message of each key.

use crate::error::QueueError;
use crate::message::Message;
use crate::topic::{LaneCursor, Step, Topic};
use std::collections::HashMap;

/// The most keys that are distinguished when a reader is conflated. Messages of further keys are
/// all delivered.
pub const CONFLATED_KEYS_MAX: usize = 16_384;

/// The most messages and bytes that are scanned in one step, so that a task that scans a long
/// stretch yields to others.
const SCAN_MESSAGES: usize = 4_096;
const SCAN_BYTES: usize = 1 << 20;

/// A stretch of a lane of which a reader is handed the last message of each key, and those without a
/// key.
pub(crate) struct ConflatedRange {
    /// The number after its last message.
    end: u64,
    /// The scan's position; `None` once it is complete.
    cursor: Option<LaneCursor>,
    /// The last message of each key.
    lasts: HashMap<Box<[u8]>, u64>,
    left_out: u64,
}

/// The progress of scanning a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScanState {
    Complete,
    /// The scan is incomplete.
    Incomplete,
    /// Retention dropped some of its messages; the reader reports that first.
    Overtaken,
}

impl ConflatedRange {
    /// All messages of a lane from `from` on, not scanned yet.
    pub(crate) fn new(topic: &Topic, nth: usize, from: u64) -> Self {
        let end = topic.lanes[nth].visible() + 1;
        let cursor = Some(LaneCursor::new(nth, from));
        Self { end, cursor, lasts: HashMap::new(), left_out: 0 }
    }

    /// Scans more of its messages.
    pub(crate) fn scan(&mut self, topic: &Topic) -> Result<ScanState, QueueError> {
        let (mut messages, mut bytes) = (0, 0);
        while let Some(cursor) = self.cursor.as_mut().filter(|it| it.next() < self.end) {
            if messages >= SCAN_MESSAGES || bytes >= SCAN_BYTES {
                return Ok(ScanState::Incomplete);
            }
            match cursor.step(topic)? {
                Step::Message(message) if message.id().seq < self.end => {
                    messages += 1;
                    bytes += message.record().len();
                    self.note(&message);
                }
                Step::Message(_) | Step::End => break,
                Step::Gap(..) => return Ok(ScanState::Overtaken),
            }
        }
        self.cursor = None;
        Ok(ScanState::Complete)
    }

    /// Whether all of its messages have been scanned.
    pub(crate) fn is_scanned(&self) -> bool {
        self.cursor.is_none()
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

    /// The number of its messages that are not delivered.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Whether one of its messages is delivered.
    pub(crate) fn keeps(&self, message: &Message) -> bool {
        let seq = message.id().seq;
        seq >= self.end || self.lasts.get(message.key()).is_none_or(|last| *last == seq)
    }
}
