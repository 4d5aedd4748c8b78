//! The handlers of the requests to the queue.

use crate::Principal;
use crate::consumers::{ConsumerCall, Consumers, FETCH_BYTES_MAX};
use crate::error::{AtMessage, bus_error};
use crate::idle_readers::{IdleReaders, Resumed};
use crate::lease::LeaseTokens;
use crate::quota::{QueueLimits, Quota, Quotas};
use crate::request::{
    AckMessages, ConsumerId, CreateGroup, CreateTopic, DeleteGroup, DeleteTopic, DeliveredLease,
    ExtendLeases, FetchMessages, GetTopic, LeaveGroup, ListTopics, NackMessages, NewMessage,
    NewMessages, PublishMessages, Published, ReadFrom, ReadMessages, ReadPage, SubscribeMessages,
};
use rialto_bus::{Context, Error, ErrorKind, Handler, Result};
use rialto_desk::Forbidden;
use rialto_queue::{
    FetchOptions, Fetched, Level, MessageId, Name, Publish, Queue, QueueError, Read, Reader,
    SlowReaderPolicy, Subscription, TopicOptions, TopicStats, WhenFull,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The interval at which idle consumers and readers are removed.
const IDLE_CHECK_EVERY: Duration = Duration::from_secs(1);
/// The longest that a publisher waits for room.
const ROOM_WAIT_MAX: Duration = Duration::from_secs(10);
/// A page ends with the message that reaches this number of bytes.
pub(crate) const READ_BYTES_MAX: usize = 2 << 20;

/// Handles requests to the queue, and keeps the clients' state between requests.
pub struct QueueService {
    queue: Queue,
    consumers: Arc<Consumers>,
    idle_readers: Arc<IdleReaders>,
    quotas: Arc<Quotas>,
    stopped: watch::Receiver<bool>,
    leases: LeaseTokens,
}

impl QueueService {
    pub(crate) fn open(
        queue: Queue,
        limits: QueueLimits,
        stopped: watch::Receiver<bool>,
    ) -> QueueService {
        let consumers = Arc::new(Consumers::default());
        let idle_readers = Arc::new(IdleReaders::default());
        let watched = (Arc::downgrade(&consumers), Arc::downgrade(&idle_readers));
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(IDLE_CHECK_EVERY).await;
                let (Some(consumers), Some(readers)) = (watched.0.upgrade(), watched.1.upgrade())
                else {
                    return;
                };
                consumers.remove_idle(Instant::now());
                readers.remove_idle(Instant::now());
            }
        });
        let quotas = Arc::new(Quotas::new(limits));
        QueueService { queue, consumers, idle_readers, quotas, stopped, leases: LeaseTokens::new() }
    }

    /// Charges a client for bytes that it publishes.
    pub(crate) fn take_bytes(&self, client: &Principal, topic: &Name, bytes: u64) -> Result<()> {
        self.quotas.take_bytes(&self.queue, &Quota::of(client), topic, bytes)
    }

    /// As [`QueueService::take_bytes`], for use on another thread.
    pub(crate) fn charging(
        &self,
        client: &Principal,
    ) -> impl Fn(&Name, u64) -> Result<()> + Send + 'static {
        let (queue, quotas, quota) = (self.queue.clone(), self.quotas.clone(), Quota::of(client));
        move |topic, bytes| quotas.take_bytes(&queue, &quota, topic, bytes)
    }

    pub(crate) fn leases(&self) -> LeaseTokens {
        self.leases
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Uses the queue on a thread that may block on the disk.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Queue) -> std::result::Result<T, QueueError> + Send + 'static,
    ) -> Result<T> {
        let queue = self.queue.clone();
        match tokio::task::spawn_blocking(move || work(&queue)).await {
            Ok(done) => done.map_err(bus_error),
            Err(error) => {
                let message = format!("The operation failed: {error}.");
                Err(Error::new(ErrorKind::Internal, "queue_failed", message))
            }
        }
    }

    /// Begins a call of one of the client's consumers.
    pub(crate) fn call(&self, cx: &Context<'_>, id: &ConsumerId) -> Result<ConsumerCall<'_>> {
        self.consumers.call(&self.queue, principal(cx)?.id(), id)
    }

    /// The names of the consumers of a group by their numbers.
    pub(crate) fn consumer_names(&self, topic: &Name, group: &Name) -> HashMap<u32, Name> {
        self.consumers.names(topic, group)
    }

    /// The result of a call of a consumer, on the bus.
    fn call_result<T>(&self, result: std::result::Result<T, QueueError>) -> Result<T> {
        result.map_err(|error| {
            self.remove_deleted(&error);
            bus_error(error)
        })
    }

    /// Removes the consumers of a deleted topic or group, so that a new one of the same name begins
    /// without them.
    pub(crate) fn remove_deleted(&self, error: &QueueError) {
        match error {
            QueueError::TopicDeleted(topic) => self.consumers.remove(topic, None),
            QueueError::UnknownGroup { topic, group } => {
                if let Ok(group) = Name::new(group) {
                    self.consumers.remove(topic, Some(&group));
                }
            }
            _ => {}
        }
    }

    /// Settles each message, and returns those whose leases were lost.
    fn settle(
        &self,
        leases: &[DeliveredLease],
        mut settle: impl FnMut(MessageId, u64) -> std::result::Result<(), QueueError>,
    ) -> Result<Vec<MessageId>> {
        let mut lost = Vec::new();
        for (id, lease) in leases {
            match settle(*id, *lease) {
                Ok(()) => {}
                Err(QueueError::LeaseLost(id)) => lost.push(id),
                Err(error) => return self.call_result(Err(error)),
            }
        }
        Ok(lost)
    }
}

