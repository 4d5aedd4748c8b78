//! A lane of a topic: a log of messages, on disk or in memory.

use super::file_request::{self, FileRequest, Next};
use crate::batch::Batch;
use crate::error::QueueError;
use crate::runtime::{LogPlace, Reached, Runtime};
use crate::sabotage::Sabotage;
use crate::shared::lock;
use crate::waiting::Waiters;
use rialto_log::{Commit, Group, Level, Maps, Reader, Segments, Writer};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

pub(crate) enum MessageLocation {
    /// In memory, here.
    Batch(Arc<Batch>),
    /// It is published, and only the open group of its topic holds it.
    Open,
    Disk,
    /// No message with this number is visible yet.
    Ahead,
    /// It was dropped; this is the oldest message.
    Gone(u64),
}

#[derive(Default)]
struct RecentBatches {
    batches: VecDeque<Arc<Batch>>,
    bytes: usize,
}

/// The disk side of a lane. Only its writer locks it for long.
#[derive(Default)]
struct Store {
    writer: Option<Writer>,
    /// The lane is closed: no log is opened or created any more.
    is_closed: bool,
    has_unsynced: bool,
    next: Next,
    /// The last message written at the last check for idleness.
    written_before: u64,
    /// The number of idle checks since the last write.
    idle_looks: u32,
    /// The message up to which the end was confirmed on disk.
    confirmed: u64,
    /// Whether the log holds descriptors.
    is_awake: bool,
    /// Whether it was written since its descriptors were last requested.
    was_used: bool,
}

/// The number of idle checks, a second apart, before a lane releases its resources.
const IDLE_LOOKS: u32 = 10;

/// A sequence of messages. A message is visible to readers when it is as durable as the topic's
/// level.
pub(crate) struct Lane {
    pub(crate) number: u8,
    level: Level,
    pub(super) place: Option<LogPlace>,
    shelf_bytes_max: usize,
    shelf: Mutex<RecentBatches>,
    store: Mutex<Store>,
    segments: OnceLock<Segments>,
    /// The oldest message that has not been dropped.
    first: AtomicU64,
    /// The size of the current segment, and how many bytes of it are written.
    segment_bytes: AtomicU64,
    filled: AtomicU64,
    written: AtomicU64,
    durable: AtomicU64,
    visible: AtomicU64,
    /// Bytes written since the topic was opened, before and after compression.
    plain_bytes: AtomicU64,
    stored_bytes: AtomicU64,
    pub(crate) arrivals: Waiters,
    pub(crate) confirmations: Waiters,
}

/// The result of a write.
#[derive(Default)]
pub(crate) struct Written {
    /// The request to continue with the next segment, if that is due.
    pub(crate) making: Option<FileRequest>,
    /// Whether a new file was begun, so that an old one may be droppable.
    pub(crate) has_rolled: bool,
    /// Whether the log took descriptors for it.
    pub(crate) has_woken: bool,
}

pub(crate) struct LaneOptions {
    pub(crate) number: u8,
    pub(crate) level: Level,
    /// The location of its log; `None` at [`Level::Memory`].
    pub(crate) place: Option<LogPlace>,
    pub(crate) shelf_bytes_max: usize,
}

impl AsRef<Waiters> for Lane {
    fn as_ref(&self) -> &Waiters {
        &self.arrivals
    }
}

impl Lane {
    /// A lane without a log.
    pub(crate) fn new(options: LaneOptions) -> Self {
        let LaneOptions { number, level, place, shelf_bytes_max } = options;
        Self {
            number,
            level,
            place,
            shelf_bytes_max,
            shelf: Mutex::default(),
            store: Mutex::default(),
            segments: OnceLock::new(),
            first: AtomicU64::new(1),
            segment_bytes: AtomicU64::new(0),
            filled: AtomicU64::new(0),
            written: AtomicU64::new(0),
            durable: AtomicU64::new(0),
            visible: AtomicU64::new(0),
            plain_bytes: AtomicU64::new(0),
            stored_bytes: AtomicU64::new(0),
            arrivals: Waiters::default(),
            confirmations: Waiters::default(),
        }
    }

