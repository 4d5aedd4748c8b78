//! Restrictions, as one list of what was set, and the cancels that come with them.

use super::entry::{Check, Verdict, demand};
use super::sweep::Meant;
use super::{Alteration, ORDERS_PER_COMMAND, Reference, Work};
use rialto_model::{
    AccountId, DoneReason, Event, InstrumentId, InstrumentState, MemberId, OrderId, Outcome,
    RejectReason, Restrict, Restriction, RestrictionTarget,
};

/// Accounts that are looked at for what one order costs.
const ACCOUNTS_PER_ORDER: usize = 16;

const OF_RESTRICTIONS: [Check<Restrict>; 4] = [
    ("command that the version knows", |venue, _| {
        demand(venue.rules_version >= 4, RejectReason::CommandUnknown)
    }),
    ("target", |venue, restrict| match restrict.target {
        RestrictionTarget::Venue => Ok(()),
        RestrictionTarget::Member(member) => {
            demand(venue.members.contains_key(&member), RejectReason::UnknownMember)
        }
        RestrictionTarget::Account(account) => venue.account(account).map(drop),
        RestrictionTarget::Instrument(instrument) => venue.listed(instrument).map(drop),
    }),
    ("whether it can have the restriction", |_, restrict| {
        use RestrictionTarget as T;
        let Restrict { target, restriction, by_member, cancel } = *restrict;
        let is_possible = match target {
            T::Venue => !by_member,
            T::Instrument(_) => !by_member && restriction != Restriction::Frozen,
            T::Member(_) | T::Account(_) => true,
        };
        let lifts = restriction == Restriction::None;
        demand(is_possible && !(lifts && cancel), RejectReason::RestrictionInvalid)
    }),
    ("orders that are being cancelled", |venue, restrict| {
        let RestrictionTarget::Instrument(id) = restrict.target else { return Ok(()) };
        let stays = restrict.restriction != Restriction::None;
        demand(stays || !venue.listed(id)?.clearing, RejectReason::HasOpenOrders)
    }),
];

/// The names of the checks of a restriction, in their order.
pub fn restrict_checks() -> Vec<&'static str> {
    OF_RESTRICTIONS.iter().map(|(name, _)| *name).collect()
}

/// Accounts whose orders are cancelled one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Whose accounts; nothing is all of the venue.
    pub member: Option<MemberId>,
    /// How many accounts were visited, in the order in which they were opened.
    pub visited: usize,
    /// The last order that had been entered.
    pub last: OrderId,
}

impl Reference {
    /// The strictest of what was set for a target.
    fn set_for(&self, target: RestrictionTarget) -> Restriction {
        let all = self.restrictions.iter().filter(|set| set.target == target);
        all.map(|set| set.restriction).max().unwrap_or_default()
    }

    fn of_account(&self, id: AccountId) -> Restriction {
        let member = self.accounts[&id].member;
        let mut targets = vec![
            RestrictionTarget::Venue,
            RestrictionTarget::Member(member),
            RestrictionTarget::Account(id),
        ];
        if self.gets_wrong(Alteration::MembersUnrestricted) {
            targets.remove(1);
        }
        targets.into_iter().map(|target| self.set_for(target)).max().unwrap_or_default()
    }

    pub(super) fn account_enters(&self, id: AccountId) -> Verdict {
        demand(self.of_account(id) == Restriction::None, RejectReason::AccountRestricted)
    }

    pub(super) fn instrument_is_entered(&self, id: InstrumentId) -> Verdict {
        let set = self.set_for(RestrictionTarget::Instrument(id));
        demand(set == Restriction::None, RejectReason::InstrumentRestricted)
    }

    pub(super) fn account_withdraws(&self, id: AccountId) -> Verdict {
        let is_frozen = self.of_account(id) == Restriction::Frozen;
        let is_missed = self.gets_wrong(Alteration::FrozenWithdraws);
        demand(!is_frozen || is_missed, RejectReason::AccountRestricted)
    }

    pub(super) fn restrict(&mut self, restrict: &Restrict) -> Result<Outcome, RejectReason> {
        OF_RESTRICTIONS.iter().try_for_each(|(_, check)| check(self, restrict))?;
        self.events.push(Event::Restricted(*restrict));
        let Restrict { target, restriction, by_member, cancel } = *restrict;
        let shared = self.gets_wrong(Alteration::RestrictionsShared);
        self.restrictions
            .retain(|set| set.target != target || (set.by_member != by_member && !shared));
        if restriction != Restriction::None {
            self.restrictions.push(Restrict { cancel: false, ..*restrict });
        }
        if !cancel {
            return Ok(Outcome::Done);
        }
        Ok(match target {
            RestrictionTarget::Venue => self.begin_walk(None),
            RestrictionTarget::Member(member) => self.begin_walk(Some(member)),
            RestrictionTarget::Account(account) => self.sweep(account, &[Meant::Restricted], None),
            RestrictionTarget::Instrument(id) => self.clear(id),
        })
    }

