//! What a queue is made of, and what its threads do with it.

use crate::burial;
use crate::control::{Control, Finished, Moved, PastTransaction, Record};
use crate::error::QueueError;
use crate::group::{DeadLetter, Group, GroupOptions, GroupState, Progress, Range, Start};
use crate::house::{House, Work};
use crate::message::{Message, MessageId};
use crate::name::Name;
use crate::topic::{
    Accepted, DELAYED_LANE, End, LaneCursor, PRIORITIES_MAX, Step, Topic, TopicOptions,
};
use rialto_clock::Timestamp;
use rialto_log::Level;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

/// The most topics of a queue.
pub const TOPICS_MAX: usize = 10_000;

/// The most groups of a topic.
pub const GROUPS_MAX: usize = 10_000;

/// How often retention is looked after.
const RETAIN_EVERY: Duration = Duration::from_secs(1);

/// The messages of a transaction that have been put into topics, and where.
struct Delivering {
    /// The number of the transaction's record.
    seq: u64,
    messages: Vec<(Arc<Topic>, usize, u64)>,
}

/// A queue, as its handles and threads share it.
pub(crate) struct Core {
    pub(crate) house: Arc<House>,
    pub(crate) dir: Option<PathBuf>,
    pub(crate) control: Option<Control>,
    topics: RwLock<BTreeMap<Name, Arc<Topic>>>,
    next_id: AtomicU32,
    delivering: Mutex<VecDeque<Delivering>>,
    /// Creating and deleting, one at a time.
    changing: Mutex<()>,
    last_retained: AtomicU64,
    last_flushed: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where a topic has its lanes.
pub(crate) fn topic_dir(dir: &std::path::Path, id: u32) -> PathBuf {
    dir.join("topics").join(format!("{id:06}"))
}

impl Core {
    pub(crate) fn new(
        house: Arc<House>,
        dir: Option<PathBuf>,
        control: Option<Control>,
        next_id: u32,
    ) -> Self {
        Self {
            house,
            dir,
            control,
            topics: RwLock::default(),
            next_id: AtomicU32::new(next_id),
            delivering: Mutex::default(),
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
        self.write_topics().insert(topic.name.clone(), topic.clone());
        topic
    }

    /// Has the control log told, durably, and waits for it on this thread.
    fn tell(&self, record: &Record<'_>) -> Result<(), QueueError> {
        let Some(control) = &self.control else { return Ok(()) };
        control.note(record)?;
        control.want_sync();
        self.control_step();
        control.check()
    }

    /// Creates a topic, or finds it if there is one of this name with these options.
    pub(crate) fn create_topic(
        &self,
        name: Name,
        options: TopicOptions,
    ) -> Result<Arc<Topic>, QueueError> {
        options.check()?;
        let _changing = lock(&self.changing);
        if let Ok(topic) = self.topic(name.as_str()) {
            let is_same = topic.options == options;
            return if is_same { Ok(topic) } else { Err(QueueError::TopicExists(name)) };
        }
        if self.read_topics().len() >= TOPICS_MAX {
            return Err(QueueError::TooMany { what: "topics", limit: TOPICS_MAX });
        }
        let mut options = options;
        if self.dir.is_none() {
            options.level = Level::Memory;
        }
        if options.encryption.is_some() && self.house.keys.current().is_none() {
            return Err(QueueError::NoKey(name));
        }
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        self.tell(&Record::Topic { id, name: name.clone(), options: options.clone() })?;
        let dir = self.dir.as_deref().map(|dir| topic_dir(dir, id));
        Ok(self.add_topic(Topic::new(id, name, options, self.house.clone(), dir.as_deref())))
    }

    /// Deletes a topic, its messages and its groups.
    pub(crate) fn delete_topic(&self, name: &str) -> Result<(), QueueError> {
        let _changing = lock(&self.changing);
        let topic = self.topic(name)?;
        self.tell(&Record::TopicDeleted { id: topic.id })?;
        self.write_topics().remove(name);
        topic.end(End::Deleted);
        for group in topic.groups().iter() {
            group.delete();
        }
        for lane in &topic.lanes {
            lane.close()?;
        }
        if let (Some(dir), Some(disk)) = (&self.dir, &self.house.disk) {
            remove_topic_dir(disk.as_ref(), &topic_dir(dir, topic.id))?;
        }
        Ok(())
    }

    /// The group of this name, which is created if there is none.
    pub(crate) fn group(
        &self,
        topic: &Arc<Topic>,
        name: &Name,
        options: Option<GroupOptions>,
    ) -> Result<Arc<Group>, QueueError> {
        // Dead letters are not given up a second time, unless it was said where they go.
        let options = options.map(|mut options| {
            if burial::is_dead(&topic.name) && options.dead_letter == DeadLetter::Own {
                options.attempts_max = 0;
            }
            options
        });
        let find = || topic.groups().iter().find(|group| group.name == *name).cloned();
        let _changing = lock(&self.changing);
        topic.check_open()?;
        if let Some(group) = find() {
            let is_same = options.is_none_or(|options| group.options() == options);
            let (topic, name) = (topic.name.clone(), name.clone());
            return if is_same {
                Ok(group)
            } else {
                Err(QueueError::GroupExists { topic, group: name })
            };
        }
        let Some(options) = options else {
            let (topic, group) = (topic.name.clone(), name.to_string());
            return Err(QueueError::UnknownGroup { topic, group });
        };
        if topic.groups().len() >= GROUPS_MAX {
            return Err(QueueError::TooMany { what: "groups", limit: GROUPS_MAX });
        }
        let floors = (0..usize::from(topic.options.priorities))
            .map(|nth| self.start(topic, nth, options.start))
            .collect::<Result<Vec<_>, _>>()?;
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let record = Record::Group {
            topic: topic.id,
            id,
            name: name.clone(),
            options: options.clone(),
            floors: floors.clone(),
        };
        self.tell(&record)?;
        let state = GroupState::new(options, &floors, self.keeps(topic));
        let group = Arc::new(Group::new(id, name.clone(), topic.clone(), state));
        topic.add_group(&group);
        Ok(group)
    }

    /// Whether what groups of a topic do is kept.
    pub(crate) fn keeps(&self, topic: &Topic) -> bool {
        self.control.is_some() && topic.level() != Level::Memory
    }

    pub(crate) fn delete_group(&self, topic: &Arc<Topic>, name: &str) -> Result<(), QueueError> {
        let _changing = lock(&self.changing);
        let found = topic.groups().iter().find(|group| group.name.as_str() == name).cloned();
        let group = found.ok_or_else(|| QueueError::UnknownGroup {
            topic: topic.name.clone(),
            group: name.to_owned(),
        })?;
        self.tell(&Record::GroupDeleted { topic: topic.id, id: group.id })?;
        group.delete();
        topic.remove_group(group.id);
        Ok(())
    }

    /// The number of the first message from a beginning on.
    pub(crate) fn start(&self, topic: &Topic, nth: usize, start: Start) -> Result<u64, QueueError> {
        let lane = &topic.lanes[nth];
        Ok(match start {
            Start::Oldest => lane.first(),
            Start::Next => lane.visible() + 1,
            Start::Seq(seq) => seq.clamp(lane.first(), lane.visible() + 1),
            Start::At(time) => {
                let mut cursor = LaneCursor::new(nth, topic.first_near(nth, time));
                loop {
                    match cursor.step(topic)? {
                        Step::Message(message) if message.published_at() >= time => {
                            break message.id().seq;
                        }
                        Step::End => break cursor.next(),
                        Step::Message(_) | Step::Gap(..) => {}
                    }
                }
            }
        })
    }

    /// What a group did is to be told, sooner or later.
    #[inline]
    pub(crate) fn mark(&self, group: &Arc<Group>) {
        if let Some(control) = &self.control
            && group.topic.level() != Level::Memory
        {
            control.mark(group);
        }
    }

    /// Does everything that can be done now, on this thread.
    pub(crate) fn step(&self) {
        self.tick();
        while let Some(work) = self.house.next_work(Some(Duration::ZERO)) {
            self.work(work);
        }
    }

    /// Does one piece of work.
    pub(crate) fn work(&self, work: Work) {
        match work {
            Work::Write(topic) => topic.write(),
            Work::Control => self.control_step(),
            Work::Prepare(topic, nth, preparer) => {
                // If this fails the writer makes the segment itself, and says what is wrong.
                if let Ok(prepared) = preparer.prepare() {
                    topic.lanes[nth].accept(prepared);
                }
            }
        }
    }

    /// Writes what the control log has to be told.
    pub(crate) fn control_step(&self) {
        let Some(control) = &self.control else { return };
        control.step(
            |transaction| self.deliver(transaction),
            |tell| self.images(tell),
            || self.safe_below(),
        );
    }

    /// Puts the messages of a committed transaction into their topics.
    fn deliver(&self, transaction: PastTransaction) -> Result<(), QueueError> {
        let PastTransaction { id, seq, messages } = transaction;
        let mut delivered = Vec::with_capacity(messages.len());
        for (place, moved) in (0..).zip(messages) {
            // A topic that was deleted meanwhile takes its messages with it.
            let Some(topic) = self.topic_of(moved.topic) else { continue };
            let nth = usize::from(moved.nth);
            let number = transaction_number(id, place);
            match topic.take_record(nth, &moved.record, number) {
                Ok(Accepted::At(message)) => delivered.push((topic, nth, message.seq)),
                Ok(Accepted::Duplicate) | Err(QueueError::TopicDeleted(_)) => {}
                Err(error) => return Err(error),
            }
        }
        lock(&self.delivering).push_back(Delivering { seq, messages: delivered });
        Ok(())
    }

    /// Puts the messages of a transaction that was committed before the queue was opened into their
    /// topics, as far as they are not there.
    pub(crate) fn deliver_again(&self, transaction: PastTransaction) -> Result<(), QueueError> {
        self.deliver(transaction)
    }

    /// The record of the oldest transaction whose messages a loss of power could still take.
    fn safe_below(&self) -> Option<u64> {
        let mut delivering = lock(&self.delivering);
        let is_safe = |(topic, nth, seq): &(Arc<Topic>, usize, u64)| {
            topic.level() == Level::Memory
                || topic.check_open().is_err()
                || topic.lanes[*nth].mark(Level::Synced) >= *seq
        };
        while delivering.front().is_some_and(|it| it.messages.iter().all(is_safe)) {
            delivering.pop_front();
        }
        delivering.front().map(|it| it.seq)
    }

    /// Tells everything anew.
    fn images(&self, tell: &mut dyn FnMut(&Record<'_>)) -> u32 {
        for topic in self.topics() {
            let (id, name, options) = (topic.id, topic.name.clone(), topic.options.clone());
            tell(&Record::Topic { id, name, options });
            let (upto, last) = topic.producers_image();
            let mut upto = Some(upto);
            for last in last.chunks(16_384).map(<[_]>::to_vec).chain([Vec::new()]) {
                tell(&Record::Producers { topic: id, upto: upto.take().unwrap_or_default(), last });
            }
            let delayed = topic.delayed().image(DELAYED_LANE);
            for progress in delayed.pieces() {
                tell(&Record::Delayed { topic: id, progress });
            }
            for group in topic.groups().clone() {
                let progress = if self.keeps(&topic) { group.image() } else { Progress::default() };
                tell(&Record::Group {
                    topic: id,
                    id: group.id,
                    name: group.name.clone(),
                    options: group.options(),
                    floors: progress.floors.clone(),
                });
                for progress in progress.pieces() {
                    tell(&Record::Progress { topic: id, group: group.id, progress });
                }
            }
        }
        self.next_id.load(Ordering::Relaxed)
    }

    /// Has everything written anew and drops what stood before.
    pub(crate) fn checkpoint(&self) -> Result<(), QueueError> {
        match &self.control {
            Some(control) => control.checkpoint(|tell| self.images(tell), || self.safe_below()),
            None => Ok(()),
        }
    }

    /// Does what time brings with it. To be called every few milliseconds.
    pub(crate) fn tick(&self) {
        let now = self.house.now();
        let retains = self.is_time(&self.last_retained, now, RETAIN_EVERY);
        for topic in self.topics() {
            let groups = topic.groups().clone();
            for group in &groups {
                group.advance(now);
                self.mark_if_changed(group);
                burial::bury(self, group);
            }
            let moved = self.move_due(&topic, now);
            let kept = if retains { topic.retain() } else { Ok(()) };
            if let Err(error) = moved.and(kept) {
                topic.end(End::Failed(error.to_string()));
            }
            if topic.level() == Level::Buffered && topic.is_flush_due(now) {
                topic.want_sync();
            }
        }
        if let Some(control) = &self.control {
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

    /// Moves messages that were put off to where they are delivered.
    fn move_due(&self, topic: &Arc<Topic>, now: Timestamp) -> Result<(), QueueError> {
        let mut delayed = topic.delayed();
        loop {
            let due = delayed.take_due(topic, now)?;
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
                    let round = control.commit(messages, vec![finished]);
                    if round.is_err() {
                        delayed.not_moved(&due);
                    }
                    control.hurry(true);
                    round?
                }
                _ => {
                    for message in &due {
                        topic.take_record(usize::from(message.priority()), message.record(), 0)?;
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
            topic.write();
            topic.close()?;
        }
        self.checkpoint()?;
        match &self.control {
            Some(control) => control.close(),
            None => Ok(()),
        }
    }
}

/// The number that the message in a place of a transaction counts under: they ascend in the order in
/// which transactions are delivered.
fn transaction_number(id: u64, place: u64) -> u64 {
    (id << 16) | (place + 1).min(0xffff)
}

/// Removes the files of a topic that is gone.
pub(crate) fn remove_topic_dir(
    disk: &dyn rialto_disk::Disk,
    dir: &std::path::Path,
) -> Result<(), QueueError> {
    for lane in (0..PRIORITIES_MAX).chain([DELAYED_LANE]) {
        let dir = crate::topic::lane_dir(dir, lane);
        let Ok(files) = disk.list(&dir) else { continue };
        for file in files {
            match disk.remove(&dir.join(file)) {
                Err(error) if !error.is_not_found() => return Err(error.into()),
                _ => {}
            }
        }
    }
    Ok(())
}

/// A message by its place, wherever it is.
pub(crate) fn message_at(topic: &Topic, id: MessageId) -> Result<Option<Message>, QueueError> {
    let mut cursor = LaneCursor::new(topic.nth(id.lane), id.seq);
    Ok(match cursor.step(topic)? {
        Step::Message(message) if message.id() == id => Some(message),
        _ => None,
    })
}
