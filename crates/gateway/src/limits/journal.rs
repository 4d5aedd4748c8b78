//! The journal quotas of keys.

use super::{Bucket, Rate};
use rialto_model::{COMMAND_BYTES_MAX, Command, Timestamp, encode_command};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

const DAY: Duration = Duration::from_secs(86_400);

/// The journal bytes of each key, and the quota. A key is added with its first command, so that the
/// table is bounded by the number of keys.
pub(crate) struct JournalQuota {
    /// `None` without a quota.
    rate: Option<Rate>,
    began: Instant,
    keys: RwLock<HashMap<Box<str>, Arc<KeyUse>>>,
    refused: AtomicU64,
}

#[derive(Default)]
struct KeyUse {
    allowance: Bucket,
    bytes: AtomicU64,
}

impl JournalQuota {
    /// This many bytes per day for each key; 0 for no quota. A key may use all of it at once, and
    /// regains it evenly over a day.
    pub(crate) fn new(bytes_per_day: u64) -> JournalQuota {
        let rate = (bytes_per_day > 0).then(|| Rate::over(DAY, bytes_per_day));
        let (keys, refused) = (RwLock::default(), AtomicU64::new(0));
        JournalQuota { rate, began: Instant::now(), keys, refused }
    }

    /// Counts a command of a key; refuses orders and amendments beyond the quota.
    pub(crate) fn admits(&self, key: &str, command: &Command) -> bool {
        self.admits_at(key, command, self.began.elapsed())
    }

    fn admits_at(&self, key: &str, command: &Command, now: Duration) -> bool {
        let bytes = journal_bytes(command);
        let key = self.key(key);
        let enters = matches!(command, Command::Place(_) | Command::Amend(_));
        if let (Some(rate), true) = (self.rate, enters)
            && key.allowance.take_many(rate, bytes, now).is_none()
        {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        key.bytes.fetch_add(bytes, Ordering::Relaxed);
        true
    }

    /// The number of refused commands.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// The bytes of all keys since the start.
    pub(crate) fn bytes(&self) -> u64 {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.values().map(|key| key.bytes.load(Ordering::Relaxed)).sum()
    }

    /// The keys with the most bytes, at most `max`.
    pub(crate) fn heaviest(&self, max: usize) -> Vec<(Box<str>, u64)> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        let mut used: Vec<_> =
            keys.iter().map(|(id, key)| (id.clone(), key.bytes.load(Ordering::Relaxed))).collect();
        drop(keys);
        used.sort_by(|(one, less), (other, more)| more.cmp(less).then_with(|| one.cmp(other)));
        used.truncate(max);
        used
    }

    fn key(&self, id: &str) -> Arc<KeyUse> {
        let known = self.keys.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        known.unwrap_or_else(|| {
            let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(keys.entry(id.into()).or_default())
        })
    }
}

/// The length of a command's record in the journal. The padding of groups counts for no key.
fn journal_bytes(command: &Command) -> u64 {
    encode_command(Timestamp(0), command, &mut [0; COMMAND_BYTES_MAX]) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_model::{AccountId, InstrumentId, MassCancel, NewOrder, Price, Quantity, Side};

    fn place() -> Command {
        let (account, instrument) = (AccountId(1), InstrumentId(1));
        Command::Place(NewOrder::limit(account, instrument, Side::Buy, Quantity(1), Price(1)))
    }

    fn cancel() -> Command {
        let account = AccountId(1);
        Command::MassCancel(MassCancel { account, instrument: None, side: None })
    }

    #[test]
    fn a_key_has_its_quota_and_gets_it_back_over_a_day_while_cancels_pass() {
        let bytes = journal_bytes(&place());
        let quota = JournalQuota::new(3 * bytes);
        let at =
            |key, hours: u64| quota.admits_at(key, &place(), Duration::from_secs(hours * 3_600));
        assert_eq!([at("a", 0), at("a", 0), at("a", 0), at("a", 0)], [true, true, true, false]);
        assert!(at("b", 0), "another key has its own");
        assert!(quota.admits_at("a", &cancel(), Duration::ZERO));
        assert_eq!([at("a", 7), at("a", 9), at("a", 9)], [false, true, false]);
        assert_eq!(quota.refused(), 3);
        let all_of_a = 4 * bytes + journal_bytes(&cancel());
        assert_eq!(quota.heaviest(1), [("a".into(), all_of_a)]);
        assert_eq!(quota.bytes(), all_of_a + bytes);
    }

    #[test]
    fn without_a_quota_everything_is_counted_and_nothing_refused() {
        let quota = JournalQuota::new(0);
        assert!((0..1_000).all(|_| quota.admits_at("a", &place(), Duration::ZERO)));
        assert_eq!(quota.bytes(), 1_000 * journal_bytes(&place()));
    }
}