    fn clear(&mut self, id: InstrumentId) -> Outcome {
        let waits = self.work.contains(&Work::Instrument(id));
        let listed = self.listed_mut(id).expect("it was found before");
        let is_withdrawn = listed.instrument.state == InstrumentState::Withdrawn;
        if listed.is_uncrossing() {
            listed.clearing = true;
        } else if !(is_withdrawn && waits) {
            return self.begin_instrument(id);
        }
        Outcome::Cancelling { cancelled: 0, pending: true }
    }

    /// Ends orders of an instrument at once, and leaves the rest for Ticks.
    pub(super) fn begin_instrument(&mut self, id: InstrumentId) -> Outcome {
        let work = Work::Instrument(id);
        let (cancelled, left) = self.work_on(work, &mut 0);
        match left {
            None => self.work.retain(|other| *other != work),
            Some(work) if self.work.contains(&work) => {}
            Some(work) => self.work.push(work),
        }
        Outcome::Cancelling { cancelled, pending: left.is_some() }
    }

    /// Why the orders of an instrument end.
    pub(super) fn why_cleared(&mut self, id: InstrumentId) -> DoneReason {
        match self.listed(id).expect("it is listed").instrument.state {
            InstrumentState::Withdrawn => DoneReason::InstrumentClosed,
            _ => DoneReason::Restricted,
        }
    }

    /// Whether orders of a restricted instrument are left to end.
    pub(super) fn note_clearing(&mut self, id: InstrumentId, left: bool) {
        let listed = self.listed_mut(id).expect("it is listed");
        listed.clearing = left && listed.instrument.state != InstrumentState::Withdrawn;
    }

    /// A restricted instrument whose auction trades keeps its orders meanwhile.
    pub(super) fn pause_clearing(&mut self, id: InstrumentId) {
        let work = Work::Instrument(id);
        let listed = self.listed(id).expect("it is listed");
        if !listed.clearing {
        } else if listed.is_uncrossing() {
            self.work.retain(|other| *other != work);
        } else if !self.work.contains(&work) {
            self.work.push(work);
        }
    }

    fn begin_walk(&mut self, member: Option<MemberId>) -> Outcome {
        let last = OrderId::from_parts(self.engine, self.orders_entered);
        let walk = Walk { member, visited: 0, last };
        let (cancelled, swept, left) = self.go_on_walking(walk, &mut 0);
        let waits = self.walks.iter().position(|walk| walk.member == member);
        match (waits, left) {
            (Some(at), Some(walk)) => self.walks[at] = walk,
            (Some(at), None) => drop(self.walks.remove(at)),
            (None, left) => self.walks.extend(left),
        }
        Outcome::Cancelling { cancelled, pending: !swept || left.is_some() }
    }

    /// Continues the walk whose turn it is.
    pub(super) fn walk_on(&mut self, visited: &mut usize) {
        let walk = self.walks.remove(0);
        let (_, _, left) = self.go_on_walking(walk, visited);
        self.walks.extend(left);
    }

    /// How many orders ended, whether none is left in the accounts that were visited, and what is
    /// left of the walk.
    fn go_on_walking(&mut self, mut walk: Walk, visited: &mut usize) -> (u32, bool, Option<Walk>) {
        let mut accounts: Vec<_> =
            self.accounts.iter().map(|(id, account)| (account.opened, *id)).collect();
        accounts.sort_unstable();
        let (mut ended, mut swept) = (0, true);
        for (looks, (_, account)) in accounts.split_off(walk.visited).into_iter().enumerate() {
            if looks % ACCOUNTS_PER_ORDER == 0 {
                if *visited >= ORDERS_PER_COMMAND {
                    return (ended, swept, Some(walk));
                }
                *visited += 1;
            }
            let is_own = walk.member.is_none_or(|own| own == self.accounts[&account].member);
            let mut orders = self.orders.iter();
            let has_some = orders.any(|order| order.account == account && order.id <= walk.last);
            if is_own && has_some {
                if *visited >= ORDERS_PER_COMMAND {
                    return (ended, swept, Some(walk));
                }
                *visited += 1;
                let meant = [Meant::Restricted];
                let (cancelled, pending) =
                    self.sweep_upto(account, &meant, None, walk.last, visited);
                ended += cancelled;
                swept &= !pending;
            }
            walk.visited += 1;
        }
        (ended, swept, None)
    }
}
