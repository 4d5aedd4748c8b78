//! Answers what is asked of the queue.

use super::consumers::{Calling, Consumers, FETCH_BYTES_MAX};
use super::error::{AtMessage, told};
use super::lease::LeaseTexts;
use super::quota::{QueueLimits, Quota, Quotas};
use super::readings::{Readings, Resumed};
use super::request::{
    AckMessages, CreateGroup, CreateTopic, DeleteGroup, DeleteTopic, ExtendLeases, FetchMessages,
    GetTopic, Leased, LeaveGroup, ListTopics, NackMessages, NewMessage, NewMessages,
    PublishMessages, Published, ReadFrom, ReadMessages, ReadPage, Seat, SubscribeMessages,
};
use crate::auth::Caller;
use rialto_bus::{Context, Error, ErrorKind, Handler, Result};
use rialto_desk::{Forbidden, Scope};
use rialto_queue::{
    Fetched, Level, MessageId, Name, Publish, Queue, QueueError, Read, Reader, SlowReaderPolicy,
    Subscription, TopicOptions, TopicStats, WhenFull,
};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How often silent consumers are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long a publisher waits for room at most.
const ROOM_WAIT_MAX: Duration = Duration::from_secs(10);
/// How many bytes of messages one reading takes in before it ends.
pub(super) const READ_BYTES_MAX: usize = 2 << 20;

/// Keeps the queue, and the consumers that come and go.
pub(crate) struct QueueKeeper {
    queue: Queue,
    consumers: Arc<Consumers>,
    readings: Arc<Readings>,
    quotas: Arc<Quotas>,
    stopped: watch::Receiver<bool>,
    leases: LeaseTexts,
}

impl QueueKeeper {
    pub(super) fn open(
        queue: Queue,
        limits: QueueLimits,
        stopped: watch::Receiver<bool>,
    ) -> QueueKeeper {
        let (consumers, readings) = (Arc::new(Consumers::default()), Arc::new(Readings::default()));
        let watched = (Arc::downgrade(&consumers), Arc::downgrade(&readings));
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK_EVERY).await;
                let (Some(consumers), Some(readings)) = (watched.0.upgrade(), watched.1.upgrade())
                else {
                    return;
                };
                consumers.forget_silent(Instant::now());
                readings.forget_old(Instant::now());
            }
        });
        let quotas = Arc::new(Quotas::new(limits));
        QueueKeeper { queue, consumers, readings, quotas, stopped, leases: LeaseTexts::new() }
    }

    /// Charges a caller for what is to be published.
    pub(super) fn take_bytes(&self, caller: &Caller, topic: &Name, bytes: u64) -> Result<()> {
        self.quotas.take_bytes(&self.queue, &Quota::of(caller), topic, bytes)
    }

    /// Charges somebody for each message that is to be published, on a thread of its own.
    pub(super) fn charging(
        &self,
        caller: &Caller,
    ) -> impl Fn(&Name, u64) -> Result<()> + Send + 'static {
        let (queue, quotas, quota) = (self.queue.clone(), self.quotas.clone(), Quota::of(caller));
        move |topic, bytes| quotas.take_bytes(&queue, &quota, topic, bytes)
    }

    pub(super) fn leases(&self) -> LeaseTexts {
        self.leases
    }

    pub(super) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Uses the queue where waiting for its disk holds up nobody.
    pub(super) async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Queue) -> std::result::Result<T, QueueError> + Send + 'static,
    ) -> Result<T> {
        let queue = self.queue.clone();
        match tokio::task::spawn_blocking(move || work(&queue)).await {
            Ok(done) => done.map_err(told),
            Err(error) => {
                let message = format!("The work broke off: {error}.");
                Err(Error::new(ErrorKind::Internal, "queue_failed", message))
            }
        }
    }

    pub(super) fn call(&self, cx: &Context<'_>, seat: &Seat) -> Result<Calling<'_>> {
        self.consumers.call(&self.queue, caller(cx)?.id(), seat)
    }

    /// What became of a call on a consumer.
    fn came_to<T>(&self, result: std::result::Result<T, QueueError>) -> Result<T> {
        result.map_err(|error| {
            self.notice(&error);
            told(error)
        })
    }

    /// If a group is gone, so are its consumers, and another group of the name gets others.
    pub(super) fn notice(&self, error: &QueueError) {
        match error {
            QueueError::TopicDeleted(topic) => self.consumers.forget(topic, None),
            QueueError::UnknownGroup { topic, group } => {
                if let Ok(group) = Name::new(group) {
                    self.consumers.forget(topic, Some(&group));
                }
            }
            _ => {}
        }
    }

    /// Does something with each lease, and says which were lost.
    fn settle(
        &self,
        leases: &[Leased],
        mut settle: impl FnMut(MessageId, u64) -> std::result::Result<(), QueueError>,
    ) -> Result<Vec<MessageId>> {
        let mut lost = Vec::new();
        for (id, lease) in leases {
            match settle(*id, *lease) {
                Ok(()) => {}
                Err(QueueError::LeaseLost(id)) => lost.push(id),
                Err(error) => return self.came_to(Err(error)),
            }
        }
        Ok(lost)
    }
}

