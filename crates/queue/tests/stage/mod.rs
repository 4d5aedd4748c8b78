//! A queue on a simulated disk, with a clock that stands until it is moved.
#![allow(dead_code)]

use rialto_disk::SimDisk;
use rialto_queue::{
    Clock, Consumer, Delivered, GroupOptions, KeyRing, ManualClock, Publish, Queue, QueueOptions,
    Sabotage, Timestamp, TopicOptions,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// As small as can be, since a simulated disk keeps its files in memory.
const SEGMENT_BYTES: u64 = (1 << 20) + 8192;

pub(crate) struct Stage {
    pub(crate) disk: Arc<SimDisk>,
    pub(crate) clock: ManualClock,
    random: Arc<AtomicU64>,
    pub(crate) keys: KeyRing,
    control_segment_bytes: u64,
    sabotage: Option<Sabotage>,
    queue: Option<Queue>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with_seed(7)
    }

    pub(crate) fn with_seed(seed: u64) -> Self {
        Self::made(seed, SEGMENT_BYTES, None)
    }

    /// For one of thousands of histories, none of which writes much at once; with a promise that is
    /// broken on purpose.
    pub(crate) fn sabotaged(seed: u64, sabotage: Option<Sabotage>) -> Self {
        Self::made(seed, 128 << 10, sabotage)
    }

    fn made(seed: u64, control_segment_bytes: u64, sabotage: Option<Sabotage>) -> Self {
        let disk = Arc::new(SimDisk::new(seed));
        let clock = ManualClock::new(Timestamp(1_700_000_000_000_000_000));
        let random = Arc::new(AtomicU64::new(1));
        let keys = KeyRing::empty();
        let mut stage =
            Self { disk, clock, random, keys, control_segment_bytes, sabotage, queue: None };
        stage.open();
        stage
    }

    pub(crate) fn options(&self) -> QueueOptions {
        let random = self.random.clone();
        QueueOptions {
            disk: self.disk.clone(),
            clock: Arc::new(self.clock.clone()),
            keys: self.keys.clone(),
            sabotage: self.sabotage,
            control_segment_bytes: self.control_segment_bytes,
            salt: Arc::new(move || {
                let count = random.fetch_add(1, Ordering::Relaxed);
                u128::from(count)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
                    .to_le_bytes()
            }),
            ..QueueOptions::at("/queue")
        }
    }

    pub(crate) fn open(&mut self) {
        self.queue = Some(Queue::open_stepped(self.options()).unwrap());
    }

    /// Closes the queue in good order and opens it again as is said.
    pub(crate) fn open_with(&mut self, options: QueueOptions) {
        self.queue.take().unwrap().close().unwrap();
        self.queue = Some(Queue::open_stepped(options).unwrap());
    }

    pub(crate) fn queue(&self) -> &Queue {
        self.queue.as_ref().unwrap()
    }

    /// Closes the queue in good order and opens it again.
    pub(crate) fn reopen(&mut self) {
        self.open_with(self.options());
    }

    /// The process dies: what was written stays.
    pub(crate) fn kill(&mut self) {
        self.disk.kill();
        drop(self.queue.take());
        // Restarting would be a loss of power.
        if self.disk.is_down() {
            self.disk.restart();
        }
        self.open();
    }

    /// The power fails: what was not synced may be lost.
    pub(crate) fn crash(&mut self) {
        self.disk.crash();
        drop(self.queue.take());
        self.disk.restart();
        self.open();
    }

    pub(crate) fn pass(&self, time: Duration) {
        self.clock.advance(time);
        self.queue().step();
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn publish(&self, topic: &str, payload: &[u8]) {
        self.send(topic, &Publish::new(payload));
    }

    pub(crate) fn send(&self, topic: &str, message: &Publish<'_>) {
        let _ = self.queue().producer(topic).unwrap().publish(message).unwrap();
    }

    pub(crate) fn consumer(&self, topic: &str, group: &str) -> Consumer {
        self.consumer_with(topic, group, GroupOptions::default())
    }

    pub(crate) fn consumer_with(
        &self,
        topic: &str,
        group: &str,
        options: GroupOptions,
    ) -> Consumer {
        self.queue().create_group(topic, group, options).unwrap();
        self.queue().consumer(topic, group).unwrap()
    }
}

/// A stream whose files are small.
pub(crate) fn stream() -> TopicOptions {
    TopicOptions { segment_bytes: SEGMENT_BYTES, ..TopicOptions::stream() }
}

/// The messages available to a consumer now.
pub(crate) fn take(consumer: &Consumer) -> Vec<Delivered> {
    consumer.try_fetch(1_000_000).unwrap().messages
}

pub(crate) fn payloads(messages: &[Delivered]) -> Vec<String> {
    messages.iter().map(|it| String::from_utf8(it.payload().to_vec()).unwrap()).collect()
}

pub(crate) fn take_payloads(consumer: &Consumer) -> Vec<String> {
    payloads(&take(consumer))
}
