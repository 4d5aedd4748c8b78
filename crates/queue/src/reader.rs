//! Reading a topic without being a member of a group.

use crate::conflation::{ConflatedRange, ScanState};
use crate::error::QueueError;
use crate::group::Start;
use crate::message::Message;
use crate::name::Name;
use crate::shared::SharedQueue;
use crate::topic::{Lane, LaneCursor, SlowReaderPolicy, Step, Topic};
use crate::waiting::Waiting;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

/// An item of a reader.
#[derive(Clone, Debug)]
pub enum Read {
    /// The next message.
    Message(Message),
    /// The stream dropped messages before the reader came to them.
    Missed {
        /// The lane.
        lane: u8,
        /// The number of messages.
        messages: u64,
    },
    /// The reader is too far behind, and messages with later ones of the same key are left out
    /// ([`SlowReaderPolicy::Conflated`](crate::SlowReaderPolicy::Conflated)).
    Conflated {
        /// The lane.
        lane: u8,
        /// The number of messages that are left out.
        messages: u64,
    },
}

/// The next step of a reader in a lane.
enum ReadStep {
    Read(Read),
    Nothing,
    /// The scan for conflation is incomplete.
    Unfinished,
}

/// Reads every message of a topic, lane by lane from the highest priority on, in the order in which
/// they were published. Its position is not stored and does not hold back retention: a reader that
/// retention overtakes, or that falls far behind, gets the number of missed messages and continues
/// as the topic's options say ([`SlowReaderPolicy`](crate::SlowReaderPolicy)).
pub struct Reader {
    topic: Arc<Topic>,
    lanes: Vec<LaneCursor>,
    /// The conflated stretch of each lane, if any.
    ranges: Vec<Option<ConflatedRange>>,
    /// The number of missed messages when it was closed.
    cut_off: Option<u64>,
    _core: Arc<SharedQueue>,
}

impl Reader {
    pub(crate) fn new(
        topic: Arc<Topic>,
        core: Arc<SharedQueue>,
        start: Start,
    ) -> Result<Self, QueueError> {
        let priorities = usize::from(topic.options.priorities);
        let lanes = (0..priorities)
            .map(|nth| Ok(LaneCursor::new(nth, core.start(&topic, nth, start)?)))
            .collect::<Result<_, QueueError>>()?;
        Ok(Self::with(topic, core, lanes))
    }

    /// A reader at these positions, as [`Reader::positions`] returned them; further lanes are read
    /// from their beginnings.
    pub(crate) fn at(topic: Arc<Topic>, core: Arc<SharedQueue>, positions: &[u64]) -> Self {
        let lanes = (0..usize::from(topic.options.priorities))
            .map(|nth| LaneCursor::new(nth, positions.get(nth).copied().unwrap_or_default()))
            .collect();
        Self::with(topic, core, lanes)
    }

    fn with(topic: Arc<Topic>, core: Arc<SharedQueue>, lanes: Vec<LaneCursor>) -> Self {
        let ranges = lanes.iter().map(|_| None).collect();
        Self { topic, lanes, ranges, cut_off: None, _core: core }
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

    /// Whether these positions ([`Reader::positions`]) are still valid: the topic is not deleted,
    /// the queue not closed, and no message from there on was dropped.
    #[must_use]
    pub fn still_has(&self, positions: &[u64]) -> bool {
        let has = |(lane, at): (&Lane, &u64)| lane.first() <= *at;
        self.topic.check_open().is_ok() && self.topic.lanes.iter().zip(positions).all(has)
    }

    /// The number of messages that it has not read.
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
        loop {
            match self.meet()? {
                ReadStep::Read(read) => return Ok(Some(read)),
                ReadStep::Nothing => return Ok(None),
                ReadStep::Unfinished => {}
            }
        }
    }

    /// The next item of any lane.
    #[inline]
    fn meet(&mut self) -> Result<ReadStep, QueueError> {
        if let Some(messages) = self.cut_off {
            return Err(self.was_cut_off(messages));
        }
        for nth in (0..self.lanes.len()).rev() {
            match self.read_lane(nth)? {
                ReadStep::Nothing => {}
                met => return Ok(met),
            }
        }
        self.topic.check_open()?;
        Ok(ReadStep::Nothing)
    }

