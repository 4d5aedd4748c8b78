//! Consumers that keep their names between calls.

use crate::error::bus_error;
use crate::request::ConsumerId;
use rialto_bus::{Error, ErrorKind, Result};
use rialto_queue::{Consumer, Name, Queue};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most consumers of all clients.
const CONSUMERS_MAX: usize = 4_096;
/// Most consumers of one client.
const CONSUMERS_OF_CLIENT_MAX: usize = 256;
/// A consumer that has not called for this long leaves its group, and its messages are delivered to
/// others.
const IDLE_MAX: Duration = Duration::from_secs(60);
/// The most bytes that one call delivers. The messages behind the one that reaches it are delivered
/// by the next call.
pub(crate) const FETCH_BYTES_MAX: usize = 2 << 20;

/// The id of a client, and one of its consumers.
type OwnedConsumerId = (String, ConsumerId);

/// The consumers of all clients.
#[derive(Default)]
pub(crate) struct Consumers {
    entries: Mutex<HashMap<OwnedConsumerId, Entry>>,
}

struct Entry {
    consumer: Arc<Consumer>,
    last_call: Instant,
    /// When the last lease of a length that it asked for has ended.
    kept_until: Instant,
}

/// A consumer during a call. Its idle time begins when the call ends.
pub(crate) struct ConsumerCall<'a> {
    consumers: &'a Consumers,
    key: OwnedConsumerId,
    consumer: Arc<Consumer>,
}

impl Consumers {
    /// The client's consumer with this id. A consumer that does not exist yet joins its group.
    pub(crate) fn call(
        &self,
        queue: &Queue,
        client: &str,
        id: &ConsumerId,
    ) -> Result<ConsumerCall<'_>> {
        let key = (client.to_owned(), id.clone());
        if let Some(consumer) = Self::find(&self.entries(), &key)? {
            return Ok(ConsumerCall { consumers: self, key, consumer });
        }
        // Joining may wait for the disk, so the lock is not held meanwhile.
        let joined = queue.consumer(id.topic.as_str(), id.group.as_str()).map_err(bus_error)?;
        let joined = Arc::new(joined.bytes_max(FETCH_BYTES_MAX));
        let mut entries = self.entries();
        let consumer = match Self::find(&entries, &key)? {
            // Another call of the same consumer was faster.
            Some(consumer) => consumer,
            None => {
                let (consumer, last_call) = (Arc::clone(&joined), Instant::now());
                let kept_until = last_call;
                entries.insert(key.clone(), Entry { consumer, last_call, kept_until });
                joined
            }
        };
        drop(entries);
        Ok(ConsumerCall { consumers: self, key, consumer })
    }

    /// The consumer with this key. `None` if it does not exist and there is room for it.
    fn find(
        entries: &HashMap<OwnedConsumerId, Entry>,
        key: &OwnedConsumerId,
    ) -> Result<Option<Arc<Consumer>>> {
        if let Some(entry) = entries.get(key) {
            return Ok(Some(Arc::clone(&entry.consumer)));
        }
        let of_client = entries.keys().filter(|(client, _)| *client == key.0).count();
        if entries.len() < CONSUMERS_MAX && of_client < CONSUMERS_OF_CLIENT_MAX {
            return Ok(None);
        }
        let message = format!(
            "There are as many consumers as there may be: {CONSUMERS_OF_CLIENT_MAX} of a key, \
             {CONSUMERS_MAX} in all. Silent ones are forgotten after {} s.",
            IDLE_MAX.as_secs()
        );
        Err(Error::new(ErrorKind::Busy, "too_many_consumers", message))
    }

    /// Removes consumers that have not called for [`IDLE_MAX`], unless they asked for leases that last
    /// longer.
    pub(crate) fn remove_idle(&self, now: Instant) {
        let is_idle = |entry: &Entry| {
            // A second reference means that a call is in progress.
            Arc::strong_count(&entry.consumer) == 1
                && now.saturating_duration_since(entry.last_call) >= IDLE_MAX
                && now >= entry.kept_until
        };
        let idle: Vec<_> = self.entries().extract_if(|_, entry| is_idle(entry)).collect();
        // Leaving a group may wait for the disk, so it happens here, without the lock.
        drop(idle);
    }

    /// Removes a consumer, if it exists. Its messages are delivered to others.
    pub(crate) fn leave(&self, client: &str, id: &ConsumerId) {
        let removed = self.entries().remove(&(client.to_owned(), id.clone()));
        drop(removed);
    }

    /// The names of the consumers of a group by their numbers.
    pub(crate) fn names(&self, topic: &Name, group: &Name) -> HashMap<u32, Name> {
        let entries = self.entries();
        let of_group =
            entries.iter().filter(|((_, id), _)| id.topic == *topic && id.group == *group);
        of_group.map(|((_, id), entry)| (entry.consumer.number(), id.name.clone())).collect()
    }

    /// Removes all consumers of a topic, or of one group of it.
    pub(crate) fn remove(&self, topic: &Name, group: Option<&Name>) {
        let matches =
            |id: &ConsumerId| id.topic == *topic && group.is_none_or(|group| id.group == *group);
        let removed: Vec<_> = self.entries().extract_if(|(_, id), _| matches(id)).collect();
        drop(removed);
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<OwnedConsumerId, Entry>> {
        // No section behind this lock leaves the map inconsistent when it panics.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConsumerCall<'_> {
    /// Keeps the consumer for this long from now though it does not call: it has leases of this length.
    pub(crate) fn keep_for(&self, length: Duration) {
        let end = Instant::now() + length;
        if let Some(entry) = self.consumers.entries().get_mut(&self.key)
            && Arc::ptr_eq(&entry.consumer, &self.consumer)
        {
            entry.kept_until = end.max(entry.kept_until);
        }
    }
}

impl Deref for ConsumerCall<'_> {
    type Target = Consumer;

    fn deref(&self) -> &Consumer {
        &self.consumer
    }
}

