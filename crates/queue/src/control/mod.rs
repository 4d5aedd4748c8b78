//! The control log: the state of all topics and groups that changes, in one log. Topics hold
//! messages only.

mod fault;
mod record;
mod revival;
mod state;
mod versioned;

pub(crate) use record::{FORMAT_VERSION, Finished, Moved, Record};
pub(crate) use state::{ControlState, GroupRecord, PastTransaction, TopicRecord};
pub(crate) use versioned::Json;

use crate::error::QueueError;
use crate::group::Group;
use crate::runtime::{LogPlace, Reached, Runtime, Work};
use crate::sabotage::Sabotage;
use crate::shared::lock;
use crate::waiting::Waiters;
use fault::ControlFault;
use rialto_clock::Timestamp;
use rialto_log::{AppendError, Commit, GROUP_BYTES_MAX, Group as LogGroup, RECORD_BYTES_MAX};
use rialto_log::{Cipher, Reader, Sealing, Segments, Space, Writer};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

/// The most bytes of a record besides the messages in it: enough for a transaction of many small
/// messages, which has its own bound.
const OVERHEAD_BYTES: usize = 4096;

/// The most bytes of the messages of one transaction, headers included.
pub const TRANSACTION_BYTES_MAX: usize = RECORD_BYTES_MAX - OVERHEAD_BYTES;

/// The control log grows by this much before a checkpoint is written.
const CHECKPOINT_BYTES: u64 = 8 << 20;

struct Pending {
    open: LogGroup,
    full: VecDeque<LogGroup>,
    /// Groups with changes that are not recorded.
    dirty: Vec<Arc<Group>>,
    /// Transactions that are not delivered to their topics, with the number of their record.
    transactions: VecDeque<PastTransaction>,
    next_transaction: u64,
    /// Messages that pending transactions acknowledge: topic, lane and number.
    finishing: Vec<(u32, u8, u64)>,
    is_scheduled: bool,
    sync_wanted: bool,
    /// The number of the last round that has taken the pending records.
    rounds_begun: u64,
}

struct Store {
    /// `None` once it is closed, and while it cannot be reopened after a failure.
    writer: Option<Writer>,
    bytes_since_checkpoint: u64,
    has_unsynced: bool,
    /// The position up to which the log was written when it failed.
    reached: Option<Reached>,
    /// When a restart may be tried, after a failure.
    next_try: Timestamp,
}

