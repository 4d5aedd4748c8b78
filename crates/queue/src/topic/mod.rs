//! Topics: a lane for each priority, and one for delayed messages.

mod age;
mod control_progress;
mod delayed;
mod extents;
mod file_request;
mod filling;
mod lane;
mod options;
mod producers;
mod publishing;
mod reading;
mod visibility;
mod write_turn;

pub(crate) use file_request::FileRequest;
use file_request::space as space_of;
pub(crate) use filling::End;
pub(crate) use lane::{Lane, LaneOptions, MessageLocation};
pub use options::{
    InvalidOptions, Kind, PRIORITIES_MAX, Retention, SlowReaderPolicy, TopicOptions, WhenFull,
};
pub use producers::PRODUCERS_MAX;
pub(crate) use producers::TRANSACTIONS;
pub(crate) use publishing::{Accepted, Incoming, Refusal};
pub(crate) use reading::{LaneCursor, Step};
pub(crate) use write_turn::WriteTurn;

use crate::dead_letters::{self, InFlight};
use crate::error::QueueError;
use crate::group::Group;
use crate::message::Form;
use crate::mount::Mounting;
use crate::name::Name;
use crate::rate::Meter;
use crate::runtime::{LogPlace, Runtime, Work};
use crate::waiting::Waiters;
use extents::Extents;
use filling::Filling;
use rialto_clock::Timestamp;
use rialto_disk::BLOCK_BYTES;
use rialto_log::{GROUP_BYTES_MAX, Level, SEGMENT_BYTES_FOR_ANY_GROUP};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of messages of a file that are read to estimate the length of all.
const SAMPLED_MESSAGES: u64 = 64;

/// The bytes of a file besides messages.
const SEGMENT_HEADER_BYTES: u64 = 4096;

/// The most bytes that a message takes in a file besides its own: written alone, the headers of its
/// group, the rest of the last block, and the block that confirms the end.
const BESIDE_A_MESSAGE: u64 = 2 * BLOCK_BYTES as u64 + 256;

pub(crate) const DELAYED_LANE: u8 = u8::MAX;

/// A topic, shared by its users.
pub(crate) struct Topic {
    pub(crate) id: u32,
    pub(crate) name: Name,
    pub(crate) options: TopicOptions,
    pub(crate) runtime: Arc<Runtime>,
    /// Its connection to an external log; `None` if it has its own log.
    pub(crate) mounting: Option<Mounting>,
    /// One for each priority, and the last for delayed messages.
    pub(crate) lanes: Vec<Lane>,
    filling: Mutex<Filling>,
    /// Locked before `filling` by a thread that writes, so that groups are written in order.
    writing: Mutex<()>,
    groups: Mutex<Vec<Arc<Group>>>,
    delayed: Mutex<delayed::Delayed>,
    control_progress: Mutex<control_progress::ControlProgress>,
    /// Dead letters that are committed and may not have arrived here.
    in_flight: Mutex<InFlight>,
    meter: Mutex<Meter>,
    /// Producers that wait for room.
    room: Waiters,
    /// Counts the times that room was made, for the waiters.
    room_made: AtomicU64,
    /// When it was last synced, in nanoseconds since 1970.
    flushed_at: AtomicU64,
}

/// The size of the first file of a lane. Each one after it is twice as long, up to that of the topic's
/// options, so that the space that a topic reserves ahead follows what it holds. No group may be longer
/// than the first file.
const FIRST_SEGMENT_BYTES: u64 = SEGMENT_BYTES_FOR_ANY_GROUP;

pub(crate) fn lane_dir(topic_dir: &Path, number: u8) -> PathBuf {
    if number == DELAYED_LANE {
        topic_dir.join("delayed")
    } else {
        topic_dir.join(format!("lane-{number}"))
    }
}

