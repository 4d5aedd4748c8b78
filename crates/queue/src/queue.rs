//! A queue, and the threads that work for it.

use crate::consumer::Consumer;
use crate::control::Control;
use crate::error::QueueError;
use crate::group::{GroupOptions, GroupStats, OutstandingMessage, Start};
use crate::message::{Message, MessageId};
use crate::mount::{Mount, MountedLog};
use crate::name::Name;
use crate::producer::Producer;
use crate::rate::Rate;
use crate::reader::Reader;
use crate::recovery::{self, QueueOpenReport};
use crate::runtime::Runtime;
use crate::shared::{SharedQueue, message_at};
use crate::topic::{DELAYED_LANE, Topic, TopicOptions};
use crate::transaction::Transaction;
use rialto_clock::{Clock, SystemClock};
use rialto_disk::{Disk, RealDisk};
use rialto_log::{KeyRing, fresh_salt};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The interval at which a queue checks deadlines, delays and retention.
const TICK: Duration = Duration::from_millis(5);

/// The number of writing threads, besides the timer thread. There is more than one, so that a slow
/// disk of one topic does not block another, and files are prepared meanwhile.
const WRITERS: usize = 3;

/// The configuration of a queue.
#[derive(Clone)]
pub struct QueueOptions {
    /// The directory; `None` for a queue in memory.
    pub dir: Option<PathBuf>,
    /// The size of the control log's files, a multiple of 4096, at least 1,056,768.
    pub control_segment_bytes: u64,
    /// The number of complete files that stay mapped besides those in use. At 0, no files are
    /// mapped.
    pub mapped_segments_max: usize,
    /// The bytes of dropped files that are kept for recycling, over all topics, so that new files
    /// of a topic at [`Level::Synced`](rialto_log::Level::Synced) need not be filled with zeros
    /// first. They are removed when the disk is full. At 0, none are kept.
    pub spare_bytes_max: u64,
    /// The most bytes of a topic's dead letters, for topics without a bound of bytes; for others it
    /// is the topic's bound. `None` is no bound.
    pub dead_letters_bytes_max: Option<u64>,
    /// About how many descriptors are kept open, of all topics together; at least
    /// [`DESCRIPTORS_MIN`](crate::DESCRIPTORS_MIN). Half of them are for logs that are written:
    /// when there are more, some close their files, and writing one again costs about a
    /// millisecond. A quarter is for readers and groups that are behind; others open their file for
    /// every stretch that they read.
    pub descriptors_max: usize,
    /// The disk.
    pub disk: Arc<dyn Disk>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The keys of topics that are encrypted. If there are any, the control log is encrypted, too.
    pub keys: KeyRing,
    /// Sixteen random bytes for every log that is opened.
    pub salt: Arc<dyn Fn() -> [u8; 16] + Send + Sync>,
    /// Bytes of memory for messages that are allocated and touched when the queue is opened, in
    /// whole MiB, and kept until it is closed. The first write to a page costs more than
    /// publishing; with this, opening pays for it, at up to seconds for each gigabyte. It pays if
    /// topics at [`Level::Memory`](rialto_log::Level::Memory) hold much or take bursts at full
    /// speed. Beyond it, memory is allocated as needed, and 32 MiB are kept for reuse.
    pub buffers_bytes: usize,
    /// The guarantee that is broken on purpose, for tests.
    #[cfg(feature = "sabotage")]
    pub sabotage: Option<crate::Sabotage>,
}

impl QueueOptions {
    /// A queue in a directory of the real disk.
    #[must_use]
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: Some(dir.into()), ..Self::in_memory() }
    }

    /// A queue in memory. All its topics are at [`Level::Memory`](rialto_log::Level::Memory).
    #[must_use]
    pub fn in_memory() -> Self {
        Self {
            dir: None,
            control_segment_bytes: 4 << 20,
            mapped_segments_max: 64,
            spare_bytes_max: 256 << 20,
            dead_letters_bytes_max: None,
            descriptors_max: 512,
            disk: Arc::new(RealDisk),
            clock: Arc::new(SystemClock),
            keys: KeyRing::empty(),
            salt: Arc::new(fresh_salt),
            buffers_bytes: 0,
            #[cfg(feature = "sabotage")]
            sabotage: None,
        }
    }
}

/// A queue: a set of topics and their groups. Clones share it; dropping the last one closes it.
#[derive(Clone)]
pub struct Queue {
    inner: Arc<Inner>,
}

struct Inner {
    core: Arc<SharedQueue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    report: QueueOpenReport,
}