impl Drop for ConsumerCall<'_> {
    fn drop(&mut self) {
        if let Some(entry) = self.consumers.entries().get_mut(&self.key)
            && Arc::ptr_eq(&entry.consumer, &self.consumer)
        {
            entry.last_call = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_queue::{GroupOptions, Publish, QueueOptions, TopicOptions};

    fn consumer_id(name: &str) -> ConsumerId {
        let checked = |text| Name::new(text).unwrap();
        ConsumerId { topic: checked("jobs"), group: checked("all"), name: checked(name) }
    }

    fn queue() -> Queue {
        let queue = Queue::open_stepped(QueueOptions::in_memory()).unwrap();
        queue.create_topic("jobs", TopicOptions::default()).unwrap();
        queue.create_group("jobs", "all", GroupOptions::default()).unwrap();
        queue
    }

    #[test]
    fn an_idle_consumer_is_removed_and_its_messages_are_delivered_to_others() {
        let queue = queue();
        let _ = queue.producer("jobs").unwrap().send(&Publish::new(b"one")).unwrap();
        queue.step();
        let consumers = Consumers::default();
        let fetch = |name| {
            let call = consumers.call(&queue, "key", &consumer_id(name)).unwrap();
            call.try_fetch(1).unwrap().messages.len()
        };
        assert_eq!(fetch("a"), 1);
        assert_eq!(fetch("b"), 0);
        consumers.remove_idle(Instant::now() + IDLE_MAX / 2);
        assert_eq!(fetch("b"), 0, "the first has called a moment ago");
        let call = consumers.call(&queue, "key", &consumer_id("a")).unwrap();
        consumers.remove_idle(Instant::now() + IDLE_MAX);
        assert_eq!(fetch("b"), 0, "the first is calling");
        drop(call);
        consumers.remove_idle(Instant::now() + IDLE_MAX);
        assert_eq!(fetch("b"), 1);
    }

    #[test]
    fn a_consumer_with_long_leases_is_kept_until_they_end() {
        let queue = queue();
        let consumers = Consumers::default();
        let call = consumers.call(&queue, "key", &consumer_id("a")).unwrap();
        call.keep_for(3 * IDLE_MAX);
        call.keep_for(Duration::from_millis(1));
        drop(call);
        consumers.remove_idle(Instant::now() + 2 * IDLE_MAX);
        assert_eq!(consumers.entries().len(), 1);
        consumers.remove_idle(Instant::now() + 3 * IDLE_MAX);
        assert!(consumers.entries().is_empty());
    }

    const FULL: &str = "too_many_consumers";

    #[test]
    fn a_client_has_a_bounded_number_of_consumers() {
        let queue = queue();
        let consumers = Consumers::default();
        let join = |client: &str, nth: usize| {
            let id = consumer_id(&format!("c{nth}"));
            consumers.call(&queue, client, &id).map(drop).map_err(|error| error.code())
        };
        for nth in 0..CONSUMERS_OF_CLIENT_MAX {
            join("one", nth).unwrap();
        }
        assert_eq!(join("one", CONSUMERS_OF_CLIENT_MAX), Err(FULL));
        assert_eq!(join("one", 0), Ok(()));
        assert_eq!(join("other", 0), Ok(()));
        for nth in 0..CONSUMERS_MAX - CONSUMERS_OF_CLIENT_MAX - 1 {
            join(&format!("client {}", nth / CONSUMERS_OF_CLIENT_MAX), nth).unwrap();
        }
        assert_eq!(join("late", 0), Err(FULL));
        assert_eq!(join("one", 0), Ok(()));
    }
}
