//! Reads the messages of a lane in order.

use super::{MessageLocation, Topic};
use crate::batch::{Batch, BatchCursor};
use crate::descriptor_pool::DescriptorPermit;
use crate::error::QueueError;
use crate::message::Message;
use rialto_log::{ReadError, Reader};

/// The next item of a lane.
pub(crate) enum Step {
    Message(Message),
    /// There is nothing more yet.
    End,
    /// Messages that were not read were dropped: from the first number to the one before the
    /// second.
    Gap(u64, u64),
}

/// A reader, and the permit to keep its file open, if there is one.
struct PooledReader {
    reader: Reader,
    seat: Option<DescriptorPermit>,
}

pub(crate) struct LaneCursor {
    nth: usize,
    next: u64,
    at: Option<BatchCursor>,
    /// The reader of messages that are no longer in memory.
    reader: Option<PooledReader>,
    /// Whether files are mapped where possible.
    maps: bool,
}

impl LaneCursor {
    /// A cursor at message `next` of the lane with this index in [`Topic::lanes`].
    pub(crate) fn new(nth: usize, next: u64) -> Self {
        Self { nth, next: next.max(1), at: None, reader: None, maps: true }
    }

    /// As [`LaneCursor::new`], without mapping files, for the opening of a queue.
    pub(crate) fn unmapped(nth: usize, next: u64) -> Self {
        Self { maps: false, ..Self::new(nth, next) }
    }

    /// The number of the next message.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn seek(&mut self, next: u64) {
        if next != self.next {
            *self = Self { maps: self.maps, ..Self::new(self.nth, next) };
        }
    }

    /// The next message.
    #[inline]
    pub(crate) fn step(&mut self, topic: &Topic) -> Result<Step, QueueError> {
        loop {
            if let Some(at) = &mut self.at {
                let lane = &topic.lanes[self.nth];
                // Dropped messages are not delivered, even if they are still in memory.
                if self.next >= lane.first()
                    && let Some(message) = at.next(lane.number)
                {
                    self.next = at.next_seq();
                    return Ok(Step::Message(message));
                }
                self.next = self.next.max(at.next_seq());
                self.at = None;
            }
            if let Some(step) = self.find(topic)? {
                return Ok(step);
            }
        }
    }

    /// Finds the batch of the next message, or the reason that there is none.
    fn find(&mut self, topic: &Topic) -> Result<Option<Step>, QueueError> {
        let lane = &topic.lanes[self.nth];
        match lane.find(self.next) {
            MessageLocation::Batch(batch) => {
                self.reader = None;
                self.at = Some(BatchCursor::new(batch, self.next));
            }
            MessageLocation::Open => topic.shelve_open(self.nth),
            MessageLocation::Ahead => return Ok(Some(Step::End)),
            MessageLocation::Gone(first) => {
                let from = std::mem::replace(&mut self.next, first);
                (self.at, self.reader) = (None, None);
                return Ok(Some(Step::Gap(from, first)));
            }
            MessageLocation::Disk => return self.read(topic),
        }
        Ok(None)
    }

    fn read(&mut self, topic: &Topic) -> Result<Option<Step>, QueueError> {
        let lane = &topic.lanes[self.nth];
        if self.reader.as_ref().is_none_or(|it| it.reader.next_seq() != self.next) {
            let reader = match lane
                .read_from(self.next, topic.runtime.maps.as_ref().filter(|_| self.maps))
            {
                // It was deleted between the check and the read.
                Err(QueueError::Read(ReadError::BelowOldest { oldest, .. })) => {
                    let from = std::mem::replace(&mut self.next, oldest);
                    return Ok(Some(Step::Gap(from, oldest)));
                }
                reader => reader?,
            };
            self.reader = None;
            self.reader =
                reader.map(|reader| PooledReader { reader, seat: topic.runtime.awake.seat() });
        }
        let Some(PooledReader { reader, seat }) = &mut self.reader else {
            return Ok(Some(Step::End));
        };
        reader.set_end(lane.visible());
        let view = match reader.next_group() {
            // The file was deleted meanwhile; the log knows the oldest message left.
            Err(ReadError::Superseded { .. }) => {
                self.reader = None;
                return Ok(None);
            }
            view => view?,
        };
        let Some(view) = view else { return Ok(Some(Step::End)) };
        let batch = Batch::of_view(&view, topic.form(), &topic.runtime.spares);
        self.at = Some(BatchCursor::new(batch, self.next));
        if seat.is_none() {
            self.reader = None;
        }
        Ok(None)
    }
}