impl Queue {
    /// Opens or creates a queue, and starts its threads.
    pub fn open(options: QueueOptions) -> Result<Self, QueueError> {
        let queue = Self::open_without_threads(options)?;
        let mut threads = Vec::new();
        // Buffers are prepared for the first burst too.
        queue.inner.core.runtime.ask_for_buffers();
        for nth in 0..WRITERS {
            let core = queue.inner.core.clone();
            let thread = std::thread::Builder::new().name(format!("queue-{nth}"));
            threads.push(spawn(thread, move || {
                while let Some(work) = core.runtime.next_work(None) {
                    core.work(work);
                }
            })?);
        }
        let core = queue.inner.core.clone();
        threads.push(spawn(std::thread::Builder::new().name("queue-time".into()), move || {
            while !core.runtime.wait_closed(TICK) {
                core.tick();
            }
        })?);
        *queue.inner.threads.lock().unwrap_or_else(PoisonError::into_inner) = threads;
        Ok(queue)
    }

    /// Opens a queue without threads, for simulations and tests: work is done only in
    /// [`Queue::step`] and in calls that wait.
    pub fn open_stepped(options: QueueOptions) -> Result<Self, QueueError> {
        let queue = Self::open_without_threads(options)?;
        queue.inner.core.runtime.drive(&queue.inner.core);
        Ok(queue)
    }

    fn open_without_threads(options: QueueOptions) -> Result<Self, QueueError> {
        let (dir, control_segment_bytes) = (options.dir.clone(), options.control_segment_bytes);
        let runtime = Arc::new(Runtime::new(options));
        let (core, report) = match dir {
            Some(dir) => recovery::open(runtime, &dir, control_segment_bytes)?,
            None => (SharedQueue::new(runtime, None, None, 1), QueueOpenReport::default()),
        };
        let threads = Mutex::default();
        Ok(Self { inner: Arc::new(Inner { core: Arc::new(core), threads, report }) })
    }

    /// Does all work that is due, on this thread.
    pub fn step(&self) {
        self.inner.core.step();
    }

    /// The report of the opening.
    #[must_use]
    pub fn report(&self) -> &QueueOpenReport {
        &self.inner.report
    }

    /// Refuses everything that needs more room on the disk with [`QueueError::StorageLow`]:
    /// messages of topics on disk, new topics and new groups. Messages are still delivered,
    /// acknowledged, dead-lettered, purged and deleted. For an owner that watches the disk.
    pub fn set_refusing(&self, refuse: bool) {
        self.inner.core.runtime.set_refusing(refuse);
    }

