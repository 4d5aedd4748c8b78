//! How much a key may use up with a grant: topics, their groups, and bytes that they hold.
//!
//! A grant is charged for all topics that it means, whoever created them or published on them: that
//! needs no record of who did what, and two keys with the same grant share its room.

use super::grant::{QueueGrant, QueueRight, TopicPattern};
use crate::auth::Caller;
use rialto_bus::{Error, ErrorKind, Result};
use rialto_desk::Scope;
use rialto_queue::{DEAD_SUFFIX, Name, Queue, TopicOptions};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a sum of bytes is good for. What is published meanwhile is added to it.
const SUM_EVERY: Duration = Duration::from_secs(1);

/// What callers may use up of a queue, unless a grant says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    /// How many bytes a topic holds that was created without a bound of its own; 0 for no bound.
    pub topic_bytes_max: u64,
    /// How many topics of its names there may be when a key creates one.
    pub grant_topics_max: u32,
    /// How many groups the topics of a grant may have together when a key creates one.
    pub grant_groups_max: u32,
    /// How many bytes the topics of a grant may hold together when a key publishes.
    pub grant_bytes_max: u64,
}

impl Default for QueueLimits {
    fn default() -> QueueLimits {
        QueueLimits {
            topic_bytes_max: 1 << 30,
            grant_topics_max: 100,
            grant_groups_max: 1_000,
            grant_bytes_max: 4 << 30,
        }
    }
}

/// A sum of bytes, and when it was taken.
struct Held {
    at: Instant,
    bytes: u64,
}

/// What grants have used up.
pub(super) struct Quotas {
    limits: QueueLimits,
    held: Mutex<HashMap<TopicPattern, Held>>,
    /// Held from counting topics or groups until one more is there.
    creating: Mutex<()>,
}

/// Nothing behind these locks is ever left half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a topic is charged to a grant: it is meant, or holds the dead letters of one that is.
fn is_charged(topics: &TopicPattern, topic: &str) -> bool {
    let source = topic.strip_suffix(DEAD_SUFFIX);
    topics.matches(topic) || source.is_some_and(|source| topics.matches(source))
}

impl Quotas {
    pub(super) fn new(limits: QueueLimits) -> Quotas {
        Quotas { limits, held: Mutex::default(), creating: Mutex::default() }
    }

