//! Counts of requests and connections.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What an S3 server did since it was started, for metrics.
#[derive(Debug, Default)]
pub struct S3Traffic {
    answered: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
    limited: AtomicU64,
    cut: AtomicU64,
    connections_refused: AtomicU64,
    in_progress: Mutex<InProgress>,
}

#[derive(Debug, Default)]
struct InProgress {
    connections: usize,
    by_address: HashMap<IpAddr, usize>,
    requests: usize,
    by_key: HashMap<String, usize>,
}

/// A request of a key in progress, until it is dropped.
pub(crate) struct RequestSlot {
    traffic: Arc<S3Traffic>,
    key: String,
}

/// An open connection, until it is dropped.
pub(crate) struct ConnectionSlot {
    traffic: Arc<S3Traffic>,
    address: IpAddr,
}

fn add<K: Eq + std::hash::Hash>(counts: &mut HashMap<K, usize>, key: K, max: usize) -> bool {
    let count = counts.entry(key).or_default();
    let has_room = *count < max;
    *count += usize::from(has_room);
    has_room
}

fn remove<K: Eq + std::hash::Hash>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

impl S3Traffic {
    fn in_progress(&self) -> MutexGuard<'_, InProgress> {
        // No section behind this lock leaves the counts inconsistent when it panics.
        self.in_progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin_request(self: &Arc<Self>, key: &str, max: usize) -> Option<RequestSlot> {
        let mut now = self.in_progress();
        if !add(&mut now.by_key, key.to_owned(), max) {
            return None;
        }
        now.requests += 1;
        Some(RequestSlot { traffic: Arc::clone(self), key: key.to_owned() })
    }

    pub(crate) fn begin_connection(
        self: &Arc<Self>,
        address: IpAddr,
        max: usize,
        address_max: usize,
    ) -> Option<ConnectionSlot> {
        let mut now = self.in_progress();
        if now.connections >= max || !add(&mut now.by_address, address, address_max) {
            self.connections_refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        now.connections += 1;
        Some(ConnectionSlot { traffic: Arc::clone(self), address })
    }

    pub(crate) fn count_answer(&self, status: u16) {
        let count = match status {
            503 => &self.limited,
            500.. => &self.failed,
            400.. => &self.refused,
            _ => &self.answered,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_cut(&self) {
        self.cut.fetch_add(1, Ordering::Relaxed);
    }

    /// Requests that were answered as asked.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// Requests that were refused as wrong or not permitted.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Requests that were refused for now: a limit was reached, or the depot was not available.
    #[must_use]
    pub fn limited(&self) -> u64 {
        self.limited.load(Ordering::Relaxed)
    }

    /// Requests that failed.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Downloads that ended early because the content could not be read.
    #[must_use]
    pub fn downloads_cut(&self) -> u64 {
        self.cut.load(Ordering::Relaxed)
    }

    /// Connections that were closed at once.
    #[must_use]
    pub fn connections_refused(&self) -> u64 {
        self.connections_refused.load(Ordering::Relaxed)
    }

    /// Open connections.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.in_progress().connections as u64
    }

    /// Authenticated requests in progress.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.in_progress().requests as u64
    }
}

impl Drop for RequestSlot {
    fn drop(&mut self) {
        let mut now = self.traffic.in_progress();
        now.requests -= 1;
        remove(&mut now.by_key, &self.key);
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut now = self.traffic.in_progress();
        now.connections -= 1;
        remove(&mut now.by_address, &self.address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_connections_are_bounded_for_each_and_in_all() {
        let traffic = Arc::new(S3Traffic::default());
        let (one, other) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
        let first = traffic.begin_connection(one, 2, 1).unwrap();
        assert!(traffic.begin_connection(one, 2, 1).is_none());
        let _second = traffic.begin_connection(other, 2, 1).unwrap();
        assert!(traffic.begin_connection(other, 2, 2).is_none());
        drop(first);
        assert!(traffic.begin_connection(one, 2, 1).is_some());
        assert_eq!((traffic.connections(), traffic.connections_refused()), (1, 2));

        let request = traffic.begin_request("a", 1).unwrap();
        assert!(traffic.begin_request("a", 1).is_none());
        assert!(traffic.begin_request("b", 1).is_some());
        drop(request);
        assert!(traffic.begin_request("a", 1).is_some());
        assert_eq!(traffic.requests(), 0);
    }
}
