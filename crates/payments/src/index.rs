//! The index of withdrawals, which answers queries and wakes waiting callers.
//!
//! The flows update it. It is rebuilt from the store of the flows at every start, so that nothing
//! in it can be lost.

use crate::tally::Tally;
use crate::withdrawal::{Withdrawal, WithdrawalId};
use rialto_flow::store::RunNumber;
use rialto_model::AccountId;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

pub(crate) struct WithdrawalIndex {
    shelf: Mutex<EndedWithdrawals>,
    /// The number of ended withdrawals that are shown.
    ended_max: usize,
}

#[derive(Default)]
struct EndedWithdrawals {
    /// By the number of the flow, which is the order of the requests.
    withdrawals: BTreeMap<RunNumber, Entry>,
    numbers: HashMap<WithdrawalId, RunNumber>,
    /// The same, open ones first.
    of_all: BTreeSet<(bool, RunNumber)>,
    of_accounts: BTreeSet<(AccountId, bool, RunNumber)>,
    /// Ended withdrawals, in the order of their ends.
    ended: VecDeque<RunNumber>,
    /// Unfinished withdrawals that their flows have not updated since the start.
    recalled: BTreeSet<RunNumber>,
    /// The number of shown withdrawals, by state.
    shown: Tally,
    /// The number that ended since the start, by state.
    ended_now: Tally,
}

struct Entry {
    withdrawal: Withdrawal,
    /// For waiting callers; `None` when it has ended.
    watched: Option<watch::Sender<Withdrawal>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WithdrawalFilter {
    /// The account; `None` for all accounts.
    pub(crate) account: Option<AccountId>,
    /// Ended withdrawals, newest first; otherwise open ones, oldest first.
    pub(crate) ended: bool,
    /// Only withdrawals after this one.
    pub(crate) after: Option<WithdrawalId>,
    /// The most withdrawals.
    pub(crate) limit: usize,
}

impl WithdrawalIndex {
    pub(crate) fn new(ended_max: usize) -> WithdrawalIndex {
        WithdrawalIndex { shelf: Mutex::default(), ended_max }
    }

    fn shelf(&self) -> MutexGuard<'_, EndedWithdrawals> {
        // Nothing panics while it holds this lock, so what a poisoned one holds is whole.
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows a withdrawal as it is now.
    pub(crate) fn put(&self, number: RunNumber, withdrawal: &Withdrawal) {
        let mut shelf = self.shelf();
        shelf.recalled.remove(&number);
        shelf.put(number, withdrawal, self.ended_max);
    }

    /// Shows a withdrawal of an earlier process; if it is unfinished, its flow will update it.
    pub(crate) fn recall(&self, number: RunNumber, withdrawal: &Withdrawal) {
        let mut shelf = self.shelf();
        if !withdrawal.state.is_ended() {
            shelf.recalled.insert(number);
        }
        let ended_now = shelf.ended_now;
        shelf.put(number, withdrawal, self.ended_max);
        shelf.ended_now = ended_now;
    }

    /// The number of withdrawals of an earlier process that wait for their flows.
    pub(crate) fn waiting(&self) -> usize {
        self.shelf().recalled.len()
    }

    /// Shows a withdrawal, unless its flow has shown it already.
    pub(crate) fn begin(&self, number: RunNumber, withdrawal: &Withdrawal) {
        let mut shelf = self.shelf();
        if !shelf.withdrawals.contains_key(&number) {
            shelf.put(number, withdrawal, self.ended_max);
        }
    }

    pub(crate) fn get(&self, id: &WithdrawalId) -> Option<Withdrawal> {
        let shelf = self.shelf();
        let number = shelf.numbers.get(id)?;
        Some(shelf.withdrawals.get(number)?.withdrawal.clone())
    }

    pub(crate) fn watch(&self, id: &WithdrawalId) -> Option<watch::Receiver<Withdrawal>> {
        let shelf = self.shelf();
        let entry = shelf.withdrawals.get(shelf.numbers.get(id)?)?;
        Some(match &entry.watched {
            Some(watched) => watched.subscribe(),
            None => watch::channel(entry.withdrawal.clone()).1,
        })
    }

