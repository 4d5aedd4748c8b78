//! Reading a topic without being a member of a group.

use crate::core::Core;
use crate::error::QueueError;
use crate::group::Start;
use crate::message::Message;
use crate::name::Name;
use crate::topic::{LaneCursor, Overtaken, Step, Topic};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

/// What a reader meets.
#[derive(Clone, Debug)]
pub enum Read {
    /// The next message.
    Message(Message),
    /// The stream dropped messages before the reader came to them.
    Missed {
        /// In which lane.
        lane: u8,
        /// How many.
        messages: u64,
    },
}

/// Reads every message of a topic, lane by lane from the highest priority on, in the order in which
/// they were published. It has a place of its own, which is stored nowhere, and holds nobody back: a
/// reader that is overtaken by retention is told how much it missed, and goes on as the topic says
/// ([`Overtaken`](crate::Overtaken)).
pub struct Reader {
    topic: Arc<Topic>,
    lanes: Vec<LaneCursor>,
    /// How much it had missed when it was cut off.
    cut_off: Option<u64>,
    _core: Arc<Core>,
}

impl Reader {
    pub(crate) fn new(
        topic: Arc<Topic>,
        core: Arc<Core>,
        start: Start,
    ) -> Result<Self, QueueError> {
        let priorities = usize::from(topic.options.priorities);
        let lanes = (0..priorities)
            .map(|nth| Ok(LaneCursor::new(nth, core.start(&topic, nth, start)?)))
            .collect::<Result<_, QueueError>>()?;
        Ok(Self { topic, lanes, cut_off: None, _core: core })
    }

    /// At these places, as [`Reader::positions`] told them; lanes beyond them from their beginnings.
    pub(crate) fn at(topic: Arc<Topic>, core: Arc<Core>, positions: &[u64]) -> Self {
        let lanes = (0..usize::from(topic.options.priorities))
            .map(|nth| LaneCursor::new(nth, positions.get(nth).copied().unwrap_or_default()))
            .collect();
        Self { topic, lanes, cut_off: None, _core: core }
    }

    /// The topic that it reads.
    #[must_use]
    pub fn topic(&self) -> &Name {
        &self.topic.name
    }

    /// The number of the next message of each lane, lowest priority first.
    #[must_use]
    pub fn positions(&self) -> Vec<u64> {
        self.lanes.iter().map(LaneCursor::next).collect()
    }

    /// How many messages lie before it.
    #[must_use]
    pub fn lag(&self) -> u64 {
        let lag = |(cursor, nth): (&LaneCursor, usize)| {
            (self.topic.lanes[nth].visible() + 1).saturating_sub(cursor.next())
        };
        self.lanes.iter().zip(0..).map(lag).sum()
    }

    /// The next message, if there is one.
    #[inline]
    pub fn try_next(&mut self) -> Result<Option<Read>, QueueError> {
        if let Some(messages) = self.cut_off {
            return Err(self.was_cut_off(messages));
        }
        for (nth, cursor) in self.lanes.iter_mut().enumerate().rev() {
            match cursor.step(&self.topic)? {
                Step::Message(message) => return Ok(Some(Read::Message(message))),
                Step::Gap(from, to) => {
                    let to = match self.topic.options.overtaken {
                        Overtaken::Oldest => to,
                        Overtaken::Newest => to.max(self.topic.lanes[nth].visible()),
                        Overtaken::CutOff => {
                            self.cut_off = Some(to - from);
                            return Err(self.was_cut_off(to - from));
                        }
                    };
                    cursor.seek(to);
                    return Ok(Some(Read::Missed { lane: nth as u8, messages: to - from }));
                }
                Step::End => {}
            }
        }
        self.topic.check_open()?;
        Ok(None)
    }

    #[cold]
    fn was_cut_off(&self, messages: u64) -> QueueError {
        QueueError::CutOff { topic: self.topic.name.clone(), messages }
    }

    /// The next message; waits for it at most this long.
    pub fn next(&mut self, wait: Duration) -> Result<Option<Read>, QueueError> {
        if let Some(read) = self.try_next()? {
            return Ok(Some(read));
        }
        let deadline = Instant::now().checked_add(wait);
        let house = self.topic.house.clone();
        house.block_on(self.read(), deadline).transpose()
    }

    /// The next message, as soon as there is one. Dropping the future loses nothing.
    pub async fn read(&mut self) -> Result<Read, QueueError> {
        std::future::poll_fn(|context| {
            for (cursor, lane) in self.lanes.iter().zip(&self.topic.lanes) {
                lane.arrivals.register(cursor.next(), context.waker());
            }
            match self.try_next() {
                Ok(None) => Poll::Pending,
                Ok(Some(read)) => Poll::Ready(Ok(read)),
                Err(error) => Poll::Ready(Err(error)),
            }
        })
        .await
    }
}
