//! Publishing.

use crate::error::QueueError;
use crate::message::MessageId;
use crate::name::Name;
use crate::publish::Publish;
use crate::shared::SharedQueue;
use crate::topic::{Accepted, Incoming, Refusal, Topic, WhenFull, WriteTurn};
use rialto_log::Level;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

/// The most time that a producer waits for its earlier messages to be written.
const PENDING_WAIT: Duration = Duration::from_secs(30);

/// Publishes on one topic. Any number of threads may share it.
#[derive(Clone)]
pub struct Producer {
    topic: Arc<Topic>,
    _core: Arc<SharedQueue>,
}

/// An accepted message. It is as durable as its topic's level once [`Receipt::wait`] or
/// [`Receipt::confirmed`] returns.
#[derive(Clone)]
#[must_use = "an accepted message is not confirmed before its receipt says so"]
pub struct Receipt {
    topic: Arc<Topic>,
    /// `None` if it was accepted earlier.
    id: Option<MessageId>,
    /// The message is durable when this one is.
    mark: Option<MessageId>,
}

/// An accepted message that the thread which published it may write. Dropped, it is left to a thread
/// of the queue.
#[must_use = "an accepted message is not confirmed before it is written"]
pub struct Unwritten {
    receipt: Receipt,
    /// `None` if another thread writes the topic.
    turn: Option<WriteTurn>,
}

impl Unwritten {
    /// The receipt of the message.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// Returns when the message is as durable as its topic's level, and writes it if nobody else
    /// does.
    pub fn write(self) -> Result<Receipt, QueueError> {
        if let Some(turn) = self.turn {
            turn.write();
        }
        self.receipt.wait()?;
        Ok(self.receipt)
    }
}

/// The numbers from this one on. The greatest repeats, and is refused.
fn numbers_from(first: u64) -> impl Iterator<Item = u64> {
    (0..).map(move |nth| first.saturating_add(nth))
}

impl Producer {
    pub(crate) fn new(topic: Arc<Topic>, core: Arc<SharedQueue>) -> Self {
        Self { topic, _core: core }
    }

    /// The topic on which it publishes.
    #[must_use]
    pub fn topic(&self) -> &Name {
        &self.topic.name
    }

    /// Publishes a message and returns when it is as durable as the topic's level. Waits for room
    /// if the topic's options say so.
    pub fn publish(&self, message: &Publish<'_>) -> Result<Receipt, QueueError> {
        self.send_to_write(message)?.write()
    }

    /// As [`Producer::send`], for a thread that will wait: in [`Unwritten::write`] it writes the
    /// message itself, unless another thread writes the topic. That is faster than being woken by a
    /// thread of the queue, above all where many topics are written.
    pub fn send_to_write(&self, message: &Publish<'_>) -> Result<Unwritten, QueueError> {
        let mut accepted = None;
        let incoming = [Incoming { publish: message, producer: (0, 0) }];
        let turn = self.send_waiting_for_room(&incoming, |rest, taken| {
            self.topic.publish_to_write(rest.iter().copied(), |one| {
                *taken += 1;
                accepted = Some(one);
            })
        })?;
        Ok(Unwritten { receipt: Receipt::new(&self.topic, accepted), turn })
    }

    /// Publishes a message and returns when it is accepted; the receipt waits for its durability.
    /// Waits for room if the topic's options say so.
    pub fn send(&self, message: &Publish<'_>) -> Result<Receipt, QueueError> {
        self.send_numbered(message, (0, 0))
    }

    /// As [`Producer::send`], and a message that was accepted with this number of this producer is
    /// not published again. Numbers go up, gaps are allowed; the producer's id is not 0, and both
    /// are less than 2^64 - 1.
    pub fn send_numbered(
        &self,
        message: &Publish<'_>,
        (producer, number): (u64, u64),
    ) -> Result<Receipt, QueueError> {
        let mut receipt = None;
        let incoming = [Incoming { publish: message, producer: (producer, number) }];
        self.send_all(&incoming, |accepted| receipt = Some(accepted))?;
        Ok(Receipt::new(&self.topic, receipt))
    }

