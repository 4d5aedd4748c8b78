//! Readers without a group, kept between the requests of one client.
//!
//! Each request names its positions, so that no state is needed between requests. But seeking the
//! positions for each page is slow. So a reader is kept for a moment, and from the second page on
//! the next page is prefetched while the last answer is sent.

use crate::request::ReadPage;
use crate::service::read_page;
use rialto_queue::{Name, QueueError, Reader};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// Most idle readers, and most pages that are being prefetched. Each may hold a few megabytes.
const READERS_MAX: usize = 16;
/// A reader that no request has used for this long is dropped.
const IDLE_MAX: Duration = Duration::from_secs(2);

/// A prefetched page, perhaps still being read, with its reader.
type Prefetch = JoinHandle<Result<(Reader, ReadPage), QueueError>>;

/// Idle readers, the longest idle first.
pub(crate) struct IdleReaders {
    readers: Mutex<VecDeque<IdleReader>>,
    /// One permit for each page that is being prefetched. A prefetch runs to its end even if its
    /// reader is dropped, so without this bound a disk that hangs would block every blocking thread.
    prefetches: Arc<Semaphore>,
}

impl Default for IdleReaders {
    fn default() -> Self {
        Self { readers: Mutex::default(), prefetches: Arc::new(Semaphore::new(READERS_MAX)) }
    }
}

struct IdleReader {
    topic: Name,
    positions: Vec<u64>,
    max: usize,
    since: Instant,
    state: State,
}

enum State {
    Idle(Reader),
    Prefetching(Prefetch),
}

/// The kept state for a request that continues an earlier one.
pub(crate) enum Resumed {
    /// No usable reader at these positions.
    Nothing,
    /// A reader at these positions.
    Reader(Reader),
    /// The page at these positions, with its reader.
    Page(Reader, ReadPage),
}

impl IdleReaders {
    /// Takes the reader, or the page, at these positions of a topic, unless a new reader would
    /// begin at other messages.
    pub(crate) async fn resume(&self, topic: &Name, positions: &[u64], max: usize) -> Resumed {
        let is_match = |idle: &IdleReader| {
            idle.topic == *topic && idle.positions == positions && idle.max == max
        };
        let found = {
            let mut readers = self.readers();
            readers.iter().position(is_match).and_then(|nth| readers.remove(nth))
        };
        let resumed = match found.map(|found| found.state) {
            None => Resumed::Nothing,
            Some(State::Idle(reader)) => Resumed::Reader(reader),
            Some(State::Prefetching(prefetch)) => match prefetch.await {
                Ok(Ok((reader, page))) => Resumed::Page(reader, page),
                // The request reads again, and returns the error if it occurs again.
                Ok(Err(_)) | Err(_) => Resumed::Nothing,
            },
        };
        match &resumed {
            Resumed::Reader(reader) | Resumed::Page(reader, _) if !reader.still_has(positions) => {
                Resumed::Nothing
            }
            _ => resumed,
        }
    }

    /// Keeps a reader for a request that continues at its positions. Prefetches the next page if
    /// `prefetch` asks for it and a permit is free.
    pub(crate) fn keep(&self, topic: Name, mut reader: Reader, max: usize, prefetch: bool) {
        let positions = reader.positions();
        // A page that is not full now may be full by the time the client asks for it.
        let is_worth_it = prefetch && reader.lag() >= max as u64;
        let permit =
            if is_worth_it { self.prefetches.clone().try_acquire_owned().ok() } else { None };
        let state = match permit {
            Some(permit) => {
                let began = positions.clone();
                State::Prefetching(tokio::task::spawn_blocking(move || {
                    let page = read_page(&mut reader, &began, None, max);
                    drop(permit);
                    page.map(|page| (reader, page))
                }))
            }
            None => State::Idle(reader),
        };
        let idle = IdleReader { topic, positions, max, since: Instant::now(), state };
        let mut readers = self.readers();
        readers.push_back(idle);
        let oldest = if readers.len() > READERS_MAX { readers.pop_front() } else { None };
        drop(readers);
        // Dropping a reader may close files, so it happens outside the lock.
        drop(oldest);
    }

    /// Drops readers that have been idle for [`IDLE_MAX`].
    pub(crate) fn remove_idle(&self, now: Instant) {
        let mut readers = self.readers();
        let is_old = |idle: &IdleReader| now.saturating_duration_since(idle.since) >= IDLE_MAX;
        let old = readers.iter().take_while(|idle| is_old(idle)).count();
        let old: Vec<_> = readers.drain(..old).collect();
        drop(readers);
        drop(old);
    }

    fn readers(&self) -> MutexGuard<'_, VecDeque<IdleReader>> {
        // No section behind this lock leaves the list inconsistent when it panics.
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_queue::{Publish, Queue, QueueOptions, TopicOptions};
    use std::sync::mpsc;

    #[test]
    fn no_more_pages_are_prefetched_than_the_limit_however_slow_the_disk_is() {
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
            // The only blocking thread hangs.
            let (go_on, hangs) = mpsc::channel::<()>();
            let hanging = tokio::task::spawn_blocking(move || hangs.recv());
            let idle_readers = IdleReaders::default();
            let keep = |at: u64| {
                let reader = queue.reader_at("t", &[at]).unwrap();
                idle_readers.keep(topic.clone(), reader, 1, true);
            };
            let is_prefetched = |nth: usize| {
                let readers = idle_readers.readers();
                matches!(readers.get(nth).unwrap().state, State::Prefetching(_))
            };
            for at in 1..=READERS_MAX as u64 * 3 {
                keep(at);
            }
            assert!((0..READERS_MAX).all(|nth| !is_prefetched(nth)));
            // Readers without a prefetched page are resumed as they are.
            let last = READERS_MAX as u64 * 3;
            let resumed = idle_readers.resume(&topic, &[last], 1).await;
            assert!(matches!(resumed, Resumed::Reader(_)));
            go_on.send(()).unwrap();
            hanging.await.unwrap().unwrap();
            // A single thread reads the pages in turn: when a later task is done, all earlier ones
            // are.
            tokio::task::spawn_blocking(|| ()).await.unwrap();
            keep(last);
            let resumed = idle_readers.resume(&topic, &[last], 1).await;
            assert!(matches!(resumed, Resumed::Page(_, page) if page.messages.len() == 1));
        });
    }
}
