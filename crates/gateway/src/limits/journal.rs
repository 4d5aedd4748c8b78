//! The journal quotas of keys.

use crate::ApiError;
use rialto_desk::{TokenBucket, TokenRate, enters_order};
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
    rate: Option<TokenRate>,
    began: Instant,
    keys: RwLock<HashMap<Box<str>, Arc<KeyUse>>>,
    refused: AtomicU64,
}

#[derive(Default)]
struct KeyUse {
    allowance: TokenBucket,
    bytes: AtomicU64,
}

impl JournalQuota {
    /// This many bytes per day for each key; 0 for no quota. A key may use all of it at once, and
    /// regains it evenly over a day.
    pub(crate) fn new(bytes_per_day: u64) -> JournalQuota {
        let rate = (bytes_per_day > 0).then(|| TokenRate::over(DAY, bytes_per_day));
        let (keys, refused) = (RwLock::default(), AtomicU64::new(0));
        JournalQuota { rate, began: Instant::now(), keys, refused }
    }

    /// Takes the bytes of an order or amendment from a key's quota; false beyond it. [`settle`] follows
    /// when its answer is known.
    ///
    /// [`settle`]: JournalQuota::settle
    pub(crate) fn admits(&self, key: &str, command: &Command) -> bool {
        self.admits_at(key, command, self.began.elapsed())
    }

    fn admits_at(&self, key: &str, command: &Command, now: Duration) -> bool {
        let Some(rate) = self.rate_of(command) else { return true };
        let taken = self.key(key).allowance.take_many(rate, journal_bytes(command), now);
        if taken.is_none() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        taken.is_some()
    }

    /// Counts the bytes of a command that was admitted. One that was not submitted wrote none, and
    /// gives back what it took from the quota.
    pub(crate) fn settle(&self, key: &str, command: &Command, error: Option<&ApiError>) {
        let (key, bytes) = (self.key(key), journal_bytes(command));
        if error.is_none_or(ApiError::may_be_submitted) {
            key.bytes.fetch_add(bytes, Ordering::Relaxed);
        } else if let Some(rate) = self.rate_of(command) {
            key.allowance.give_back(rate, bytes);
        }
    }

    /// The rate that bounds a command: there is none for cancels.
    fn rate_of(&self, command: &Command) -> Option<TokenRate> {
        self.rate.filter(|_| enters_order(command))
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
        let enter = |key, command: &Command, hours: u64| {
            let is_admitted = quota.admits_at(key, command, Duration::from_secs(hours * 3_600));
            if is_admitted {
                quota.settle(key, command, None);
            }
            is_admitted
        };
        let at = |key, hours| enter(key, &place(), hours);
        assert_eq!([at("a", 0), at("a", 0), at("a", 0), at("a", 0)], [true, true, true, false]);
        assert!(at("b", 0), "another key has its own");
        assert!(enter("a", &cancel(), 0));
        assert_eq!([at("a", 7), at("a", 9), at("a", 9)], [false, true, false]);
        assert_eq!(quota.refused(), 3);
        let all_of_a = 4 * bytes + journal_bytes(&cancel());
        assert_eq!(quota.heaviest(1), [("a".into(), all_of_a)]);
        assert_eq!(quota.bytes(), all_of_a + bytes);
    }

    #[test]
    fn what_was_not_submitted_uses_up_no_quota() {
        let quota = JournalQuota::new(journal_bytes(&place()));
        let refused = ApiError::order_rate();
        for _ in 0..100 {
            assert!(quota.admits_at("a", &place(), Duration::ZERO));
            quota.settle("a", &place(), Some(&refused));
        }
        assert_eq!(quota.bytes(), 0);
        assert!(quota.admits_at("a", &place(), Duration::ZERO));
        quota.settle("a", &place(), Some(&ApiError::outcome_unknown()));
        assert!(!quota.admits_at("a", &place(), Duration::ZERO));
        assert_eq!(quota.bytes(), journal_bytes(&place()));
    }

    #[test]
    fn without_a_quota_everything_is_counted_and_nothing_refused() {
        let quota = JournalQuota::new(0);
        for _ in 0..1_000 {
            assert!(quota.admits_at("a", &place(), Duration::ZERO));
            quota.settle("a", &place(), None);
        }
        assert_eq!(quota.bytes(), 1_000 * journal_bytes(&place()));
    }
}