/// The sender of the request.
pub(crate) fn principal<'a>(cx: &Context<'a>) -> Result<&'a Principal> {
    Ok(cx.principal().ok_or(Forbidden::Nobody)?)
}

impl Handler<CreateTopic> for QueueService {
    async fn handle(&self, create: CreateTopic, cx: &Context<'_>) -> Result<()> {
        let CreateTopic { topic, options } = create;
        let (quotas, quota) = (self.quotas.clone(), Quota::of(principal(cx)?));
        let create = move |queue: &Queue| {
            let _creating = quotas.creating();
            Ok(quotas.check_create(queue, &quota, &topic).map(|()| {
                let options = quotas.bounded(queue, &topic, options);
                queue.create_topic(topic.as_str(), options).map_err(bus_error)
            }))
        };
        self.run_blocking(create).await??
    }
}

impl Handler<DeleteTopic> for QueueService {
    async fn handle(&self, delete: DeleteTopic, _: &Context<'_>) -> Result<()> {
        let topic = delete.topic.clone();
        self.run_blocking(move |queue| queue.delete_topic(topic.as_str())).await?;
        self.consumers.remove(&delete.topic, None);
        Ok(())
    }
}

impl Handler<ListTopics> for QueueService {
    async fn handle(&self, _: ListTopics, cx: &Context<'_>) -> Result<Vec<Name>> {
        let client = principal(cx)?;
        let sees = |topic: &Name| {
            client.is_operator()
                || client.grants().iter().any(|grant| grant.topics.matches(topic.as_str()))
        };
        Ok(self.queue.topics().into_iter().filter(sees).collect())
    }
}

impl Handler<GetTopic> for QueueService {
    async fn handle(&self, get: GetTopic, _: &Context<'_>) -> Result<(TopicOptions, TopicStats)> {
        let topic = get.topic.as_str();
        let options = self.queue.options(topic).map_err(bus_error)?;
        Ok((options, self.queue.stats(topic).map_err(bus_error)?))
    }
}

impl Handler<CreateGroup> for QueueService {
    async fn handle(&self, create: CreateGroup, cx: &Context<'_>) -> Result<()> {
        let CreateGroup { topic, group, options } = create;
        let (quotas, quota) = (self.quotas.clone(), Quota::of(principal(cx)?));
        let create = move |queue: &Queue| {
            let _creating = quotas.creating();
            Ok(quotas.check_create_group(queue, &quota, &topic, &group).map(|()| {
                queue.create_group(topic.as_str(), group.as_str(), options).map_err(bus_error)
            }))
        };
        self.run_blocking(create).await??
    }
}

