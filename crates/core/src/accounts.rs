//! Members and their accounts.

use crate::limits::{Limits, MEMBER_ID_MAX};
use crate::orders::NIL;
use crate::restrictions::RestrictionPair;
use rialto_model::{AccountId, MemberId, Name, RejectReason};

/// Ids that are assigned from 1 or chosen by the caller; maps them to dense slots.
struct Ids {
    /// By id: the slot plus one, or zero.
    slots: Vec<u32>,
    count: u32,
    /// All ids below it are taken.
    free_from: u32,
    max: u32,
}

impl Ids {
    fn new(max: u32) -> Ids {
        Ids { slots: vec![0], count: 0, free_from: 1, max }
    }

    #[inline]
    fn slot(&self, id: u32) -> Option<u32> {
        match self.slots.get(id as usize) {
            Some(&slot) if slot != 0 => Some(slot - 1),
            _ => None,
        }
    }

    /// The id to assign for a request of `wanted`; zero requests the least free one.
    fn choose(&self, wanted: u32, count_max: u32) -> Result<u32, RejectReason> {
        if wanted > self.max {
            return Err(RejectReason::IdOutOfRange);
        }
        if self.slot(wanted).is_some() {
            return Err(RejectReason::AlreadyExists);
        }
        if self.count >= count_max.min(self.max) {
            return Err(RejectReason::VenueFull);
        }
        Ok(if wanted == 0 { self.free_from } else { wanted })
    }

    fn take(&mut self, id: u32) {
        if self.slots.len() <= id as usize {
            self.slots.resize(id as usize + 1, 0);
        }
        self.count += 1;
        self.slots[id as usize] = self.count;
        while self.slot(self.free_from).is_some() {
            self.free_from += 1;
        }
    }
}

/// A member of the venue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its id.
    pub id: MemberId,
    /// Its name.
    pub name: Name,
}

/// The fields of an account that the fast paths use.
#[derive(Clone, Copy)]
pub(crate) struct Account {
    pub(crate) id: AccountId,
    pub(crate) member: MemberId,
    /// The account's open orders by ascending id, linked through [`crate::orders::OpenOrders`].
    pub(crate) head: u32,
    pub(crate) tail: u32,
    pub(crate) open_orders: u32,
    /// The mass cancels in progress; zero is none. Under rules version 1 it is their number, later
    /// the index of the account's sweep plus one.
    pub(crate) under_way: u32,
    pub(crate) restrictions: RestrictionPair,
}

/// Members and accounts; neither is ever removed.
pub(crate) struct Accounts {
    member_ids: Ids,
    members: Vec<Member>,
    account_ids: Ids,
    accounts: Vec<Account>,
    names: Vec<Name>,
}

impl Accounts {
    pub(crate) fn new() -> Accounts {
        Accounts {
            member_ids: Ids::new(MEMBER_ID_MAX.0),
            members: Vec::new(),
            account_ids: Ids::new(AccountId::MAX.0),
            accounts: Vec::new(),
            names: Vec::new(),
        }
    }

    pub(crate) fn create_member(
        &mut self,
        limits: &Limits,
        wanted: MemberId,
        name: Name,
    ) -> Result<MemberId, RejectReason> {
        let id = self.member_ids.choose(wanted.0, limits.members_max)?;
        self.member_ids.take(id);
        self.members.push(Member { id: MemberId(id), name });
        Ok(MemberId(id))
    }

    pub(crate) fn has_member(&self, id: MemberId) -> bool {
        self.member_ids.slot(id.0).is_some()
    }

    pub(crate) fn create_account(
        &mut self,
        limits: &Limits,
        wanted: AccountId,
        member: MemberId,
        name: Name,
    ) -> Result<AccountId, RejectReason> {
        if !self.has_member(member) {
            return Err(RejectReason::UnknownMember);
        }
        let id = self.account_ids.choose(wanted.0, limits.accounts_max)?;
        self.account_ids.take(id);
        self.accounts.push(Account {
            id: AccountId(id),
            member,
            head: NIL,
            tail: NIL,
            open_orders: 0,
            under_way: 0,
            restrictions: RestrictionPair::default(),
        });
        self.names.push(name);
        Ok(AccountId(id))
    }

    #[inline]
    pub(crate) fn slot(&self, id: AccountId) -> Result<u32, RejectReason> {
        self.account_ids.slot(id.0).ok_or(RejectReason::UnknownAccount)
    }

    #[inline]
    pub(crate) fn get(&self, slot: u32) -> &Account {
        &self.accounts[slot as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut Account {
        &mut self.accounts[slot as usize]
    }

    pub(crate) fn name(&self, slot: u32) -> Name {
        self.names[slot as usize]
    }

    pub(crate) fn len(&self) -> u32 {
        self.accounts.len() as u32
    }

    pub(crate) fn members(&self) -> &[Member] {
        &self.members
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name() -> Name {
        "somebody".parse().unwrap()
    }

    fn member(accounts: &mut Accounts, id: u32) -> Result<MemberId, RejectReason> {
        accounts.create_member(&Limits::default(), MemberId(id), name())
    }

    #[test]
    fn zero_asks_for_the_least_free_id() {
        let mut accounts = Accounts::new();
        assert_eq!(member(&mut accounts, 2), Ok(MemberId(2)));
        assert_eq!(member(&mut accounts, 0), Ok(MemberId(1)));
        assert_eq!(member(&mut accounts, 0), Ok(MemberId(3)));
    }

    #[test]
    fn an_id_is_given_once() {
        let mut accounts = Accounts::new();
        assert_eq!(member(&mut accounts, 2), Ok(MemberId(2)));
        assert_eq!(member(&mut accounts, 2), Err(RejectReason::AlreadyExists));
    }

    #[test]
    fn house_ids_cannot_be_chosen() {
        let mut accounts = Accounts::new();
        member(&mut accounts, 1).unwrap();
        for id in [AccountId::FEES, AccountId::CLEARING, AccountId(AccountId::MAX.0 + 1)] {
            let created = accounts.create_account(&Limits::default(), id, MemberId(1), name());
            assert_eq!(created, Err(RejectReason::IdOutOfRange), "{id}");
        }
    }

    #[test]
    fn an_account_needs_a_member() {
        let mut accounts = Accounts::new();
        let created =
            accounts.create_account(&Limits::default(), AccountId(1), MemberId(1), name());
        assert_eq!(created, Err(RejectReason::UnknownMember));
    }

    #[test]
    fn the_number_of_members_is_bounded() {
        let mut accounts = Accounts::new();
        let limits = Limits { members_max: 1, ..Limits::default() };
        accounts.create_member(&limits, MemberId(0), name()).unwrap();
        let second = accounts.create_member(&limits, MemberId(0), name());
        assert_eq!(second, Err(RejectReason::VenueFull));
    }
}