impl Topic {
    /// An empty topic. `dir` is the directory of its messages, unless its level is
    /// [`Level::Memory`].
    pub(crate) fn new(
        id: u32,
        name: Name,
        options: TopicOptions,
        runtime: Arc<Runtime>,
        dir: Option<&Path>,
    ) -> Self {
        let numbers = (0..options.priorities).chain([DELAYED_LANE]);
        let lanes: Vec<_> = numbers
            .map(|number| {
                Lane::new(LaneOptions {
                    number,
                    level: options.level,
                    place: dir.map(|dir| LogPlace {
                        dir: lane_dir(dir, number),
                        segment_bytes: options.segment_bytes,
                        first_segment_bytes: Some(FIRST_SEGMENT_BYTES),
                        sealing: options.sealing(),
                        space: space_of(options.level),
                        is_guarded: true,
                    }),
                    shelf_bytes_max: options.recent_bytes_max,
                })
            })
            .collect();
        let filling = Mutex::new(Filling::new(lanes.len()));
        let meter = Mutex::new(Meter::new(runtime.now()));
        let delayed = Mutex::new(delayed::Delayed::new(lanes.len() - 1));
        Self {
            id,
            name,
            options,
            runtime,
            mounting: None,
            lanes,
            filling,
            writing: Mutex::default(),
            groups: Mutex::default(),
            delayed,
            control_progress: Mutex::default(),
            in_flight: Mutex::default(),
            meter,
            room: Waiters::default(),
            room_made: AtomicU64::new(0),
            flushed_at: AtomicU64::new(0),
        }
    }

    /// The form of its records.
    pub(crate) fn form(&self) -> Form {
        self.mounting.as_ref().map_or(Form::Message, Mounting::form)
    }

    /// Fails if the topic is an external log, which only its writer can change.
    pub(crate) fn check_own(&self) -> Result<(), QueueError> {
        match self.mounting {
            None => Ok(()),
            Some(_) => Err(QueueError::ReadOnly(self.name.clone())),
        }
    }

    pub(crate) fn filling(&self) -> MutexGuard<'_, Filling> {
        self.filling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The meter of publications.
    pub(crate) fn meter(&self) -> MutexGuard<'_, Meter> {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Samples the counters for the rates. To be called once a second.
    pub(crate) fn sample(&self, now: Timestamp) {
        let (messages, bytes) = match &self.mounting {
            Some(mounting) => (mounting.arrived(self.lanes[0].visible()), 0),
            None => {
                let filling = self.filling();
                (filling.published_messages, filling.published_bytes)
            }
        };
        self.meter().sample(now, messages, bytes);
    }

    pub(crate) fn nth(&self, lane: u8) -> usize {
        if lane == DELAYED_LANE { self.lanes.len() - 1 } else { usize::from(lane) }
    }

    /// The lanes that messages are delivered from, lowest priority first.
    pub(crate) fn priorities(&self) -> &[Lane] {
        &self.lanes[..self.lanes.len() - 1]
    }

    pub(crate) fn level(&self) -> Level {
        self.options.level
    }

    /// Takes the log of a lane that was found on disk, at rest.
    pub(crate) fn adopt(&self, nth: usize) -> Result<(), QueueError> {
        let Some(place) = &self.lanes[nth].place else { return Ok(()) };
        let (segments, found) = self.runtime.find_log(place)?;
        let (beginnings, next) = (segments.beginnings(), found.last_seq + 1);
        self.lanes[nth].adopt(segments, found.last_seq);
        let mut found = Extents::default();
        for (place, (first, path)) in beginnings.iter().enumerate() {
            let end = beginnings.get(place + 1).map_or(next, |(first, _)| *first);
            // A complete file ends with its last message. None of its messages is newer than the
            // first of the next file.
            let file_bytes = self.runtime.file_bytes(path)?.saturating_sub(SEGMENT_HEADER_BYTES);
            let bytes = self.estimated_bytes(nth, (*first, end), file_bytes);
            let time = self.published_at(nth, end)?.unwrap_or_else(|| self.runtime.now());
            found.add_past(*first, end - 1, bytes, time);
        }
        let lane = &mut self.filling().lanes[nth];
        (lane.next_seq, lane.last_time, lane.extents) = (next, self.runtime.now(), found);
        Ok(())
    }

    /// Estimates the bytes of the messages of a file, from `first` to before `end`: as if all were
    /// as long as the first ones, but no more than the file has, and no less than is left of it if
    /// each was written alone and the last group did not fill it.
    fn estimated_bytes(&self, nth: usize, (first, end): (u64, u64), file_bytes: u64) -> u64 {
        let (mut cursor, mut messages, mut bytes) = (LaneCursor::unmapped(nth, first), 0, 0);
        while messages < SAMPLED_MESSAGES && messages < end.saturating_sub(first) {
            // Readers of damaged messages get the error.
            let Ok(Step::Message(message)) = cursor.step(self) else { break };
            messages += 1;
            bytes += message.bytes() as u64;
        }
        let all = end.saturating_sub(first);
        let least = file_bytes
            .saturating_sub(all.saturating_mul(BESIDE_A_MESSAGE))
            .saturating_sub(GROUP_BYTES_MAX as u64);
        let estimate = (u128::from(bytes) * u128::from(all)).checked_div(messages.into());
        let estimate = estimate.map_or(file_bytes, |it| u64::try_from(it).unwrap_or(u64::MAX));
        estimate.clamp(least, file_bytes)
    }

