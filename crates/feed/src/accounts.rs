//! Members, accounts and balances.

use crate::ended::EndedOrders;
use crate::fills::FillList;
use crate::orders::OpenList;
use crate::view::{BalanceView, MemberView};
use rialto_model::{AccountId, Amount, CurrencyId, MemberId, Name, Seq, Timestamp};
use std::collections::BTreeMap;

/// The balance of an account in a currency.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Balance {
    pub(crate) available: Amount,
    pub(crate) reserved: Amount,
    /// The part of the reserved amount that covers withdrawals.
    pub(crate) withdrawing: Amount,
    pub(crate) updated: Seq,
    /// Whether it stands in the list of changed balances.
    changed: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub(crate) account: AccountId,
    pub(crate) member: MemberId,
    pub(crate) name: Name,
    /// By currency, for currencies that were ever used.
    pub(crate) balances: Vec<Balance>,
    pub(crate) open: OpenList,
    pub(crate) ended: EndedOrders,
    pub(crate) fills: FillList,
    pub(crate) dead_man: Timestamp,
    /// The sequence of the last ended order that was forgotten.
    pub(crate) forgotten_orders: Seq,
    pub(crate) forgotten_fills: Seq,
}

impl Account {
    fn new(account: AccountId, member: MemberId, name: Name) -> Account {
        Account {
            account,
            member,
            name,
            balances: Vec::new(),
            open: OpenList::EMPTY,
            ended: EndedOrders::default(),
            fills: FillList::EMPTY,
            dead_man: Timestamp::MAX,
            forgotten_orders: Seq::ZERO,
            forgotten_fills: Seq::ZERO,
        }
    }

    pub(crate) fn balance(&self, currency: CurrencyId) -> BalanceView {
        let index = usize::from(currency.0).wrapping_sub(1);
        let balance = self.balances.get(index).copied().unwrap_or_default();
        BalanceView {
            account: self.account,
            currency,
            available: balance.available,
            reserved: balance.reserved,
            withdrawing: balance.withdrawing,
            updated: balance.updated,
        }
    }

    /// Its balances of all currencies that it ever used, by currency.
    pub(crate) fn balances(&self) -> impl Iterator<Item = BalanceView> {
        (1..=self.balances.len()).map(|number| self.balance(CurrencyId(number as u16)))
    }
}

/// Slot of the account that collects fees.
pub(crate) const FEES: u32 = 0;
/// Slot of the transit account, which represents the outside world.
pub(crate) const TRANSIT: u32 = 1;
const HOUSE: [AccountId; 4] =
    [AccountId::FEES, AccountId::TRANSIT, AccountId::INSURANCE, AccountId::CLEARING];
const VACANT: u32 = u32::MAX;

/// All accounts: the house's in the first slots, then members' in order of opening.
#[derive(Debug)]
pub(crate) struct Accounts {
    pub(crate) slots: Vec<Account>,
    /// Slot of each member's account, by id.
    index: Vec<u32>,
    pub(crate) members: BTreeMap<MemberId, MemberView>,
    owned: BTreeMap<(MemberId, AccountId), ()>,
    /// Balances that changed since the last end of a command: slot and currency.
    changed: Vec<(u32, CurrencyId)>,
}

impl Default for Accounts {
    fn default() -> Self {
        Accounts {
            slots: HOUSE.map(|id| Account::new(id, MemberId(0), Name::EMPTY)).to_vec(),
            index: Vec::new(),
            members: BTreeMap::new(),
            owned: BTreeMap::new(),
            changed: Vec::new(),
        }
    }
}

impl Accounts {
    /// The slot of an account, including house accounts.
    #[inline]
    pub(crate) fn slot(&self, account: AccountId) -> Option<u32> {
        match self.index.get(account.0 as usize) {
            Some(slot) => (*slot != VACANT).then_some(*slot),
            None => account.is_house().then(|| u32::MAX - account.0),
        }
    }

    pub(crate) fn get(&self, account: AccountId) -> Option<&Account> {
        self.slot(account).map(|slot| &self.slots[slot as usize])
    }

    pub(crate) fn of_member(&self, member: MemberId) -> impl Iterator<Item = &Account> {
        self.owned
            .range((member, AccountId(0))..=(member, AccountId(u32::MAX)))
            .filter_map(|((_, account), ())| self.get(*account))
    }

    /// Opens an account; `false` if the id is taken or cannot be a member's.
    pub(crate) fn open(&mut self, account: AccountId, member: MemberId, name: Name) -> bool {
        if account > AccountId::MAX || self.slot(account).is_some() {
            return false;
        }
        let index = account.0 as usize;
        if index >= self.index.len() {
            self.index.resize(index + 1, VACANT);
        }
        self.index[index] = self.slots.len() as u32;
        self.slots.push(Account::new(account, member, name));
        self.owned.insert((member, account), ());
        true
    }

    /// Changes a balance by these amounts.
    #[inline]
    pub(crate) fn post(
        &mut self,
        slot: u32,
        currency: CurrencyId,
        available: i128,
        reserved: i128,
        seq: Seq,
    ) {
        let balances = &mut self.slots[slot as usize].balances;
        let index = usize::from(currency.0) - 1;
        if index >= balances.len() {
            balances.resize(index + 1, Balance::default());
        }
        let balance = &mut balances[index];
        balance.available.0 += available;
        balance.reserved.0 += reserved;
        balance.updated = seq;
        if !balance.changed {
            balance.changed = true;
            self.changed.push((slot, currency));
        }
    }

    /// Adds to the part of the reserved amount that covers withdrawals.
    pub(crate) fn bind(&mut self, slot: u32, currency: CurrencyId, amount: i128) {
        let balances = &mut self.slots[slot as usize].balances;
        let index = usize::from(currency.0) - 1;
        if index >= balances.len() {
            balances.resize(index + 1, Balance::default());
        }
        balances[index].withdrawing.0 += amount;
    }

    /// Passes on each changed balance once, and clears the list.
    pub(crate) fn drain_changed(&mut self, mut tell: impl FnMut(&BalanceView)) {
        for (slot, currency) in self.changed.drain(..) {
            let account = &mut self.slots[slot as usize];
            account.balances[usize::from(currency.0) - 1].changed = false;
            tell(&account.balance(currency));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn house_accounts_are_there_from_the_start() {
        let accounts = Accounts::default();
        assert_eq!(accounts.slot(AccountId::FEES), Some(FEES));
        assert_eq!(accounts.slot(AccountId::TRANSIT), Some(TRANSIT));
        assert_eq!(accounts.slots[3].account, AccountId::CLEARING);
        assert_eq!(accounts.slot(AccountId(7)), None);
    }

    #[test]
    fn an_id_is_opened_once() {
        let mut accounts = Accounts::default();
        assert!(accounts.open(AccountId(7), MemberId(1), Name::EMPTY));
        assert!(!accounts.open(AccountId(7), MemberId(2), Name::EMPTY));
        assert!(!accounts.open(AccountId(1 << 20), MemberId(2), Name::EMPTY));
        assert_eq!(accounts.get(AccountId(7)).map(|account| account.member), Some(MemberId(1)));
    }
}
