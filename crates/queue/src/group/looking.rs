//! Looking at messages of a group without taking them.

use super::members::Group;
use crate::error::QueueError;
use crate::message::Message;
use crate::topic::{LaneCursor, Step};

/// How far somebody has looked, from the oldest messages on that the group is not done with. It keeps
/// nobody from the group: the disk is read between two looks at what the group knows.
pub(crate) struct Looking<'g> {
    group: &'g Group,
    /// The lanes that are left; the last goes first.
    lanes: Vec<LaneCursor>,
}

impl Looking<'_> {
    /// The next message that would be handed out, if everybody who rests or is waited for stayed
    /// where they are.
    pub(crate) fn next(&mut self) -> Result<Option<Message>, QueueError> {
        while let Some(cursor) = self.lanes.last_mut() {
            match cursor.step(&self.group.topic)? {
                Step::Message(message) if self.group.would_give(&message) => {
                    return Ok(Some(message));
                }
                Step::Message(_) | Step::Gap(..) => {}
                Step::End => drop(self.lanes.pop()),
            }
        }
        Ok(None)
    }
}

impl Group {
    pub(crate) fn look(&self) -> Result<Looking<'_>, QueueError> {
        let floors = self.floors()?;
        let lanes = floors.into_iter().enumerate();
        Ok(Looking {
            group: self,
            lanes: lanes.map(|(lane, floor)| LaneCursor::new(lane, floor)).collect(),
        })
    }

    /// At most `messages_max` messages that would be handed out next, up to the one with which they
    /// take `bytes_max` bytes or more.
    pub(crate) fn peek(
        &self,
        messages_max: usize,
        bytes_max: usize,
    ) -> Result<Vec<Message>, QueueError> {
        let (mut messages, mut bytes) = (Vec::new(), 0);
        let mut looking = self.look()?;
        while messages.len() < messages_max
            && bytes < bytes_max
            && let Some(message) = looking.next()?
        {
            bytes += message.bytes();
            messages.push(message);
        }
        Ok(messages)
    }
}
