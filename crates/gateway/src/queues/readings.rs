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
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// Most readers that rest. Each may hold a few megabytes.
const READINGS_MAX: usize = 16;
/// A reader that nobody went on with for this long is let go.
const REST_MAX: Duration = Duration::from_secs(2);

/// A page that may be there already, with the reader that stands behind it.
type Ahead = JoinHandle<Result<(Reader, ReadPage), QueueError>>;

/// Readers that rest, from the one that has rested longest.
#[derive(Default)]
pub(super) struct Readings {
    resting: Mutex<VecDeque<Resting>>,
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

    /// Keeps a reader for whoever goes on where it is, and has it read ahead.
    pub(super) fn rest(&self, topic: Name, mut reader: Reader, max: usize, reads_ahead: bool) {
        let at = reader.positions();
        // A page that is not full could be fuller by the time at which it is asked for.
        let next = if reads_ahead && reader.lag() >= max as u64 {
            let began = at.clone();
            Next::Ahead(tokio::task::spawn_blocking(move || {
                let page = read_page(&mut reader, &began, None, max)?;
                Ok((reader, page))
            }))
        } else {
            Next::Reader(reader)
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
