//! Restrictions of the venue, of members, accounts and instruments.

use crate::view::{AccountRestriction, Moment};
use crate::{Feed, FoldError};
use rialto_model::{AccountId, Restrict, Restriction, RestrictionTarget};
use std::collections::BTreeMap;
use std::ops::Bound;

/// A target, and whether the member set the restriction itself.
pub type RestrictionKey = (RestrictionTarget, bool);

/// All that is restricted; what was lifted is forgotten.
#[derive(Debug, Default)]
pub(crate) struct Restrictions(BTreeMap<RestrictionKey, Restriction>);

impl Restrictions {
    fn get(&self, target: RestrictionTarget, by_member: bool) -> Restriction {
        self.0.get(&(target, by_member)).copied().unwrap_or_default()
    }

    /// The stricter of an operator's and the member's own.
    fn in_force(&self, target: RestrictionTarget) -> Restriction {
        self.get(target, false).max(self.get(target, true))
    }
}

impl Feed {
    /// Notes a restriction that was set or lifted.
    pub(crate) fn restricted(&mut self, at: Moment, restrict: &Restrict) -> Result<(), FoldError> {
        let seq = at.seq;
        match restrict.target {
            RestrictionTarget::Venue => {}
            RestrictionTarget::Member(member) => {
                let known = self.accounts.members.contains_key(&member);
                known.then_some(()).ok_or(FoldError::UnknownMember { seq, member })?;
            }
            RestrictionTarget::Account(account) => drop(self.account_slot(at, account)?),
            RestrictionTarget::Instrument(instrument) => {
                self.market_index(at, instrument)?;
            }
        }
        let key = (restrict.target, restrict.by_member);
        match restrict.restriction {
            Restriction::None => drop(self.restrictions.0.remove(&key)),
            restriction => drop(self.restrictions.0.insert(key, restriction)),
        }
        Ok(())
    }

    /// What is restricted, in the order of keys, behind one of them.
    pub fn restrictions(
        &self,
        after: Option<RestrictionKey>,
    ) -> impl Iterator<Item = Restrict> + '_ {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let behind = self.restrictions.0.range((from, Bound::Unbounded));
        behind.map(|(&(target, by_member), &restriction)| Restrict {
            target,
            restriction,
            by_member,
            cancel: false,
        })
    }

    /// The restriction of an account; `None` if there is no such account.
    #[must_use]
    pub fn restriction_of(&self, account: AccountId) -> Option<AccountRestriction> {
        let member = self.accounts.get(account)?.member;
        let own = RestrictionTarget::Account(account);
        let targets = [RestrictionTarget::Venue, RestrictionTarget::Member(member), own];
        let in_force = targets.map(|target| self.restrictions.in_force(target));
        Some(AccountRestriction {
            account,
            in_force: in_force.into_iter().max().unwrap_or_default(),
            by_member: self.restrictions.get(own, true),
        })
    }
}
