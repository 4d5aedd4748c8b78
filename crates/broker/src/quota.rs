//! Quotas of grants: topics, their groups, and the bytes that they hold.
//!
//! A grant is charged for all topics that match its pattern, independent of their creators and
//! producers. So no record of clients is needed, and two clients with the same grant share its
//! quota.

use crate::Principal;
use rialto_api::{QueueGrant, QueueRight, TopicPattern};
use rialto_bus::{Error, ErrorKind, Result};
use rialto_queue::{DEAD_SUFFIX, Name, Queue, TopicOptions};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a sum of bytes is used. Bytes published meanwhile are added to it.
const SUM_EVERY: Duration = Duration::from_secs(1);

/// Quotas of grants without their own, and the bound of topics without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    /// The bytes of a topic that was created without its own bound; 0 for no bound.
    pub topic_bytes_max: u64,
    /// The most topics that match a grant, checked when a client creates one.
    pub grant_topics_max: u32,
    /// The most groups of all topics of a grant, checked when a client creates one.
    pub grant_groups_max: u32,
    /// The most bytes of all topics of a grant, checked when a client publishes.
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

/// The bytes of a grant's topics, and the time of the sum.
struct ByteSum {
    at: Instant,
    bytes: u64,
}

/// The use of the grants' quotas.
pub(crate) struct Quotas {
    limits: QueueLimits,
    sums: Mutex<HashMap<TopicPattern, ByteSum>>,
    /// Held from the count of topics or groups until the new one exists.
    creating: Mutex<()>,
}

/// No section behind these locks leaves its data inconsistent when it panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a topic is charged to a grant: it matches, or it has the dead letters of a topic that
/// does.
fn is_charged(topics: &TopicPattern, topic: &str) -> bool {
    let source = topic.strip_suffix(DEAD_SUFFIX);
    topics.matches(topic) || source.is_some_and(|source| topics.matches(source))
}

impl Quotas {
    pub(crate) fn new(limits: QueueLimits) -> Quotas {
        Quotas { limits, sums: Mutex::default(), creating: Mutex::default() }
    }

    /// Excludes other creations of topics and groups.
    pub(crate) fn creating(&self) -> MutexGuard<'_, ()> {
        lock(&self.creating)
    }

    /// The options with a bound of bytes. An existing topic keeps its bound, even after a change of
    /// the setting.
    pub(crate) fn bounded(
        &self,
        queue: &Queue,
        topic: &Name,
        mut options: TopicOptions,
    ) -> TopicOptions {
        if options.bounds.bytes.is_none() {
            let usual = Some(self.limits.topic_bytes_max).filter(|bytes| *bytes > 0);
            let existing = queue.options(topic.as_str()).map(|options| options.bounds.bytes);
            options.bounds.bytes = existing.unwrap_or(usual);
        }
        options
    }

    /// Whether one of the client's grants has room for another topic of this name.
    pub(crate) fn check_create(&self, queue: &Queue, quota: &Quota, topic: &Name) -> Result<()> {
        let Quota::Grants(grants) = quota else { return Ok(()) };
        if queue.options(topic.as_str()).is_ok() {
            return Ok(());
        }
        let mut refused = None;
        for grant in grants.iter().filter(|it| it.allows(QueueRight::Admin, topic.as_str())) {
            let limit = grant.topics_max.unwrap_or(self.limits.grant_topics_max) as usize;
            let topics = queue.topics();
            if topics.iter().filter(|it| is_charged(&grant.topics, it.as_str())).count() < limit {
                return Ok(());
            }
            refused = Some((&grant.topics, limit));
        }
        // The policy refuses clients without such a grant.
        let Some((topics, limit)) = refused else { return Ok(()) };
        let message = format!(
            "There are {limit} topics of the grant {topics} already, as many as there may be; delete \
             one."
        );
        Err(Error::new(ErrorKind::Busy, "grant_topics", message).retryable(false))
    }

    /// Whether one of the client's grants has room for another group of a topic.
    pub(crate) fn check_create_group(
        &self,
        queue: &Queue,
        quota: &Quota,
        topic: &Name,
        group: &Name,
    ) -> Result<()> {
        let Quota::Grants(grants) = quota else { return Ok(()) };
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

    /// Charges one of the client's grants for this number of bytes.
    pub(crate) fn take_bytes(
        &self,
        queue: &Queue,
        quota: &Quota,
        topic: &Name,
        bytes: u64,
    ) -> Result<()> {
        let Quota::Grants(grants) = quota else { return Ok(()) };
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
        let mut sums = lock(&self.sums);
        let now = Instant::now();
        if sums.len() >= GRANTS_MAX {
            sums.retain(|_, sum| now.duration_since(sum.at) < SUM_EVERY);
        }
        let sum_up = || {
            let bytes = queue.held_bytes(|topic| is_charged(topics, topic.as_str()));
            ByteSum { at: now, bytes }
        };
        let sum = sums.entry(topics.clone()).or_insert_with(sum_up);
        if now.duration_since(sum.at) >= SUM_EVERY {
            *sum = sum_up();
        }
        let has_room = sum.bytes.saturating_add(bytes) <= limit;
        if has_room {
            sum.bytes += bytes;
        }
        has_room
    }
}

/// How many sums are kept before old ones are removed.
const GRANTS_MAX: usize = 10_000;

/// The quota of a client.
pub(crate) enum Quota {
    /// No quota: an operator.
    Unlimited,
    Grants(Arc<[QueueGrant]>),
}

impl Quota {
    pub(crate) fn of(principal: &Principal) -> Quota {
        match principal.is_operator() {
            true => Quota::Unlimited,
            false => Quota::Grants(principal.shared_grants()),
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
        Quota::Grants(Arc::new([QueueGrant {
            topics,
            rights,
            topics_max,
            groups_max: Some(2),
            bytes_max,
        }]))
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
        assert_eq!(refused(&usual, "t3"), None, "it exists");
        assert_eq!(refused(&granted("t*", Some(4), None), "t4"), None);
        assert_eq!(refused(&Quota::Unlimited, "t4"), None);
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
        assert_eq!(refused(&two, "a"), None, "it exists");
        assert_eq!(refused(&Quota::Unlimited, "b"), None);
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
        // Admitted bytes count before they are stored.
        assert_eq!(refused(&usual, "t1", 400).as_deref(), Some("grant_full"));
        assert_eq!(refused(&granted("t*", None, Some(10_000)), "t1", 400), None);
        assert_eq!(refused(&granted("other", None, None), "other", 1_000), None);
        assert_eq!(refused(&Quota::Unlimited, "t1", 1 << 40), None);
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
