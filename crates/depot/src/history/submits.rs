//! The submit keys of files that are gone.

use super::record::Submitted;
use std::collections::{BTreeMap, HashMap};

/// The most keys of a tenant that are remembered after their files are gone; the oldest are
/// forgotten first.
pub const SUBMIT_KEYS_MAX: usize = 16_384;

/// Remembers the newest keys.
#[derive(Debug, Default)]
pub(crate) struct SubmitKeys {
    /// With the place of each in the order.
    by_key: HashMap<String, (u64, Submitted)>,
    order: BTreeMap<u64, String>,
    next: u64,
}

impl SubmitKeys {
    /// A known key becomes the newest one. A checkpoint repeats all keys in their order behind some
    /// that ended while it began, and reading it restores that order.
    pub(crate) fn remember(&mut self, submitted: Submitted) {
        let (key, place) = (submitted.key.clone(), self.next);
        self.next += 1;
        if let Some((before, _)) = self.by_key.insert(key.clone(), (place, submitted)) {
            self.order.remove(&before);
        }
        self.order.insert(place, key);
        while self.order.len() > SUBMIT_KEYS_MAX {
            if let Some((_, oldest)) = self.order.pop_first() {
                self.by_key.remove(&oldest);
            }
        }
    }

    pub(crate) fn find(&self, key: &str) -> Option<&Submitted> {
        self.by_key.get(key).map(|(_, submitted)| submitted)
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// All of them, oldest first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Submitted> {
        self.order.values().filter_map(|key| self.find(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileId;

    #[test]
    fn the_oldest_keys_are_forgotten_at_the_limit() {
        let mut keys = SubmitKeys::default();
        for number in 0..=SUBMIT_KEYS_MAX as u64 {
            let key = number.to_string();
            keys.remember(Submitted { key, id: FileId(number.into()), fingerprint: number });
        }
        assert_eq!(keys.all().count(), SUBMIT_KEYS_MAX);
        assert!(keys.find("0").is_none());
        assert_eq!(keys.find("1").unwrap().fingerprint, 1);
        assert_eq!(keys.all().next().unwrap().key, "1");
    }
    #[test]
    fn reading_the_newest_keys_before_all_of_them_restores_their_order() {
        let submitted = |number: u64| {
            let key = number.to_string();
            Submitted { key, id: FileId(number.into()), fingerprint: number }
        };
        let all = 0..SUBMIT_KEYS_MAX as u64;
        let mut read = SubmitKeys::default();
        // The ends since the checkpoint began, and then its images.
        (all.end - 100..all.end).chain(all.clone()).for_each(|it| read.remember(submitted(it)));
        assert!(read.all().map(|it| it.fingerprint).eq(all.clone()));
        read.remember(submitted(all.end));
        assert!(read.find("0").is_none(), "the oldest key is forgotten");
        assert!(read.find(&(all.end - 1).to_string()).is_some());
    }
}