    /// The reason that nothing can be created, fetched, acknowledged or committed now, if the disk
    /// failed under the control log. Topics in memory continue. The queue tries every second to
    /// restart the log.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.inner.core.control.as_ref().and_then(Control::failure)
    }

    /// Whether [`Queue::set_refusing`] is in force.
    #[must_use]
    pub fn is_refusing(&self) -> bool {
        self.inner.core.runtime.is_refusing()
    }

    /// Creates a topic. If there is one of this name with these options, it is used.
    pub fn create_topic(&self, name: &str, options: TopicOptions) -> Result<(), QueueError> {
        self.inner.core.runtime.check_room()?;
        self.inner.core.create_topic(Name::new(name)?, options).map(drop)
    }

    /// Reads an external log as a topic, in this process and for as long as the queue is open. Its
    /// groups belong to the queue, and are kept when it is not mounted. Only the writer can change
    /// what it holds: publishing on it and deleting it are refused with [`QueueError::ReadOnly`].
    pub fn mount(&self, name: &str, log: MountedLog) -> Result<Mount, QueueError> {
        self.inner.core.mount(Name::new(name)?, log)
    }

    /// Deletes a topic with its messages and groups. Later calls of its users fail.
    pub fn delete_topic(&self, name: &str) -> Result<(), QueueError> {
        self.inner.core.delete_topic(name)
    }

    /// The names of all topics, in order.
    #[must_use]
    pub fn topics(&self) -> Vec<Name> {
        self.inner.core.topics().iter().map(|topic| topic.name.clone()).collect()
    }

    /// The options of a topic.
    pub fn options(&self, topic: &str) -> Result<TopicOptions, QueueError> {
        Ok(self.inner.core.topic(topic)?.options.clone())
    }

    /// A producer for a topic.
    pub fn producer(&self, topic: &str) -> Result<Producer, QueueError> {
        let topic = self.inner.core.topic(topic)?;
        topic.check_own()?;
        Ok(Producer::new(topic, self.inner.core.clone()))
    }

    /// Creates a group of a topic. If there is one of this name with these options, it is used.
    pub fn create_group(
        &self,
        topic: &str,
        group: &str,
        options: GroupOptions,
    ) -> Result<(), QueueError> {
        self.inner.core.runtime.check_room()?;
        let topic = self.inner.core.topic(topic)?;
        self.inner.core.group(&topic, &Name::new(group)?, Some(options)).map(drop)
    }

    /// Deletes a group. Later calls of its consumers fail.
    pub fn delete_group(&self, topic: &str, group: &str) -> Result<(), QueueError> {
        let topic = self.inner.core.topic(topic)?;
        self.inner.core.delete_group(&topic, group)
    }

    /// A new member of a group.
    pub fn consumer(&self, topic: &str, group: &str) -> Result<Consumer, QueueError> {
        let core = &self.inner.core;
        let topic = core.topic(topic)?;
        let group = core.group(&topic, &Name::new(group)?, None)?;
        Consumer::new(group, core.clone())
    }

    /// The leased messages of a group after the message `after`, ordered by lane and number: at most
    /// `max`, and at most [`LEASED_MAX`](crate::LEASED_MAX). The next page begins after the last one
    /// returned; the listing ends with an empty page. It is not an instant: what is leased or settled
    /// between two pages may be in none of them.
    pub fn leased(
        &self,
        topic: &str,
        group: &str,
        after: Option<MessageId>,
        max: usize,
    ) -> Result<Vec<OutstandingMessage>, QueueError> {
        let topic = self.inner.core.topic(topic)?;
        self.inner.core.group(&topic, &Name::new(group)?, None)?.leased(after, max)
    }

    /// The message with this id, in memory or on disk, whether groups have acknowledged it or not.
    /// `None` if there is none: it was dropped, is not visible yet, or was delayed and has been moved
    /// to the lane of its priority, where it has another id.
    pub fn message(&self, topic: &str, id: MessageId) -> Result<Option<Message>, QueueError> {
        let topic = self.inner.core.topic(topic)?;
        topic.check_open()?;
        let is_there = match id.lane {
            DELAYED_LANE => !topic.delayed().is_moved(id.seq),
            lane => lane < topic.options.priorities,
        };
        if is_there { message_at(&topic, id) } else { Ok(None) }
    }

    /// A reader of a topic, which is not a member of a group.
    pub fn reader(&self, topic: &str, start: Start) -> Result<Reader, QueueError> {
        let core = &self.inner.core;
        Reader::new(core.topic(topic)?, core.clone(), start)
    }

    /// As [`Queue::reader`], from the positions of another reader ([`Reader::positions`]); a lane
    /// without a position is read from its beginning.
    pub fn reader_at(&self, topic: &str, positions: &[u64]) -> Result<Reader, QueueError> {
        let core = &self.inner.core;
        Ok(Reader::at(core.topic(topic)?, core.clone(), positions))
    }

    /// Begins a transaction.
    #[must_use]
    pub fn begin(&self) -> Transaction {
        Transaction::new(self.inner.core.clone())
    }

    /// The bytes of the messages of some topics, including delayed ones; accurate to 256 KiB for
    /// each priority.
    pub fn held_bytes(&self, is_meant: impl Fn(&Name) -> bool) -> u64 {
        let topics = self.inner.core.topics();
        topics.iter().filter(|topic| is_meant(&topic.name)).map(|topic| topic.held_bytes()).sum()
    }

    /// The number of groups of some topics.
    pub fn groups(&self, is_meant: impl Fn(&Name) -> bool) -> usize {
        let topics = self.inner.core.topics();
        let meant = topics.iter().filter(|topic| is_meant(&topic.name));
        meant.map(|topic| topic.groups().len()).sum()
    }

    /// Whether a topic has a group of this name.
    pub fn has_group(&self, topic: &str, group: &str) -> bool {
        let topic = self.inner.core.topic(topic);
        topic.is_ok_and(|topic| topic.groups().iter().any(|it| it.name.as_str() == group))
    }

    /// The state of a topic.
    pub fn stats(&self, topic: &str) -> Result<TopicStats, QueueError> {
        let core = &self.inner.core;
        let topic = core.topic(topic)?;
        let mut stats = topic.stats();
        if stats.failed.is_none() && core.keeps(&topic) {
            stats.failed = self.failure();
        }
        Ok(stats)
    }

    /// Drops all messages of a topic, acknowledged or not, except delayed ones. Returns their
    /// number.
    pub fn purge(&self, topic: &str) -> Result<u64, QueueError> {
        let core = &self.inner.core;
        let topic = core.topic(topic)?;
        core.purge(&topic)
    }

    /// Closes the queue, durably. Later calls of its users fail.
    pub fn close(&self) -> Result<(), QueueError> {
        self.inner.close()
    }
}