    /// Takes over the log that was found on disk, closed. To be called once, before anything is
    /// written.
    pub(crate) fn adopt(&self, segments: Segments, last: u64) {
        let first = segments.first_seq();
        self.first.store(first, Ordering::Release);
        for mark in [&self.written, &self.durable, &self.visible] {
            mark.store(last, Ordering::Release);
        }
        let _ = self.segments.set(segments);
    }

    /// Reads an external log, up to `visible`. To be called once.
    pub(crate) fn mount(&self, segments: Segments, visible: u64) {
        self.first.store(segments.first_seq(), Ordering::Release);
        self.visible.store(visible, Ordering::Release);
        let _ = self.segments.set(segments);
    }

    /// The external writer has written up to `seq`.
    #[inline]
    pub(crate) fn advance(&self, seq: u64) {
        if self.visible.fetch_max(seq, Ordering::AcqRel) < seq {
            self.arrivals.wake_through(seq);
        }
    }

    pub(crate) fn first(&self) -> u64 {
        self.first.load(Ordering::Acquire)
    }

    /// The last visible message.
    pub(crate) fn visible(&self) -> u64 {
        self.visible.load(Ordering::Acquire)
    }

    /// The last message that is durable at a level.
    pub(crate) fn mark(&self, level: Level) -> u64 {
        match level {
            Level::Memory => u64::MAX,
            Level::Buffered => self.written.load(Ordering::Acquire),
            Level::Synced => self.durable.load(Ordering::Acquire),
        }
    }

    /// Makes a message of a lane in memory visible.
    #[inline]
    pub(crate) fn published(&self, seq: u64) {
        self.visible.store(seq, Ordering::Release);
    }

    /// Adds a batch to the recent messages.
    pub(crate) fn shelve(&self, batch: Arc<Batch>) {
        let mut shelf = lock(&self.shelf);
        shelf.bytes += batch.held_bytes();
        shelf.batches.push_back(batch);
        if self.level == Level::Memory {
            return;
        }
        while shelf.bytes > self.shelf_bytes_max
            && let Some(oldest) = shelf.batches.pop_front()
        {
            shelf.bytes -= oldest.held_bytes();
        }
    }

    pub(crate) fn find(&self, seq: u64) -> MessageLocation {
        let first = self.first();
        if seq < first {
            return MessageLocation::Gone(first);
        }
        if seq > self.visible() {
            return MessageLocation::Ahead;
        }
        let shelf = lock(&self.shelf);
        let after = shelf.batches.partition_point(|batch| batch.first_seq() <= seq);
        if let Some(batch) = after.checked_sub(1).and_then(|nth| shelf.batches.get(nth))
            && seq <= batch.last_seq()
        {
            return MessageLocation::Batch(batch.clone());
        }
        drop(shelf);
        if self.level == Level::Memory { MessageLocation::Open } else { MessageLocation::Disk }
    }

    /// A reader of the log from `seq` on, which must be visible. It maps files if `maps` is given,
    /// and does not keep them from being deleted, because its holder may stay idle.
    pub(crate) fn read_from(
        &self,
        seq: u64,
        maps: Option<&Maps>,
    ) -> Result<Option<Reader>, QueueError> {
        let Some(segments) = self.segments.get() else { return Ok(None) };
        let mut reader = match maps {
            Some(maps) => Reader::open_mapped(segments, seq, maps)?,
            None => Reader::open(segments, seq)?,
        }
        .unpinned();
        reader.set_end(self.visible());
        Ok(Some(reader))
    }

