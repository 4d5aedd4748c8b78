//! Consumers that are known by names between their calls.

use super::error::told;
use super::request::Seat;
use rialto_bus::{Error, ErrorKind, Result};
use rialto_queue::{Consumer, Name, Queue};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most consumers of all callers.
const CONSUMERS_MAX: usize = 4_096;
/// Most consumers of one caller.
const OWN_MAX: usize = 256;
/// A consumer that has not called for this long is forgotten, and what it had is delivered to
/// others.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// The most bytes that one call delivers: what is behind the message that reaches it waits for the
/// next.
pub(super) const FETCH_BYTES_MAX: usize = 2 << 20;

/// Members of groups by whose they are and what they are called.
#[derive(Default)]
pub(super) struct Consumers {
    known: Mutex<HashMap<(String, Seat), Known>>,
}

struct Known {
    consumer: Arc<Consumer>,
    called: Instant,
}

/// A consumer during a call, after which its silence begins.
pub(super) struct Calling<'a> {
    consumers: &'a Consumers,
    place: (String, Seat),
    consumer: Arc<Consumer>,
}

impl Consumers {
    /// The consumer with this seat. One that is not known joins its group.
    pub(super) fn call(&self, queue: &Queue, owner: &str, seat: &Seat) -> Result<Calling<'_>> {
        let place = (owner.to_owned(), seat.clone());
        if let Some(consumer) = Self::seated(&self.known(), &place)? {
            return Ok(Calling { consumers: self, place, consumer });
        }
        // To join may take as long as the disk does: nobody waits for the list meanwhile.
        let joined = queue.consumer(seat.topic.as_str(), seat.group.as_str()).map_err(told)?;
        let joined = Arc::new(joined.bytes_max(FETCH_BYTES_MAX));
        let mut known = self.known();
        let consumer = match Self::seated(&known, &place)? {
            // Another call of the same consumer was faster.
            Some(consumer) => consumer,
            None => {
                let (consumer, called) = (Arc::clone(&joined), Instant::now());
                known.insert(place.clone(), Known { consumer, called });
                joined
            }
        };
        drop(known);
        Ok(Calling { consumers: self, place, consumer })
    }

    /// Who is known by this place; nobody if there is room for another consumer.
    fn seated(
        known: &HashMap<(String, Seat), Known>,
        place: &(String, Seat),
    ) -> Result<Option<Arc<Consumer>>> {
        if let Some(known) = known.get(place) {
            return Ok(Some(Arc::clone(&known.consumer)));
        }
        let own = known.keys().filter(|(of, _)| *of == place.0).count();
        if known.len() < CONSUMERS_MAX && own < OWN_MAX {
            return Ok(None);
        }
        let message = format!(
            "There are as many consumers as there may be: {OWN_MAX} of a key, {CONSUMERS_MAX} in \
             all. Silent ones are forgotten after {} s.",
            SILENCE_MAX.as_secs()
        );
        Err(Error::new(ErrorKind::Busy, "too_many_consumers", message))
    }

    /// Forgets who has not called for long.
    pub(super) fn forget_silent(&self, now: Instant) {
        let is_silent = |known: &Known| {
            // More than the list's own: a call goes on.
            Arc::strong_count(&known.consumer) == 1
                && now.saturating_duration_since(known.called) >= SILENCE_MAX
        };
        let silent: Vec<_> = self.known().extract_if(|_, known| is_silent(known)).collect();
        // They leave their groups here, where nobody waits for the list.
        drop(silent);
    }

    /// Forgets a consumer, if there is one: what it had is delivered to others.
    pub(super) fn leave(&self, owner: &str, seat: &Seat) {
        let gone = self.known().remove(&(owner.to_owned(), seat.clone()));
        drop(gone);
    }

    /// Forgets all consumers of a topic, or of one group of it.
    pub(super) fn forget(&self, topic: &Name, group: Option<&Name>) {
        let concerned =
            |seat: &Seat| seat.topic == *topic && group.is_none_or(|group| seat.group == *group);
        let gone: Vec<_> = self.known().extract_if(|(_, seat), _| concerned(seat)).collect();
        drop(gone);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<(String, Seat), Known>> {
        // Nothing is left half done in it.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for Calling<'_> {
    type Target = Consumer;

    fn deref(&self) -> &Consumer {
        &self.consumer
    }
}

impl Drop for Calling<'_> {
    fn drop(&mut self) {
        if let Some(known) = self.consumers.known().get_mut(&self.place)
            && Arc::ptr_eq(&known.consumer, &self.consumer)
        {
            known.called = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_queue::{GroupOptions, Publish, QueueOptions, TopicOptions};

    #[test]
    fn a_consumer_is_forgotten_when_it_is_silent_and_gives_back_what_it_had() {
        let queue = Queue::open_stepped(QueueOptions::in_memory()).unwrap();
        queue.create_topic("jobs", TopicOptions::default()).unwrap();
        queue.create_group("jobs", "all", GroupOptions::default()).unwrap();
        let _ = queue.producer("jobs").unwrap().send(&Publish::new(b"one")).unwrap();
        queue.step();
        let name = |text| Name::new(text).unwrap();
        let seat = |who| Seat { topic: name("jobs"), group: name("all"), consumer: name(who) };
        let consumers = Consumers::default();
        let fetch = |who| {
            let call = consumers.call(&queue, "key", &seat(who)).unwrap();
            call.try_fetch(1).unwrap().messages.len()
        };
        assert_eq!(fetch("a"), 1);
        assert_eq!(fetch("b"), 0);
        consumers.forget_silent(Instant::now() + SILENCE_MAX / 2);
        assert_eq!(fetch("b"), 0, "the first has called a moment ago");
        let calls = consumers.call(&queue, "key", &seat("a")).unwrap();
        consumers.forget_silent(Instant::now() + SILENCE_MAX);
        assert_eq!(fetch("b"), 0, "the first is calling");
        drop(calls);
        consumers.forget_silent(Instant::now() + SILENCE_MAX);
        assert_eq!(fetch("b"), 1);
    }

    const FULL: &str = "too_many_consumers";

    #[test]
    fn a_caller_has_a_bounded_number_of_consumers() {
        let queue = Queue::open_stepped(QueueOptions::in_memory()).unwrap();
        queue.create_topic("jobs", TopicOptions::default()).unwrap();
        queue.create_group("jobs", "all", GroupOptions::default()).unwrap();
        let consumers = Consumers::default();
        let join = |owner: &str, nth: usize| {
            let name = |text: &str| Name::new(text).unwrap();
            let consumer = name(&format!("c{nth}"));
            let seat = Seat { topic: name("jobs"), group: name("all"), consumer };
            consumers.call(&queue, owner, &seat).map(drop).map_err(|error| error.code())
        };
        for nth in 0..OWN_MAX {
            join("one", nth).unwrap();
        }
        assert_eq!(join("one", OWN_MAX), Err(FULL));
        assert_eq!(join("one", 0), Ok(()));
        assert_eq!(join("other", 0), Ok(()));
        for nth in 0..CONSUMERS_MAX - OWN_MAX - 1 {
            join(&format!("owner {}", nth / OWN_MAX), nth).unwrap();
        }
        assert_eq!(join("late", 0), Err(FULL));
        assert_eq!(join("one", 0), Ok(()));
    }
}
