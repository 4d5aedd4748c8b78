//! One lane of a topic: a log of messages, or the memory that stands for one.

use super::making::{self, Making, Next};
use crate::batch::Batch;
use crate::error::QueueError;
use crate::house::House;
use crate::waiting::Waiters;
use rialto_log::{Commit, Group, Level, Maps, Reader, Sealing, Segments, Writer};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Where a message is.
pub(crate) enum Place {
    /// In memory, here.
    Batch(Arc<Batch>),
    /// It has been published, and only the open group of its topic holds it.
    Open,
    /// On disk.
    Disk,
    /// There is none of this number yet that may be seen.
    Ahead,
    /// It is gone; this is the oldest that is not.
    Gone(u64),
}

#[derive(Default)]
struct Shelf {
    batches: VecDeque<Arc<Batch>>,
    bytes: usize,
}

/// The disk's side of a lane. Only the one who writes it locks it for long.
#[derive(Default)]
struct Store {
    writer: Option<Writer>,
    /// Nothing is written any more, and no log is made for that.
    is_closed: bool,
    has_unsynced: bool,
    next: Next,
    /// What had been written when it was last looked whether the lane is idle.
    written_before: u64,
    /// Up to which message a proof of the end was left.
    confirmed: u64,
}

/// A sequence of messages. What is written here, readers may take from the moment that the topic's
/// level allows.
pub(crate) struct Lane {
    pub(crate) number: u8,
    level: Level,
    dir: Option<PathBuf>,
    segment_bytes: u64,
    sealing: Sealing,
    shelf_bytes_max: usize,
    shelf: Mutex<Shelf>,
    store: Mutex<Store>,
    segments: OnceLock<Segments>,
    /// The oldest message that has not been dropped.
    first: AtomicU64,
    /// How many bytes of the current segment are written.
    filled: AtomicU64,
    written: AtomicU64,
    durable: AtomicU64,
    visible: AtomicU64,
    /// Written since the topic was opened, before compression and after it.
    plain_bytes: AtomicU64,
    stored_bytes: AtomicU64,
    pub(crate) arrivals: Waiters,
    pub(crate) confirmations: Waiters,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What writing led to.
#[derive(Default)]
pub(crate) struct Written {
    /// The means to go on with the next segment, if that should be done now.
    pub(crate) making: Option<Making>,
    /// Whether a file is full, so that there may be one to drop.
    pub(crate) has_rolled: bool,
}

/// What a lane is made with.
pub(crate) struct LaneOptions {
    pub(crate) number: u8,
    pub(crate) level: Level,
    /// Where its log is; nothing at [`Level::Memory`].
    pub(crate) dir: Option<PathBuf>,
    pub(crate) segment_bytes: u64,
    pub(crate) sealing: Sealing,
    pub(crate) shelf_bytes_max: usize,
}

impl AsRef<Waiters> for Lane {
    fn as_ref(&self) -> &Waiters {
        &self.arrivals
    }
}

impl Lane {
    /// A lane that has no log yet, or never will.
    pub(crate) fn new(options: LaneOptions) -> Self {
        let LaneOptions { number, level, dir, segment_bytes, sealing, shelf_bytes_max } = options;
        Self {
            number,
            level,
            dir,
            segment_bytes,
            sealing,
            shelf_bytes_max,
            shelf: Mutex::default(),
            store: Mutex::default(),
            segments: OnceLock::new(),
            first: AtomicU64::new(1),
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

    /// Takes the log that was found on disk. To be called once, before anything is written.
    pub(crate) fn adopt(&self, writer: Writer) {
        let segments = writer.segments();
        let (first, last) = (segments.first_seq(), writer.next_seq() - 1);
        self.first.store(first, Ordering::Release);
        for mark in [&self.written, &self.durable, &self.visible] {
            mark.store(last, Ordering::Release);
        }
        let _ = self.segments.set(segments);
        lock(&self.store).writer = Some(writer);
    }

    /// Reads the log of somebody else, up to `visible`. To be called once.
    pub(crate) fn mount(&self, segments: Segments, visible: u64) {
        self.first.store(segments.first_seq(), Ordering::Release);
        self.visible.store(visible, Ordering::Release);
        let _ = self.segments.set(segments);
    }

    /// Somebody else has written up to `seq`.
    #[inline]
    pub(crate) fn advance(&self, seq: u64) {
        if self.visible.fetch_max(seq, Ordering::AcqRel) < seq {
            self.arrivals.wake_through(seq);
        }
    }

    pub(crate) fn first(&self) -> u64 {
        self.first.load(Ordering::Acquire)
    }

    /// The last message that readers may take.
    pub(crate) fn visible(&self) -> u64 {
        self.visible.load(Ordering::Acquire)
    }

    /// How far the lane is safe at some level.
    pub(crate) fn mark(&self, level: Level) -> u64 {
        match level {
            Level::Memory => u64::MAX,
            Level::Buffered => self.written.load(Ordering::Acquire),
            Level::Synced => self.durable.load(Ordering::Acquire),
        }
    }

    /// A lane of memory: the message was published.
    #[inline]
    pub(crate) fn published(&self, seq: u64) {
        self.visible.store(seq, Ordering::Release);
    }

    /// Puts messages where readers find them.
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

    /// Where a message is.
    pub(crate) fn find(&self, seq: u64) -> Place {
        let first = self.first();
        if seq < first {
            return Place::Gone(first);
        }
        if seq > self.visible() {
            return Place::Ahead;
        }
        let shelf = lock(&self.shelf);
        let after = shelf.batches.partition_point(|batch| batch.first_seq() <= seq);
        if let Some(batch) = after.checked_sub(1).and_then(|nth| shelf.batches.get(nth))
            && seq <= batch.last_seq()
        {
            return Place::Batch(batch.clone());
        }
        drop(shelf);
        if self.level == Level::Memory { Place::Open } else { Place::Disk }
    }

    /// A reader of the log from `seq` on, which must be visible. It maps files if it is given where,
    /// and does not keep them from being deleted: whoever holds it may rest for ever.
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

    /// Writes groups, in order, and lets readers have what the level allows.
    pub(crate) fn write(
        &self,
        house: &House,
        groups: impl IntoIterator<Item = Group>,
    ) -> Result<Written, QueueError> {
        let commit = if self.level == Level::Synced { Commit::Synced } else { Commit::Written };
        let mut guard = lock(&self.store);
        let store = &mut *guard;
        let mut written = Written::default();
        for mut group in groups {
            if store.is_closed {
                return Err(QueueError::Closed);
            }
            let writer = self.writer(house, &mut store.writer)?;
            let last = writer.write(&mut group, commit)?.seq;
            let durable = writer.durable_seq();
            store.has_unsynced |= durable < last;
            let volume = writer.volume();
            self.plain_bytes.store(volume.plain_bytes, Ordering::Relaxed);
            self.stored_bytes.store(volume.stored_bytes, Ordering::Relaxed);
            let filled = writer.segment_filled_bytes();
            if self.filled.swap(filled, Ordering::Relaxed) > filled {
                written.has_rolled = true;
                if matches!(store.next, Next::Failed) {
                    // The writer has made this one itself. Now is another chance.
                    store.next = Next::Nothing;
                }
            }
            if writer.wants_segment() {
                let due = store.next.take_due(filled, self.segment_bytes, || writer.preparer());
                written.making = written.making.or(due);
            }
            self.shelve(Batch::of_group(group, &house.spares));
            self.written.store(last, Ordering::Release);
            self.durable.store(durable, Ordering::Release);
            let visible = if commit == Commit::Synced { durable } else { last };
            self.visible.store(visible, Ordering::Release);
            house.wake(self.confirmations.take_through(last));
            self.arrivals.wake_through(visible);
        }
        Ok(written)
    }

    /// The writer, for which the log is made when the first message comes.
    fn writer<'a>(
        &self,
        house: &House,
        writer: &'a mut Option<Writer>,
    ) -> Result<&'a mut Writer, QueueError> {
        match writer {
            Some(writer) => Ok(writer),
            none => {
                let dir = self.dir.as_deref().expect("only a lane with a directory is written");
                let opened = house.open_log(
                    dir,
                    self.segment_bytes,
                    self.sealing,
                    making::space(self.level),
                )?;
                let _ = self.segments.set(opened.segments());
                Ok(none.insert(opened))
            }
        }
    }