/// The callbacks of the control log into the queue while it is written.
pub(crate) trait ControlHost {
    /// Makes durable the messages that a transaction acknowledges, by topic, lane and number.
    fn secure(&self, finishing: &[(u32, u8, u64)]);
    /// Puts the messages of a transaction that is written into their topics.
    fn deliver(&self, transaction: PastTransaction) -> Result<(), QueueError>;
    /// Writes an image of the whole state, and returns the next id.
    fn images(&self, write: &mut dyn FnMut(&Record<'_>)) -> u32;
    /// Writes transactions again whose messages wait for a topic that cannot be written; the
    /// callback returns the number of the record.
    fn carry(&self, write: &mut dyn FnMut(&Record<'_>) -> u64);
    /// The record of the oldest transaction whose messages a loss of power could still take.
    fn safe_below(&self) -> Option<u64>;
}

pub(crate) struct Control {
    runtime: Arc<Runtime>,
    place: LogPlace,
    pending: Mutex<Pending>,
    store: Mutex<Store>,
    /// Rounds that have been written, and rounds that have been synced.
    written: AtomicU64,
    synced: AtomicU64,
    rounds: Waiters,
    fault: ControlFault,
    /// Locked for reading while a record is noted and its change is applied in memory, and for
    /// writing while a checkpoint is made: an image from in between would undo the record. It is
    /// taken before any other lock of a topic or a group, and never waited for to write where a
    /// reader may be further up on the same thread.
    gate: RwLock<()>,
}

/// Reads the state of a control log.
pub(crate) fn read_state(segments: &Segments, dir: &Path) -> Result<ControlState, QueueError> {
    let mut state = ControlState::new();
    let mut epoch = 0;
    let mut reader = Reader::open(segments, segments.first_seq())?;
    while let Some(view) = reader.next_group()? {
        if std::mem::replace(&mut epoch, view.epoch()) != view.epoch() {
            state.begin_epoch();
        }
        for (seq, bytes) in view {
            let wrong = |why| QueueError::Control { dir: dir.to_owned(), seq, why };
            let record = postcard::from_bytes(bytes).map_err(|error| wrong(error.to_string()))?;
            state.apply(seq, record).map_err(wrong)?;
        }
    }
    Ok(state)
}

impl Control {
    /// Opens the log and reads its state.
    pub(crate) fn open(
        runtime: &Arc<Runtime>,
        dir: &Path,
        segment_bytes: u64,
    ) -> Result<(Self, ControlState), QueueError> {
        // Transactions carry messages, some of which may be of topics that are encrypted.
        let encryption = runtime.keys.current().map(|_| Cipher::Aes256Gcm);
        let sealing = Sealing { encryption, ..Sealing::NONE };
        let place = LogPlace {
            dir: dir.to_owned(),
            segment_bytes,
            first_segment_bytes: None,
            sealing,
            space: Space::Zeroed,
            is_guarded: false,
        };
        let writer = runtime.open_log(&place)?;
        let state = read_state(&writer.segments(), dir)?;
        let mut open = LogGroup::new(GROUP_BYTES_MAX);
        open.begin(writer.next_seq());
        let pending = Pending {
            open,
            full: VecDeque::new(),
            dirty: Vec::new(),
            transactions: VecDeque::new(),
            next_transaction: state.next_transaction,
            finishing: Vec::new(),
            is_scheduled: false,
            sync_wanted: false,
            rounds_begun: 0,
        };
        let control = Self {
            runtime: runtime.clone(),
            place,
            pending: Mutex::new(pending),
            store: Mutex::new(Store {
                writer: Some(writer),
                bytes_since_checkpoint: 0,
                has_unsynced: false,
                reached: None,
                next_try: Timestamp::default(),
            }),
            written: AtomicU64::new(0),
            synced: AtomicU64::new(0),
            rounds: Waiters::default(),
            fault: ControlFault::default(),
            gate: RwLock::new(()),
        };
        Ok((control, state))
    }

    #[inline]
    pub(crate) fn check(&self) -> Result<(), QueueError> {
        self.fault.check()
    }

    /// The reason that nothing can be written now, if the disk failed.
    pub(crate) fn failure(&self) -> Option<String> {
        self.fault.failure()
    }

    /// To be held from noting or committing a record until its change is applied in memory.
    pub(crate) fn changing(&self) -> RwLockReadGuard<'_, ()> {
        self.gate.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a record. Returns the round with which it is written.
    pub(crate) fn note(&self, record: &Record<'_>) -> Result<u64, QueueError> {
        self.check()?;
        let mut pending = lock(&self.pending);
        pending.append(record);
        Ok(pending.rounds_begun + 1)
    }

    /// Marks a group as having changes to record.
    #[inline]
    pub(crate) fn mark(&self, group: &Arc<Group>) {
        if !group.is_dirty.swap(true, Ordering::SeqCst) {
            lock(&self.pending).dirty.push(group.clone());
        }
    }

    /// Commits a transaction, with its producer and its number if it has any. Returns the round with
    /// which it is written.
    pub(crate) fn commit(
        &self,
        messages: Vec<Moved<'static>>,
        finished: Vec<Finished>,
        number: Option<(String, u64)>,
    ) -> Result<u64, QueueError> {
        self.check()?;
        let mut pending = lock(&self.pending);
        let id = pending.next_transaction;
        pending.next_transaction += 1;
        // Delayed messages are moved for no group.
        let is_new = finished.iter().all(|finished| finished.group != 0);
        // Delayed messages were durable before they were moved.
        for Finished { topic, done, .. } in finished.iter().filter(|finished| finished.group != 0) {
            let lasts = done.iter().map(|(lane, range)| (*topic, *lane, range.last));
            pending.finishing.extend(lasts);
        }
        let record = match number {
            None => Record::Transaction { id, messages, finished },
            Some((producer, number)) => {
                Record::Numbered { producer, number, id, messages, finished }
            }
        };
        let seq = pending.append(&record);
        if let Record::Transaction { messages, .. } | Record::Numbered { messages, .. } = record {
            pending.transactions.push_back(PastTransaction { id, seq, messages, is_new });
        }
        Ok(pending.rounds_begun + 1)
    }

    /// Requests a write of the pending records, and a sync if asked for. Returns the round that
    /// includes them.
    pub(crate) fn hurry(&self, synced: bool) -> u64 {
        let mut pending = lock(&self.pending);
        pending.sync_wanted |= synced;
        if !std::mem::replace(&mut pending.is_scheduled, true) {
            self.runtime.ask(Work::Control);
        }
        pending.rounds_begun + 1
    }

    /// Requests a sync with the next round.
    pub(crate) fn want_sync(&self) {
        lock(&self.pending).sync_wanted = true;
    }

    /// Whether there is anything to write.
    pub(crate) fn has_pending(&self) -> bool {
        let pending = lock(&self.pending);
        !pending.dirty.is_empty() || !pending.open.is_empty() || !pending.full.is_empty()
    }

    /// The number of rounds that are synced.
    pub(crate) fn safe_rounds(&self) -> u64 {
        self.synced.load(Ordering::Acquire)
    }

    /// Whether something was written and not synced.
    pub(crate) fn has_unsynced(&self) -> bool {
        self.written.load(Ordering::Acquire) > self.synced.load(Ordering::Acquire)
    }

    /// Returns when a round has been written, or synced.
    pub(crate) async fn round(&self, round: u64, synced: bool) -> Result<(), QueueError> {
        let mark = if synced { &self.synced } else { &self.written };
        std::future::poll_fn(|context| {
            let reached = || {
                if self.runtime.sabotage.is(Sabotage::ConfirmWhileFailed) && self.check().is_err() {
                    return Ok(true);
                }
                self.check()?;
                Ok(mark.load(Ordering::Acquire) >= round)
            };
            match reached() {
                Ok(false) => {}
                Ok(true) => return std::task::Poll::Ready(Ok(())),
                Err(error) => return std::task::Poll::Ready(Err(error)),
            }
            self.rounds.register(round, context.waker());
            match reached() {
                Ok(false) => std::task::Poll::Pending,
                Ok(true) => std::task::Poll::Ready(Ok(())),
                Err(error) => std::task::Poll::Ready(Err(error)),
            }
        })
        .await
    }

    /// Writes the pending records, and a checkpoint if one is due. After a disk failure, restarts
    /// the log instead, unless that was tried a moment ago.
    pub(crate) fn step(&self, told: &impl ControlHost) {
        let mut store = lock(&self.store);
        // Taken in one step: a sync that is requested from here on belongs to a later round.
        let (round, sync_wanted) = {
            let mut pending = lock(&self.pending);
            pending.is_scheduled = false;
            pending.rounds_begun += 1;
            (pending.rounds_begun, std::mem::take(&mut pending.sync_wanted))
        };
        let stepped = if self.failure().is_some() {
            self.revive_in_time(&mut store, told)
        } else {
            self.write_round(&mut store, sync_wanted, told).and_then(|synced| {
                self.advance_checkpoint(&mut store, told)?;
                Ok(Some(synced))
            })
        };
        match stepped {
            Ok(None) => {}
            Ok(Some(synced)) => {
                self.written.store(round, Ordering::Release);
                if synced {
                    self.synced.store(round, Ordering::Release);
                }
            }
            Err(error) => self.fail(&mut store, &error),
        }
        drop(store);
        self.rounds.wake_through(round);
        if self.check().is_err() {
            self.rounds.wake_all();
        }
    }

    /// Writes the pending records. Returns whether they are synced too.
    fn write_round(
        &self,
        store: &mut Store,
        sync_wanted: bool,
        told: &impl ControlHost,
    ) -> Result<bool, QueueError> {
        let dirty = std::mem::take(&mut lock(&self.pending).dirty);
        for group in dirty {
            if let Some(progress) = group.take_changes()
                && !self.runtime.sabotage.is(Sabotage::ForgetAcks)
            {
                let (topic, group) = (group.topic.id, group.id);
                let mut pending = lock(&self.pending);
                for progress in progress.pieces() {
                    pending.append(&Record::Progress { topic, group, progress });
                }
            }
        }
        let (groups, finishing, sync) = {
            let mut pending = lock(&self.pending);
            pending.rotate();
            // If a message reached its topic before its transaction is durable, a loss of power
            // could take one and leave the other.
            let sync = sync_wanted || !pending.transactions.is_empty();
            let finishing = std::mem::take(&mut pending.finishing);
            (std::mem::take(&mut pending.full), finishing, sync)
        };
        // A message that was lost with an unsynced tail takes with it what groups did with it. One that
        // a transaction had brought would be brought again, and be worked on twice.
        told.secure(&finishing);
        // Where the messages come first, their record is synced behind them.
        let is_late = self.runtime.sabotage.is(Sabotage::DeliverBeforeSync);
        let commit = if sync && !is_late { Commit::Synced } else { Commit::Written };
        let last = groups.len();
        let writer = store.writer.as_mut().ok_or(QueueError::Closed)?;
        for (nth, mut group) in groups.into_iter().enumerate() {
            let commit = if nth + 1 == last { commit } else { Commit::Written };
            writer.write(&mut group, commit)?;
            store.bytes_since_checkpoint += group.stored_bytes() as u64;
            store.has_unsynced = true;
        }
        let written = writer.next_seq();
        if self.runtime.sabotage.is(Sabotage::DeliverBeforeSync) {
            self.deliver_below(written, told)?;
        }
        if sync {
            writer.sync()?;
            store.has_unsynced = false;
        }
        self.deliver_below(written, told)?;
        Ok(!store.has_unsynced)
    }

    /// Delivers the transactions whose records are below this number.
    fn deliver_below(&self, written: u64, told: &impl ControlHost) -> Result<(), QueueError> {
        loop {
            let next = {
                let mut pending = lock(&self.pending);
                let is_written = pending.transactions.front().is_some_and(|it| it.seq < written);
                if is_written { pending.transactions.pop_front() } else { None }
            };
            match next {
                Some(transaction) => told.deliver(transaction)?,
                None => return Ok(()),
            }
        }
    }

    fn advance_checkpoint(
        &self,
        store: &mut Store,
        told: &impl ControlHost,
    ) -> Result<(), QueueError> {
        if store.bytes_since_checkpoint < CHECKPOINT_BYTES {
            return Ok(());
        }
        // Another round will come.
        let Ok(_gate) = self.gate.try_write() else { return Ok(()) };
        self.write_checkpoint(store, told)
    }

    fn write_checkpoint(
        &self,
        store: &mut Store,
        told: &impl ControlHost,
    ) -> Result<(), QueueError> {
        let floor = lock(&self.pending).open.next_seq();
        self.append_checkpoint(told, |_| ());
        self.write_all(store)?;
        // Records of transactions that are not yet delivered, or not yet durable in their topics,
        // are kept.
        let waiting = lock(&self.pending).transactions.front().map(|it| it.seq);
        let keep_from = [told.safe_below(), waiting].into_iter().flatten().fold(floor, u64::min);
        let writer = store.writer.as_mut().ok_or(QueueError::Closed)?;
        writer.retain_from(keep_from)?;
        Ok(())
    }

    /// Writes and syncs the pending records and a checkpoint.
    fn write_all(&self, store: &mut Store) -> Result<(), QueueError> {
        let groups = {
            let mut pending = lock(&self.pending);
            pending.rotate();
            std::mem::take(&mut pending.full)
        };
        let writer = store.writer.as_mut().ok_or(QueueError::Closed)?;
        for mut group in groups {
            writer.write(&mut group, Commit::Written)?;
        }
        writer.sync()?;
        store.has_unsynced = false;
        store.bytes_since_checkpoint = 0;
        Ok(())
    }

    /// Adds an image of the whole state, and the records of `more`, to the pending records.
    fn append_checkpoint(&self, told: &impl ControlHost, more: impl FnOnce(&mut Pending)) {
        lock(&self.pending).append(&Record::CheckpointBegin { version: FORMAT_VERSION });
        let next_id = told.images(&mut |record| {
            lock(&self.pending).append(record);
        });
        told.carry(&mut |record| lock(&self.pending).append(record));
        let mut pending = lock(&self.pending);
        more(&mut pending);
        let next_transaction = pending.next_transaction;
        pending.append(&Record::CheckpointEnd { next_id, next_transaction });
    }

    /// Writes a checkpoint now, restarting the log if it had failed.
    pub(crate) fn checkpoint(&self, told: &impl ControlHost) -> Result<(), QueueError> {
        // A thread that holds the gate to read may wait for the store.
        let _gate = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        let mut store = lock(&self.store);
        match self.failure() {
            Some(_) => self.revive(&mut store, told),
            None => self.write_checkpoint(&mut store, told),
        }
    }

    /// Makes everything durable, seals the end and closes the log.
    pub(crate) fn close(&self) -> Result<(), QueueError> {
        let writer = lock(&self.store).writer.take();
        self.fault.closed();
        self.rounds.wake_all();
        match writer {
            Some(writer) => Ok(writer.close().map(drop)?),
            None => Ok(()),
        }
    }
}

impl Pending {
    fn rotate(&mut self) {
        if !self.open.is_empty() {
            let mut next = LogGroup::new(GROUP_BYTES_MAX);
            next.begin(self.open.next_seq());
            self.full.push_back(std::mem::replace(&mut self.open, next));
        }
    }

    /// Appends a record, whose length was checked before, and returns its number.
    fn append(&mut self, record: &Record<'_>) -> u64 {
        let bytes =
            postcard::to_allocvec(record).expect("a record of plain data is always encoded");
        match self.open.append(&bytes) {
            Ok(seq) => seq,
            Err(AppendError::Full) => {
                self.rotate();
                self.open.append(&bytes).expect("an empty group takes every record of its bound")
            }
            Err(AppendError::TooLong { len, max }) => {
                unreachable!("a record of {len} bytes was let through, of {max} that may be")
            }
        }
    }
}