    pub(crate) fn published_at(
        &self,
        nth: usize,
        seq: u64,
    ) -> Result<Option<Timestamp>, QueueError> {
        match LaneCursor::unmapped(nth, seq).step(self)? {
            Step::Message(message) => Ok(Some(message.published_at())),
            Step::Gap(..) | Step::End => Ok(None),
        }
    }

    /// Fails if the topic is deleted, closed or not mounted.
    pub(crate) fn check_open(&self) -> Result<(), QueueError> {
        if self.mounting.as_ref().is_some_and(Mounting::is_absent) {
            return Err(QueueError::NotMounted(self.name.clone()));
        }
        match &self.filling().end {
            None => Ok(()),
            Some(end) => Err(self.ended(end)),
        }
    }

    /// Fails if pending messages will not be written. A closed topic was written, and an external
    /// log is never written here.
    pub(crate) fn check_writable(&self) -> Result<(), QueueError> {
        match self.check_open() {
            Err(QueueError::Closed | QueueError::NotMounted(_)) | Ok(()) => Ok(()),
            error => error,
        }
    }

    pub(crate) fn is_deleted(&self) -> bool {
        self.filling().end == Some(End::Deleted)
    }

    /// Whether it cannot be written any more.
    pub(crate) fn is_failed(&self) -> bool {
        matches!(self.filling().end, Some(End::Failed(_)))
    }

    /// A message from which to search for a time.
    pub(crate) fn first_near(&self, nth: usize, time: Timestamp) -> u64 {
        let before = Timestamp(time.0.saturating_sub(1));
        let near = self.filling().lanes[nth].extents.first_after(before);
        near.unwrap_or(1).max(self.lanes[nth].first())
    }

    /// The last durable numbers of producers, and the messages up to which they are known.
    pub(crate) fn producers_image(&self) -> (Vec<u64>, Vec<(u8, u64, u64)>) {
        let mut filling = self.filling();
        let safe: Vec<_> = self.lanes.iter().map(|lane| lane.mark(Level::Synced)).collect();
        let last = filling.producers.all_safe(|nth| safe[usize::from(nth)]);
        (safe.iter().map(|safe| safe + 1).collect(), last)
    }

    /// Restores the last number of a producer.
    pub(crate) fn restore_producer(&self, nth: u8, producer: u64, number: u64) {
        self.filling().producers.restore(nth, producer, number);
    }

    /// Whether a sync of written messages is due.
    pub(crate) fn is_flush_due(&self, now: Timestamp) -> bool {
        if !self.lanes.iter().any(Lane::has_unsynced) {
            self.flushed_at.store(now.0, Ordering::Relaxed);
            return false;
        }
        let flushed_at = Timestamp(self.flushed_at.load(Ordering::Relaxed));
        let is_due = flushed_at.after(self.options.flush_every) <= now;
        if is_due {
            self.flushed_at.store(now.0, Ordering::Relaxed);
        }
        is_due
    }

    fn ended(&self, end: &End) -> QueueError {
        match end {
            End::Deleted => QueueError::TopicDeleted(self.name.clone()),
            End::Closed => QueueError::Closed,
            End::Failed(reason) => {
                QueueError::Failed { topic: self.name.clone(), reason: reason.clone() }
            }
        }
    }

    /// Ends publishing and wakes all waiters.
    pub(crate) fn end(&self, end: End) {
        {
            let mut filling = self.filling();
            // Messages that could not be written at the close are lost.
            if let (None, End::Failed(reason)) = (&filling.end, &end) {
                tracing::error!(topic = %self.name, "a topic can no longer be written: {reason}");
            }
            match (&filling.end, &end) {
                (None, _) | (Some(End::Closed), End::Failed(_)) => filling.end = Some(end),
                _ => {}
            }
        }
        self.make_room();
        for lane in &self.lanes {
            lane.confirmations.wake_all();
            lane.arrivals.wake_all();
        }
    }

    fn make_room(&self) {
        self.room_made.fetch_add(1, Ordering::Release);
        self.room.wake_all();
    }

