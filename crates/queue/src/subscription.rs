//! Subscriptions: the messages of a group as they arrive.

use crate::consumer::Consumer;
use crate::error::QueueError;
use crate::fetch_options::FetchOptions;
use crate::group::{Delivered, Fetched};
use crate::message::MessageId;
use crate::waiting::Waiting;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// The messages of a group as they arrive, up to a number outstanding at a time.
///
/// A message is outstanding from when it is leased to the subscription, before
/// [`Subscription::recv`] delivers it, until it is acknowledged, given back, or its lease ends;
/// only then is another one leased. It is settled through [`Subscription::settler`], on any thread.
/// When the subscription is dropped, its messages are delivered to others at once; for messages
/// that it had not delivered, the attempt does not count.
///
/// ```
/// # use rialto_queue::{GroupOptions, Publish, Queue, QueueOptions, TopicOptions};
/// # use std::time::Duration;
/// # let queue = Queue::open(QueueOptions::in_memory())?;
/// # queue.create_topic("jobs", TopicOptions::default())?;
/// # queue.create_group("jobs", "painters", GroupOptions::default())?;
/// # queue.producer("jobs")?.publish(&Publish::new(b"paint it red"))?;
/// let mut jobs = queue.consumer("jobs", "painters")?.subscribe(10);
/// while let Some(job) = jobs.next(Duration::from_millis(10))? {
///     jobs.settler().ack(&job)?;
/// }
/// # Ok::<_, rialto_queue::QueueError>(())
/// ```
pub struct Subscription {
    settler: Settler,
    prefetch: usize,
    /// Leased and not delivered yet.
    ready: VecDeque<Delivered>,
    /// Whether these may be delivered only after their acknowledgement is written.
    is_unconfirmed: bool,
    missed: u64,
}

/// Acknowledges and gives back the messages of a [`Subscription`]. Clones share it.
#[derive(Clone)]
pub struct Settler {
    consumer: Arc<Consumer>,
    hand: Arc<Mutex<HeldLeases>>,
}

/// The outstanding messages of a subscription, by their leases.
#[derive(Default)]
struct HeldLeases {
    held: HashMap<u64, MessageId>,
    /// The task that waits for room.
    waker: Option<Waker>,
}

impl Subscription {
    pub(crate) fn new(consumer: Consumer, prefetch: usize) -> Subscription {
        let settler = Settler { consumer: Arc::new(consumer), hand: Arc::default() };
        let ready = VecDeque::new();
        let prefetch = prefetch.max(1);
        Subscription { settler, prefetch, ready, is_unconfirmed: false, missed: 0 }
    }

    /// The next message; waits for it until the time is over.
    pub fn next(&mut self, wait: Duration) -> Result<Option<Delivered>, QueueError> {
        let deadline = Instant::now().checked_add(wait);
        let runtime = self.settler.consumer.shared().1.runtime.clone();
        runtime.block_on(self.recv(), deadline).transpose()
    }

    /// The next message, as soon as there is one and room for it. Dropping the future loses nothing.
    pub async fn recv(&mut self) -> Result<Delivered, QueueError> {
        loop {
            self.fill().await?;
            if let Some(message) = self.ready.pop_front() {
                return Ok(message);
            }
        }
    }

    /// At most `messages_max` messages, as soon as there are some; or only the number of messages
    /// that retention dropped before they were delivered. Dropping the future loses nothing.
    pub async fn recv_many(&mut self, messages_max: usize) -> Result<Fetched, QueueError> {
        self.fill().await?;
        let count = self.ready.len().min(messages_max);
        let messages = self.ready.drain(..count).collect();
        Ok(Fetched { messages, missed: std::mem::take(&mut self.missed) })
    }

    /// The number of messages that retention dropped before they were delivered, since the last
    /// call.
    pub fn take_missed(&mut self) -> u64 {
        std::mem::take(&mut self.missed)
    }

    /// The handle that settles the messages.
    #[must_use]
    pub fn settler(&self) -> &Settler {
        &self.settler
    }

    /// Waits until there are messages to deliver, or missed ones to report.
    async fn fill(&mut self) -> Result<(), QueueError> {
        if self.ready.is_empty() {
            let arrived = self.arrived().await?;
            self.missed += arrived.missed;
            self.is_unconfirmed = self.settler.consumer.is_at_most_once();
            self.ready.extend(arrived.messages);
        }
        if self.is_unconfirmed && !self.ready.is_empty() {
            self.settler.consumer.confirmed().await?;
            self.is_unconfirmed = false;
        }
        Ok(())
    }

    async fn arrived(&self) -> Result<Fetched, QueueError> {
        let consumer = &*self.settler.consumer;
        let mut waiting = Waiting::new(consumer.shared().0.topic.priorities());
        std::future::poll_fn(|context| {
            for _ in 0..2 {
                match self.take() {
                    Ok(Some(fetched)) => return Poll::Ready(Ok(fetched)),
                    Ok(None) => {}
                    Err(error) => return Poll::Ready(Err(error)),
                }
                // Checked again, so that messages that arrived or were settled meanwhile are not
                // missed.
                let mut hand = self.settler.hand();
                if hand.held.len() < self.prefetch {
                    waiting.register(context.waker(), |_, lane| lane.visible() + 1);
                } else {
                    // New messages are of no use before there is room.
                    hand.waker = Some(context.waker().clone());
                    waiting.register(context.waker(), |_, _| u64::MAX);
                }
            }
            Poll::Pending
        })
        .await
    }