impl Handler<DeleteGroup> for QueueService {
    async fn handle(&self, delete: DeleteGroup, _: &Context<'_>) -> Result<()> {
        let (topic, group) = (delete.topic.clone(), delete.group.clone());
        self.run_blocking(move |queue| queue.delete_group(topic.as_str(), group.as_str())).await?;
        self.consumers.remove(&delete.topic, Some(&delete.group));
        Ok(())
    }
}

impl NewMessage {
    pub(crate) fn as_publish(&self) -> Publish<'_> {
        let mut publish = Publish::new(&self.payload)
            .key(self.key.as_bytes())
            .content_type(&self.content_type)
            .schema_version(self.schema_version)
            .priority(self.priority);
        for (name, value) in &self.headers {
            publish = publish.header(name, value.as_bytes());
        }
        if !self.delay.is_zero() {
            publish = publish.delay(self.delay);
        }
        match self.expires_after {
            Some(after) => publish.expires_after(after),
            None => publish,
        }
    }
}

impl Handler<PublishMessages> for QueueService {
    async fn handle(&self, publish: PublishMessages, cx: &Context<'_>) -> Result<Published> {
        let PublishMessages { topic, messages, numbers, confirm } = publish;
        let options = self.queue.options(topic.as_str()).map_err(bus_error)?;
        // Checked before anything is published.
        if let Some(asked) = confirm
            && options.level == Level::Memory
            && asked > options.level
        {
            return Err(bus_error(QueueError::Level { level: options.level, asked }));
        }
        let producer = self.queue.producer(topic.as_str()).map_err(bus_error)?;
        let published: Vec<_> = match &messages {
            NewMessages::Listed(messages) => messages.iter().map(NewMessage::as_publish).collect(),
            NewMessages::Packed(packed) => {
                packed.messages().map(|message| message.to_publish()).collect()
            }
        };
        let bytes = published.iter().map(Publish::bytes).sum::<usize>() as u64;
        self.take_bytes(principal(cx)?, &topic, bytes)?;
        let patience = match options.when_full {
            WhenFull::Block(wait) => wait.min(ROOM_WAIT_MAX),
            WhenFull::Reject => ROOM_WAIT_MAX,
        };
        let end = tokio::time::sleep(patience);
        let (receipt, refusal) = producer.send_until(&published, numbers, end).await;
        let done = receipt.ids().len() + receipt.duplicates();
        if let Some(error) = refusal {
            // The accepted messages stay published. A numbered producer can send them all again.
            let error = bus_error(error);
            let outcome = match done {
                0 => "No message has been published.".to_owned(),
                done => {
                    format!("The first {done} of {} messages have been published.", published.len())
                }
            };
            let message = format!("{} {outcome}", error.message());
            let (kind, code) = (error.kind(), error.code());
            let retry = error.is_retryable();
            return Err(Error::new(kind, code, message)
                .retryable(retry)
                .with_source(AtMessage(done)));
        }
        receipt.confirmed_at(confirm.unwrap_or(options.level)).await.map_err(bus_error)?;
        Ok(Published { ids: receipt.ids().to_vec(), duplicates: receipt.duplicates() })
    }
}

impl Handler<FetchMessages> for QueueService {
    async fn handle(&self, fetch: FetchMessages, cx: &Context<'_>) -> Result<Fetched> {
        let FetchMessages { consumer, max, wait, ack_wait } = fetch;
        let consumer = self.call(cx, &consumer)?;
        let mut stopped = self.stopped.clone();
        let end = async {
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                _ = stopped.wait_for(|stopped| *stopped) => {}
            }
        };
        let options = FetchOptions { messages_max: max, bytes_max: None, ack_wait };
        let fetched = consumer.fetch_until_with(options, end).await;
        if let (Some(length), Ok(fetched)) = (ack_wait, &fetched)
            && !fetched.messages.is_empty()
        {
            consumer.keep_for(length);
        }
        self.call_result(fetched)
    }
}