fn spawn(
    thread: std::thread::Builder,
    run: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, QueueError> {
    thread.spawn(run).map_err(QueueError::Thread)
}

impl Inner {
    fn close(&self) -> Result<(), QueueError> {
        if self.core.runtime.is_closed() {
            return Ok(());
        }
        self.core.runtime.close();
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // A thread that panicked has reported it; the rest can still be closed.
            let _ = thread.join();
        }
        self.core.close()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // A caller that wants to act on the error calls `close`.
        if let Err(error) = self.close() {
            tracing::warn!("the queue did not end in order: {error}");
        }
    }
}

/// The state of a topic.
#[derive(Clone, Debug)]
pub struct TopicStats {
    /// Its name.
    pub name: Name,
    /// Whether it is mounted, if it is an external log.
    pub mounted: Option<bool>,
    /// The number of messages in it.
    pub messages: u64,
    /// Their bytes, accurate to 256 KiB; for an external log, the bytes of its files.
    pub bytes: u64,
    /// The number of delayed messages.
    pub delayed: u64,
    /// The oldest and the newest message of each lane, lowest priority first.
    pub lanes: Vec<(u64, u64)>,
    /// The age of the oldest message; `None` without messages.
    pub oldest_age: Option<Duration>,
    /// Messages published since it was opened.
    pub published_messages: u64,
    /// The bytes of these; 0 for an external log.
    pub published_bytes: u64,
    /// The rate of publications.
    pub published_rate: Rate,
    /// The bytes written to the disk since it was opened, before compression: messages and the
    /// headers of groups.
    pub plain_bytes: u64,
    /// The same after compression.
    pub stored_bytes: u64,
    /// Messages that were refused.
    pub refused: u64,
    /// Messages that numbered producers had published earlier.
    pub duplicates: u64,
    /// The bytes that wait to be written.
    pub pending_bytes: u64,
    /// The memory of recent messages.
    pub recent_bytes: u64,
    /// Its groups.
    pub groups: Vec<GroupStats>,
    /// The reason that nothing can be published on it any more, or acknowledged now
    /// ([`Queue::failure`]).
    pub failed: Option<String>,
}

impl TopicStats {
    /// The rate of deliveries to all groups together.
    #[must_use]
    pub fn delivered_rate(&self) -> Rate {
        let add = |sum: Rate, group: &GroupStats| Rate {
            over: sum.over.max(group.delivered_rate.over),
            messages_per_second: sum.messages_per_second + group.delivered_rate.messages_per_second,
            bytes_per_second: sum.bytes_per_second + group.delivered_rate.bytes_per_second,
        };
        self.groups.iter().fold(Rate::default(), add)
    }
}

impl Topic {
    fn stats(&self) -> TopicStats {
        let now = self.runtime.now();
        let groups: Vec<_> = self.groups().iter().map(|group| group.stats()).collect();
        let delayed = self.waiting();
        let mut filling = self.filling();
        let (messages, bytes) = self.held(&mut filling);
        let mut stats = TopicStats {
            name: self.name.clone(),
            mounted: self.mounting.as_ref().map(|mounting| !mounting.is_absent()),
            messages,
            bytes,
            delayed,
            lanes: self.lanes[..self.lanes.len() - 1]
                .iter()
                .map(|lane| (lane.first(), lane.visible()))
                .collect(),
            oldest_age: None,
            published_messages: filling.published_messages,
            published_bytes: filling.published_bytes,
            published_rate: Rate::default(),
            plain_bytes: self.lanes.iter().map(|lane| lane.volume().0).sum(),
            stored_bytes: self.lanes.iter().map(|lane| lane.volume().1).sum(),
            refused: filling.refused,
            duplicates: filling.duplicates,
            pending_bytes: filling.pending_bytes as u64,
            recent_bytes: self.lanes.iter().map(|lane| lane.shelf_bytes() as u64).sum(),
            groups,
            failed: filling.failure(),
        };
        drop(filling);
        let oldest = if let Some(mounting) = &self.mounting {
            let (first, last) = (self.lanes[0].first(), self.lanes[0].visible());
            stats.messages = (last + 1).saturating_sub(first);
            stats.published_messages = mounting.arrived(last);
            let (bytes, oldest) = self.held_elsewhere();
            stats.bytes = bytes;
            oldest
        } else {
            self.oldest_published()
        };
        stats.oldest_age = oldest.map(|oldest| now.since(oldest));
        stats.published_rate =
            self.meter().rate(now, stats.published_messages, stats.published_bytes);
        stats
    }
}
