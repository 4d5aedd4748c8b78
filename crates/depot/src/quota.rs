//! How much a tenant or a directory holds, and may hold.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most files and bytes of a tenant or a directory; 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quota {
    /// The most files.
    pub files_max: u64,
    /// The most bytes, as they were written by the client.
    pub bytes_max: u64,
}

/// A quota has no room for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{used} {what} of at most {limit} are in use")]
pub struct QuotaReached {
    /// `files` or `bytes`.
    pub what: &'static str,
    /// How much of it is in use.
    pub used: u64,
    /// How much may be.
    pub limit: u64,
}

/// What a tenant or a directory holds, files being written included.
#[derive(Debug, Default)]
pub struct Usage {
    files: AtomicU64,
    bytes: AtomicU64,
    files_max: AtomicU64,
    bytes_max: AtomicU64,
}

/// Adds, unless the sum would pass the limit. Returns the value before in that case.
#[inline]
fn add(value: &AtomicU64, limit: &AtomicU64, more: u64) -> Result<(), (u64, u64)> {
    let limit = limit.load(Ordering::Relaxed);
    if limit == 0 {
        value.fetch_add(more, Ordering::Relaxed);
        return Ok(());
    }
    let fits = |used: u64| used.checked_add(more).filter(|sum| *sum <= limit);
    match value.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits) {
        Ok(_) => Ok(()),
        Err(used) => Err((used, limit)),
    }
}

impl Usage {
    /// Nothing is in use.
    #[must_use]
    pub fn new(quota: Quota) -> Self {
        let usage = Self::default();
        usage.set_quota(quota);
        usage
    }

    pub(crate) fn set_quota(&self, quota: Quota) {
        self.files_max.store(quota.files_max, Ordering::Relaxed);
        self.bytes_max.store(quota.bytes_max, Ordering::Relaxed);
    }

    pub(crate) fn quota(&self) -> Quota {
        Quota {
            files_max: self.files_max.load(Ordering::Relaxed),
            bytes_max: self.bytes_max.load(Ordering::Relaxed),
        }
    }

    /// The files and bytes in use.
    #[inline]
    #[must_use]
    pub fn used(&self) -> (u64, u64) {
        (self.files.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    /// Whether there is room for a file of this length now.
    #[inline]
    #[must_use]
    pub fn has_room(&self, bytes: u64) -> bool {
        let has_room = |used: u64, limit: &AtomicU64, more: u64| {
            let limit = limit.load(Ordering::Relaxed);
            limit == 0 || used.checked_add(more).is_some_and(|sum| sum <= limit)
        };
        let (files, held) = self.used();
        has_room(files, &self.files_max, 1) && has_room(held, &self.bytes_max, bytes)
    }

    /// Takes room for files and bytes, or for neither.
    ///
    /// # Errors
    /// The limit that is reached.
    #[inline]
    pub fn take(&self, files: u64, bytes: u64) -> Result<(), QuotaReached> {
        add(&self.files, &self.files_max, files).map_err(|(used, limit)| QuotaReached {
            what: "files",
            used,
            limit,
        })?;
        add(&self.bytes, &self.bytes_max, bytes).map_err(|(used, limit)| {
            self.files.fetch_sub(files, Ordering::Relaxed);
            QuotaReached { what: "bytes", used, limit }
        })
    }

    /// Takes room whatever the quota is, for what exists already.
    pub(crate) fn count(&self, files: u64, bytes: u64) {
        self.files.fetch_add(files, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A directory whose quota was set while a file was being written has not counted it.
    #[inline]
    pub fn give_back(&self, files: u64, bytes: u64) {
        let less = |value: &AtomicU64, by: u64| {
            let less = |held: u64| Some(held.saturating_sub(by));
            // The closure never declines.
            let _ = value.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        };
        less(&self.files, files);
        less(&self.bytes, bytes);
    }
}

/// Room that a file takes in its tenant and in the directories with a quota. Dropping it gives the
/// room back, unless the file has come to exist.
pub(crate) struct Reservation {
    /// The tenant first.
    usages: Vec<Arc<Usage>>,
    files: u64,
    bytes: u64,
    is_kept: bool,
}

impl Reservation {
    /// Room for one file of no bytes. The error names the usage without room by its place.
    pub(crate) fn take(usages: Vec<Arc<Usage>>) -> Result<Self, (usize, QuotaReached)> {
        let mut reservation = Self { usages: Vec::new(), files: 1, bytes: 0, is_kept: false };
        for (nth, usage) in usages.into_iter().enumerate() {
            usage.take(1, 0).map_err(|reached| (nth, reached))?;
            reservation.usages.push(usage);
        }
        Ok(reservation)
    }

    /// Takes room for more bytes in all usages, or in none.
    pub(crate) fn grow(&mut self, bytes: u64) -> Result<(), (usize, QuotaReached)> {
        for (nth, usage) in self.usages.iter().enumerate() {
            if let Err(reached) = usage.take(0, bytes) {
                self.usages[..nth].iter().for_each(|usage| usage.give_back(0, bytes));
                return Err((nth, reached));
            }
        }
        self.bytes += bytes;
        Ok(())
    }

    /// Keeps the room for exactly these bytes: the file exists. Returns the usages that count it.
    pub(crate) fn keep(mut self, bytes: u64) -> Vec<Arc<Usage>> {
        let spare = self.bytes.saturating_sub(bytes);
        self.usages.iter().for_each(|usage| usage.give_back(0, spare));
        self.is_kept = true;
        std::mem::take(&mut self.usages)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.is_kept {
            self.usages.iter().for_each(|usage| usage.give_back(self.files, self.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_taken_in_all_usages_or_in_none() {
        let tenant = Arc::new(Usage::new(Quota::default()));
        let directory = Arc::new(Usage::new(Quota { files_max: 1, bytes_max: 10 }));
        let usages = || vec![tenant.clone(), directory.clone()];
        let mut first = Reservation::take(usages()).unwrap();
        assert_eq!(Reservation::take(usages()).err().unwrap().0, 1);
        assert_eq!(tenant.used(), (1, 0));
        first.grow(10).unwrap();
        let (nth, reached) = first.grow(1).unwrap_err();
        assert_eq!((nth, reached), (1, QuotaReached { what: "bytes", used: 10, limit: 10 }));
        assert_eq!(tenant.used(), (1, 10));
        drop(first);
        assert_eq!((tenant.used(), directory.used()), ((0, 0), (0, 0)));
    }

    #[test]
    fn a_file_that_exists_keeps_its_bytes_and_no_more() {
        let usage = Arc::new(Usage::new(Quota { files_max: 2, bytes_max: 100 }));
        let mut reservation = Reservation::take(vec![usage.clone()]).unwrap();
        reservation.grow(64).unwrap();
        reservation.keep(5);
        assert_eq!(usage.used(), (1, 5));
    }

    #[test]
    fn a_sum_that_overflows_does_not_fit() {
        let usage = Usage::new(Quota { files_max: 0, bytes_max: u64::MAX });
        usage.take(1, u64::MAX).unwrap();
        assert!(usage.take(1, 1).is_err());
    }
}
