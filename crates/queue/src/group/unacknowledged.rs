//! Visits every message that a group has not acknowledged.

use super::members::Group;
use crate::error::QueueError;
use crate::message::Message;
use crate::shared::SharedQueue;
use crate::topic::{LaneCursor, Step, Topic};
use rialto_log::Level;
use std::iter::FusedIterator;
use std::sync::Arc;

/// A stretch of acknowledged messages of this length is skipped without reading it.
const SKIPPED_MIN: u64 = 1_024;

/// The messages that a group has not acknowledged, without leasing them
/// ([`Consumer::unacknowledged`](crate::Consumer::unacknowledged)).
pub struct Unacknowledged<'g> {
    group: &'g Group,
    core: &'g SharedQueue,
    /// The cursors of the lanes, that of delayed messages last; they are visited from the last on.
    lanes: Vec<LaneCursor>,
    /// The number of lanes that are left; 0 after an error.
    left: usize,
}

/// What a scan does with a message.
enum Visit {
    /// It is not acknowledged.
    Yes,
    /// It is acknowledged, or is none of the group's. The number is that of the next message that
    /// may be another.
    No(u64),
}

impl Unacknowledged<'_> {
    fn step(&mut self) -> Result<Option<Message>, QueueError> {
        let topic = &self.group.topic;
        while let Some(nth) = self.left.checked_sub(1) {
            let is_delayed = nth == topic.priorities().len();
            match self.lanes[nth].step(topic)? {
                Step::Message(message) => match self.group.visit(&message, is_delayed) {
                    Visit::Yes => return Ok(Some(message)),
                    Visit::No(next) if next > message.id().seq + SKIPPED_MIN => {
                        self.lanes[nth].seek(next);
                    }
                    Visit::No(_) => {}
                },
                Step::Gap(..) => {}
                Step::End => {
                    if is_delayed {
                        // Delayed messages that were moved meanwhile are visited where they are now.
                        self.core.wait_settled(topic)?;
                    }
                    self.left = nth;
                }
            }
        }
        Ok(None)
    }
}

impl Iterator for Unacknowledged<'_> {
    type Item = Result<Message, QueueError>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.left = 0;
        }
        step.transpose()
    }
}

impl FusedIterator for Unacknowledged<'_> {}

impl Group {
    /// A scan of the messages that are not acknowledged. It does not lock the group while the disk
    /// is read.
    pub(crate) fn unacknowledged<'g>(
        &'g self,
        core: &'g SharedQueue,
    ) -> Result<Unacknowledged<'g>, QueueError> {
        let floors = self.floors()?;
        core.wait_settled(&self.topic)?;
        let delayed = self.topic.delayed().floor();
        let floors = floors.into_iter().chain([delayed]).enumerate();
        let lanes: Vec<_> = floors.map(|(nth, floor)| LaneCursor::new(nth, floor)).collect();
        Ok(Unacknowledged { group: self, core, left: lanes.len(), lanes })
    }

    fn visit(&self, message: &Message, is_delayed: bool) -> Visit {
        let id = message.id();
        if is_delayed && self.topic.delayed().is_moved(id.seq) {
            return Visit::No(id.seq + 1);
        }
        let inner = self.inner();
        if !is_delayed {
            let open = inner.state.window(id.lane).first_open(id.seq);
            if open > id.seq {
                return Visit::No(open);
            }
        }
        let filter = inner.state.options.filter.as_ref();
        if filter.is_none_or(|filter| filter.holds(message)) {
            Visit::Yes
        } else {
            Visit::No(id.seq + 1)
        }
    }
}

impl SharedQueue {
    /// Waits until everything that a topic has accepted is visible, and every delayed message that
    /// left its lane is in another. Does nothing if they are.
    fn wait_settled(&self, topic: &Arc<Topic>) -> Result<(), QueueError> {
        let settled = async {
            let moved = topic.delayed().moved_round();
            if let (Some(control), Some(round)) = (&self.control, moved)
                && topic.level() != Level::Memory
            {
                control.round(round, false).await?;
            }
            topic.visible().await
        };
        self.runtime.block_on(settled, None).unwrap_or(Err(QueueError::Closed))
    }
}