    /// Writes groups in order, and makes visible what the level allows.
    pub(crate) fn write(
        &self,
        runtime: &Runtime,
        groups: impl IntoIterator<Item = Group>,
    ) -> Result<Written, QueueError> {
        let is_lazy = runtime.sabotage.is(Sabotage::SkipSync);
        let is_synced = self.level == Level::Synced && !is_lazy;
        let commit = if is_synced { Commit::Synced } else { Commit::Written };
        let mut guard = lock(&self.store);
        let store = &mut *guard;
        let mut written = Written::default();
        for mut group in groups {
            if store.is_closed {
                return Err(QueueError::Closed);
            }
            let writer = self.writer(runtime, &mut store.writer)?;
            written.has_woken |= !std::mem::replace(&mut store.is_awake, true);
            store.was_used = true;
            let last = writer.write(&mut group, commit)?.seq;
            let durable = if is_lazy { last } else { writer.durable_seq() };
            store.has_unsynced |= durable < last;
            let volume = writer.volume();
            self.plain_bytes.store(volume.plain_bytes, Ordering::Relaxed);
            self.stored_bytes.store(volume.stored_bytes, Ordering::Relaxed);
            let (filled, segment_bytes) = (writer.segment_filled_bytes(), writer.segment_bytes());
            self.segment_bytes.store(segment_bytes, Ordering::Relaxed);
            if self.filled.swap(filled, Ordering::Relaxed) > filled {
                written.has_rolled = true;
                if matches!(store.next, Next::Failed) {
                    // The writer has created this file itself. The preparation is tried again.
                    store.next = Next::Nothing;
                }
            }
            if writer.wants_segment() {
                let due = store.next.take_due(filled, segment_bytes, || writer.preparer());
                written.making = written.making.or(due);
            }
            self.shelve(Batch::of_group(group, &runtime.spares));
            self.written.store(last, Ordering::Release);
            self.durable.store(durable, Ordering::Release);
            let visible = if commit == Commit::Synced { durable } else { last };
            self.visible.store(visible, Ordering::Release);
            runtime.wake(self.confirmations.take_through(last));
            self.arrivals.wake_through(visible);
        }
        Ok(written)
    }