    /// Publishes messages in order and without others between them in their lanes, unless there is
    /// too much to write at once. Returns a receipt for the batch when all are accepted.
    ///
    /// If it fails, the messages before the one that was refused have been published.
    pub fn send_batch(&self, messages: &[Publish<'_>]) -> Result<BatchReceipt, QueueError> {
        self.send_numbered_batch(messages, (0, 0))
    }

    /// As [`Producer::send_batch`], with numbers from `first` on.
    pub fn send_numbered_batch(
        &self,
        messages: &[Publish<'_>],
        (producer, first): (u64, u64),
    ) -> Result<BatchReceipt, QueueError> {
        let incoming: Vec<_> = messages
            .iter()
            .zip(numbers_from(first))
            .map(|(publish, number)| Incoming { publish, producer: (producer, number) })
            .collect();
        let mut receipt = BatchReceipt {
            topic: self.topic.clone(),
            ids: Vec::with_capacity(messages.len()),
            duplicates: 0,
            marks: Vec::new(),
        };
        self.send_all(&incoming, |accepted| match accepted {
            Accepted::At(id) => receipt.ids.push(id),
            Accepted::Duplicate(mark) => receipt.duplicate(mark),
        })?;
        Ok(receipt)
    }

    /// Publishes without waiting for room.
    pub fn try_send(&self, message: &Publish<'_>) -> Result<Receipt, QueueError> {
        let mut taken = None;
        let incoming = Incoming { publish: message, producer: (0, 0) };
        match self.topic.publish([incoming], |accepted| taken = Some(accepted)) {
            Ok(()) => Ok(Receipt::new(&self.topic, taken)),
            Err(Refusal::Later(_, error) | Refusal::Never(error)) => Err(error),
        }
    }

    /// A receipt of a message that this topic accepted earlier, to wait for its durability.
    pub fn receipt_of(&self, message: MessageId) -> Receipt {
        Receipt::new(&self.topic, Some(Accepted::At(message)))
    }

    fn send_all(
        &self,
        incoming: &[Incoming<'_>],
        mut accepted: impl FnMut(Accepted),
    ) -> Result<(), QueueError> {
        self.send_waiting_for_room(incoming, |rest, taken| {
            self.topic.publish(rest.iter().copied(), |one| {
                *taken += 1;
                accepted(one);
            })
        })
    }

    /// Publishes with `publish`, which counts the messages that are accepted, and waits for room as
    /// often as it asks for some.
    fn send_waiting_for_room<'m, T>(
        &self,
        mut incoming: &[Incoming<'m>],
        mut publish: impl FnMut(&[Incoming<'m>], &mut usize) -> Result<T, Refusal>,
    ) -> Result<T, QueueError> {
        let mut began = None;
        loop {
            let mut taken = 0;
            let result = publish(incoming, &mut taken);
            incoming = &incoming[taken..];
            let (seen, error) = match result {
                Ok(value) => return Ok(value),
                Err(Refusal::Never(error)) => return Err(error),
                Err(Refusal::Later(seen, error)) => (seen, error),
            };
            let wait = match (&error, self.topic.options.when_full) {
                (QueueError::Full { .. }, WhenFull::Reject) => return Err(error),
                (QueueError::Full { .. }, WhenFull::Block(wait)) => wait,
                _ => PENDING_WAIT,
            };
            let deadline = *began.get_or_insert_with(Instant::now) + wait;
            if self.topic.runtime.block_on(self.topic.room(seen), Some(deadline)).is_none() {
                return Err(error);
            }
        }
    }

    /// As [`Producer::send_numbered_batch`], on a task. The caller bounds the wait for room with a
    /// timer of its own.
    pub async fn send_async(
        &self,
        messages: &[Publish<'_>],
        numbers: (u64, u64),
    ) -> Result<BatchReceipt, QueueError> {
        match self.send_until(messages, numbers, std::future::pending()).await {
            (receipt, None) => Ok(receipt),
            (_, Some(error)) => Err(error),
        }
    }

    /// As [`Producer::send_async`], and waits for room until `end` at most. Returns a receipt for
    /// the accepted messages, and the error if the rest was refused.
    pub async fn send_until(
        &self,
        messages: &[Publish<'_>],
        (producer, first): (u64, u64),
        end: impl Future<Output = ()>,
    ) -> (BatchReceipt, Option<QueueError>) {
        let mut end = pin!(end);
        let mut receipt = BatchReceipt {
            topic: self.topic.clone(),
            ids: Vec::with_capacity(messages.len()),
            duplicates: 0,
            marks: Vec::new(),
        };
        loop {
            let done = receipt.ids.len() + receipt.duplicates;
            let rest = messages[done..].iter().zip(numbers_from(first).skip(done));
            let incoming =
                rest.map(|(publish, number)| Incoming { publish, producer: (producer, number) });
            let result = self.topic.publish(incoming, |accepted| match accepted {
                Accepted::At(id) => receipt.ids.push(id),
                Accepted::Duplicate(mark) => receipt.duplicate(mark),
            });
            let (seen, error) = match result {
                Ok(()) => return (receipt, None),
                Err(Refusal::Never(error)) => return (receipt, Some(error)),
                Err(Refusal::Later(_, error @ QueueError::Full { .. }))
                    if self.topic.options.when_full == WhenFull::Reject =>
                {
                    return (receipt, Some(error));
                }
                Err(Refusal::Later(seen, error)) => (seen, error),
            };
            let mut room = pin!(self.topic.room(seen));
            let has_room = std::future::poll_fn(|context| match room.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(true),
                Poll::Pending => end.as_mut().poll(context).map(|()| false),
            });
            if !has_room.await {
                return (receipt, Some(error));
            }
        }
    }
}

impl Receipt {
    fn new(topic: &Arc<Topic>, accepted: Option<Accepted>) -> Self {
        let (id, mark) = match accepted {
            Some(Accepted::At(id)) => (Some(id), Some(id)),
            Some(Accepted::Duplicate(mark)) => (None, Some(mark)),
            None => (None, None),
        };
        Self { topic: topic.clone(), id, mark }
    }

    /// The message's id; `None` if it was published earlier under the same number.
    #[must_use]
    pub fn id(&self) -> Option<MessageId> {
        self.id
    }

    /// Returns when the message is as durable as its topic's level.
    pub async fn confirmed(&self) -> Result<(), QueueError> {
        self.confirmed_at(self.topic.level()).await
    }

    /// Returns when the message is durable at this level, which may be above the topic's.
    pub async fn confirmed_at(&self, level: Level) -> Result<(), QueueError> {
        confirm(&self.topic, self.mark.as_slice(), level).await
    }

    /// As [`Receipt::confirmed`], on this thread.
    pub fn wait(&self) -> Result<(), QueueError> {
        self.wait_at(self.topic.level())
    }

    /// As [`Receipt::confirmed_at`], on this thread.
    pub fn wait_at(&self, level: Level) -> Result<(), QueueError> {
        self.topic
            .runtime
            .block_on(self.confirmed_at(level), None)
            .unwrap_or(Err(QueueError::Closed))
    }
}

/// Messages that were accepted together.
#[derive(Clone)]
#[must_use = "accepted messages are not confirmed before their receipt says so"]
pub struct BatchReceipt {
    topic: Arc<Topic>,
    ids: Vec<MessageId>,
    duplicates: usize,
    /// For each lane with duplicates, the message with which they are durable.
    marks: Vec<MessageId>,
}

impl BatchReceipt {
    fn duplicate(&mut self, mark: MessageId) {
        self.duplicates += 1;
        match self.marks.iter_mut().find(|other| other.lane == mark.lane) {
            Some(last) => *last = mark.max(*last),
            None => self.marks.push(mark),
        }
    }

    /// The ids of the messages; messages that were published earlier have none.
    #[must_use]
    pub fn ids(&self) -> &[MessageId] {
        &self.ids
    }

    /// Joins this receipt and a later one: in each lane, the last message counts.
    pub(crate) fn and(mut self, later: Self) -> Self {
        for id in &later.ids {
            let id = *id;
            match self.ids.iter_mut().find(|other| other.lane == id.lane) {
                Some(last) => *last = id.max(*last),
                None => self.ids.push(id),
            }
        }
        let duplicates = self.duplicates + later.duplicates;
        later.marks.into_iter().for_each(|mark| self.duplicate(mark));
        self.duplicates = duplicates;
        self
    }

    /// The number of messages that were published earlier under the same numbers.
    #[must_use]
    pub fn duplicates(&self) -> usize {
        self.duplicates
    }

    /// Returns when all messages are as durable as the topic's level.
    pub async fn confirmed(&self) -> Result<(), QueueError> {
        self.confirmed_at(self.topic.level()).await
    }

    /// Returns when all messages are durable at this level.
    pub async fn confirmed_at(&self, level: Level) -> Result<(), QueueError> {
        confirm(&self.topic, &self.marks, level).await?;
        confirm(&self.topic, &self.ids, level).await
    }

    /// As [`BatchReceipt::confirmed`], on this thread.
    pub fn wait(&self) -> Result<(), QueueError> {
        self.topic.runtime.block_on(self.confirmed(), None).unwrap_or(Err(QueueError::Closed))
    }
}

/// Waits until these messages of a topic are kept at a level.
pub(crate) async fn confirm(
    topic: &Arc<Topic>,
    ids: &[MessageId],
    level: Level,
) -> Result<(), QueueError> {
    if topic.level() == Level::Memory {
        return if level == Level::Memory {
            Ok(())
        } else {
            Err(QueueError::Level { level: topic.level(), asked: level })
        };
    }
    let level = level.max(topic.level());
    if level > topic.level() {
        topic.want_sync();
    }
    // In each lane the last message counts, and messages of one lane mostly stand together.
    for (place, id) in ids.iter().enumerate() {
        if ids.get(place + 1).is_some_and(|next| next.lane == id.lane && next.seq > id.seq) {
            continue;
        }
        let (lane, last) = (&topic.lanes[topic.nth(id.lane)], id.seq);
        std::future::poll_fn(|context| {
            for _ in 0..2 {
                if lane.mark(level) >= last {
                    return Poll::Ready(Ok(()));
                }
                if let Err(error) = topic.check_writable() {
                    return Poll::Ready(Err(error));
                }
                lane.confirmations.register(last, context.waker());
            }
            if lane.mark(level) >= last { Poll::Ready(Ok(())) } else { Poll::Pending }
        })
        .await?;
    }
    Ok(())
}
