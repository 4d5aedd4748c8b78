//! The parts of a queue, and the work of its threads.

mod catalogue;
mod delivery;
mod numbers;

use catalogue::warn_of_leftover;
pub(crate) use catalogue::{remove_orphans, remove_topic_dir};
use delivery::Delivering;
pub use numbers::TRANSACTION_PRODUCERS_MAX;
pub(crate) use numbers::TransactionNumbers;

use crate::control::{Control, Finished, Moved};
use crate::dead_letters;
use crate::error::QueueError;
use crate::group::{Group, Range};
use crate::message::{Message, MessageId};
use crate::name::Name;
use crate::runtime::{Runtime, Work};
use crate::topic::{DELAYED_LANE, End, LaneCursor, Step, Topic};
use rialto_clock::Timestamp;
use rialto_log::Level;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::task::Waker;
use std::time::Duration;

/// The most topics of a queue.
pub const TOPICS_MAX: usize = 10_000;

/// The most groups of a topic.
pub const GROUPS_MAX: usize = 10_000;

/// The interval at which retention runs.
const RETAIN_EVERY: Duration = Duration::from_secs(1);

pub(crate) struct SharedQueue {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) dir: Option<PathBuf>,
    pub(crate) control: Option<Control>,
    topics: RwLock<BTreeMap<Name, Arc<Topic>>>,
    next_id: AtomicU32,
    delivering: Mutex<VecDeque<Delivering>>,
    /// Locked from the check whether a transaction was committed until it is. Taken after the
    /// control log's gate.
    numbers: Mutex<TransactionNumbers>,
    /// Serialises creation and deletion.
    changing: Mutex<()>,
    last_retained: AtomicU64,
    last_flushed: AtomicU64,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn topic_dir(dir: &std::path::Path, id: u32) -> PathBuf {
    dir.join("topics").join(format!("{id:06}"))
}

impl SharedQueue {
    pub(crate) fn new(
        runtime: Arc<Runtime>,
        dir: Option<PathBuf>,
        control: Option<Control>,
        next_id: u32,
    ) -> Self {
        Self {
            runtime,
            dir,
            control,
            topics: RwLock::default(),
            next_id: AtomicU32::new(next_id),
            delivering: Mutex::default(),
            numbers: Mutex::default(),
            changing: Mutex::default(),
            last_retained: AtomicU64::new(0),
            last_flushed: AtomicU64::new(0),
        }
    }

    fn read_topics(&self) -> RwLockReadGuard<'_, BTreeMap<Name, Arc<Topic>>> {
        self.topics.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_topics(&self) -> RwLockWriteGuard<'_, BTreeMap<Name, Arc<Topic>>> {
        self.topics.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn topics(&self) -> Vec<Arc<Topic>> {
        self.read_topics().values().cloned().collect()
    }

    pub(crate) fn topic(&self, name: &str) -> Result<Arc<Topic>, QueueError> {
        let found = self.read_topics().get(name).cloned();
        found.ok_or_else(|| QueueError::UnknownTopic(name.to_owned()))
    }

    pub(crate) fn topic_of(&self, id: u32) -> Option<Arc<Topic>> {
        self.read_topics().values().find(|topic| topic.id == id).cloned()
    }

    pub(crate) fn add_topic(&self, topic: Topic) -> Arc<Topic> {
        let topic = Arc::new(topic);
        self.put_topic(topic.clone());
        topic
    }

    /// Adds a topic, replacing a placeholder.
    pub(crate) fn put_topic(&self, topic: Arc<Topic>) {
        self.write_topics().insert(topic.name.clone(), topic);
    }