impl Handler<SubscribeMessages> for QueueService {
    async fn handle(&self, subscribe: SubscribeMessages, _: &Context<'_>) -> Result<Subscription> {
        let SubscribeMessages { topic, group, prefetch } = subscribe;
        let consumer = self.queue.consumer(topic.as_str(), group.as_str()).map_err(bus_error)?;
        Ok(consumer.bytes_max(FETCH_BYTES_MAX).subscribe(prefetch))
    }
}

impl Handler<AckMessages> for QueueService {
    async fn handle(&self, ack: AckMessages, cx: &Context<'_>) -> Result<Vec<MessageId>> {
        let consumer = self.call(cx, &ack.consumer)?;
        let lost = self.settle(&ack.leases, |id, lease| consumer.ack_lease(id, lease))?;
        self.call_result(consumer.confirmed().await)?;
        Ok(lost)
    }
}

impl Handler<NackMessages> for QueueService {
    async fn handle(&self, nack: NackMessages, cx: &Context<'_>) -> Result<Vec<MessageId>> {
        let NackMessages { consumer, leases, options } = nack;
        let consumer = self.call(cx, &consumer)?;
        let lost = if options.unseen {
            consumer.return_unseen(&leases)
        } else {
            self.settle(&leases, |id, lease| match options.refuse {
                true => consumer.refuse_lease(id, lease, &options.detail),
                false => consumer.nack_lease(id, lease, options.delay, &options.detail),
            })?
        };
        self.call_result(consumer.confirmed().await)?;
        Ok(lost)
    }
}

impl Handler<ExtendLeases> for QueueService {
    async fn handle(&self, extend: ExtendLeases, cx: &Context<'_>) -> Result<Vec<MessageId>> {
        let consumer = self.call(cx, &extend.consumer)?;
        let Some(length) = extend.ack_wait else {
            return self.settle(&extend.leases, |id, lease| consumer.extend_lease(id, lease));
        };
        let extend_by = |id, lease| consumer.extend_lease_by(id, lease, length);
        let lost = self.settle(&extend.leases, extend_by)?;
        if lost.len() < extend.leases.len() {
            consumer.keep_for(length);
        }
        Ok(lost)
    }
}

impl Handler<LeaveGroup> for QueueService {
    async fn handle(&self, leave: LeaveGroup, cx: &Context<'_>) -> Result<()> {
        self.consumers.leave(principal(cx)?.id(), &leave.consumer);
        Ok(())
    }
}

/// Reads a page, which began at these positions and continues with `first` if that was read already.
pub(crate) fn read_page(
    reader: &mut Reader,
    began: &[u64],
    mut first: Option<Read>,
    max: usize,
) -> std::result::Result<ReadPage, QueueError> {
    let mut page = ReadPage { messages: Vec::with_capacity(max), ..ReadPage::default() };
    let mut bytes = 0;
    while page.messages.len() < max && bytes < READ_BYTES_MAX {
        let read = match first.take() {
            Some(read) => Some(read),
            None => match reader.try_next() {
                Ok(read) => read,
                // The messages before damage are returned, and the next page is the error. Other
                // errors are returned at once: a reader that begins after the gap does not meet
                // them.
                Err(QueueError::Read(_)) if !page.messages.is_empty() || page.missed > 0 => break,
                Err(error) => return Err(error),
            },
        };
        match read {
            Some(Read::Message(message)) => {
                bytes += message.bytes();
                page.messages.push(message);
            }
            Some(Read::Missed { messages, .. }) => page.missed += messages,
            // Conflated messages are counted below by the positions that the page passes.
            Some(Read::Conflated { .. }) => {}
            None => break,
        }
    }
    page.next = reader.positions();
    let passed: u64 = page.next.iter().zip(began).map(|(end, begin)| end - begin).sum();
    page.conflated = passed.saturating_sub(page.missed + page.messages.len() as u64);
    Ok(page)
}

