//! The logs that keep files open: the most recently written ones, up to a limit.

use crate::topic::{End, Topic};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The most descriptors of a log that is written: its newest segment twice, HEAD, and the next segment.
const OF_A_LOG: usize = 4;

/// The least bound that leaves room for some logs and readers.
pub const DESCRIPTORS_MIN: usize = 64;

/// The logs of topics that hold descriptors. When there are too many, one that was not written lately
/// closes its files; it opens them when it is written again.
pub(crate) struct DescriptorPool {
    logs_max: usize,
    readers_max: usize,
    /// Ordered by the last check, oldest first.
    logs: Mutex<VecDeque<(Weak<Topic>, usize)>>,
    readers: Arc<AtomicUsize>,
}

impl DescriptorPool {
    /// Half of the descriptors are for logs that are written, a quarter for readers that keep a
    /// file open, and the rest for files that are opened briefly.
    pub(crate) fn up_to(descriptors_max: usize) -> Self {
        let descriptors = descriptors_max.max(DESCRIPTORS_MIN);
        Self {
            logs_max: descriptors / 2 / OF_A_LOG,
            readers_max: descriptors / 4,
            logs: Mutex::default(),
            readers: Arc::default(),
        }
    }

    /// A log has taken descriptors. To be called without a lock of its lane.
    pub(crate) fn woke(&self, topic: &Arc<Topic>, nth: usize) {
        let mut tries = {
            let mut logs = self.logs();
            logs.push_back((Arc::downgrade(topic), nth));
            // A log that was written since its last check is skipped once.
            2 * logs.len()
        };
        while tries > 0
            && let Some((topic, nth)) = self.take_excess()
        {
            tries -= 1;
            let Some(topic) = topic.upgrade() else { continue };
            match topic.lanes[nth].release() {
                Ok(true) => {}
                Ok(false) => self.logs().push_back((Arc::downgrade(&topic), nth)),
                Err(error) => topic.end(End::Failed(error.to_string())),
            }
        }
    }

    fn take_excess(&self) -> Option<(Weak<Topic>, usize)> {
        let mut logs = self.logs();
        if logs.len() > self.logs_max { logs.pop_front() } else { None }
    }

    fn logs(&self) -> std::sync::MutexGuard<'_, VecDeque<(Weak<Topic>, usize)>> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A permit for a reader to keep its file open; `None` if there are too many.
    pub(crate) fn seat(&self) -> Option<DescriptorPermit> {
        let taken = self.readers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |readers| {
            (readers < self.readers_max).then_some(readers + 1)
        });
        taken.is_ok().then(|| DescriptorPermit(self.readers.clone()))
    }
}

/// Held with a descriptor of a reader.
pub(crate) struct DescriptorPermit(Arc<AtomicUsize>);

impl Drop for DescriptorPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