    /// The messages that can be leased now; `None` if there are none, or no room.
    fn take(&self) -> Result<Option<Fetched>, QueueError> {
        let consumer = &*self.settler.consumer;
        let (group, _) = consumer.shared();
        let mut hand = self.settler.hand();
        if hand.held.len() >= self.prefetch {
            // Leases may have run out.
            group.retain_leased(&mut hand.held)?;
        }
        let room = self.prefetch - hand.held.len();
        drop(hand);
        if room == 0 {
            return Ok(None);
        }
        // No other task leases messages, so that there is at least as much room afterwards.
        let fetched = consumer.take(FetchOptions::new(room))?;
        if !consumer.is_at_most_once() {
            let mut hand = self.settler.hand();
            hand.held.extend(fetched.messages.iter().map(|one| (one.lease, one.id())));
        }
        Ok((!fetched.messages.is_empty() || fetched.missed > 0).then_some(fetched))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let unseen: Vec<_> = self.ready.iter().map(|one| (one.id(), one.lease)).collect();
        self.settler.consumer.return_unseen(&unseen);
        // Settlers may live on; they take effect as long as the message is not delivered again.
        self.settler.consumer.leave();
    }
}

impl Settler {
    fn hand(&self) -> MutexGuard<'_, HeldLeases> {
        // A panic leaves no partial change.
        self.hand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes messages from the outstanding ones.
    fn release(&self, leases: impl IntoIterator<Item = u64>) {
        let mut hand = self.hand();
        for lease in leases {
            hand.held.remove(&lease);
        }
        let waker = hand.waker.take();
        drop(hand);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// As [`Consumer::ack`].
    pub fn ack(&self, message: &Delivered) -> Result<(), QueueError> {
        self.ack_lease(message.id(), message.lease)
    }

    /// As [`Consumer::ack_lease`].
    pub fn ack_lease(&self, id: MessageId, lease: u64) -> Result<(), QueueError> {
        let result = self.consumer.ack_lease(id, lease);
        self.release([lease]);
        result
    }

    /// As [`Consumer::ack_all`], by ids and leases.
    pub fn ack_leases(&self, leases: &[(MessageId, u64)]) -> Vec<MessageId> {
        let lost = self.consumer.ack_leases(leases);
        self.release(leases.iter().map(|(_, lease)| *lease));
        lost
    }

    /// As [`Consumer::nack`].
    pub fn nack(
        &self,
        message: &Delivered,
        delay: Option<Duration>,
        detail: &str,
    ) -> Result<(), QueueError> {
        self.nack_lease(message.id(), message.lease, delay, detail)
    }

    /// As [`Consumer::nack_lease`].
    pub fn nack_lease(
        &self,
        id: MessageId,
        lease: u64,
        delay: Option<Duration>,
        detail: &str,
    ) -> Result<(), QueueError> {
        let result = self.consumer.nack_lease(id, lease, delay, detail);
        self.release([lease]);
        result
    }

    /// As [`Consumer::return_unseen`].
    pub fn return_unseen(&self, leases: &[(MessageId, u64)]) -> Vec<MessageId> {
        let lost = self.consumer.return_unseen(leases);
        self.release(leases.iter().map(|(_, lease)| *lease));
        lost
    }

    /// As [`Consumer::refuse`].
    pub fn refuse(&self, message: &Delivered, detail: &str) -> Result<(), QueueError> {
        self.refuse_lease(message.id(), message.lease, detail)
    }

    /// As [`Consumer::refuse_lease`].
    pub fn refuse_lease(&self, id: MessageId, lease: u64, detail: &str) -> Result<(), QueueError> {
        let result = self.consumer.refuse_lease(id, lease, detail);
        self.release([lease]);
        result
    }

    /// As [`Consumer::extend`].
    pub fn extend(&self, message: &Delivered) -> Result<(), QueueError> {
        self.consumer.extend(message)
    }

    /// As [`Consumer::extend_lease`].
    pub fn extend_lease(&self, id: MessageId, lease: u64) -> Result<(), QueueError> {
        self.consumer.extend_lease(id, lease)
    }

    /// As [`Consumer::extend_lease_by`].
    pub fn extend_lease_by(
        &self,
        id: MessageId,
        lease: u64,
        length: Duration,
    ) -> Result<(), QueueError> {
        self.consumer.extend_lease_by(id, lease, length)
    }

    /// As [`Consumer::confirm`].
    pub fn confirm(&self) -> Result<(), QueueError> {
        self.consumer.confirm()
    }

    /// As [`Consumer::confirmed`].
    pub async fn confirmed(&self) -> Result<(), QueueError> {
        self.consumer.confirmed().await
    }
}