    /// Goes on with the next segment.
    pub(crate) fn make(&self, making: Making) {
        let filled = || self.filled.load(Ordering::Relaxed);
        let made = making::go_on(making, self.segment_bytes, filled);
        let mut store = lock(&self.store);
        store.next = match made {
            Ok(prepared) => {
                if let Some(writer) = &mut store.writer {
                    // One that is not needed any more goes with the next opening.
                    let _ = writer.accept(prepared);
                }
                Next::Nothing
            }
            Err(next) => next,
        };
    }

    /// Whether something was written that a power failure could take.
    pub(crate) fn has_unsynced(&self) -> bool {
        self.written.load(Ordering::Acquire) > self.durable.load(Ordering::Acquire)
    }

    /// Makes everything durable that was written.
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

    /// Leaves a proof of the end if nothing was written since this was last asked, as a log that
    /// falls idle should.
    pub(crate) fn confirm_if_idle(&self) -> Result<(), QueueError> {
        let mut store = lock(&self.store);
        let written = self.written.load(Ordering::Acquire);
        let was = std::mem::replace(&mut store.written_before, written);
        if was != written || store.confirmed == written {
            return Ok(());
        }
        let Some(writer) = &mut store.writer else { return Ok(()) };
        writer.confirm()?;
        (store.confirmed, store.has_unsynced) = (written, false);
        drop(store);
        self.durable.fetch_max(written, Ordering::AcqRel);
        self.confirmations.wake_through(written);
        Ok(())
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

    /// The number below which files hold nothing but what was dropped, if there are such files.
    pub(crate) fn reclaimable(&self) -> Option<u64> {
        let first = self.first();
        let beginnings = self.segments.get()?.beginnings();
        beginnings.iter().skip(1).map(|(begin, _)| *begin).take_while(|it| *it <= first).last()
    }

    /// Deletes the files that hold nothing but what was dropped, and nothing from `below` on.
    pub(crate) fn reclaim(&self, below: u64) -> Result<(), QueueError> {
        match &mut lock(&self.store).writer {
            Some(writer) => Ok(writer.retain_from(self.first().min(below)).map(drop)?),
            None => Ok(()),
        }
    }

    /// The memory that recent messages take.
    pub(crate) fn shelf_bytes(&self) -> usize {
        lock(&self.shelf).bytes
    }

    /// What was written since the topic was opened: the bytes before compression and after it.
    pub(crate) fn volume(&self) -> (u64, u64) {
        let read = |bytes: &AtomicU64| bytes.load(Ordering::Relaxed);
        (read(&self.plain_bytes), read(&self.stored_bytes))
    }

    /// Closes the log, which keeps nothing mapped from here on.
    pub(crate) fn close(&self) -> Result<(), QueueError> {
        self.segments.get().inspect(|segments| segments.unmap());
        let mut store = lock(&self.store);
        store.is_closed = true;
        if let Next::Resting(begun) = std::mem::take(&mut store.next) {
            // What is left of it would go with the next opening.
            let _ = begun.discard();
        }
        match store.writer.take() {
            Some(writer) => Ok(writer.close().map(drop)?),
            None => Ok(()),
        }
    }
}
