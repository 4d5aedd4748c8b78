//! The references that transfers of rules version 2 are known by: those of deposits for 30 days,
//! those of withdrawals account by account.

use crate::holders::Holders;
use crate::limits::Limits;
use crate::table::{Hasher, Table};
use crate::transfers::Remembered;
use rialto_model::{AccountId, Reference, Seq, Timestamp, Transfer};
use std::collections::BTreeMap;

/// How long after its time a deposit is accepted and its reference is remembered.
pub const DEPOSIT_KNOWN_NS: u64 = 30 * Timestamp::DAY;
/// How many references that have become too old one deposit forgets: more than it adds.
const FORGOTTEN_AT_ONCE: usize = 2;

/// Whether a deposit made at `time` is older than references are kept.
pub(crate) fn is_too_old(time: Timestamp, now: Timestamp) -> bool {
    time.saturating_add(DEPOSIT_KNOWN_NS) < now
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownDeposit {
    pub(crate) transfer: Transfer,
    pub(crate) time: Timestamp,
    /// The command that entered it.
    pub(crate) seq: Seq,
}

pub(crate) struct Deposits {
    known: BTreeMap<(AccountId, Reference), (Timestamp, Seq)>,
    /// The oldest first; the sequence decides between equal times.
    by_age: BTreeMap<(Timestamp, Seq), Transfer>,
    max: usize,
}

impl Deposits {
    pub(crate) fn new(max: u32) -> Deposits {
        Deposits { known: BTreeMap::new(), by_age: BTreeMap::new(), max: max.max(1) as usize }
    }

    /// The deposit of this account under this reference, unless it has become too old.
    pub(crate) fn find(
        &self,
        account: AccountId,
        reference: &Reference,
        now: Timestamp,
    ) -> Option<&Transfer> {
        let age = self.known.get(&(account, *reference))?;
        self.by_age.get(age).filter(|_| !is_too_old(age.0, now))
    }

    /// Whether another reference has room.
    pub(crate) fn has_room(&self, now: Timestamp) -> bool {
        let oldest = self.by_age.first_key_value();
        self.by_age.len() < self.max || oldest.is_some_and(|(age, _)| is_too_old(age.0, now))
    }

    /// Remembers a new deposit, and forgets some that have become too old.
    pub(crate) fn remember(&mut self, deposit: KnownDeposit, now: Timestamp) {
        for _ in 0..FORGOTTEN_AT_ONCE {
            match self.by_age.first_entry() {
                Some(oldest) if is_too_old(oldest.key().0, now) => {
                    let transfer = oldest.remove();
                    self.known.remove(&(transfer.account, transfer.reference));
                }
                _ => break,
            }
        }
        self.insert(deposit);
    }

    fn insert(&mut self, deposit: KnownDeposit) {
        let KnownDeposit { transfer, time, seq } = deposit;
        let before = self.known.insert((transfer.account, transfer.reference), (time, seq));
        // An entry of the same reference that was too old but not forgotten yet.
        before.map(|age| self.by_age.remove(&age));
        self.by_age.insert((time, seq), transfer);
    }

    /// Puts back a deposit from a snapshot; says whether it is the only one of its name and age.
    pub(crate) fn restore(&mut self, deposit: KnownDeposit) -> bool {
        let KnownDeposit { transfer, time, seq } = deposit;
        let known = self.known.contains_key(&(transfer.account, transfer.reference));
        let fine = !known && !self.by_age.contains_key(&(time, seq)) && self.known.len() < self.max;
        if fine {
            self.insert(deposit);
        }
        fine
    }

    /// All that have not been forgotten, the oldest first.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = KnownDeposit> {
        self.by_age.iter().map(|(&(time, seq), &transfer)| KnownDeposit { transfer, time, seq })
    }
}

/// No entry.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Entry {
    ended: Remembered,
    /// The command that ended it.
    seq: Seq,
    /// The next younger entry of the account; also links the free entries.
    next: u32,
}