pub(super) fn caller<'a>(cx: &Context<'a>) -> Result<&'a Caller> {
    Ok(cx.principal().ok_or(Forbidden::Nobody)?)
}

impl Handler<CreateTopic> for QueueKeeper {
    async fn handle(&self, create: CreateTopic, cx: &Context<'_>) -> Result<()> {
        let CreateTopic { topic, options } = create;
        let (quotas, quota) = (self.quotas.clone(), Quota::of(caller(cx)?));
        let create = move |queue: &Queue| {
            let _creating = quotas.creating();
            Ok(quotas.check_create(queue, &quota, &topic).map(|()| {
                let options = quotas.bounded(queue, &topic, options);
                queue.create_topic(topic.as_str(), options).map_err(told)
            }))
        };
        self.aside(create).await??
    }
}

impl Handler<DeleteTopic> for QueueKeeper {
    async fn handle(&self, delete: DeleteTopic, _: &Context<'_>) -> Result<()> {
        let topic = delete.topic.clone();
        self.aside(move |queue| queue.delete_topic(topic.as_str())).await?;
        self.consumers.forget(&delete.topic, None);
        Ok(())
    }
}

impl Handler<ListTopics> for QueueKeeper {
    async fn handle(&self, _: ListTopics, cx: &Context<'_>) -> Result<Vec<Name>> {
        let caller = caller(cx)?;
        let (sees_all, grants) = (caller.scopes().has(Scope::Admin), caller.queues());
        let sees = |topic: &Name| {
            sees_all || grants.iter().any(|grant| grant.topics.matches(topic.as_str()))
        };
        Ok(self.queue.topics().into_iter().filter(sees).collect())
    }
}

impl Handler<GetTopic> for QueueKeeper {
    async fn handle(&self, get: GetTopic, _: &Context<'_>) -> Result<(TopicOptions, TopicStats)> {
        let topic = get.topic.as_str();
        let options = self.queue.options(topic).map_err(told)?;
        Ok((options, self.queue.stats(topic).map_err(told)?))
    }
}

impl Handler<CreateGroup> for QueueKeeper {
    async fn handle(&self, create: CreateGroup, cx: &Context<'_>) -> Result<()> {
        let CreateGroup { topic, group, options } = create;
        let (quotas, quota) = (self.quotas.clone(), Quota::of(caller(cx)?));
        let create = move |queue: &Queue| {
            let _creating = quotas.creating();
            Ok(quotas.check_create_group(queue, &quota, &topic, &group).map(|()| {
                queue.create_group(topic.as_str(), group.as_str(), options).map_err(told)
            }))
        };
        self.aside(create).await??
    }
}

impl Handler<DeleteGroup> for QueueKeeper {
    async fn handle(&self, delete: DeleteGroup, _: &Context<'_>) -> Result<()> {
        let (topic, group) = (delete.topic.clone(), delete.group.clone());
        self.aside(move |queue| queue.delete_group(topic.as_str(), group.as_str())).await?;
        self.consumers.forget(&delete.topic, Some(&delete.group));
        Ok(())
    }
}

impl NewMessage {
    pub(super) fn as_publish(&self) -> Publish<'_> {
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

impl Handler<PublishMessages> for QueueKeeper {
    async fn handle(&self, publish: PublishMessages, cx: &Context<'_>) -> Result<Published> {
        let PublishMessages { topic, messages, numbers, confirm } = publish;
        let options = self.queue.options(topic.as_str()).map_err(told)?;
        // Before anything is published: what cannot be promised is not worth half the work.
        if let Some(asked) = confirm
            && options.level == Level::Memory
            && asked > options.level
        {
            return Err(told(QueueError::Level { level: options.level, asked }));
        }
        let producer = self.queue.producer(topic.as_str()).map_err(told)?;
        let published: Vec<_> = match &messages {
            NewMessages::Listed(messages) => messages.iter().map(NewMessage::as_publish).collect(),
            NewMessages::Packed(packed) => {
                packed.messages().map(|message| message.to_publish()).collect()
            }
        };
        let bytes = published.iter().map(Publish::bytes).sum::<usize>() as u64;
        self.take_bytes(caller(cx)?, &topic, bytes)?;
        let patience = match options.when_full {
            WhenFull::Block(wait) => wait.min(ROOM_WAIT_MAX),
            WhenFull::Reject => ROOM_WAIT_MAX,
        };
        let end = tokio::time::sleep(patience);
        let (receipt, refusal) = producer.send_until(&published, numbers, end).await;
        let done = receipt.ids().len() + receipt.duplicates();
        if let Some(error) = refusal {
            // What was accepted is published all the same, and whoever numbers it may send it again.
            let error = told(error);
            let message = format!(
                "{} The first {done} of {} messages have been published.",
                error.message(),
                published.len()
            );
            let (kind, code) = (error.kind(), error.code());
            let retry = error.is_retryable();
            return Err(Error::new(kind, code, message)
                .retryable(retry)
                .with_source(AtMessage(done)));
        }
        receipt.confirmed_at(confirm.unwrap_or(options.level)).await.map_err(told)?;
        Ok(Published { ids: receipt.ids().to_vec(), duplicates: receipt.duplicates() })
    }
}

impl Handler<FetchMessages> for QueueKeeper {
    async fn handle(&self, fetch: FetchMessages, cx: &Context<'_>) -> Result<Fetched> {
        let FetchMessages { seat, max, wait } = fetch;
        let consumer = self.call(cx, &seat)?;
        let mut stopped = self.stopped.clone();
        let end = async {
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                _ = stopped.wait_for(|stopped| *stopped) => {}
            }
        };
        let fetched = consumer.fetch_until(max, end).await;
        self.came_to(fetched)
    }
}