    /// Held while a topic or a group is created for somebody.
    pub(super) fn creating(&self) -> MutexGuard<'_, ()> {
        lock(&self.creating)
    }

    /// The options of a topic, with the bound that it has if none was given. One that is there keeps
    /// the bound that it was created with, whatever the setting is by now.
    pub(super) fn bounded(
        &self,
        queue: &Queue,
        topic: &Name,
        mut options: TopicOptions,
    ) -> TopicOptions {
        if options.bounds.bytes.is_none() {
            let usual = Some(self.limits.topic_bytes_max).filter(|bytes| *bytes > 0);
            let there = queue.options(topic.as_str()).map(|there| there.bounds.bytes);
            options.bounds.bytes = there.unwrap_or(usual);
        }
        options
    }

    /// Whether there is room for another topic of this name in one of the caller's grants.
    pub(super) fn check_create(&self, queue: &Queue, caller: &Quota, topic: &Name) -> Result<()> {
        let Quota::Grants(grants) = caller else { return Ok(()) };
        if queue.options(topic.as_str()).is_ok() {
            return Ok(());
        }
        let mut refused = None;
        for grant in grants.iter().filter(|it| it.allows(QueueRight::Admin, topic.as_str())) {
            let limit = grant.topics_max.unwrap_or(self.limits.grant_topics_max) as usize;
            let there = queue.topics();
            if there.iter().filter(|it| is_charged(&grant.topics, it.as_str())).count() < limit {
                return Ok(());
            }
            refused = Some((&grant.topics, limit));
        }
        // Who has no such grant was refused before.
        let Some((topics, limit)) = refused else { return Ok(()) };
        let message = format!(
            "There are {limit} topics of the grant {topics} already, as many as there may be; delete \
             one."
        );
        Err(Error::new(ErrorKind::Busy, "grant_topics", message).retryable(false))
    }

    /// Whether there is room for another group of a topic in one of the caller's grants.
    pub(super) fn check_create_group(
        &self,
        queue: &Queue,
        caller: &Quota,
        topic: &Name,
        group: &Name,
    ) -> Result<()> {
        let Quota::Grants(grants) = caller else { return Ok(()) };
        if queue.has_group(topic.as_str(), group.as_str()) {
            return Ok(());
        }
        let mut refused = None;
        for grant in grants.iter().filter(|it| it.allows(QueueRight::Admin, topic.as_str())) {
            let limit = grant.groups_max.unwrap_or(self.limits.grant_groups_max) as usize;
            if queue.groups(|topic| is_charged(&grant.topics, topic.as_str())) < limit {
                return Ok(());
            }
            refused = Some((&grant.topics, limit));
        }
        let Some((topics, limit)) = refused else { return Ok(()) };
        let message = format!(
            "The topics of the grant {topics} have {limit} groups already, as many as they may; delete \
             one."
        );
        Err(Error::new(ErrorKind::Busy, "grant_groups", message).retryable(false))
    }

    /// Takes room for so many bytes out of one of the caller's grants.
    pub(super) fn take_bytes(
        &self,
        queue: &Queue,
        caller: &Quota,
        topic: &Name,
        bytes: u64,
    ) -> Result<()> {
        let Quota::Grants(grants) = caller else { return Ok(()) };
        let mut refused = None;
        for grant in grants.iter().filter(|it| it.allows(QueueRight::Produce, topic.as_str())) {
            let limit = grant.bytes_max.unwrap_or(self.limits.grant_bytes_max);
            if self.take(queue, &grant.topics, bytes, limit) {
                return Ok(());
            }
            refused = Some((&grant.topics, limit));
        }
        let Some((topics, limit)) = refused else { return Ok(()) };
        let message = format!(
            "The topics of the grant {topics} hold {limit} bytes already, as many as they may; \
             acknowledge or purge messages."
        );
        Err(Error::new(ErrorKind::Busy, "grant_full", message))
    }

    fn take(&self, queue: &Queue, topics: &TopicPattern, bytes: u64, limit: u64) -> bool {
        let mut all = lock(&self.held);
        let now = Instant::now();
        if all.len() >= GRANTS_MAX {
            all.retain(|_, held| now.duration_since(held.at) < SUM_EVERY);
        }
        let sum = || {
            let bytes = queue.held_bytes(|topic| is_charged(topics, topic.as_str()));
            Held { at: now, bytes }
        };
        let held = all.entry(topics.clone()).or_insert_with(sum);
        if now.duration_since(held.at) >= SUM_EVERY {
            *held = sum();
        }
        let has_room = held.bytes.saturating_add(bytes) <= limit;
        if has_room {
            held.bytes += bytes;
        }
        has_room
    }
}

/// How many sums are remembered before those that are no longer good are forgotten.
const GRANTS_MAX: usize = 10_000;

/// What a caller is charged by.
pub(super) enum Quota {
    /// Nothing: operators look to themselves.
    Free,
    Grants(Vec<QueueGrant>),
}

