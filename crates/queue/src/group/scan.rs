//! Scans messages of a group without leasing them.

use super::members::Group;
use crate::error::QueueError;
use crate::message::Message;
use crate::topic::{LaneCursor, Step};

/// The position of a scan, which begins with the oldest messages that are not acknowledged. It does
/// not lock the group while the disk is read.
pub(crate) struct GroupScan<'g> {
    group: &'g Group,
    lanes: Vec<LaneCursor>,
    /// The number of lanes that are left; the last one is scanned first.
    left: usize,
}

impl GroupScan<'_> {
    /// The next message that would be delivered if no delay or lease ended.
    pub(crate) fn next(&mut self) -> Result<Option<Message>, QueueError> {
        while let Some(nth) = self.left.checked_sub(1) {
            match self.lanes[nth].step(&self.group.topic)? {
                Step::Message(message) if self.group.would_give(&message) => {
                    return Ok(Some(message));
                }
                Step::Message(_) | Step::Gap(..) => {}
                Step::End => self.left = nth,
            }
        }
        Ok(None)
    }

    /// The number of the next message of each lane.
    pub(crate) fn positions(&self) -> Vec<u64> {
        self.lanes.iter().map(LaneCursor::next).collect()
    }
}

impl Group {
    /// A scan from the oldest messages that are not acknowledged, but not before `from`.
    pub(crate) fn look(&self, from: &[u64]) -> Result<GroupScan<'_>, QueueError> {
        let begin = |(lane, floor): (usize, u64)| {
            LaneCursor::new(lane, floor.max(from.get(lane).copied().unwrap_or_default()))
        };
        let lanes: Vec<_> = self.floors()?.into_iter().enumerate().map(begin).collect();
        Ok(GroupScan { group: self, left: lanes.len(), lanes })
    }

    /// At most `messages_max` messages that would be delivered next, up to the one that reaches
    /// `bytes_max` bytes. They end before damage, which is an error if it comes first.
    pub(crate) fn peek(
        &self,
        messages_max: usize,
        bytes_max: usize,
    ) -> Result<Vec<Message>, QueueError> {
        let (mut messages, mut bytes) = (Vec::new(), 0);
        let mut looking = self.look(&[])?;
        while messages.len() < messages_max && bytes < bytes_max {
            match looking.next() {
                Ok(Some(message)) => {
                    bytes += message.bytes();
                    messages.push(message);
                }
                Ok(None) => break,
                Err(error) if messages.is_empty() => return Err(error),
                // Whoever consumes the message that cannot be read gets the error.
                Err(_) => break,
            }
        }
        Ok(messages)
    }
}