/// The references of withdrawals that have ended, in order for each account.
pub(crate) struct EndedWithdrawals {
    entries: Vec<Entry>,
    free: u32,
    /// The oldest and the newest entry of each account, by its slot.
    lists: Vec<(u32, u32)>,
    holders: Holders,
    table: Table,
    hasher: Hasher,
    /// The most that one account and that all accounts are remembered with.
    account_max: u32,
    max: u32,
}

impl EndedWithdrawals {
    pub(crate) fn new(hasher: Hasher, limits: &Limits) -> EndedWithdrawals {
        EndedWithdrawals {
            entries: Vec::new(),
            free: NONE,
            lists: Vec::new(),
            holders: Holders::new(),
            table: Table::new(),
            hasher,
            account_max: limits.account_transfers_max.max(1),
            max: limits.transfers_max.max(1),
        }
    }

    pub(crate) fn add_account(&mut self) {
        self.lists.push((NONE, NONE));
        self.holders.add_account();
    }

    /// The withdrawal of this account that has ended under this reference.
    pub(crate) fn find(&self, account: AccountId, reference: &Reference) -> Option<&Remembered> {
        let at = self.table.find(self.hasher.text(account, reference), |at| {
            let known = &self.entries[at as usize].ended.transfer;
            known.account == account && known.reference == *reference
        })?;
        Some(&self.entries[at as usize].ended)
    }

    /// Remembers a new withdrawal. Where the account has too many, it loses its oldest; where all
    /// have too many, the account that has most does.
    pub(crate) fn remember(&mut self, account: u32, seq: Seq, ended: Remembered) {
        self.insert(account, seq, ended);
        if self.holders.count(account) > self.account_max {
            self.forget_oldest(account);
        }
        if self.holders.total() > u64::from(self.max)
            && let Some(most) = self.holders.most()
        {
            self.forget_oldest(most);
        }
    }

    fn insert(&mut self, account: u32, seq: Seq, ended: Remembered) {
        let entry = Entry { ended, seq, next: NONE };
        let at = match self.free {
            NONE => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
            free => {
                let vacant = std::mem::replace(&mut self.entries[free as usize], entry);
                self.free = vacant.next;
                free
            }
        };
        let list = &mut self.lists[account as usize];
        match std::mem::replace(&mut list.1, at) {
            NONE => list.0 = at,
            newest => self.entries[newest as usize].next = at,
        }
        self.table.insert(self.tag(at), at);
        self.holders.add(account);
    }

    fn forget_oldest(&mut self, account: u32) {
        let list = &mut self.lists[account as usize];
        let at = list.0;
        let next = self.entries[at as usize].next;
        list.0 = next;
        if next == NONE {
            list.1 = NONE;
        }
        self.table.remove(self.tag(at), at);
        self.entries[at as usize].next = std::mem::replace(&mut self.free, at);
        self.holders.take(account);
    }

    fn tag(&self, at: u32) -> u32 {
        let transfer = &self.entries[at as usize].ended.transfer;
        self.hasher.text(transfer.account, &transfer.reference)
    }

    /// Puts back a withdrawal from a snapshot; says whether it is the only one of its name, the
    /// youngest of its account, and there is room for it.
    pub(crate) fn restore(&mut self, account: u32, seq: Seq, ended: Remembered) -> bool {
        let known = self.find(ended.transfer.account, &ended.transfer.reference).is_some();
        let newest = self.lists[account as usize].1;
        let fine = !known
            && (newest == NONE || self.entries[newest as usize].seq < seq)
            && self.holders.count(account) < self.account_max
            && self.holders.total() < u64::from(self.max);
        if fine {
            self.insert(account, seq, ended);
        }
        fine
    }

    pub(crate) fn len(&self) -> usize {
        self.holders.total() as usize
    }

    /// All that are remembered, by account and in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Seq, &Remembered)> {
        let known = |at: u32| (at != NONE).then(|| &self.entries[at as usize]);
        let lists = self.lists.iter();
        lists
            .flat_map(move |list| std::iter::successors(known(list.0), move |it| known(it.next)))
            .map(|entry| (entry.seq, &entry.ended))
    }
}