impl Handler<SubscribeMessages> for QueueKeeper {
    async fn handle(&self, subscribe: SubscribeMessages, _: &Context<'_>) -> Result<Subscription> {
        let SubscribeMessages { topic, group, prefetch } = subscribe;
        let consumer = self.queue.consumer(topic.as_str(), group.as_str()).map_err(told)?;
        Ok(consumer.bytes_max(FETCH_BYTES_MAX).subscribe(prefetch))
    }
}

impl Handler<AckMessages> for QueueKeeper {
    async fn handle(&self, ack: AckMessages, cx: &Context<'_>) -> Result<Vec<MessageId>> {
        let consumer = self.call(cx, &ack.seat)?;
        let lost = self.settle(&ack.leases, |id, lease| consumer.ack_lease(id, lease))?;
        self.came_to(consumer.confirmed().await)?;
        Ok(lost)
    }
}

impl Handler<NackMessages> for QueueKeeper {
    async fn handle(&self, nack: NackMessages, cx: &Context<'_>) -> Result<Vec<MessageId>> {
        let NackMessages { seat, leases, back } = nack;
        let consumer = self.call(cx, &seat)?;
        let lost = if back.unseen {
            consumer.return_unseen(&leases)
        } else {
            self.settle(&leases, |id, lease| match back.refuse {
                true => consumer.refuse_lease(id, lease, &back.detail),
                false => consumer.nack_lease(id, lease, back.delay, &back.detail),
            })?
        };
        self.came_to(consumer.confirmed().await)?;
        Ok(lost)
    }
}

impl Handler<ExtendLeases> for QueueKeeper {
    async fn handle(&self, extend: ExtendLeases, cx: &Context<'_>) -> Result<Vec<MessageId>> {
        let consumer = self.call(cx, &extend.seat)?;
        self.settle(&extend.leases, |id, lease| consumer.extend_lease(id, lease))
    }
}

impl Handler<LeaveGroup> for QueueKeeper {
    async fn handle(&self, leave: LeaveGroup, cx: &Context<'_>) -> Result<()> {
        self.consumers.leave(caller(cx)?.id(), &leave.seat);
        Ok(())
    }
}

/// Reads on from where a reading began, and from what has been read already if there is something.
pub(super) fn read_page(
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
                // What stands before damage is delivered; whoever goes on from there meets it. Who is
                // cut off must be told: a reader that begins behind the gap knows nothing of it.
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
            // What is left out is counted as it is passed: the page may end before it is.
            Some(Read::Conflated { .. }) => {}
            None => break,
        }
    }
    page.next = reader.positions();
    let passed: u64 = page.next.iter().zip(began).map(|(end, begin)| end - begin).sum();
    page.conflated = passed.saturating_sub(page.missed + page.messages.len() as u64);
    Ok(page)
}

impl QueueKeeper {
    /// A page, with where it begins, the reader that stands behind it, and whether the reading went on
    /// from an earlier one.
    async fn read_on(
        &self,
        topic: &Name,
        from: ReadFrom,
        max: usize,
    ) -> Result<(Vec<u64>, Reader, ReadPage, bool)> {
        let resumed = match &from {
            ReadFrom::Positions(at) => self.readings.resume(topic, at, max).await,
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
        self.aside(read).await
    }
}

impl Handler<ReadMessages> for QueueKeeper {
    async fn handle(&self, read: ReadMessages, _: &Context<'_>) -> Result<ReadPage> {
        let ReadMessages { topic, from, max, wait } = read;
        let (began, mut reader, mut page, is_resumed) = self.read_on(&topic, from, max).await?;
        if !wait.is_zero() && page.next == began {
            let mut stopped = self.stopped.clone();
            let first = tokio::select! {
                read = reader.read() => read.map_err(told)?,
                () = tokio::time::sleep(wait) => return Ok(page),
                _ = stopped.wait_for(|stopped| *stopped) => return Ok(page),
            };
            // What has just come lies in memory.
            page = read_page(&mut reader, &began, Some(first), max).map_err(told)?;
        }
        // What a reader is spared is decided anew for whoever asks later.
        let options = self.queue.options(topic.as_str()).map_err(told)?;
        if page.next != began && !matches!(options.overtaken, SlowReaderPolicy::Conflated { .. }) {
            self.readings.rest(topic, reader, max, is_resumed);
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
    fn what_stands_before_damage_is_a_page_and_the_next_is_the_damage() {
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