    /// Writes pending messages. One thread at a time does this for a topic.
    pub(crate) fn write(self: &Arc<Self>) {
        if self.level() == Level::Memory {
            return;
        }
        while self.write_round() {
            // Messages that arrived meanwhile are next, unless other work waits.
            if !self.runtime.has_no_work() {
                self.runtime.ask(Work::Write(self.clone()));
                return;
            }
        }
    }

    /// Writes the pending messages, and returns whether more have arrived.
    fn write_round(self: &Arc<Self>) -> bool {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let (taken, sync_wanted) = {
            let mut filling = self.filling();
            let take = |lane: &mut filling::LaneFilling| {
                let mut groups = std::mem::take(&mut lane.full);
                groups.extend(lane.open.take_if(|open| !open.is_empty()));
                groups
            };
            let taken: Vec<_> = filling.lanes.iter_mut().map(take).collect();
            filling.pending_bytes = 0;
            (taken, std::mem::take(&mut filling.sync_wanted))
        };
        let mut written = Ok(());
        let mut has_rolled = false;
        for (nth, (lane, groups)) in self.lanes.iter().zip(taken).enumerate() {
            written = written.and_then(|()| {
                let written = lane.write(&self.runtime, groups)?;
                has_rolled |= written.has_rolled;
                if written.has_woken {
                    self.runtime.woke(self, nth);
                }
                if let Some(making) = written.making {
                    self.runtime.ask(Work::Prepare(self.clone(), nth, making));
                }
                Ok(())
            });
        }
        if has_rolled && self.runtime.recycles(self.options.segment_bytes, space_of(self.level())) {
            // A dropped file must be released before the next one is begun, to be recycled. If
            // files are not recycled, waiting callers are woken first.
            written = written.and_then(|()| {
                self.drop_unkept();
                self.reclaim()
            });
        }
        if sync_wanted {
            written = written.and_then(|()| self.lanes.iter().try_for_each(Lane::sync));
        }
        if let Err(error) = written {
            self.end(End::Failed(error.to_string()));
        }
        let mut filling = self.filling();
        filling.is_scheduled = filling.pending_bytes > 0 || filling.sync_wanted;
        let again = filling.is_scheduled && filling.end.is_none();
        drop(filling);
        self.make_room();
        again
    }

    /// Requests a sync of everything that was written.
    pub(crate) fn want_sync(self: &Arc<Self>) {
        let mut filling = self.filling();
        filling.sync_wanted = true;
        self.schedule(&mut filling);
    }

    fn schedule(self: &Arc<Self>, filling: &mut Filling) {
        if !filling.is_scheduled {
            filling.is_scheduled = true;
            self.runtime.ask(Work::Write(self.clone()));
        }
    }

    /// Applies retention, and deletes files.
    pub(crate) fn retain(self: &Arc<Self>) -> Result<(), QueueError> {
        if let Some(mounting) = &self.mounting {
            mounting.follow_retention(&self.lanes[0]);
            return Ok(());
        }
        self.drop_unkept();
        self.lanes.iter().try_for_each(Lane::rest_if_idle)?;
        self.reclaim()
    }

    /// Drops the messages beyond retention.
    fn drop_unkept(&self) {
        if self.options.kind == Kind::Stream {
            let mut filling = self.filling();
            let now = self.runtime.now();
            for (lane, filled) in self.lanes.iter().zip(&mut filling.lanes) {
                if lane.number == DELAYED_LANE {
                    continue;
                }
                let by_bytes =
                    self.options.bounds.bytes.and_then(|max| filled.extents.first_within(max));
                let by_age = self.options.max_age.and_then(|age| {
                    let oldest = Timestamp(
                        now.0.saturating_sub(u64::try_from(age.as_nanos()).unwrap_or(u64::MAX)),
                    );
                    filled.extents.first_after(oldest)
                });
                let by_count =
                    self.options.bounds.messages.map(|max| filled.next_seq.saturating_sub(max));
                if let Some(first) = by_bytes.max(by_age).max(by_count)
                    && first > lane.first()
                {
                    lane.drop_below(first);
                    filled.extents.forget_below(first);
                }
            }
        }
    }

    /// Adds a group. From here on, a work queue keeps what the group has not acknowledged.
    pub(crate) fn add_group(&self, group: &Arc<Group>) {
        self.groups().push(group.clone());
    }

    pub(crate) fn remove_group(&self, id: u32) {
        self.groups().retain(|group| group.id != id);
        self.release_done();
    }