impl QueueService {
    /// A page with its start positions, its reader, and whether it continues an earlier page.
    async fn begin_page(
        &self,
        topic: &Name,
        from: ReadFrom,
        max: usize,
    ) -> Result<(Vec<u64>, Reader, ReadPage, bool)> {
        let resumed = match &from {
            ReadFrom::Positions(at) => self.idle_readers.resume(topic, at, max).await,
            ReadFrom::Start(_) => Resumed::Nothing,
        };
        let (reader, is_resumed) = match (resumed, &from) {
            (Resumed::Page(reader, page), ReadFrom::Positions(at)) => {
                return Ok((at.clone(), reader, page, true));
            }
            (Resumed::Reader(reader), _) => (Some(reader), true),
            _ => (None, false),
        };
        let topic = topic.clone();
        let read = move |queue: &Queue| {
            let mut reader = match (reader, from) {
                (Some(reader), _) => reader,
                (None, ReadFrom::Start(start)) => queue.reader(topic.as_str(), start)?,
                (None, ReadFrom::Positions(at)) => queue.reader_at(topic.as_str(), &at)?,
            };
            let began = reader.positions();
            let page = read_page(&mut reader, &began, None, max)?;
            Ok((began, reader, page, is_resumed))
        };
        self.run_blocking(read).await
    }
}

impl Handler<ReadMessages> for QueueService {
    async fn handle(&self, read: ReadMessages, _: &Context<'_>) -> Result<ReadPage> {
        let ReadMessages { topic, from, max, wait } = read;
        let (began, mut reader, mut page, is_resumed) = self.begin_page(&topic, from, max).await?;
        if !wait.is_zero() && page.next == began {
            let mut stopped = self.stopped.clone();
            let first = tokio::select! {
                read = reader.read() => read.map_err(bus_error)?,
                () = tokio::time::sleep(wait) => return Ok(page),
                _ = stopped.wait_for(|stopped| *stopped) => return Ok(page),
            };
            // A message that was just published is in memory, so that reading it does not block.
            page = read_page(&mut reader, &began, Some(first), max).map_err(bus_error)?;
        }
        // A reader of a conflated topic is not kept: the skipped messages depend on its start.
        let options = self.queue.options(topic.as_str()).map_err(bus_error)?;
        if page.next != began && !matches!(options.overtaken, SlowReaderPolicy::Conflated { .. }) {
            self.idle_readers.keep(topic, reader, max, is_resumed);
        }
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_disk::{Disk, SimDisk};
    use rialto_queue::{QueueOptions, Start};
    use std::path::Path;

    #[test]
    fn messages_before_damage_are_a_page_and_the_next_page_is_an_error() {
        const SEGMENT_BYTES: u64 = (1 << 20) + 8192;
        let disk = Arc::new(SimDisk::new(7));
        let options = || QueueOptions {
            disk: disk.clone(),
            control_segment_bytes: SEGMENT_BYTES,
            ..QueueOptions::at("/queue")
        };
        let queue = Queue::open_stepped(options()).unwrap();
        let topic = TopicOptions { segment_bytes: SEGMENT_BYTES, ..TopicOptions::default() };
        queue.create_topic("t", topic).unwrap();
        let producer = queue.producer("t").unwrap();
        for _ in 0..6 {
            let _ = producer.publish(&Publish::new(b"each in a block of its own")).unwrap();
        }
        drop(producer);
        queue.close().unwrap();

        let queue = Queue::open_stepped(options()).unwrap();
        let lane = Path::new("/queue/topics/000001/lane-0");
        let names = disk.list(lane).unwrap();
        let first = names.iter().find(|name| name.ends_with(".log")).unwrap();
        assert!(disk.flip_bit(&lane.join(first), 4 * 4096 + 150, 3));
        let mut reader = queue.reader("t", Start::Oldest).unwrap();
        let began = reader.positions();
        let page = read_page(&mut reader, &began, None, 100).unwrap();
        assert_eq!(page.messages.len(), 3);
        let mut reader = queue.reader_at("t", &page.next).unwrap();
        let began = reader.positions();
        let damage = read_page(&mut reader, &began, None, 100).map(drop).unwrap_err();
        assert!(damage.to_string().contains(first), "{damage}");
    }
}