impl Quota {
    pub(super) fn of(caller: &Caller) -> Quota {
        if caller.scopes().has(Scope::Admin) {
            Quota::Free
        } else {
            Quota::Grants(caller.queues().to_vec())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_queue::{GroupOptions, Publish, QueueOptions};

    fn granted(topics: &str, topics_max: Option<u32>, bytes_max: Option<u64>) -> Quota {
        let rights = vec![QueueRight::Admin, QueueRight::Produce];
        let topics = TopicPattern::new(topics).unwrap();
        Quota::Grants(vec![QueueGrant {
            topics,
            rights,
            topics_max,
            groups_max: Some(2),
            bytes_max,
        }])
    }

    fn queue_with(topics: &[&str]) -> Queue {
        let queue = Queue::open_stepped(QueueOptions::in_memory()).unwrap();
        for topic in topics {
            queue.create_topic(topic, TopicOptions::stream()).unwrap();
        }
        queue
    }

    fn limits() -> QueueLimits {
        QueueLimits {
            topic_bytes_max: 1_000,
            grant_topics_max: 3,
            grant_groups_max: 3,
            grant_bytes_max: 1_000,
        }
    }

    #[test]
    fn a_grant_has_a_bounded_number_of_topics() {
        let (quotas, queue) = (Quotas::new(limits()), queue_with(&["t1", "t2.dead", "other"]));
        let refused = |quota: &Quota, topic| {
            let refused = quotas.check_create(&queue, quota, &Name::new(topic).unwrap()).err();
            refused.map(|error| error.code().to_owned())
        };
        let usual = granted("t*", None, None);
        assert_eq!(refused(&usual, "t3"), None);
        queue.create_topic("t3", TopicOptions::stream()).unwrap();
        assert_eq!(refused(&usual, "t4").as_deref(), Some("grant_topics"));
        assert_eq!(refused(&usual, "t3"), None, "it is there");
        assert_eq!(refused(&granted("t*", Some(4), None), "t4"), None);
        assert_eq!(refused(&Quota::Free, "t4"), None);
        queue.delete_topic("t1").unwrap();
        assert_eq!(refused(&usual, "t4"), None);
    }

    #[test]
    fn the_topics_of_a_grant_have_a_bounded_number_of_groups() {
        let (quotas, queue) = (Quotas::new(limits()), queue_with(&["t1", "t1.dead", "other"]));
        let group = |topic, name| {
            queue.create_group(topic, name, GroupOptions::default()).unwrap();
        };
        let refused = |quota: &Quota, group| {
            let (topic, group) = (Name::new("t1").unwrap(), Name::new(group).unwrap());
            let refused = quotas.check_create_group(&queue, quota, &topic, &group).err();
            refused.map(|error| error.code().to_owned())
        };
        let two = granted("t*", None, None);
        group("other", "a");
        group("t1", "a");
        assert_eq!(refused(&two, "b"), None);
        group("t1.dead", "redrive");
        assert_eq!(refused(&two, "b").as_deref(), Some("grant_groups"));
        assert_eq!(refused(&two, "a"), None, "it is there");
        assert_eq!(refused(&Quota::Free, "b"), None);
        queue.delete_group("t1", "a").unwrap();
        assert_eq!(refused(&two, "b"), None);
    }

    #[test]
    fn the_topics_of_a_grant_hold_bounded_bytes_together() {
        let (quotas, queue) = (Quotas::new(limits()), queue_with(&["t1", "t2", "other"]));
        let message = [7; 400];
        let _ = queue.producer("t1").unwrap().publish(&Publish::new(&message)).unwrap();
        let refused = |quota: &Quota, topic, bytes| {
            let topic = Name::new(topic).unwrap();
            let refused = quotas.take_bytes(&queue, quota, &topic, bytes).err();
            refused.map(|error| error.code().to_owned())
        };
        let usual = granted("t*", None, None);
        assert_eq!(refused(&usual, "t2", 400), None);
        // What was let through counts before it is there.
        assert_eq!(refused(&usual, "t1", 400).as_deref(), Some("grant_full"));
        assert_eq!(refused(&granted("t*", None, Some(10_000)), "t1", 400), None);
        assert_eq!(refused(&granted("other", None, None), "other", 1_000), None);
        assert_eq!(refused(&Quota::Free, "t1", 1 << 40), None);
    }

    #[test]
    fn a_topic_without_a_bound_gets_one_and_keeps_it() {
        let (quotas, queue) = (Quotas::new(limits()), queue_with(&[]));
        let bound = |quotas: &Quotas, options| {
            quotas.bounded(&queue, &Name::new("t").unwrap(), options).bounds.bytes
        };
        let options = quotas.bounded(&queue, &Name::new("t").unwrap(), TopicOptions::stream());
        assert_eq!(options.bounds.bytes, Some(1_000));
        queue.create_topic("t", options).unwrap();
        let later = Quotas::new(QueueLimits { topic_bytes_max: 2_000, ..limits() });
        assert_eq!(bound(&later, TopicOptions::stream()), Some(1_000));
        assert_eq!(bound(&later, TopicOptions::stream().bytes_max(7)), Some(7));
    }
}