    /// Held while topics and groups are created, deleted or mounted.
    pub(crate) fn changing_catalogue(&self) -> MutexGuard<'_, ()> {
        lock(&self.changing)
    }

    /// The numbers that producers of transactions have committed.
    pub(crate) fn transaction_numbers(&self) -> MutexGuard<'_, TransactionNumbers> {
        lock(&self.numbers)
    }

    /// Marks the progress of a group as changed.
    #[inline]
    pub(crate) fn mark(&self, group: &Arc<Group>) {
        if let Some(control) = &self.control
            && group.topic.level() != Level::Memory
        {
            control.mark(group);
        }
    }

    /// Fails if the control log cannot be written.
    #[inline]
    pub(crate) fn check_kept(&self) -> Result<(), QueueError> {
        self.control.as_ref().map_or(Ok(()), Control::check)
    }

    /// Does all work that is due, on this thread.
    pub(crate) fn step(&self) {
        self.tick();
        while let Some(work) = self.runtime.next_work(Some(Duration::ZERO)) {
            self.work(work);
        }
    }

    /// Does one piece of work.
    pub(crate) fn work(&self, work: Work) {
        match work {
            Work::Write(topic) => topic.write(),
            Work::Control => self.control_step(),
            Work::Wake(wakers) => wakers.into_iter().for_each(Waker::wake),
            Work::Buffers => self.runtime.spares.make_ahead(),
            Work::Prepare(topic, nth, making) => {
                topic.lanes[nth].make(making);
                // The topic may have been deleted meanwhile, and this file left.
                if topic.is_deleted()
                    && let Err(error) = self.remove_files(topic.id)
                {
                    warn_of_leftover(&error);
                }
            }
        }
    }

    /// Writes what changed to the control log.
    pub(crate) fn control_step(&self) {
        let Some(control) = &self.control else { return };
        control.step(self);
    }

    /// Runs deadlines, delays and retention. To be called every few milliseconds.
    pub(crate) fn tick(&self) {
        let now = self.runtime.now();
        let retains = self.is_time(&self.last_retained, now, RETAIN_EVERY);
        for topic in self.topics() {
            let groups = topic.groups().clone();
            for group in &groups {
                group.advance(now);
                self.mark_if_changed(group);
                dead_letters::move_failed(self, group);
                if retains {
                    group.sample(now);
                }
            }
            let moved = self.move_due(&topic, now);
            let kept = if retains {
                topic.sample(now);
                self.record_acknowledged(&topic);
                self.record_numbers(&topic).and_then(|()| topic.retain())
            } else {
                Ok(())
            };
            match moved.and(kept) {
                // The topic is intact, and continues with the control log.
                Ok(()) | Err(QueueError::ControlFailed(_) | QueueError::Closed) => {}
                Err(error) => topic.end(End::Failed(error.to_string())),
            }
            if topic.level() == Level::Buffered && topic.is_flush_due(now) {
                topic.want_sync();
            }
        }
        if let Some(control) = &self.control {
            if control.failure().is_some() {
                if control.is_revival_due() {
                    control.hurry(true);
                }
                return;
            }
            let synced = self.is_time(&self.last_flushed, now, Duration::from_millis(50));
            if control.has_pending() || (synced && control.has_unsynced()) {
                control.hurry(synced);
            }
        }
    }

    fn is_time(&self, last: &AtomicU64, now: Timestamp, every: Duration) -> bool {
        let is_time = now >= Timestamp(last.load(Ordering::Relaxed)).after(every);
        if is_time {
            last.store(now.0, Ordering::Relaxed);
        }
        is_time
    }

    fn mark_if_changed(&self, group: &Arc<Group>) {
        if group.has_changes() {
            self.mark(group);
        }
    }

    /// Moves delayed messages that are due to their lanes.
    fn move_due(&self, topic: &Arc<Topic>, now: Timestamp) -> Result<(), QueueError> {
        if self.keeps(topic) {
            self.check_kept()?;
        }
        // Messages of a topic that cannot be written would have to wait elsewhere.
        if topic.is_failed() {
            return Ok(());
        }
        let _changing = self.control.as_ref().map(Control::changing);
        let mut delayed = topic.delayed();
        loop {
            let due = delayed.take_due(topic, now)?;
            if due.is_empty() && delayed.waits_for_sync(topic, now) {
                topic.want_sync();
            }
            let safe_rounds = self.control.as_ref().map_or(0, Control::safe_rounds);
            if let Some(below) = delayed.droppable(safe_rounds) {
                topic.lanes[topic.nth(DELAYED_LANE)].drop_below(below);
            }
            if due.is_empty() {
                return Ok(());
            }
            let round = match &self.control {
                Some(control) if topic.level() != Level::Memory => {
                    let moved = |message: &Message| Moved {
                        topic: topic.id,
                        nth: message.priority(),
                        record: Cow::Owned(message.record().to_vec()),
                    };
                    let range = |message: &Message| {
                        let seq = message.id().seq;
                        (DELAYED_LANE, Range { first: seq, last: seq })
                    };
                    let finished = Finished {
                        topic: topic.id,
                        group: 0,
                        done: due.iter().map(range).collect(),
                    };
                    let messages = due.iter().map(moved).collect();
                    let round = control.commit(messages, vec![finished], None);
                    if round.is_err() {
                        delayed.not_moved(&due);
                    }
                    control.hurry(true);
                    round?
                }
                _ => {
                    for message in &due {
                        let nth = usize::from(message.priority());
                        topic.take_record(nth, message.record(), 0, false)?;
                    }
                    0
                }
            };
            delayed.moved(&due, round);
        }
    }

    /// Closes everything, durably.
    pub(crate) fn close(&self) -> Result<(), QueueError> {
        for topic in self.topics() {
            topic.write();
            for lane in &topic.lanes {
                lane.sync()?;
            }
        }
        self.control_step();
        for topic in self.topics() {
            // No message is accepted from here on, because it would not be written.
            topic.end(End::Closed);
            topic.write();
            topic.check_writable()?;
            topic.close()?;
        }
        self.checkpoint()?;
        match &self.control {
            Some(control) => control.close(),
            None => Ok(()),
        }
    }
}

impl Drop for SharedQueue {
    fn drop(&mut self) {
        for topic in self.topics() {
            topic.forget_groups();
        }
    }
}

/// The message with an id, in memory or on disk.
pub(crate) fn message_at(topic: &Topic, id: MessageId) -> Result<Option<Message>, QueueError> {
    let mut cursor = LaneCursor::new(topic.nth(id.lane), id.seq);
    Ok(match cursor.step(topic)? {
        Step::Message(message) if message.id() == id => Some(message),
        _ => None,
    })
}