    /// Removes all groups. A group and its topic refer to each other, so that neither would ever be
    /// freed otherwise.
    pub(crate) fn forget_groups(&self) -> Vec<Arc<Group>> {
        std::mem::take(&mut *self.groups())
    }

    pub(crate) fn delayed(&self) -> MutexGuard<'_, delayed::Delayed> {
        self.delayed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many messages are delayed.
    pub(crate) fn waiting(&self) -> u64 {
        self.delayed().waiting(self.lanes[self.lanes.len() - 1].visible())
    }

    /// The first number of each lane, without that of delayed messages.
    pub(crate) fn firsts(&self) -> Vec<u64> {
        self.lanes[..self.lanes.len() - 1].iter().map(Lane::first).collect()
    }

    /// The numbers after the last visible messages.
    pub(crate) fn ends(&self) -> Vec<u64> {
        self.lanes[..self.lanes.len() - 1].iter().map(|lane| lane.visible() + 1).collect()
    }

    /// Drops everything below these numbers, which the control log holds durably, and returns the
    /// number of messages.
    pub(crate) fn purge(self: &Arc<Self>, ends: &[u64]) -> Result<u64, QueueError> {
        let mut messages = 0;
        for (lane, end) in self.lanes.iter().zip(ends) {
            messages += end.saturating_sub(lane.first());
            lane.drop_below(*end);
        }
        self.make_room();
        self.acknowledged_recorded(ends);
        self.reclaim()?;
        Ok(messages)
    }

    pub(crate) fn groups(&self) -> MutexGuard<'_, Vec<Arc<Group>>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Dead letters that are committed and may not have arrived here.
    pub(crate) fn in_flight(&self) -> MutexGuard<'_, InFlight> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether messages are dropped that all of its groups have acknowledged: those of a work queue at
    /// once, dead letters after a redrive, or when others need their room.
    pub(crate) fn drops_acknowledged(&self) -> bool {
        self.options.kind == Kind::WorkQueue || dead_letters::is_dead(&self.name)
    }

    /// Drops messages that all groups of a work queue have acknowledged.
    pub(crate) fn release_done(&self) {
        if self.options.kind == Kind::WorkQueue {
            self.drop_acknowledged();
        }
    }

    /// Drops messages that all groups have acknowledged, if there are groups. A dead letter is dropped
    /// only if one of the groups covers all messages: other groups pass over dead letters unseen.
    pub(crate) fn drop_acknowledged(&self) {
        let groups = self.groups();
        if self.options.kind == Kind::Stream
            && !groups.iter().any(|group| group.options().covers_all())
        {
            return;
        }
        let mut has_made = false;
        for (number, lane) in (0..self.options.priorities).zip(&self.lanes) {
            if let Some(first) = groups.iter().map(|group| group.floor(number)).min()
                && first > lane.first()
            {
                lane.drop_below(first);
                has_made = true;
            }
        }
        drop(groups);
        if has_made {
            self.make_room();
        }
    }

    /// The number and bytes of its messages, without delayed ones.
    pub(crate) fn held(&self, filling: &mut Filling) -> (u64, u64) {
        let (mut messages, mut bytes) = (0, 0);
        for (lane, filled) in self.lanes.iter().zip(&mut filling.lanes) {
            if lane.number == DELAYED_LANE {
                continue;
            }
            let first = lane.first();
            filled.extents.forget_below(first);
            messages += filled.next_seq - first.min(filled.next_seq);
            bytes += filled.extents.bytes_from(first);
        }
        (messages, bytes)
    }

    /// The bytes of all its messages, delayed ones included.
    pub(crate) fn held_bytes(&self) -> u64 {
        let mut filling = self.filling();
        let delayed = self.lanes.len() - 1;
        self.delayed_held(&mut filling);
        self.held(&mut filling).1 + filling.lanes[delayed].extents.bytes()
    }

    /// The number of messages in the lane of delayed messages, including moved ones whose files
    /// still exist.
    fn delayed_held(&self, filling: &mut Filling) -> u64 {
        let nth = self.lanes.len() - 1;
        let (first, filled) = (self.lanes[nth].first(), &mut filling.lanes[nth]);
        filled.extents.forget_below(first);
        filled.next_seq - first.min(filled.next_seq)
    }

    /// Closes the logs. Everything was written before.
    pub(crate) fn close(&self) -> Result<(), QueueError> {
        self.end(End::Closed);
        self.lanes.iter().try_for_each(Lane::close)
    }
}
