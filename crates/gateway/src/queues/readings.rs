//! Readings without a group that go on with the next request.
//!
//! Each request says where it reads, so that nothing has to be remembered between two. Yet who reads
//! on, request by request, should neither have the place sought each time nor wait for a disk that
//! could have been asked before: the reader rests here for a moment, and from the second request on
//! the next page is read ahead while the one before it is on its way.

use super::keeper::read_page;
use super::request::ReadPage;
use rialto_queue::{Name, QueueError, Reader};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// Most readers that rest, and most pages that are being read ahead. Each may hold a few megabytes.
const READINGS_MAX: usize = 16;
/// A reader that nobody went on with for this long is let go.
const REST_MAX: Duration = Duration::from_secs(2);

/// A page that may be there already, with the reader that stands behind it.
type Ahead = JoinHandle<Result<(Reader, ReadPage), QueueError>>;

/// Readers that rest, from the one that has rested longest.
pub(super) struct Readings {
    resting: Mutex<VecDeque<Resting>>,
    /// For pages that are being read ahead. What no longer rests is read to its end all the same, so
    /// that a disk that hangs would otherwise come to hold every thread that waits for disks.
    aheads: Arc<Semaphore>,
}

impl Default for Readings {
    fn default() -> Self {
        Self { resting: Mutex::default(), aheads: Arc::new(Semaphore::new(READINGS_MAX)) }
    }
}

struct Resting {
    topic: Name,
    at: Vec<u64>,
    max: usize,
    since: Instant,
    next: Next,
}

enum Next {
    Reader(Reader),
    Ahead(Ahead),
}

/// What was found of a reading.
pub(super) enum Resumed {
    /// It was never heard of, or is no longer worth anything.
    Nothing,
    /// A reader in its place.
    Reader(Reader),
    /// The page, with the reader behind it.
    Page(Reader, ReadPage),
}

impl Readings {
    /// What rests at this place of a topic, if it is still what a new reader would come to.
    pub(super) async fn resume(&self, topic: &Name, at: &[u64], max: usize) -> Resumed {
        let is_it =
            |resting: &Resting| resting.topic == *topic && resting.at == at && resting.max == max;
        let found = {
            let mut resting = self.resting();
            resting.iter().position(is_it).and_then(|nth| resting.remove(nth))
        };
        let resumed = match found.map(|found| found.next) {
            None => Resumed::Nothing,
            Some(Next::Reader(reader)) => Resumed::Reader(reader),
            Some(Next::Ahead(ahead)) => match ahead.await {
                Ok(Ok((reader, page))) => Resumed::Page(reader, page),
                // What went wrong is found again, by the one who asked.
                Ok(Err(_)) | Err(_) => Resumed::Nothing,
            },
        };
        match &resumed {
            Resumed::Reader(reader) | Resumed::Page(reader, _) if !reader.still_has(at) => {
                Resumed::Nothing
            }
            _ => resumed,
        }
    }

    /// Keeps a reader for whoever goes on where it is, and has it read ahead if it may.
    pub(super) fn rest(&self, topic: Name, mut reader: Reader, max: usize, reads_ahead: bool) {
        let at = reader.positions();
        // A page that is not full could be fuller by the time at which it is asked for.
        let is_worth_it = reads_ahead && reader.lag() >= max as u64;
        let permit = if is_worth_it { self.aheads.clone().try_acquire_owned().ok() } else { None };
        let next = match permit {
            Some(permit) => {
                let began = at.clone();
                Next::Ahead(tokio::task::spawn_blocking(move || {
                    let page = read_page(&mut reader, &began, None, max);
                    drop(permit);
                    page.map(|page| (reader, page))
                }))
            }
            None => Next::Reader(reader),
        };
        let resting = Resting { topic, at, max, since: Instant::now(), next };
        let mut all = self.resting();
        all.push_back(resting);
        let oldest = if all.len() > READINGS_MAX { all.pop_front() } else { None };
        drop(all);
        // It may have files to close, for which nobody else waits.
        drop(oldest);
    }

    /// Lets go of readers that have rested for long.
    pub(super) fn forget_old(&self, now: Instant) {
        let mut all = self.resting();
        let is_old = |resting: &Resting| now.saturating_duration_since(resting.since) >= REST_MAX;
        let old = all.iter().take_while(|resting| is_old(resting)).count();
        let old: Vec<_> = all.drain(..old).collect();
        drop(all);
        drop(old);
    }

    fn resting(&self) -> MutexGuard<'_, VecDeque<Resting>> {
        // Nothing is left half done in it.
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_queue::{Publish, Queue, QueueOptions, TopicOptions};
    use std::sync::mpsc;

    #[test]
    fn no_more_is_read_ahead_than_may_be_however_slow_the_disk_is() {
        let queue = Queue::open_stepped(QueueOptions::in_memory()).unwrap();
        queue.create_topic("t", TopicOptions::default()).unwrap();
        let producer = queue.producer("t").unwrap();
        for _ in 0..100 {
            let _ = producer.send(&Publish::new(b"x")).unwrap();
        }
        queue.step();
        let topic = Name::new("t").unwrap();
        let runtime =
            tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        runtime.block_on(async {
            // The only thread that reads hangs.
            let (go_on, hangs) = mpsc::channel::<()>();
            let hanging = tokio::task::spawn_blocking(move || hangs.recv());
            let readings = Readings::default();
            let rest = |at: u64| {
                let reader = queue.reader_at("t", &[at]).unwrap();
                readings.rest(topic.clone(), reader, 1, true);
            };
            let is_read_ahead = |nth: usize| {
                let all = readings.resting();
                matches!(all.get(nth).unwrap().next, Next::Ahead(_))
            };
            for at in 1..=READINGS_MAX as u64 * 3 {
                rest(at);
            }
            assert!((0..READINGS_MAX).all(|nth| !is_read_ahead(nth)));
            // Readers that were not read ahead go on themselves.
            let last = READINGS_MAX as u64 * 3;
            let resumed = readings.resume(&topic, &[last], 1).await;
            assert!(matches!(resumed, Resumed::Reader(_)));
            go_on.send(()).unwrap();
            hanging.await.unwrap().unwrap();
            // The pages are read one after the other: behind one more, all those before are.
            tokio::task::spawn_blocking(|| ()).await.unwrap();
            rest(last);
            let resumed = readings.resume(&topic, &[last], 1).await;
            assert!(matches!(resumed, Resumed::Page(_, page) if page.messages.len() == 1));
        });
    }
}
