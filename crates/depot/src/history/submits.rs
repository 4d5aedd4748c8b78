//! The submit keys of files that are gone.

use super::record::Submitted;
use std::collections::{HashMap, VecDeque};

/// The most keys of a tenant that are remembered after their files are gone; the oldest are
/// forgotten first.
pub const SUBMIT_KEYS_MAX: usize = 16_384;

/// Remembers the newest keys.
#[derive(Debug, Default)]
pub(crate) struct SubmitKeys {
    by_key: HashMap<String, Submitted>,
    order: VecDeque<String>,
}

impl SubmitKeys {
    pub(crate) fn remember(&mut self, submitted: Submitted) {
        let key = submitted.key.clone();
        if self.by_key.insert(key.clone(), submitted).is_none() {
            self.order.push_back(key);
        }
        while self.order.len() > SUBMIT_KEYS_MAX {
            if let Some(oldest) = self.order.pop_front() {
                self.by_key.remove(&oldest);
            }
        }
    }

    pub(crate) fn find(&self, key: &str) -> Option<&Submitted> {
        self.by_key.get(key)
    }

    /// All of them, oldest first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Submitted> {
        self.order.iter().filter_map(|key| self.by_key.get(key))
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
}