    /// The next item of a lane.
    #[inline]
    fn read_lane(&mut self, nth: usize) -> Result<ReadStep, QueueError> {
        let lane = nth as u8;
        loop {
            if let SlowReaderPolicy::Conflated { behind } = self.topic.options.overtaken {
                match self.spare(nth, behind)? {
                    ReadStep::Nothing => {}
                    met => return Ok(met),
                }
            }
            let cursor = &mut self.lanes[nth];
            match cursor.step(&self.topic)? {
                Step::Message(message) => {
                    if self.ranges[nth].as_ref().is_none_or(|range| range.keeps(&message)) {
                        return Ok(ReadStep::Read(Read::Message(message)));
                    }
                }
                Step::Gap(from, to) => {
                    let to = match self.topic.options.overtaken {
                        SlowReaderPolicy::Oldest | SlowReaderPolicy::Conflated { .. } => to,
                        SlowReaderPolicy::Newest => to.max(self.topic.lanes[nth].visible()),
                        SlowReaderPolicy::CutOff => {
                            self.cut_off = Some(to - from);
                            return Err(self.was_cut_off(to - from));
                        }
                    };
                    cursor.seek(to);
                    return Ok(ReadStep::Read(Read::Missed { lane, messages: to - from }));
                }
                Step::End => return Ok(ReadStep::Nothing),
            }
        }
    }

    /// Begins conflation if the reader is too far behind in a lane. Returns the number of messages
    /// that are left out, if any.
    fn spare(&mut self, nth: usize, behind: u64) -> Result<ReadStep, QueueError> {
        let (lane, next) = (&self.topic.lanes[nth], self.lanes[nth].next());
        let place = &mut self.ranges[nth];
        place.take_if(|range| next >= range.end());
        let range = match place {
            Some(range) if range.is_scanned() => return Ok(ReadStep::Nothing),
            Some(range) => range,
            None => {
                let is_behind = (lane.visible() + 1).saturating_sub(next) > behind;
                // Missed messages are reported first.
                if !is_behind || next < lane.first() {
                    return Ok(ReadStep::Nothing);
                }
                place.insert(ConflatedRange::new(&self.topic, nth, next))
            }
        };
        match range.scan(&self.topic)? {
            ScanState::Incomplete => return Ok(ReadStep::Unfinished),
            ScanState::Complete if next >= lane.first() => {}
            // Some of it was dropped meanwhile.
            ScanState::Complete | ScanState::Overtaken => {
                *place = None;
                return Ok(ReadStep::Nothing);
            }
        }
        Ok(match range.left_out() {
            0 => ReadStep::Nothing,
            messages => ReadStep::Read(Read::Conflated { lane: nth as u8, messages }),
        })
    }

    #[cold]
    fn was_cut_off(&self, messages: u64) -> QueueError {
        QueueError::CutOff { topic: self.topic.name.clone(), messages }
    }

    /// The next message; waits for it until the time is over.
    pub fn next(&mut self, wait: Duration) -> Result<Option<Read>, QueueError> {
        if let Some(read) = self.try_next()? {
            return Ok(Some(read));
        }
        let deadline = Instant::now().checked_add(wait);
        let runtime = self.topic.runtime.clone();
        runtime.block_on(self.read(), deadline).transpose()
    }

    /// The next message, as soon as there is one. Dropping the future loses nothing.
    pub async fn read(&mut self) -> Result<Read, QueueError> {
        let topic = Arc::clone(&self.topic);
        let mut waiting = Waiting::new(topic.priorities());
        std::future::poll_fn(|context| {
            for is_registered in [false, true] {
                match self.meet() {
                    Ok(ReadStep::Nothing) if is_registered => {}
                    // Checked again, so that messages that arrived meanwhile are not missed.
                    Ok(ReadStep::Nothing) => {
                        waiting.register(context.waker(), |nth, _| self.lanes[nth].next());
                    }
                    Ok(ReadStep::Unfinished) => {
                        // Yields to other tasks of the thread.
                        context.waker().wake_by_ref();
                        break;
                    }
                    Ok(ReadStep::Read(read)) => return Poll::Ready(Ok(read)),
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
            Poll::Pending
        })
        .await
    }
}
