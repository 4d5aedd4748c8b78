//! The runtime that all topics of a queue share: the disk, the clock, buffers, and the list of
//! work.

use crate::blocking::block_on;
use crate::descriptor_pool::DescriptorPool;
use crate::error::QueueError;
use crate::queue::QueueOptions;
use crate::sabotage::Switch;
use crate::shared::SharedQueue;
use crate::spares::Spares;
use crate::topic::{FileRequest, Topic};
use rialto_clock::{Clock, Timestamp};
use rialto_disk::{Access, Disk};
use rialto_log::{Group, KeyRing, Maps, OpenReport, Options, Position, Sealing, Segments, Space};
use rialto_log::{SpareFiles, Writer};
use std::collections::VecDeque;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// The number of steps of a queue without threads on behalf of a waiting call. Work that is not
/// done by then depends on the clock.
const STEPS_MAX: usize = 8;

/// A piece of work for a thread of the queue.
pub(crate) enum Work {
    Write(Arc<Topic>),
    /// Write the changes of groups to the control log.
    Control,
    /// Make the next segment of a lane, or some more of it.
    Prepare(Arc<Topic>, usize, FileRequest),
    /// Make buffers before they are needed.
    Buffers,
    /// Wake the callers whose messages are durable.
    Wake(Vec<Waker>),
}

/// The number of waiting callers that the writer wakes itself. Waking a thread takes some
/// microseconds, in which the disk could be busy.
const WOKEN_BY_WRITER: usize = 4;

#[derive(Default)]
struct Schedule {
    work: VecDeque<Work>,
    /// The number of threads that wait for work.
    idle: usize,
    is_closed: bool,
}

/// The directory of a log, and how it is written.
#[derive(Clone, Debug)]
pub(crate) struct LogPlace {
    pub(crate) dir: PathBuf,
    pub(crate) segment_bytes: u64,
    /// The size of the first file, if files grow.
    pub(crate) first_segment_bytes: Option<u64>,
    pub(crate) sealing: Sealing,
    pub(crate) space: Space,
    /// Whether the lock of the control log keeps other processes away.
    pub(crate) is_guarded: bool,
}

/// The known end of a log.
pub(crate) struct Reached {
    pub(crate) segments: Segments,
    pub(crate) written: u64,
    /// The last record that is synced, if there is one.
    pub(crate) durable: Option<Position>,
}

impl Reached {
    /// The end of a writer, which may have failed.
    pub(crate) fn by(writer: &Writer) -> Self {
        let segments = writer.segments();
        let durable = segments.position_of(writer.durable_seq());
        Self { segments, written: writer.position().seq, durable }
    }
}

/// The state that all topics of a queue share.
pub(crate) struct Runtime {
    pub(crate) disk: Option<Arc<dyn Disk>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) spares: Arc<Spares>,
    /// The files of topics that are mapped, if any are.
    pub(crate) maps: Option<Maps>,
    /// Dropped files that logs recycle.
    spare_files: SpareFiles,
    pub(crate) sabotage: Switch,
    /// The most bytes of the dead letters of a topic without a bound of its own.
    pub(crate) dead_letters_bytes_max: Option<u64>,
    /// The logs and readers that hold descriptors.
    pub(crate) awake: DescriptorPool,
    pub(crate) keys: KeyRing,
    salt: Arc<dyn Fn() -> [u8; 16] + Send + Sync>,
    agenda: Mutex<Schedule>,
    bell: Condvar,
    closed: Condvar,
    /// The queue, if it has no threads.
    driven: OnceLock<Weak<SharedQueue>>,
    /// Whether new messages, topics and groups on disk are refused.
    refuses_new: AtomicBool,
}

impl Runtime {
    pub(crate) fn new(options: QueueOptions) -> Self {
        let QueueOptions { mapped_segments_max, clock, keys, salt, .. } = options;
        Self {
            sabotage: Switch {
                #[cfg(feature = "sabotage")]
                thrown: options.sabotage,
            },
            disk: options.dir.is_some().then_some(options.disk),
            clock,
            keys,
            salt,
            maps: (mapped_segments_max > 0).then(|| Maps::keeping(mapped_segments_max)),
            spare_files: SpareFiles::up_to(options.spare_bytes_max),
            spares: Spares::new(options.buffers_bytes),
            dead_letters_bytes_max: options.dead_letters_bytes_max,
            awake: DescriptorPool::up_to(options.descriptors_max),
            agenda: Mutex::default(),
            bell: Condvar::new(),
            closed: Condvar::new(),
            driven: OnceLock::new(),
            refuses_new: AtomicBool::new(false),
        }
    }

    /// The log of a lane has taken descriptors. To be called without a lock of the lane.
    pub(crate) fn woke(&self, topic: &Arc<Topic>, nth: usize) {
        self.awake.woke(topic, nth);
    }

    /// Sets whether new messages, topics and groups are refused.
    pub(crate) fn set_refusing(&self, refuses: bool) {
        self.refuses_new.store(refuses, Ordering::Relaxed);
    }

    pub(crate) fn is_refusing(&self) -> bool {
        self.refuses_new.load(Ordering::Relaxed)
    }

    /// Fails if new messages, topics and groups are refused.
    pub(crate) fn check_room(&self) -> Result<(), QueueError> {
        if self.is_refusing() { Err(QueueError::StorageLow) } else { Ok(()) }
    }

    fn agenda(&self) -> MutexGuard<'_, Schedule> {
        self.agenda.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn log_options(&self, place: &LogPlace) -> Options {
        Options {
            segment_bytes: place.segment_bytes,
            first_segment_bytes: place.first_segment_bytes,
            space: place.space,
            spares: self.spare_files.clone(),
            sealing: place.sealing,
            keys: self.keys.clone(),
            is_guarded: place.is_guarded,
            ..Options::new((self.salt)())
        }
    }