    /// The writer. The log is created with the first message, and a closed one is opened with the
    /// next.
    fn writer<'a>(
        &self,
        runtime: &Runtime,
        writer: &'a mut Option<Writer>,
    ) -> Result<&'a mut Writer, QueueError> {
        match writer {
            Some(writer) => Ok(writer),
            none => {
                let place = self.place.as_ref().expect("only a lane with a log is written");
                let opened = match self.segments.get() {
                    None => runtime.open_log(place)?,
                    Some(segments) => {
                        let (segments, durable) = (segments.clone(), self.mark(Level::Synced));
                        let durable = segments.position_of(durable);
                        let written = self.mark(Level::Buffered);
                        runtime.resume_log(place, &Reached { segments, written, durable })?
                    }
                };
                let _ = self.segments.set(opened.segments());
                Ok(none.insert(opened))
            }
        }
    }

    /// Continues with the next segment.
    pub(crate) fn make(&self, making: FileRequest) {
        let segment_bytes = self.segment_bytes.load(Ordering::Relaxed);
        let filled = || self.filled.load(Ordering::Relaxed);
        let made = file_request::go_on(making, segment_bytes, filled);
        let mut guard = lock(&self.store);
        let store = &mut *guard;
        store.next = match made {
            Ok(Ok(prepared)) => {
                if let Some(writer) = &mut store.writer {
                    // A file that is not needed any more is removed by the next opening.
                    let _ = writer.accept(prepared);
                    if !store.is_awake {
                        // The log released its descriptors meanwhile. An error here also fails the
                        // next write, which reports it.
                        let _ = writer.release();
                    }
                }
                Next::Nothing
            }
            Ok(Err(begun)) => Next::Resting(begun),
            Err(error) => {
                // The directory of a topic that was deleted meanwhile is gone.
                if let Some(place) = self.place.as_ref().filter(|_| !store.is_closed) {
                    tracing::warn!(
                        "the next file in {} is not prepared: {error}; it is made when it is \
                         needed, while messages wait",
                        place.dir.display()
                    );
                }
                Next::Failed
            }
        };
    }

    /// Whether something was written and not synced.
    pub(crate) fn has_unsynced(&self) -> bool {
        self.written.load(Ordering::Acquire) > self.durable.load(Ordering::Acquire)
    }

    /// Syncs everything that was written.
    pub(crate) fn sync(&self) -> Result<(), QueueError> {
        let mut store = lock(&self.store);
        if !std::mem::take(&mut store.has_unsynced) {
            return Ok(());
        }
        let Some(writer) = &mut store.writer else { return Ok(()) };
        writer.sync()?;
        let durable = writer.durable_seq();
        drop(store);
        self.durable.store(durable, Ordering::Release);
        self.confirmations.wake_through(durable);
        Ok(())
    }

    /// Confirms the end of the log on disk if nothing was written since the last call, and closes
    /// its files when it has been idle for long. To be called once a second.
    pub(crate) fn rest_if_idle(&self) -> Result<(), QueueError> {
        let mut guard = lock(&self.store);
        let store = &mut *guard;
        let written = self.written.load(Ordering::Acquire);
        let was = std::mem::replace(&mut store.written_before, written);
        if was != written {
            store.idle_looks = 0;
            return Ok(());
        }
        store.idle_looks = store.idle_looks.saturating_add(1);
        let Some(writer) = &mut store.writer else { return Ok(()) };
        if store.idle_looks == IDLE_LOOKS {
            store.next.give_up();
            writer.rest()?;
            store.is_awake = false;
        } else if store.confirmed != written {
            writer.confirm()?;
            if !store.is_awake {
                // The log had released its descriptors for others.
                writer.release()?;
            }
        } else {
            return Ok(());
        }
        (store.confirmed, store.has_unsynced) = (written, false);
        drop(guard);
        self.became_durable(written);
        Ok(())
    }

    fn became_durable(&self, written: u64) {
        self.durable.fetch_max(written, Ordering::AcqRel);
        self.confirmations.wake_through(written);
    }

    /// Syncs what was written and closes the files of the log until it is written again. False if
    /// it is in use, or was written since the last call.
    pub(crate) fn release(&self) -> Result<bool, QueueError> {
        let Ok(mut store) = self.store.try_lock() else { return Ok(false) };
        let store = &mut *store;
        if std::mem::take(&mut store.was_used) {
            return Ok(false);
        }
        store.is_awake = false;
        let Some(writer) = &mut store.writer else { return Ok(true) };
        store.next.give_up();
        writer.release()?;
        store.has_unsynced = false;
        self.became_durable(writer.durable_seq());
        Ok(true)
    }

    /// Drops everything below `first`, as far as whole batches and segments allow.
    pub(crate) fn drop_below(&self, first: u64) {
        if self.first.fetch_max(first, Ordering::AcqRel) >= first {
            return;
        }
        let mut shelf = lock(&self.shelf);
        while let Some(oldest) = shelf.batches.front()
            && oldest.last_seq() < first
        {
            shelf.bytes -= oldest.held_bytes();
            shelf.batches.pop_front();
        }
    }

    /// The number below which files hold only dropped messages, if there are such files.
    pub(crate) fn reclaimable(&self) -> Option<u64> {
        let first = self.first();
        let beginnings = self.segments.get()?.beginnings();
        beginnings.iter().skip(1).map(|(begin, _)| *begin).take_while(|it| *it <= first).last()
    }

    /// Deletes the files that hold only dropped messages below `below`. Returns whether the log
    /// took descriptors for it.
    pub(crate) fn reclaim(&self, runtime: &Runtime, below: u64) -> Result<bool, QueueError> {
        let below = self.first().min(below);
        let mut guard = lock(&self.store);
        let store = &mut *guard;
        // A closed log stays closed while no file can be deleted. If a closed log has one file with
        // dropped messages only, that file is deleted when it begins another.
        let written = self.mark(Level::Buffered);
        let holds_some = self.segments.get().is_some_and(|it| it.first_seq() <= written);
        let is_done = store.writer.is_none() && holds_some && below > written;
        let has_files = self.reclaimable().is_some_and(|begin| begin <= below);
        if store.is_closed || !(is_done || has_files) {
            return Ok(false);
        }
        let writer = self.writer(runtime, &mut store.writer)?;
        let has_woken = !std::mem::replace(&mut store.is_awake, true);
        // The log is closed again when it has been idle for long.
        store.idle_looks = 0;
        writer.retain_from(below)?;
        Ok(has_woken)
    }

    /// The memory of recent messages.
    pub(crate) fn shelf_bytes(&self) -> usize {
        lock(&self.shelf).bytes
    }

    /// The bytes written since the topic was opened, before and after compression.
    pub(crate) fn volume(&self) -> (u64, u64) {
        let read = |bytes: &AtomicU64| bytes.load(Ordering::Relaxed);
        (read(&self.plain_bytes), read(&self.stored_bytes))
    }

    /// Closes the log, which maps no file from here on.
    pub(crate) fn close(&self) -> Result<(), QueueError> {
        self.segments.get().inspect(|segments| segments.unmap());
        let mut store = lock(&self.store);
        store.is_closed = true;
        store.next.give_up();
        match store.writer.take() {
            // A closed log is fast to open and takes no more room than it needs.
            Some(mut writer) => Ok(writer.rest()?),
            None => Ok(()),
        }
    }
}
