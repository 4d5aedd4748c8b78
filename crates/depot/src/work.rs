//! The work queue of a tenant: a topic, and the group of all workers.

use crate::name::TenantName;
use crate::options::DepotOptions;
use crate::{DepotError, FileRecord};
use rialto_clock::Timestamp;
use rialto_log::Level;
use rialto_queue::{
    Consumer, Delivered, FetchOptions, GroupOptions, MessageId, Producer, Publish, Queue,
    QueueError, TopicOptions, Unwritten, dead_topic_of,
};
use std::time::Duration;

/// The group that all workers of a tenant are in.
const GROUP: &str = "workers";

/// The prefix of the names of work queues.
const PREFIX: &str = "files.";

/// The work queue of a tenant.
pub(crate) struct Work {
    topic: String,
    producer: Producer,
    /// One consumer for all workers: each claim has a lease of its own.
    consumer: Consumer,
}

/// The topic of a tenant. Names of tenants have no dots, so that no tenant has the topic of another's
/// dead letters.
pub(crate) fn topic_of(tenant: &TenantName) -> String {
    format!("{PREFIX}{tenant}")
}

/// Whether a topic is the work queue of a tenant, or has its dead letters.
pub(crate) fn is_work_topic(topic: &str) -> bool {
    topic.starts_with(PREFIX)
}

/// The topic of a tenant's dead letters.
pub(crate) fn dead_topic(tenant: &TenantName) -> Result<String, DepotError> {
    let topic = rialto_queue::Name::new(&topic_of(tenant)).map_err(QueueError::from)?;
    Ok(dead_topic_of(&topic).as_str().to_owned())
}

fn topic_options(options: &DepotOptions) -> TopicOptions {
    TopicOptions {
        level: options.level,
        priorities: options.priorities,
        compression: rialto_queue::Compression::None,
        encryption: options.volumes.sealing.encryption,
        segment_bytes: options.segment_bytes,
        ..TopicOptions::work_queue()
    }
}

fn group_options(options: &DepotOptions) -> GroupOptions {
    let delay = options.retry_delay;
    GroupOptions {
        ack_wait: options.claim_duration,
        attempts_max: options.attempts_max,
        retry_delay: delay,
        retry_delay_max: (!delay.is_zero()).then_some(options.retry_delay_max.max(delay)),
        outstanding_max: options.claimed_max,
        ..GroupOptions::default()
    }
}

impl Work {
    /// Opens or creates the work queue of a tenant.
    pub(crate) fn open(
        queue: &Queue,
        tenant: &TenantName,
        options: &DepotOptions,
    ) -> Result<Self, DepotError> {
        let topic = topic_of(tenant);
        // A queue keeps the options that it was made with: those of the pool may have changed since.
        if queue.options(&topic).is_err() {
            queue.create_topic(&topic, topic_options(options))?;
        }
        if !queue.has_group(&topic, GROUP) {
            queue.create_group(&topic, GROUP, group_options(options))?;
        }
        let (producer, consumer) = (queue.producer(&topic)?, queue.consumer(&topic, GROUP)?);
        Ok(Self { topic, producer, consumer })
    }

    pub(crate) fn topic(&self) -> &str {
        &self.topic
    }

    pub(crate) fn consumer(&self) -> &Consumer {
        &self.consumer
    }

    /// Messages that wait now, leased for `duration`.
    pub(crate) fn take(
        &self,
        messages_max: usize,
        duration: Duration,
    ) -> Result<Vec<Delivered>, DepotError> {
        let options = FetchOptions::new(messages_max).ack_wait(duration);
        Ok(self.consumer.try_fetch_with(options)?.messages)
    }

    /// Whether a worker may get a message now.
    pub(crate) fn may_deliver(&self) -> bool {
        self.consumer.may_fetch()
    }

    pub(crate) fn ack(&self, held: Held) -> Result<(), DepotError> {
        Ok(self.consumer.ack_lease(held.message, held.lease)?)
    }

    pub(crate) fn extend(&self, held: Held, duration: Duration) -> Result<(), DepotError> {
        Ok(self.consumer.extend_lease_by(held.message, held.lease, duration)?)
    }

    pub(crate) fn nack(
        &self,
        held: Held,
        delay: Option<Duration>,
        reason: &str,
    ) -> Result<(), DepotError> {
        Ok(self.consumer.nack_lease(held.message, held.lease, delay, reason)?)
    }

    pub(crate) fn refuse(&self, held: Held, reason: &str) -> Result<(), DepotError> {
        Ok(self.consumer.refuse_lease(held.message, held.lease, reason)?)
    }

    pub(crate) fn give_back(&self, held: Held) -> Result<(), DepotError> {
        match self.consumer.return_unseen(&[(held.message, held.lease)]).first() {
            None => Ok(()),
            Some(id) => Err(QueueError::LeaseLost(*id).into()),
        }
    }

    /// Acknowledges a message that waits, so that it is handed to nobody.
    pub(crate) fn drop_waiting(&self, message: MessageId) -> Result<bool, DepotError> {
        let Some(claimed) = self.consumer.claim(message, None)? else { return Ok(false) };
        self.consumer.ack(&claimed)?;
        Ok(true)
    }

    /// Returns when a message may wait, or the time is over.
    pub(crate) fn wait_for_one(&self, wait: Duration) -> Result<(), DepotError> {
        // A fetch of nothing would not wait: one message is leased, and given back unseen.
        let fetched = self.consumer.fetch(1, wait)?;
        let leases: Vec<_> = fetched.messages.iter().map(|it| (it.id(), it.lease())).collect();
        self.consumer.return_unseen(&leases);
        Ok(())
    }

    /// Publishes results and acknowledges the file that they came of, together or not at all.
    pub(crate) fn publish_and_ack(
        &self,
        queue: &Queue,
        consumer: &Consumer,
        held: Held,
        results: &[FileRecord],
    ) -> Result<(), DepotError> {
        let mut transaction = queue.begin();
        for result in results {
            let payload = result.encode()?;
            transaction.publish(&self.topic, &Publish::new(&payload))?;
        }
        transaction.ack_lease(consumer, held.message, held.lease)?;
        transaction.commit()?;
        Ok(())
    }

    /// Publishes a file, which the caller is to write.
    pub(crate) fn publish(
        &self,
        record: &FileRecord,
        inline: &[u8],
        priority: u8,
        deliver_at: Option<Timestamp>,
    ) -> Result<Unwritten, DepotError> {
        let mut payload = record.encode()?;
        payload.extend_from_slice(inline);
        let mut publish = Publish::new(&payload).priority(priority);
        if let Some(at) = deliver_at {
            publish = publish.deliver_at(at);
        }
        Ok(self.producer.send_to_write(&publish)?)
    }
}

impl Work {
    /// Waits until a message that was published earlier is durable.
    pub(crate) fn sync(&self, message: MessageId) -> Result<(), DepotError> {
        Ok(self.producer.receipt_of(message).wait_at(Level::Synced)?)
    }
}

/// A message as a claim names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) message: MessageId,
    pub(crate) lease: u64,
}
