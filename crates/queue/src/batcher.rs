//! Collects messages and publishes them in batches.

use crate::error::QueueError;
use crate::producer::{BatchReceipt, Producer};
use crate::publish::Publish;
use std::time::{Duration, Instant};

/// The conditions on which a batch is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchOptions {
    /// The number of messages.
    pub messages_max: usize,
    /// The number of bytes of payloads and keys.
    pub bytes_max: usize,
    /// The age of its first message, checked when a message is added and by [`Batcher::poll`].
    pub linger: Duration,
}

impl Default for BatchOptions {
    fn default() -> Self {
        Self { messages_max: 1_000, bytes_max: 256 << 10, linger: Duration::from_millis(5) }
    }
}

/// The key and payload of a message in the buffer of a batch.
#[derive(Clone, Copy, Debug)]
struct MessageSpan {
    key_end: usize,
    end: usize,
    priority: u8,
}

/// Publishes messages of keys and payloads in batches, for callers that have them one at a time.
/// Messages that are not published yet are lost when it is dropped: call [`Batcher::flush`].
///
/// It saves taking the topic's lock for every message. It does not save writes, because messages
/// that are published while the disk is busy are written together anyway.
pub struct Batcher {
    producer: Producer,
    options: BatchOptions,
    buffer: Vec<u8>,
    places: Vec<MessageSpan>,
    began: Option<Instant>,
    last: Option<BatchReceipt>,
}

impl Batcher {
    /// A batcher for a producer.
    #[must_use]
    pub fn new(producer: Producer, options: BatchOptions) -> Self {
        let (buffer, places) = (Vec::new(), Vec::new());
        Self { producer, options, buffer, places, began: None, last: None }
    }

    /// Adds a message. Publishes the batch if that makes it complete.
    pub fn add(&mut self, key: &[u8], payload: &[u8], priority: u8) -> Result<(), QueueError> {
        self.buffer.extend_from_slice(key);
        let key_end = self.buffer.len();
        self.buffer.extend_from_slice(payload);
        self.places.push(MessageSpan { key_end, end: self.buffer.len(), priority });
        self.began.get_or_insert_with(Instant::now);
        let is_complete = self.places.len() >= self.options.messages_max
            || self.buffer.len() >= self.options.bytes_max;
        if is_complete { self.publish() } else { self.poll() }
    }

    /// Publishes the batch if its first message has waited long enough.
    pub fn poll(&mut self) -> Result<(), QueueError> {
        match self.began {
            Some(began) if began.elapsed() >= self.options.linger => self.publish(),
            _ => Ok(()),
        }
    }

    /// The number of messages that are not published yet.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.places.len()
    }

    /// Publishes the waiting messages, and returns when all added messages are as durable as the
    /// topic's level.
    pub fn flush(&mut self) -> Result<(), QueueError> {
        self.publish()?;
        match self.last.take() {
            Some(last) => last.wait(),
            None => Ok(()),
        }
    }

    /// If a message is refused, those before it have been published and the others are dropped with it:
    /// the error says why.
    fn publish(&mut self) -> Result<(), QueueError> {
        self.began = None;
        if self.places.is_empty() {
            return Ok(());
        }
        let mut start = 0;
        let messages: Vec<_> = self
            .places
            .iter()
            .map(|place| {
                let key = &self.buffer[start..place.key_end];
                let payload = &self.buffer[place.key_end..place.end];
                start = place.end;
                Publish::new(payload).key(key).priority(place.priority)
            })
            .collect();
        let sent = self.producer.send_batch(&messages);
        self.places.clear();
        self.buffer.clear();
        let receipt = sent?;
        self.last = Some(match self.last.take() {
            Some(before) => before.and(receipt),
            None => receipt,
        });
        Ok(())
    }
}