    fn log_disk(&self) -> Arc<dyn Disk> {
        self.disk.clone().expect("only a queue with a disk opens logs")
    }

    pub(crate) fn open_log(&self, place: &LogPlace) -> Result<Writer, QueueError> {
        let options = self.log_options(place);
        let (writer, _) = rialto_log::open(self.log_disk(), &place.dir, options)?;
        Ok(writer)
    }

    /// Reads an existing log and leaves it closed until it is written.
    pub(crate) fn find_log(&self, place: &LogPlace) -> Result<(Segments, OpenReport), QueueError> {
        let options = self.log_options(place);
        Ok(rialto_log::recover(self.log_disk(), &place.dir, options)?.rest()?)
    }

    /// Reopens a log that was open in this process or was found at rest. Records after `reached`
    /// are cut: their write was never confirmed.
    pub(crate) fn resume_log(
        &self,
        place: &LogPlace,
        reached: &Reached,
    ) -> Result<Writer, QueueError> {
        let options = Options { acknowledged: reached.durable, ..self.log_options(place) };
        let mut recovered = rialto_log::recover(self.log_disk(), &place.dir, options)?;
        if recovered.report().last_seq > reached.written {
            recovered.truncate_after(reached.written)?;
        }
        let (writer, _) = recovered.resume(&reached.segments).start()?;
        Ok(writer)
    }

    /// Whether a log recycles the files that retention drops.
    pub(crate) fn recycles(&self, segment_bytes: u64, space: Space) -> bool {
        space == Space::Zeroed && self.spare_files.takes(segment_bytes)
    }

    pub(crate) fn file_bytes(&self, path: &Path) -> Result<u64, QueueError> {
        let disk = self.disk.as_ref().expect("only a queue with a disk has files");
        Ok(disk.open(path, Access::Read)?.len()?)
    }

    /// A buffer for records from `next_seq` on. Under load, further buffers are prepared meanwhile.
    pub(crate) fn buffer(&self, next_seq: u64, is_filling: bool) -> Group {
        let mut group = self.spares.take(is_filling);
        group.begin(next_seq);
        if is_filling && !self.is_driven() {
            self.ask_for_buffers();
        }
        group
    }

    /// Queues the preparation of buffers if few are left.
    pub(crate) fn ask_for_buffers(&self) {
        if self.spares.wants_more() {
            self.ask(Work::Buffers);
        }
    }

    /// Puts work on the list.
    pub(crate) fn ask(&self, work: Work) {
        let mut agenda = self.agenda();
        agenda.work.push_back(work);
        drop(agenda);
        self.bell.notify_one();
    }

    /// Whether no work waits.
    pub(crate) fn has_no_work(&self) -> bool {
        self.agenda().work.is_empty()
    }

    /// Wakes all of them, most on another thread if one is idle.
    pub(crate) fn wake(&self, mut wakers: Vec<Waker>) {
        let rest = wakers.split_off(wakers.len().min(WOKEN_BY_WRITER));
        wakers.into_iter().for_each(Waker::wake);
        if rest.is_empty() {
            return;
        }
        let mut agenda = self.agenda();
        if agenda.idle > agenda.work.len() {
            agenda.work.push_front(Work::Wake(rest));
            drop(agenda);
            self.bell.notify_one();
        } else {
            drop(agenda);
            rest.into_iter().for_each(Waker::wake);
        }
    }

    /// Waits on this thread for a future, at most until `deadline`. Without threads, this one does
    /// the work meanwhile, and time does not pass.
    pub(crate) fn block_on<T>(
        &self,
        future: impl Future<Output = T>,
        deadline: Option<Instant>,
    ) -> Option<T> {
        let Some(core) = self.driven.get() else { return block_on(future, deadline) };
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..STEPS_MAX {
            if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
                return Some(value);
            }
            core.upgrade()?.step();
        }
        None
    }

    /// From here on only its waiters do the work.
    pub(crate) fn drive(&self, core: &Arc<SharedQueue>) {
        let _ = self.driven.set(Arc::downgrade(core));
    }

    /// Whether only its waiters do the work.
    pub(crate) fn is_driven(&self) -> bool {
        self.driven.get().is_some()
    }

    /// The next piece of work; `None` if there is none within `wait`, or if the queue is closed.
    pub(crate) fn next_work(&self, wait: Option<Duration>) -> Option<Work> {
        let mut agenda = self.agenda();
        loop {
            if let Some(work) = agenda.work.pop_front() {
                return Some(work);
            }
            if agenda.is_closed {
                return None;
            }
            agenda = match wait {
                None => {
                    agenda.idle += 1;
                    let mut agenda = self.bell.wait(agenda).unwrap_or_else(PoisonError::into_inner);
                    agenda.idle -= 1;
                    agenda
                }
                Some(Duration::ZERO) => return None,
                Some(wait) => {
                    let (guard, timeout) = self
                        .bell
                        .wait_timeout(agenda, wait)
                        .unwrap_or_else(PoisonError::into_inner);
                    if timeout.timed_out() && guard.work.is_empty() {
                        return None;
                    }
                    guard
                }
            };
        }
    }

    /// Ends the waiting for work; work on the list is still done.
    pub(crate) fn close(&self) {
        self.agenda().is_closed = true;
        self.bell.notify_all();
        self.closed.notify_all();
    }

    /// Waits until it is closed or the time is over, and returns whether it is closed.
    pub(crate) fn wait_closed(&self, wait: Duration) -> bool {
        let closed = self.closed.wait_timeout_while(self.agenda(), wait, |it| !it.is_closed);
        closed.unwrap_or_else(PoisonError::into_inner).0.is_closed
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.agenda().is_closed
    }
}