    /// A page of withdrawals, and whether more follow.
    pub(crate) fn list(&self, wanted: &WithdrawalFilter) -> (Vec<Withdrawal>, bool) {
        let shelf = self.shelf();
        let mut page: Vec<Withdrawal> =
            shelf.wanted(wanted).take(wanted.limit + 1).cloned().collect();
        let more = page.len() > wanted.limit;
        page.truncate(wanted.limit);
        (page, more)
    }

    /// The number of shown withdrawals, by state.
    pub(crate) fn shown(&self) -> Tally {
        self.shelf().shown
    }

    /// The number that ended since the start, by state.
    pub(crate) fn ended_now(&self) -> Tally {
        self.shelf().ended_now
    }
}

impl EndedWithdrawals {
    fn put(&mut self, number: RunNumber, withdrawal: &Withdrawal, ended_max: usize) {
        let id = withdrawal.id();
        if let Some(older) = self.numbers.insert(id, number).filter(|older| *older != number) {
            // The store has forgotten it, or the reference could not have been used again.
            self.forget(older);
            self.numbers.insert(id, number);
        }
        let is_ended = withdrawal.state.is_ended();
        self.of_all.remove(&(false, number));
        self.of_accounts.remove(&(id.account, false, number));
        self.of_all.insert((is_ended, number));
        self.of_accounts.insert((id.account, is_ended, number));
        if let Some(before) = self.withdrawals.get(&number) {
            self.shown.take(before.withdrawal.state);
        }
        self.shown.add(withdrawal.state);
        let entry = self.withdrawals.entry(number).or_insert_with(|| Entry {
            withdrawal: withdrawal.clone(),
            watched: Some(watch::channel(withdrawal.clone()).0),
        });
        entry.withdrawal.clone_from(withdrawal);
        if let Some(watched) = &entry.watched {
            watched.send_replace(withdrawal.clone());
        }
        if is_ended && entry.watched.take().is_some() {
            self.ended.push_back(number);
            self.ended_now.add(withdrawal.state);
        }
        while self.ended.len() > ended_max
            && let Some(oldest) = self.ended.pop_front()
        {
            self.forget(oldest);
        }
    }

    fn forget(&mut self, number: RunNumber) {
        let Some(entry) = self.withdrawals.remove(&number) else { return };
        self.shown.take(entry.withdrawal.state);
        let id = entry.withdrawal.id();
        for is_ended in [false, true] {
            self.of_all.remove(&(is_ended, number));
            self.of_accounts.remove(&(id.account, is_ended, number));
        }
        if self.numbers.get(&id) == Some(&number) {
            self.numbers.remove(&id);
        }
    }

    fn wanted<'a>(
        &'a self,
        wanted: &WithdrawalFilter,
    ) -> Box<dyn Iterator<Item = &'a Withdrawal> + 'a> {
        let after = wanted.after.and_then(|after| self.numbers.get(&after).copied());
        let ended = wanted.ended;
        // Ascending when open, descending when ended: a page begins behind `after`.
        let (low, high) = match after {
            None => (Bound::Included(FIRST), Bound::Included(LAST)),
            Some(after) if ended => (Bound::Included(FIRST), Bound::Excluded(after)),
            Some(after) => (Bound::Excluded(after), Bound::Included(LAST)),
        };
        let show = |number: RunNumber| Some(&self.withdrawals.get(&number)?.withdrawal);
        if let Some(account) = wanted.account {
            let key = |number| (account, ended, number);
            let of_account = self.of_accounts.range((low.map(key), high.map(key)));
            in_order(of_account.map(|(.., number)| *number), ended, show)
        } else {
            let key = |number| (ended, number);
            let of_all = self.of_all.range((low.map(key), high.map(key)));
            in_order(of_all.map(|(_, number)| *number), ended, show)
        }
    }
}

const FIRST: RunNumber = RunNumber(0);
const LAST: RunNumber = RunNumber(u64::MAX);

fn in_order<'a>(
    numbers: impl DoubleEndedIterator<Item = RunNumber> + 'a,
    is_reversed: bool,
    show: impl Fn(RunNumber) -> Option<&'a Withdrawal> + 'a,
) -> Box<dyn Iterator<Item = &'a Withdrawal> + 'a> {
    if is_reversed {
        Box::new(numbers.rev().filter_map(show))
    } else {
        Box::new(numbers.filter_map(show))
    }
}
