//! The metrics of queues.

use super::{Kind, Page};
use rialto_queue::{GroupStats, Queue, TopicStats};

/// The most topics with their own metrics: the first by name.
const TOPICS_MAX: usize = 100;
/// The most groups of a topic with their own metrics.
const GROUPS_MAX: usize = 20;

/// A metric of a topic: name, kind, help, value.
type OfTopic = (&'static str, Kind, &'static str, fn(&TopicStats) -> u64);
/// A metric of a group.
type OfGroup = (&'static str, Kind, &'static str, fn(&GroupStats) -> u64);

const OF_TOPICS: [OfTopic; 10] = [
    ("rialto_queue_messages", Kind::Gauge, "Messages in the topic.", |topic| topic.messages),
    ("rialto_queue_bytes", Kind::Gauge, "Bytes of the messages in the topic.", |topic| topic.bytes),
    ("rialto_queue_oldest_age_seconds", Kind::Gauge, "Age of the oldest message.", |topic| {
        topic.oldest_age.unwrap_or_default().as_secs()
    }),
    ("rialto_queue_delayed", Kind::Gauge, "Delayed messages.", |topic| topic.delayed),
    ("rialto_queue_published_total", Kind::Counter, "Messages published.", |topic| {
        topic.published_messages
    }),
    ("rialto_queue_published_bytes_total", Kind::Counter, "Bytes published.", |topic| {
        topic.published_bytes
    }),
    (
        "rialto_queue_plain_bytes_total",
        Kind::Counter,
        "Bytes written, before compression.",
        |topic| topic.plain_bytes,
    ),
    (
        "rialto_queue_stored_bytes_total",
        Kind::Counter,
        "Bytes written, after compression.",
        |topic| topic.stored_bytes,
    ),
    ("rialto_queue_refused_total", Kind::Counter, "Messages refused.", |topic| topic.refused),
    ("rialto_queue_failed", Kind::Gauge, "Whether the topic can no longer be written.", |topic| {
        topic.failed.is_some().into()
    }),
];

const OF_GROUPS: [OfGroup; 8] = [
    ("rialto_queue_lag", Kind::Gauge, "Messages that the group has not acknowledged.", |group| {
        group.lag
    }),
    (
        "rialto_queue_outstanding",
        Kind::Gauge,
        "Messages delivered and not acknowledged.",
        |group| group.outstanding as u64,
    ),
    (
        "rialto_queue_dead_letters_pending",
        Kind::Gauge,
        "Failed messages that cannot become dead letters yet.",
        |group| group.dead_letters_pending as u64,
    ),
    ("rialto_queue_consumers", Kind::Gauge, "Consumers of the group.", |group| {
        group.consumers as u64
    }),
    ("rialto_queue_delivered_total", Kind::Counter, "Messages delivered.", |group| {
        group.counts.delivered
    }),
    ("rialto_queue_delivered_bytes_total", Kind::Counter, "Bytes delivered.", |group| {
        group.delivered_bytes
    }),
    ("rialto_queue_redelivered_total", Kind::Counter, "Messages delivered again.", |group| {
        group.counts.redelivered
    }),
    (
        "rialto_queue_dead_total",
        Kind::Counter,
        "Messages that became dead letters or were dropped.",
        |group| group.counts.dead,
    ),
];

pub(super) fn write(page: &mut Page, queue: &Queue, one_by_one: bool) {
    let topics = queue.topics();
    page.gauge("rialto_queue_topics", "Topics in all.", topics.len() as u64);
    page.gauge(
        "rialto_queue_control_failed",
        "Whether the control log has failed: no deliveries, no acknowledgements.",
        u64::from(queue.failure().is_some()),
    );
    if !one_by_one {
        return;
    }
    let first = topics.iter().take(TOPICS_MAX);
    // A topic that was deleted meanwhile is omitted.
    let stats: Vec<_> = first.filter_map(|topic| queue.stats(topic.as_str()).ok()).collect();
    for (name, kind, help, value) in OF_TOPICS {
        let mut metric = page.metric(name, kind, help);
        for topic in &stats {
            metric.with(&[("topic", &topic.name)], value(topic));
        }
    }
    for (name, kind, help, value) in OF_GROUPS {
        let mut metric = page.metric(name, kind, help);
        for topic in &stats {
            for group in topic.groups.iter().take(GROUPS_MAX) {
                let labels: [(&str, &dyn std::fmt::Display); 2] =
                    [("topic", &topic.name), ("group", &group.name)];
                metric.with(&labels, value(group));
            }
        }
    }
}
